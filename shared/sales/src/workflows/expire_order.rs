//! Orders whose time has come: those that were not paid in time, and those that are over while a
//! payment of theirs is still open.
//!
//! Crash story. Before an order expires, its providers are asked: what was paid is recorded, and
//! what was not is voided, so that nobody pays for an order that is over. A provider that does not
//! answer has the order wait, but not for ever, and keeps no other from being asked. The end of an
//! order, whichever it is, leaves a due mark; it goes when every payment is closed. Each step may
//! be repeated, by two at once too: a payment is closed under one key, what is learnt about it is
//! applied once, and the order ends under its version.

use std::time::Duration;

use gateway::app::App;
use gateway::clock::{MINUTE, Timestamp};
use gateway::item::Item;
use gateway::outbox::Due;
use gateway::problem::{Code, Problem};
use gateway::reply::NoContent;
use gateway::table::Change;
use ground::id::{OrderId, StoreId};

use super::record_payment::{self, PaymentUpdate};
use super::return_unapplied;
use super::spending::Spending;
use crate::order::Order;
use crate::order::aggregate::{self, OrderAggregate};
use crate::payment::account::connect;
use crate::payment::connected::Connected;
use crate::payment::provider::Provider;
use crate::payment::{
    Observed, ObservedState, Payment, PaymentStatus, ProviderDeadline, ProviderReference, Source,
};

/// How long after its time an order waits for providers that do not answer (our choice): its stock
/// is held meanwhile.
const LONGEST_WAIT: Duration = MINUTE.saturating_mul(30);
/// How long after that providers are asked again.
const ASKED_AGAIN: Duration = MINUTE.saturating_mul(2);
/// Processes an order whose due mark has passed; whether something was done.
///
/// # Errors
/// Those of the provider; the order stays due. `version_conflict` when somebody else has it.
pub async fn process(
    app: &App,
    order: &Order,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let now = app.clock.now();
    if order.due_at().is_none_or(|at| now < at) {
        return Ok(false);
    }
    if !order.is_over() {
        return Box::pin(expire(app, order, deadline, now)).await;
    }
    void_open_payments(app, &order.store_id, &order.id, deadline).await
}

/// An order that was not paid in time expires, unless it was paid after all.
async fn expire(
    app: &App,
    order: &Order,
    deadline: &ProviderDeadline,
    now: Timestamp,
) -> Result<bool, Problem> {
    let mut aggregate = aggregate::load(app, &order.store_id, &order.id).await?;
    if aggregate.order.expire(now).is_none() {
        return Ok(false);
    }
    if open_payments(&aggregate).next().is_some() {
        let asked = ask_all(app, &aggregate, deadline).await;
        aggregate = aggregate::load(app, &order.store_id, &order.id).await?;
        let latest = aggregate.order.expires_at.map(|at| at.plus(LONGEST_WAIT));
        let can_wait = latest.is_some_and(|latest| now < latest);
        if !asked.is_complete() && can_wait && aggregate.order.expire(now).is_some() {
            remind(app, &aggregate.order, Some(now.plus(ASKED_AGAIN)), 0).await?;
            return asked.failed.map_or(Ok(false), Err);
        }
    }
    let Some(change) = aggregate.order.expire(now) else { return Ok(true) };
    let spending = Spending::default();
    change.save(app, app.table.write(), &spending, now).await?.commit().await?;
    Ok(true)
}

/// How it went to ask the providers of an order.
#[derive(Default)]
struct Asked {
    /// The first failure.
    failed: Option<Problem>,
    /// Whether a provider was left out, because there is no more waiting for it.
    is_cut_short: bool,
}

impl Asked {
    const fn is_complete(&self) -> bool {
        self.failed.is_none() && !self.is_cut_short
    }
}

/// Asks for every payment that is open: one that fails keeps no other from being asked for.
async fn ask_all(app: &App, aggregate: &OrderAggregate, deadline: &ProviderDeadline) -> Asked {
    let mut all = Asked::default();
    for payment in open_payments(aggregate) {
        if deadline.has_passed(payment.provider, app.clock.now()) {
            all.is_cut_short = true;
            continue;
        }
        if let Err(problem) = ask(app, &aggregate.order, payment).await {
            deadline.note(payment.provider, &problem);
            tracing::warn!(cause = %problem, payment = payment.id.as_str(), "payment not closed");
            all.failed.get_or_insert(problem);
        }
    }
    all
}

/// Records what was paid, unless the order is over, and voids what was not.
async fn ask(app: &App, order: &Order, payment: &Payment) -> Result<(), Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    if order.is_over() {
        let is_taken = payment.awaits_decision() && !payment.captured.is_zero();
        if is_taken {
            return return_unapplied::turn_down(app, &connected, payment).await;
        }
        return void(app, &connected, payment).await;
    }
    let seen = record_payment::look(app, &connected, payment).await?;
    if matches!(seen.state, ObservedState::Captured | ObservedState::Authorized) {
        return record(app, &connected, payment, &seen).await;
    }
    void(app, &connected, payment).await
}

/// Voids a payment with its provider. When the money was taken meanwhile, that is recorded.
async fn void(app: &App, connected: &Connected, payment: &Payment) -> Result<(), Problem> {
    let seen = connected.void(app, payment).await?;
    record(app, connected, payment, &seen).await
}

async fn record(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    seen: &Observed,
) -> Result<(), Problem> {
    let (locator, source) = (ProviderReference::from(payment), Source::Sync);
    let update = PaymentUpdate { locator: &locator, seen, source, event: None, is_answer: false };
    match record_payment::record(app, connected, update, |_| NoContent::default()).await {
        // It was answered, and is the merchant's to decide about.
        Err(problem) if problem.code == Code::AmountMismatch => Ok(()),
        outcome => outcome.map(drop),
    }
}

/// The payments that can still be paid, or taken; of an order that is over also those whose money
/// nobody can accept any more.
fn open_payments(aggregate: &OrderAggregate) -> impl Iterator<Item = &Payment> {
    let is_over = aggregate.order.is_over();
    aggregate.payments.iter().filter(move |payment| {
        payment.is_open()
            || payment.status == PaymentStatus::Authorized
            || (is_over && payment.awaits_decision())
    })
}

/// Closes the payments of an order that is over. What a provider does not do now, the sweep asks
/// for again.
pub async fn void_open_payments_or_warn(app: &App, store: &StoreId, id: &OrderId) {
    let deadline = ProviderDeadline::since(app.clock.now());
    if let Err(problem) = void_open_payments(app, store, id, &deadline).await {
        tracing::warn!(cause = %problem, order = id.as_str(), "payments of an order not closed");
    }
}

/// Closes the payments of an order that is over; whether all of them are closed.
async fn void_open_payments(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    deadline: &ProviderDeadline,
) -> Result<bool, Problem> {
    let aggregate = aggregate::load(app, store, id).await?;
    if !aggregate.order.is_over() || aggregate.order.attend_at.is_none() {
        return Ok(true);
    }
    let asked = ask_all(app, &aggregate, deadline).await;
    let (now, tries) = (app.clock.now(), aggregate.order.attend_tries);
    if let Some(problem) = asked.failed {
        let tries = tries.saturating_add(1);
        remind(app, &aggregate.order, Some(now.plus(Due::wait(tries))), tries).await?;
        return Err(problem);
    }
    if asked.is_cut_short {
        remind(app, &aggregate.order, Some(now.plus(ASKED_AGAIN)), tries).await?;
        return Ok(false);
    }
    remind(app, &aggregate.order, None, 0).await.map(|()| true)
}

/// Moves an order's due mark, or takes it away. That is no new version of the order: there is
/// nothing about it that anybody sees.
async fn remind(
    app: &App,
    order: &Order,
    at: Option<Timestamp>,
    tries: u32,
) -> Result<(), Problem> {
    let change = match at {
        None => Change::new("REMOVE attend_at, attend_tries, GSI3PK, GSI3SK"),
        Some(at) => {
            let (_, mark) = Due::Order.mark(order.id.as_str(), at);
            let set = "SET attend_at = :at, attend_tries = :tries, GSI3PK = :pk, GSI3SK = :sk";
            Change::new(set)
                .value(":at", at)
                .value(":tries", tries)
                .value(":pk", mark.pk)
                .value(":sk", mark.sk)
        }
    };
    let change = change
        .only_if("#version = :version")
        .name("#version", "version")
        .value(":version", order.version);
    app.table.write().update(&order.key(), change, Code::VersionConflict).commit().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{NOW, order};
    use crate::payment::ObservedState;
    use crate::payment::tests::{after, open, seen};

    #[test]
    fn what_can_still_be_paid_or_taken_is_open_and_of_an_order_that_is_over_what_nobody_accepts() {
        let held = after(&open(), &seen(ObservedState::Authorized, 129_900));
        let other = after(&open(), &seen(ObservedState::Captured, 1));
        let taken = after(&open(), &seen(ObservedState::Captured, 129_900));
        let waiting = order();
        let over = waiting.expire(waiting.expires_at.unwrap_or(NOW)).unwrap().order;
        for (order, payment, is_open) in [
            (&waiting, open(), true),
            (&waiting, held.clone(), true),
            (&waiting, other.clone(), false),
            (&waiting, taken.clone(), false),
            (&over, held, true),
            (&over, other, true),
            (&over, taken, false),
        ] {
            let aggregate = OrderAggregate {
                order: order.clone(),
                fulfillments: Vec::new(),
                refunds: Vec::new(),
                payments: vec![payment],
            };
            let found = open_payments(&aggregate).next().is_some();
            assert_eq!(found, is_open, "{:?} {:?}", order.status, aggregate.payments);
        }
    }
}
