//! The steps of a redaction: pages of its parts, one after the other.

use core_types::id::{RedactionId, StoreId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::item::Item;
use table::{WalkPosition, Write};

use super::{CUSTOMER_REDACTED, Redaction, RedactionStatus, scrub};
use crate::person::{Part, PartPage};
use crate::steps::{Done, Next, Stay, Walking, save};

impl Walking for Redaction {
    fn is_over(&self) -> bool {
        !matches!(self.status, RedactionStatus::Scheduled | RedactionStatus::Running)
    }
    fn advanced(&self, place: Option<WalkPosition>, now: Timestamp) -> Self {
        match (place, self.part.next()) {
            (Some(place), _) => Self { place: Some(place), ..self.running(now) },
            (None, Some(part)) => Self { part, place: None, ..self.running(now) },
            (None, None) => self.ended(RedactionStatus::Succeeded, now),
        }
    }
    fn tell(&self, write: Write) -> Write {
        let is_done = self.status == RedactionStatus::Succeeded;
        write.when_some(is_done.then(|| self.event(&CUSTOMER_REDACTED)), Write::emit)
    }
}

/// Executes the next step, and returns the time of the step after it, if there is one. `forget_files` deletes
/// the store's files with personal data, and returns whether none is left.
///
/// # Errors
/// `version_conflict` if the redaction was changed concurrently; 503.
pub async fn step<F>(
    services: &Services,
    id: &RedactionId,
    forget_files: F,
) -> Result<Option<Timestamp>, Problem>
where
    F: AsyncFn(&Services, &StoreId) -> Result<bool, Problem>,
{
    let found = services.table.get::<Redaction>(&key::redaction(id)).await?;
    let Some(redaction) = found.filter(|redaction| !redaction.is_over()) else {
        return Ok(None);
    };
    let now = services.clock.now();
    if redaction.status == RedactionStatus::Scheduled {
        // The sweep resumes it on its day.
        if now < redaction.begins_at {
            return Ok(None);
        }
        let mut person = redaction.person();
        if person.has_unfinished_order(services).await? {
            save(services, &redaction.postponed(now)).await?;
            return Ok(None);
        }
    }
    let (mut redaction, stay) = (redaction, Stay::begin());
    loop {
        let done = page(services, &mut redaction, &forget_files).await;
        match stay.after(services, redaction, done).await? {
            Next::Page(next) => redaction = next,
            Next::Message(at) => return Ok(at),
        }
    }
}

/// Ends a redaction after a permanent error.
///
/// # Errors
/// `version_conflict` if the redaction was changed concurrently; 503.
pub async fn fail(services: &Services, id: &RedactionId) -> Result<(), Problem> {
    let found = services.table.get::<Redaction>(&key::redaction(id)).await?;
    match found.filter(|redaction| !redaction.is_over()) {
        Some(redaction) => save(services, &redaction.failed_internally(services.clock.now())).await,
        None => Ok(()),
    }
}

async fn page<F>(
    services: &Services,
    redaction: &mut Redaction,
    forget_files: &F,
) -> Result<Done, Problem>
where
    F: AsyncFn(&Services, &StoreId) -> Result<bool, Problem>,
{
    let person = redaction.person();
    let place = redaction.place.clone();
    let place = place.as_ref();
    match redaction.part {
        Part::Account => Ok(done_if(scrub::account(services, &person).await?)),
        Part::Orders => orders(services, redaction).await,
        Part::GuestOrders => {
            // Unfinished orders were placed after the redaction began, and are not part of the request.
            let found = person.guest_orders(services, place).await;
            let over = found.map(|(mut orders, next)| {
                orders.retain(|order| !order.is_unfinished());
                (orders, next)
            });
            each(services, over, scrub::order).await
        }
        Part::Carts => Ok(done_if(scrub::guest_carts(services, &person).await?)),
        Part::GiftCards => {
            each(services, person.gift_cards(services, place).await, scrub::gift_card).await
        }
        Part::Reviews => each(services, person.reviews(services, place).await, scrub::review).await,
        Part::Forms => each(services, person.forms(services, place).await, scrub::form).await,
        Part::Files => Ok(done_if(forget_files(services, &person.store_id).await?)),
    }
}

const fn done_if(is_all: bool) -> Done {
    if is_all { Done::All(None) } else { Done::NotYet }
}

/// Redacts a page of orders. Their proven addresses are saved before they are removed, because other data of
/// the person is found by them.
async fn orders(services: &Services, redaction: &mut Redaction) -> Result<Done, Problem> {
    let mut person = redaction.person();
    let (found, next) = person.orders(services, redaction.place.as_ref()).await?;
    person.learn_from(&found);
    if person.emails != redaction.emails {
        let known = Redaction { emails: person.emails, ..redaction.running(services.clock.now()) };
        save(services, &known).await?;
        *redaction = known;
    }
    each(services, Ok((found, next)), scrub::order).await
}

async fn each<T: Item, F>(services: &Services, page: PartPage<T>, scrub: F) -> Result<Done, Problem>
where
    F: AsyncFn(&Services, &T) -> Result<bool, Problem>,
{
    let (found, next) = page?;
    let mut is_all = true;
    for one in &found {
        is_all &= scrub(services, one).await?;
    }
    Ok(if is_all { Done::All(next) } else { Done::NotYet })
}
