//! Moves items to the remaining account, each idempotently. If that account was deleted as well, the items of
//! its partition are deleted, and items of the store still reference its id.

use catalogue::review::{self, Review, ReviewStatus};
use catalogue::wishlist::{self, Wish};
use core_types::event::Event;
use core_types::key;
use identity::address::{self, Address};
use identity::customer::{self, Customer};
use primitives::problem::{Code, Problem};
use sales::cart;
use sales::gift_card::{GIFT_CARD_UPDATED, GiftCard, GiftCardView};
use services::Services;
use table::item::{Item, Key};
use table::{Query, retry};

use super::Merge;

/// The most addresses, and the most wishes, of one person that are read.
const MOST: usize = 1_000;
/// Items that one transaction moves: two actions each, of its 100.
const CHUNK: usize = 40;

/// Moves the cart unless the remaining account has one, the addresses that it lacks, and the wishes; deletes the other items of the
/// source's partition.
pub(super) async fn belongings(services: &Services, merge: &Merge) -> Result<(), Problem> {
    let both = (&merge.source_id, &merge.customer_id);
    cart::owned::hand_over(services, &merge.store_id, both).await?;
    let own = key::customer(&merge.store_id, &merge.customer_id);
    let source = key::customer(&merge.store_id, &merge.source_id);
    if let Some(stays) = services.table.get::<Customer>(&own).await? {
        let alongside = |of: &Key, what| Query::partition(of.pk.clone()).begins_with(what);
        let known: Vec<Address> =
            services.table.all(&alongside(&own, key::ADDRESSES), MOST).await?;
        let mut addresses: Vec<Address> =
            services.table.all(&alongside(&source, key::ADDRESSES), MOST).await?;
        addresses.retain(|address| known.iter().all(|own| own.postal != address.postal));
        for some in addresses.chunks(CHUNK) {
            address::hand_over(services.table.write(), &stays, some)
                .commit()
                .await
                .or_else(ignore_deleted)?;
        }
        let known: Vec<Wish> = services.table.all(&alongside(&own, key::WISHES), MOST).await?;
        let wishes: Vec<Wish> = services.table.all(&alongside(&source, key::WISHES), MOST).await?;
        for some in wishes.chunks(CHUNK) {
            let write = wishlist::hand_over(services.table.write(), &stays, some, &known);
            write.commit().await.or_else(ignore_deleted)?;
        }
    }
    customer::erase_items_except(services, &source, "").await
}

/// Ignores that the target was deleted.
fn ignore_deleted(problem: Problem) -> Result<(), Problem> {
    if problem.code == Code::NotFound { Ok(()) } else { Err(problem) }
}

/// Moves a gift card.
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

/// Moves a review, or deletes it if the remaining customer has reviewed the same subject.
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
        // The product was deleted; its reviews are deleted by other means.
        write.commit().await.or_else(ignore_deleted)
    })
    .await
}
