//! Moving one thing after the other to the account that stays. Each can be done again. Where that account is
//! gone as well, what would lie beside it goes, and what is the store's names it by its id.

use catalogue::review::{self, Review, ReviewStatus};
use catalogue::wishlist::{self, Wish};
use core_types::event::Event;
use core_types::key;
use identity::address::{self, Address};
use identity::customer::{self, Customer};
use primitives::problem::{Code, Problem};
use sales::gift_card::{GIFT_CARD_UPDATED, GiftCard, GiftCardView};
use services::Services;
use table::item::{Item, Key};
use table::{Query, retry};

use super::Merge;

/// Addresses or wishes of one person.
const MOST: usize = 1_000;
/// What is moved together: two actions each, of the 100 of a transaction.
const TOGETHER: usize = 40;

/// Addresses that the one who stays has not, and their wishes; the rest beside the account goes.
pub(super) async fn belongings(services: &Services, merge: &Merge) -> Result<(), Problem> {
    let own = key::customer(&merge.store_id, &merge.customer_id);
    let left = key::customer(&merge.store_id, &merge.source_id);
    if let Some(stays) = services.table.get::<Customer>(&own).await? {
        let alongside = |of: &Key, what| Query::partition(of.pk.clone()).begins_with(what);
        let known: Vec<Address> =
            services.table.all(&alongside(&own, key::ADDRESSES), MOST).await?;
        let mut addresses: Vec<Address> =
            services.table.all(&alongside(&left, key::ADDRESSES), MOST).await?;
        addresses.retain(|address| known.iter().all(|own| own.postal != address.postal));
        for some in addresses.chunks(TOGETHER) {
            address::hand_over(services.table.write(), &stays, some)
                .commit()
                .await
                .or_else(gone)?;
        }
        let known: Vec<Wish> = services.table.all(&alongside(&own, key::WISHES), MOST).await?;
        let wishes: Vec<Wish> = services.table.all(&alongside(&left, key::WISHES), MOST).await?;
        for some in wishes.chunks(TOGETHER) {
            let write = wishlist::hand_over(services.table.write(), &stays, some, &known);
            write.commit().await.or_else(gone)?;
        }
    }
    customer::erase_belongings(services, &left, "").await
}

/// Nothing is moved to an account that is gone.
fn gone(problem: Problem) -> Result<(), Problem> {
    if problem.code == Code::NotFound { Ok(()) } else { Err(problem) }
}

/// A gift card of theirs.
pub(super) async fn gift_card(
    services: &Services,
    merge: &Merge,
    card: &GiftCard,
) -> Result<(), Problem> {
    let now = services.clock.now();
    let Some(card) = card.handed_over(&merge.source_id, &merge.customer_id, now) else {
        return Ok(());
    };
    let view = GiftCardView::of(&card, now);
    let write = services.table.write().replace(&card, Code::VersionConflict);
    write.emit(Event::new(&GIFT_CARD_UPDATED, card.event_subject(), &view, now)).commit().await
}

/// A review of theirs. Where the one who stays has said something about the same, that is what holds.
pub(super) async fn review(
    services: &Services,
    merge: &Merge,
    review: &Key,
) -> Result<(), Problem> {
    retry(|| async {
        let now = services.clock.now();
        let found: Option<Review> = services.table.get(review).await?;
        let Some(before) = found else { return Ok(()) };
        let after = before.handed_over(&merge.customer_id, now);
        let write = services.table.write().delete_unchanged(&before, Code::VersionConflict);
        if services.table.get::<Review>(&after.key()).await?.is_none() {
            let write = write.create(&after, Code::VersionConflict).put(&after.pointer());
            return write.commit().await;
        }
        let hidden = Review { status: ReviewStatus::Rejected, ..before.clone() };
        let write = write.delete(&before.pointer().key());
        let write = review::count(services, write, Some(&before), &hidden).await?;
        // With a product its reviews go by themselves.
        write.commit().await.or_else(gone)
    })
    .await
}
