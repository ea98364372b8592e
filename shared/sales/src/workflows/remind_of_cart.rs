//! Reminds a customer of a cart that they left: announces it, from which the mail follows.

use core_types::event::Event;
use core_types::id::{CartId, StoreId};
use core_types::key;
use core_types::mail::Notice;
use identity::customer::Customer;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Change;
use table::item::Item;
use table::outbox::DueKind;

use crate::cart::reminder::ReminderStep;
use crate::cart::view::CartSummary;
use crate::cart::{CART_ABANDONED, Cart};

/// Processes a cart whose due mark has passed. There is no further step: the sweep finds it when it is due again.
///
/// # Errors
/// `version_conflict` if it was changed at the same moment: it stays due; 503.
pub async fn step(
    services: &Services,
    store: &StoreId,
    id: &CartId,
) -> Result<Option<Timestamp>, Problem> {
    let found: Option<Cart> = services.table.get(&key::cart(store, id)).await?;
    let now = services.clock.now();
    let is_due = |cart: &Cart| cart.remind_at.is_some_and(|at| at <= now);
    let Some(cart) = found.filter(is_due) else { return Ok(None) };
    let account: Option<Customer> = match &cart.customer_id {
        Some(customer) => services.table.get(&key::customer(store, customer)).await?,
        None => None,
    };
    match cart.reminder(account.as_ref(), now) {
        ReminderStep::Wait(at) => move_mark(services, &cart, Some(at)).await?,
        ReminderStep::Forget => move_mark(services, &cart, None).await?,
        ReminderStep::Remind(left) => {
            let summary = CartSummary::of(&left, &left.lines);
            let event = Event::new(&CART_ABANDONED, left.event_subject(), &summary, now);
            let write = services.table.write().replace(&*left, Code::VersionConflict);
            write.emit(event.with_mail(Notice::CartAbandoned)).commit().await?;
        }
    }
    Ok(None)
}

/// Moves or removes the due mark. The cart's version stays, as nothing in its responses changes.
async fn move_mark(services: &Services, cart: &Cart, at: Option<Timestamp>) -> Result<(), Problem> {
    let change = match at {
        None => Change::new("REMOVE remind_at, GSI3PK, GSI3SK"),
        Some(at) => {
            let (_, mark) = DueKind::Run.mark(cart.id.as_str(), at);
            Change::new("SET remind_at = :at, GSI3PK = :pk, GSI3SK = :sk")
                .value(":at", at)
                .value(":pk", mark.pk)
                .value(":sk", mark.sk)
        }
    };
    let change = change
        .only_if("#version = :version")
        .name("#version", "version")
        .value(":version", cart.version);
    services.table.write().update(&cart.key(), change, Code::VersionConflict).commit().await
}
