//! Orders whose time has come: those that were not paid in time, and those that are over while a
//! payment of theirs is still open.
//!
//! Crash story. Before an order expires, its providers are asked: what was paid is settled, and
//! what was not is closed, so that nobody pays for an order that is over. A provider that does not
//! answer has the order wait, but not for ever. The end of an order, whichever it is, leaves a due
//! mark; it goes when every payment is closed. Each step may be repeated, by two at once too: a
//! payment is closed under one key, what is learnt about it is applied once, and the order ends
//! under its version.

use std::time::Duration;

use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::{MINUTE, Timestamp};
use gateway::item::Item;
use gateway::outbox::Due;
use gateway::problem::{Code, Problem};
use gateway::table::Change;

use super::parts::{self, Parts};
use super::{Order, settle};
use crate::id::{OrderId, StoreId};
use crate::payment::account::connect;
use crate::payment::due::Patience;
use crate::payment::provider::{Connected, Provider};
use crate::payment::settle::{self as settlement, News};
use crate::payment::{Observed, ObservedState, Payment, PaymentStatus, ProviderReference, Source};

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
    if patience.is_spent() {
        return Ok(false);
    }
    let unwound = unwind(app, &order.store_id, &order.id).await;
    unwound.inspect_err(|problem| patience.note(problem)).map(|()| true)
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
        let latest = page.order.expires_at.map(|at| at.plus(LONGEST_WAIT));
        let can_wait = latest.is_some_and(|latest| now < latest);
        if patience.is_spent() && can_wait {
            return Ok(false);
        }
        if let Err(problem) = ask_all(app, &page, patience).await {
            tracing::warn!(cause = %problem, "a provider was not asked before an order expires");
            if can_wait {
                remind(app, &page.order, Some(now.plus(ASKED_AGAIN)), 0).await?;
                return Err(problem);
            }
        }
        page = parts::load(app, &order.store_id, &order.id).await?;
    }
    let Some(ended) = page.order.expire(now) else { return Ok(true) };
    settle::expire(app.table.write(), &ended, now).commit().await?;
    Ok(true)
}

/// Settles what was paid, and closes what was not.
async fn ask_all(app: &App, page: &Parts, patience: &Patience) -> Result<(), Problem> {
    for payment in open_payments(page) {
        if patience.is_spent() {
            return Err(Code::ProviderTimeout.into());
        }
        let asked = settle_or_close(app, payment).await;
        asked.inspect_err(|problem| patience.note(problem))?;
    }
    Ok(())
}

async fn settle_or_close(app: &App, payment: &Payment) -> Result<(), Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
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
    settlement::apply(app, connected, news, |_| Answer::no_content()).await.map(drop)
}

/// The payments that can still be paid, or taken.
fn open_payments(page: &Parts) -> impl Iterator<Item = &Payment> {
    let is_open =
        |payment: &&Payment| payment.is_open() || payment.status == PaymentStatus::Authorized;
    page.payments.iter().filter(is_open)
}

/// Closes the payments of an order that is over. What a provider does not do now, the sweep asks
/// for again.
pub async fn unwind_or_warn(app: &App, store: &StoreId, id: &OrderId) {
    if let Err(problem) = unwind(app, store, id).await {
        tracing::warn!(cause = %problem, order = id.as_str(), "payments of an order not closed");
    }
}

async fn unwind(app: &App, store: &StoreId, id: &OrderId) -> Result<(), Problem> {
    let page = parts::load(app, store, id).await?;
    if !page.order.is_over() || page.order.attend_at.is_none() {
        return Ok(());
    }
    for payment in open_payments(&page) {
        let closed = match connect(app, store, payment.provider).await {
            Ok(connected) => close(app, &connected, payment).await,
            Err(problem) => Err(problem),
        };
        if let Err(problem) = closed {
            let tries = page.order.attend_tries.saturating_add(1);
            let at = app.clock.now().plus(Due::wait(tries));
            remind(app, &page.order, Some(at), tries).await?;
            return Err(problem);
        }
    }
    remind(app, &page.order, None, 0).await
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
