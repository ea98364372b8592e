//! Removes personal data from items, each idempotently.

use catalogue::form::FormSubmission;
use catalogue::review::Review;
use core_types::key;
use identity::customer::{self, Customer};
use primitives::problem::{Code, Problem};
use sales::cart;
use sales::gift_card::GiftCard;
use sales::guest;
use sales::order::{Order, load};
use services::Services;
use table::item::Item;

use super::events::expunge;
use crate::merge::Merge;
use crate::person::Person;

/// Deletes the account with the other items of its partition, and the payloads of its events and of those of
/// accounts that were merged into it.
pub(super) async fn account(services: &Services, person: &Person) -> Result<bool, Problem> {
    let Some(customer) = &person.customer_id else { return Ok(true) };
    let key = key::customer(&person.store_id, customer);
    cart::owned::erase(services, &person.store_id, customer).await?;
    if let Some(account) = services.table.get::<Customer>(&key).await? {
        customer::erase_items_except(services, &key, key::SESSIONS).await?;
        let now = services.clock.now();
        let removed =
            customer::remove(services.table.write(), &account, Code::VersionConflict, now);
        removed.commit().await?;
        // Items that were added in the meantime. Without the account none can be added any more.
        customer::erase_items_except(services, &key, "").await?;
    }
    let mut is_expunged = expunge(services, &person.store_id, customer.as_str()).await?;
    for merge in Merge::all_into(services, &person.store_id, customer).await? {
        // A running merge still moves their data here.
        if !merge.is_over()
            || !expunge(services, &person.store_id, merge.source_id.as_str()).await?
        {
            is_expunged = false;
            continue;
        }
        services.table.write().delete(&merge.key()).commit().await?;
    }
    Ok(is_expunged)
}

/// Removes the personal data of an order with its fulfilments and refunds, and takes it off its guest. Their
/// events come first, because afterwards a guest's order can no longer be found by the address.
pub(super) async fn order(services: &Services, found: &Order) -> Result<bool, Problem> {
    let aggregate = load::aggregate(services, &found.store_id, &found.id).await?;
    if !expunge(services, &found.store_id, found.id.as_str()).await? {
        return Ok(false);
    }
    let now = services.clock.now();
    for fulfillment in &aggregate.fulfillments {
        replace(services, fulfillment.redacted(now)).await?;
    }
    for refund in &aggregate.refunds {
        replace(services, refund.redacted(now)).await?;
    }
    if let Some(next) = aggregate.order.redacted(now) {
        let write = services.table.write().replace(&next, Code::VersionConflict);
        let write = guest::reassign(services, write, (&aggregate.order, &next)).await?;
        write.emit(next.redacted_event(now)).commit().await?;
    }
    Ok(true)
}

/// Deletes the carts of an address. Their events name nobody. Returns whether none is left.
pub(super) async fn guest_carts(services: &Services, person: &Person) -> Result<bool, Problem> {
    let found = person.guest_carts(services).await?;
    for cart in &found {
        cart::owned::delete(services.table.write(), cart).commit().await?;
    }
    Ok(found.is_empty())
}

/// Removes the recipient and the note of a gift card. Its events come first, because afterwards the card can
/// no longer be found by the address.
pub(super) async fn gift_card(services: &Services, card: &GiftCard) -> Result<bool, Problem> {
    let is_expunged = expunge(services, &card.store_id, card.id.as_str()).await?;
    if is_expunged {
        replace(services, card.redacted(services.clock.now())).await?;
    }
    Ok(is_expunged)
}

/// Removes the author's name of a review.
pub(super) async fn review(services: &Services, review: &Review) -> Result<bool, Problem> {
    replace(services, review.redacted(services.clock.now())).await?;
    expunge(services, &review.store_id, review.id.as_str()).await
}

/// Deletes a submitted form. Its event comes first, because it can no longer be found without the form.
pub(super) async fn form(services: &Services, form: &FormSubmission) -> Result<bool, Problem> {
    let is_expunged = expunge(services, &form.store_id, form.id.as_str()).await?;
    if is_expunged {
        services.table.write().delete(&form.key()).commit().await?;
    }
    Ok(is_expunged)
}

async fn replace<T: Item>(services: &Services, redacted: Option<T>) -> Result<(), Problem> {
    match redacted {
        Some(item) => services.table.write().replace(&item, Code::VersionConflict).commit().await,
        None => Ok(()),
    }
}
