//! Orders whose time has come: those that were not paid in time, and those that are over while a
//! payment of theirs is still open.
//!
//! Crash story. Before an order expires, its providers are asked: what was paid is settled, and
//! what was not is closed, so that nobody pays for an order that is over. A provider that does not
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

use super::parts::{self, Parts};
use super::{Order, settle};
use crate::payment::account::connect;
use crate::payment::connected::Connected;
use crate::payment::due::Patience;
use crate::payment::provider::Provider;
use crate::payment::settle::News;
use crate::payment::{
    Observed, ObservedState, Payment, PaymentStatus, ProviderReference, Source,
    settle as settlement, surplus,
};

/// How long after its time an order waits for providers that do not answer (our choice): its stock
/// is held meanwhile.
const LONGEST_WAIT: Duration = MINUTE.saturating_mul(30);
/// How long after that providers are asked again.
const ASKED_AGAIN: Duration = MINUTE.saturating_mul(2);
/// How long an order that is over is left to whoever ended it.
const GRACE: Duration = MINUTE;

impl Order {
    /// When the sweep takes it up.
    pub(super) fn due_at(&self) -> Option<Timestamp> {
        match (self.expires_at, self.attend_at) {
            (Some(expires), Some(attend)) => Some(expires.max(attend)),
            (Some(expires), None) => Some(expires),
            (None, attend) => attend.filter(|_| self.is_over()),
        }
    }

    /// Has the sweep look at the payments of an order that is over.
    pub(super) fn attend(&mut self, now: Timestamp) {
        self.attend_at = Some(now.plus(GRACE));
        self.attend_tries = 0;
    }
}

/// Takes up an order whose due mark has passed; whether something was done.
///
/// # Errors
/// Those of the provider; the order stays due. `version_conflict` when somebody else has it.
pub async fn take_up(app: &App, order: &Order, patience: &Patience) -> Result<bool, Problem> {
    let now = app.clock.now();
    if order.due_at().is_none_or(|at| now < at) {
        return Ok(false);
    }
    if !order.is_over() {
        return expire(app, order, patience, now).await;
    }
    unwind(app, &order.store_id, &order.id, patience).await
}

/// An order that was not paid in time expires, unless it was paid after all.
async fn expire(
    app: &App,
    order: &Order,
    patience: &Patience,
    now: Timestamp,
) -> Result<bool, Problem> {
    let mut page = parts::load(app, &order.store_id, &order.id).await?;
    if page.order.expire(now).is_none() {
        return Ok(false);
    }
    if open_payments(&page).next().is_some() {
        let asked = ask_all(app, &page, patience).await;
        page = parts::load(app, &order.store_id, &order.id).await?;
        let latest = page.order.expires_at.map(|at| at.plus(LONGEST_WAIT));
        let can_wait = latest.is_some_and(|latest| now < latest);
        if !asked.is_complete() && can_wait && page.order.expire(now).is_some() {
            remind(app, &page.order, Some(now.plus(ASKED_AGAIN)), 0).await?;
            return asked.failed.map_or(Ok(false), Err);
        }
    }
    let Some(ended) = page.order.expire(now) else { return Ok(true) };
    settle::expire(app.table.write(), &ended, now).commit().await?;
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
async fn ask_all(app: &App, page: &Parts, patience: &Patience) -> Asked {
    let mut all = Asked::default();
    for payment in open_payments(page) {
        if patience.is_spent(payment.provider, app.clock.now()) {
            all.is_cut_short = true;
            continue;
        }
        if let Err(problem) = ask(app, &page.order, payment).await {
            patience.note(payment.provider, &problem);
            tracing::warn!(cause = %problem, payment = payment.id.as_str(), "payment not closed");
            all.failed.get_or_insert(problem);
        }
    }
    all
}

/// Settles what was paid, unless the order is over, and closes what was not.
async fn ask(app: &App, order: &Order, payment: &Payment) -> Result<(), Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    if order.is_over() {
        let is_taken = payment.awaits_decision() && !payment.captured.is_zero();
        if is_taken {
            return surplus::turn_down(app, &connected, payment).await;
        }
        return close(app, &connected, payment).await;
    }
    let seen = settlement::look(app, &connected, payment).await?;
    if matches!(seen.state, ObservedState::Captured | ObservedState::Authorized) {
        return apply(app, &connected, payment, &seen).await;
    }
    close(app, &connected, payment).await
}

/// Closes a payment with its provider. When the money was taken meanwhile, that is the news.
async fn close(app: &App, connected: &Connected, payment: &Payment) -> Result<(), Problem> {
    let seen = connected.void(app, payment).await?;
    apply(app, connected, payment, &seen).await
}

async fn apply(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    seen: &Observed,
) -> Result<(), Problem> {
    let place = ProviderReference::from(payment);
    let news = News { place: &place, seen, source: Source::Sync, event: None, is_answer: false };
    match settlement::apply(app, connected, news, |_| NoContent::default()).await {
        // It was answered, and is the merchant's to decide about.
        Err(problem) if problem.code == Code::AmountMismatch => Ok(()),
        outcome => outcome.map(drop),
    }
}

/// The payments that can still be paid, or taken; of an order that is over also those whose money
/// nobody can accept any more.
fn open_payments(page: &Parts) -> impl Iterator<Item = &Payment> {
    let is_over = page.order.is_over();
    page.payments.iter().filter(move |payment| {
        payment.is_open()
            || payment.status == PaymentStatus::Authorized
            || (is_over && payment.awaits_decision())
    })
}

/// Closes the payments of an order that is over. What a provider does not do now, the sweep asks
/// for again.
pub async fn unwind_or_warn(app: &App, store: &StoreId, id: &OrderId) {
    let patience = Patience::since(app.clock.now());
    if let Err(problem) = unwind(app, store, id, &patience).await {
        tracing::warn!(cause = %problem, order = id.as_str(), "payments of an order not closed");
    }
}

/// Closes the payments of an order that is over; whether all of them are closed.
async fn unwind(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    patience: &Patience,
) -> Result<bool, Problem> {
    let page = parts::load(app, store, id).await?;
    if !page.order.is_over() || page.order.attend_at.is_none() {
        return Ok(true);
    }
    let asked = ask_all(app, &page, patience).await;
    let (now, tries) = (app.clock.now(), page.order.attend_tries);
    if let Some(problem) = asked.failed {
        let tries = tries.saturating_add(1);
        remind(app, &page.order, Some(now.plus(Due::wait(tries))), tries).await?;
        return Err(problem);
    }
    if asked.is_cut_short {
        remind(app, &page.order, Some(now.plus(ASKED_AGAIN)), tries).await?;
        return Ok(false);
    }
    remind(app, &page.order, None, 0).await.map(|()| true)
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
            let page = Parts {
                order: order.clone(),
                fulfillments: Vec::new(),
                refunds: Vec::new(),
                payments: vec![payment],
            };
            let found = open_payments(&page).next().is_some();
            assert_eq!(found, is_open, "{:?} {:?}", order.status, page.payments);
        }
    }
}
