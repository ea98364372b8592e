//! Removing what names a person from one thing after the other. Each can be done again.

use catalogue::form::FormSubmission;
use catalogue::review::Review;
use core_types::key;
use identity::customer::{self, Customer};
use primitives::problem::{Code, Problem};
use sales::gift_card::GiftCard;
use sales::order::{Order, load};
use services::Services;
use table::item::Item;

use super::events::expunge;
use crate::merge::Merge;
use crate::person::Person;

/// The account, with all that is beside it; and its events, and those of accounts that were merged into it.
pub(super) async fn account(services: &Services, person: &Person) -> Result<bool, Problem> {
    let Some(customer) = &person.customer_id else { return Ok(true) };
    let key = key::customer(&person.store_id, customer);
    if let Some(account) = services.table.get::<Customer>(&key).await? {
        customer::erase_belongings(services, &key, key::SESSIONS).await?;
        let now = services.clock.now();
        let removed =
            customer::remove(services.table.write(), &account, Code::VersionConflict, now);
        removed.commit().await?;
        // What was added while the rest was removed; nothing can be added any more.
        customer::erase_belongings(services, &key, "").await?;
    }
    let mut is_silent = expunge(services, &person.store_id, customer.as_str()).await?;
    for merge in Merge::all_into(services, &person.store_id, customer).await? {
        // It still brings in what names them.
        if !merge.is_over()
            || !expunge(services, &person.store_id, merge.source_id.as_str()).await?
        {
            is_silent = false;
            continue;
        }
        services.table.write().delete(&merge.key()).commit().await?;
    }
    Ok(is_silent)
}

/// An order with its fulfilments and refunds. Their events first, because nothing leads from a guest's
/// address to the order afterwards.
pub(super) async fn order(services: &Services, found: &Order) -> Result<bool, Problem> {
    let whole = load::aggregate(services, &found.store_id, &found.id).await?;
    if !expunge(services, &found.store_id, found.id.as_str()).await? {
        return Ok(false);
    }
    let now = services.clock.now();
    for parcel in &whole.fulfillments {
        replace(services, parcel.redacted(now)).await?;
    }
    for refund in &whole.refunds {
        replace(services, refund.redacted(now)).await?;
    }
    if let Some(next) = whole.order.redacted(now) {
        let write = services.table.write().replace(&next, Code::VersionConflict);
        write.emit(next.redacted_event(now)).commit().await?;
    }
    Ok(true)
}

/// A gift card: it stays, and whom it was sent to goes. Its events first, because nothing says whose it was
/// afterwards.
pub(super) async fn gift_card(services: &Services, card: &GiftCard) -> Result<bool, Problem> {
    let is_silent = expunge(services, &card.store_id, card.id.as_str()).await?;
    if is_silent {
        replace(services, card.redacted(services.clock.now())).await?;
    }
    Ok(is_silent)
}

/// A review: it stays, and its author's name goes.
pub(super) async fn review(services: &Services, review: &Review) -> Result<bool, Problem> {
    replace(services, review.redacted(services.clock.now())).await?;
    expunge(services, &review.store_id, review.id.as_str()).await
}

/// A form that was sent: its event first, because nothing leads to that once the form is gone.
pub(super) async fn form(services: &Services, form: &FormSubmission) -> Result<bool, Problem> {
    let is_silent = expunge(services, &form.store_id, form.id.as_str()).await?;
    if is_silent {
        services.table.write().delete(&form.key()).commit().await?;
    }
    Ok(is_silent)
}

async fn replace<T: Item>(services: &Services, redacted: Option<T>) -> Result<(), Problem> {
    match redacted {
        Some(item) => services.table.write().replace(&item, Code::VersionConflict).commit().await,
        None => Ok(()),
    }
}
