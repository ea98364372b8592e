//! The steps of a merge: pages of its parts, one after the other.

use std::time::Duration;

use primitives::clock::Timestamp;
use primitives::problem::Problem;
use sales::workflows::hand_over_order::hand_over;
use services::Services;
use table::item::{Item, Key};

use super::{Merge, MergePart, hand_over as moves};
use crate::person::Person;
use crate::steps::{Done, Next, Stay, save};

/// The time that the indexes have to include items created right before the account was deleted (our choice).
const SETTLING: Duration = Duration::from_secs(10);

/// Executes the next step, and returns the time of the step after it, if there is one.
///
/// # Errors
/// `version_conflict` if the merge was changed concurrently; 503.
pub async fn step(services: &Services, merge: &Key) -> Result<Option<Timestamp>, Problem> {
    let found = services.table.get::<Merge>(merge).await?;
    let Some(mut merge) = found.filter(|merge| !merge.is_over()) else { return Ok(None) };
    let stay = Stay::begin();
    loop {
        let done = page(services, &merge).await;
        match stay.after(services, merge, done).await? {
            Next::Page(next) => merge = next,
            Next::Message(at) => return Ok(at),
        }
    }
}

/// Ends a merge after a permanent error.
///
/// # Errors
/// `version_conflict` if the merge was changed concurrently; 503.
pub async fn fail(services: &Services, merge: &Key) -> Result<(), Problem> {
    let found = services.table.get::<Merge>(merge).await?;
    match found.filter(|merge| !merge.is_over()) {
        Some(merge) => save(services, &merge.failed_internally(services.clock.now())).await,
        None => Ok(()),
    }
}

async fn page(services: &Services, merge: &Merge) -> Result<Done, Problem> {
    let (store_id, customer_id) = (merge.store_id.clone(), merge.source_id.clone());
    let customer_id = Some(customer_id);
    let source = Person { store_id, customer_id, emails: Vec::new() };
    let (from, to) = (&merge.source_id, &merge.customer_id);
    let place = merge.place.as_ref();
    let next = match merge.part {
        MergePart::Account => {
            moves::belongings(services, merge).await?;
            None
        }
        MergePart::Orders | MergePart::LateOrders => {
            let (orders, next) = source.orders(services, place).await?;
            for order in &orders {
                hand_over(services, &order.key(), from, to).await?;
            }
            next
        }
        MergePart::GiftCards => {
            let (cards, next) = source.gift_cards(services, place).await?;
            for card in &cards {
                moves::gift_card(services, merge, card).await?;
            }
            next
        }
        MergePart::Reviews | MergePart::LateReviews => {
            let (reviews, next) = source.reviews(services, place).await?;
            for review in &reviews {
                moves::review(services, merge, &review.key()).await?;
            }
            next
        }
        MergePart::Settling if services.clock.now() < merge.created_at.plus(SETTLING) => {
            return Ok(Done::NotYet);
        }
        MergePart::Settling => None,
    };
    Ok(Done::All(next))
}
