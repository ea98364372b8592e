//! Applying what was learnt about a payment to it and to its order, once.
//!
//! A customer's return, a webhook and a look-up may tell the same news at the same moment. Each
//! reads, decides and writes under the versions of what it has read; one of them writes, and the
//! others read again and find no news. A webhook's event is recorded in the transaction that it
//! causes, so that a crash before it leaves an event that the provider sends again.
//!
//! Money for an order that has expired, was called off or is paid already does not touch the
//! order: the payment records it, is marked for attention, and the money goes back.

use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::{Write, retry};
use serde::{Deserialize, Serialize};

use super::provider::{Connected, Provider};
use super::{
    Attention, CaptureMethod, Happened, Observed, ObservedState, Payment, PaymentRefund,
    PaymentStatus, ProviderName, ProviderReference, Source, Step, surplus,
};
use crate::event::{Event, ORDER_UPDATED};
use crate::id::{PaymentId, StoreId};
use crate::key;
use crate::money::Money;
use crate::order::spent::Spending;
use crate::order::{self, Order, OrderView, Outcome, Receipt, desk_refund};

/// How long a provider's events are kept: longer than any of them sends one again.
const EVENTS_KEPT: std::time::Duration = DAY.saturating_mul(30);

/// A provider's event that was handled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProviderEvent {
    /// The provider.
    pub provider: ProviderName,
    /// Its event id.
    pub event_id: String,
    /// The store whose account it came to.
    pub store_id: StoreId,
    /// The payment it is about, if it is one of the store's.
    pub payment_id: Option<PaymentId>,
    /// Its kind, in the provider's word.
    pub kind: String,
    /// The beginning of its body, sealed: it names the customer.
    pub sealed_body: String,
    /// When it came.
    pub created_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for ProviderEvent {
    const KIND: &'static str = "provider_event";
    fn key(&self) -> Key {
        event_key(&self.store_id, self.provider, &self.event_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(EVENTS_KEPT))
    }
}

/// The store is part of it: what one store's account is told says nothing to another's.
fn event_key(store: &StoreId, provider: ProviderName, event: &str) -> Key {
    key::provider_event(provider.as_str(), &format!("{store}#{event}"))
}

/// A payment and its order, as they are.
#[derive(Debug, Clone)]
pub struct Known {
    /// The payment.
    pub payment: Payment,
    /// Its order.
    pub order: Order,
}

/// Something that was learnt about a payment.
#[derive(Debug, Clone, Copy)]
pub struct News<'a> {
    /// Which payment.
    pub place: &'a ProviderReference,
    /// What its provider says.
    pub seen: &'a Observed,
    /// How that was learnt.
    pub source: Source,
    /// The event that told it.
    pub event: Option<&'a ProviderEvent>,
    /// Whether the answer is the request's, so that its idempotency record is completed with it.
    pub is_answer: bool,
}

/// Reads a payment and its order in one round trip.
///
/// # Errors
/// `not_found`.
pub async fn load(app: &App, place: &ProviderReference) -> Result<Known, Problem> {
    read(app, place, None).await.map(|(known, _)| known)
}

/// Reads a payment and its order, and whether an event has been handled.
async fn read(
    app: &App,
    place: &ProviderReference,
    event: Option<&ProviderEvent>,
) -> Result<(Known, bool), Problem> {
    let payment_key = key::payment(&place.store_id, &place.order_id, &place.payment_id);
    let order_key = key::order(&place.store_id, &place.order_id);
    let event_key = event.map(Item::key);
    let keys: Vec<&Key> = [&payment_key, &order_key].into_iter().chain(&event_key).collect();
    let mut found = app.table.get_many(&keys).await?;
    let payment = found.take(&payment_key)?.ok_or(Code::NotFound)?;
    let order = found.take(&order_key)?.ok_or(Code::NotFound)?;
    let handled = match &event_key {
        None => None,
        Some(key) => found.take::<ProviderEvent>(key)?,
    };
    Ok((Known { payment, order }, handled.is_some()))
}

/// What an attempt has come to.
struct Applied {
    known: Known,
    answer: Answer,
    /// Promises of the order that it was paid without.
    spared: Vec<Payment>,
}

/// Applies the news, and answers with the payment and the order as they are then. Money that the
/// order does not take is sent back.
///
/// # Errors
/// `amount_mismatch`, unless a webhook told it: then the payment is marked, and the event is
/// handled.
pub async fn apply(
    app: &App,
    connected: &Connected,
    news: News<'_>,
    answer: impl Fn(&Known) -> Answer,
) -> Result<Answer, Problem> {
    let spending = Spending::default();
    // Boxed: it is held by every handler that settles something.
    let applied = retry(|| Box::pin(once(app, news, &spending, &answer))).await?;
    let Applied { known, answer, spared } = applied;
    Box::pin(async {
        if known.payment.is_to_go_back() {
            surplus::give_back_or_warn(app, connected, &known.payment).await;
        }
        surplus::give_back_all(app, &spared).await;
    })
    .await;
    Ok(answer)
}

/// One attempt: read, decide, write.
async fn once(
    app: &App,
    news: News<'_>,
    spending: &Spending,
    answer: &impl Fn(&Known) -> Answer,
) -> Result<Applied, Problem> {
    let now = app.clock.now();
    let (known, is_handled) = read(app, news.place, news.event).await?;
    if is_handled {
        let answer = answer(&known);
        return Ok(Applied { known, answer, spared: Vec::new() });
    }
    let write = app.table.write();
    let write = write.also(news.event, |write, event| write.create(event, Code::VersionConflict));
    match known.payment.observe(news.seen, news.source, now) {
        Err(mismatch) => mismatched(write, news, known, mismatch, answer, now).await,
        Ok(None) => {
            let answered = answer(&known);
            if news.event.is_some() {
                write.commit().await?;
            }
            Ok(Applied { known, answer: answered, spared: Vec::new() })
        }
        Ok(Some(step)) => {
            let others = other_promises(app, &known, &step).await?;
            let (write, next, spared) = decide(write, &known, step, &others, now)?;
            let write = spending.count(app, write, &known.order, &next.order).await?;
            let answered = answer(&next);
            let answered = if news.is_answer {
                write.answer(answered, now).await?
            } else {
                write.commit().await?;
                answered
            };
            Ok(Applied { known: next, answer: answered, spared })
        }
    }
}

/// What is promised for the order besides a payment whose money has come in: a read more, but only
/// for an order that was to be paid in two ways.
async fn other_promises(app: &App, known: &Known, step: &Step) -> Result<Vec<Payment>, Problem> {
    let open = known.order.payments.iter().filter(|promise| {
        step.happened == Happened::Captured
            && promise.is_open_authorization()
            && promise.payment_id != step.payment.id
    });
    let (store, order) = (&known.order.store_id, &known.order.id);
    let keys: Vec<Key> =
        open.map(|promise| key::payment(store, order, &promise.payment_id)).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let promises: Result<Vec<Option<Payment>>, Problem> =
        keys.iter().map(|key| found.take(key)).collect();
    Ok(promises?.into_iter().flatten().collect())
}

/// The provider took something else than was asked for: nobody but the merchant can say why.
async fn mismatched(
    write: Write,
    news: News<'_>,
    known: Known,
    mismatch: Problem,
    answer: &impl Fn(&Known) -> Answer,
    now: Timestamp,
) -> Result<Applied, Problem> {
    let flagged = known.payment.flagged(Attention::AmountMismatch, now);
    let payment = flagged.clone().unwrap_or_else(|| known.payment.clone());
    let write =
        write.also(flagged, |write, payment| write.replace(&payment, Code::VersionConflict));
    write.commit().await?;
    if news.source != Source::Webhook {
        return Err(mismatch);
    }
    let known = Known { payment, ..known };
    let answer = answer(&known);
    Ok(Applied { known, answer, spared: Vec::new() })
}

/// What a step of a payment means for its order, and the promises that are let go of with it.
fn decide(
    write: Write,
    known: &Known,
    step: Step,
    others: &[Payment],
    now: Timestamp,
) -> Result<(Write, Known, Vec<Payment>), Problem> {
    let order = &known.order;
    let (payment_id, provider) = (step.payment.id.clone(), step.payment.provider.as_str());
    let receipt = |amount| Receipt { payment_id: &payment_id, provider, amount };
    let settled = match step.happened {
        Happened::Authorized | Happened::Captured
            if surplus::refusal(order, &step.payment).is_some() =>
        {
            return Ok(refused(write, order, step, now));
        }
        Happened::Authorized => order.authorize(receipt(&step.payment.authorized), now),
        Happened::Captured => order.settle_payment(receipt(&step.payment.captured), now)?,
        Happened::Voided => order.void_payment(&payment_id, now),
        Happened::Failed => {
            return Ok(with_order(write, order, order.payment_failed(now), step, now));
        }
        Happened::Refunded => return Ok(refunded(write, known, step, now)),
        Happened::RefundFailed | Happened::RefundAwaited => None,
    };
    let Some(settled) = settled else { return Ok(with_order(write, order, None, step, now)) };
    let mut step = step;
    step.payment.is_applied |= settled.outcome != Outcome::Lapsed;
    let (settled, spared) = if settled.outcome == Outcome::Paid {
        let spared: Vec<Payment> = others.iter().map(|payment| payment.spared(now)).collect();
        (settled.without_promises(), spared)
    } else {
        (settled, Vec::new())
    };
    let write = order::settle(step.write(write, now), &settled, now);
    let write =
        spared.iter().fold(write, |write, spared| write.replace(spared, Code::VersionConflict));
    Ok((write, Known { payment: step.payment, order: settled.order }, spared))
}

/// Money that the order does not take: the payment alone knows of it.
fn refused(
    write: Write,
    order: &Order,
    step: Step,
    now: Timestamp,
) -> (Write, Known, Vec<Payment>) {
    let mut step = step;
    step.payment.attention = surplus::refusal(order, &step.payment);
    step.payment.is_applied = false;
    with_order(write, order, None, step, now)
}

/// Money went back. When we did not ask for that, the order learns of it here.
fn refunded(
    write: Write,
    known: &Known,
    step: Step,
    now: Timestamp,
) -> (Write, Known, Vec<Payment>) {
    let is_new =
        |refund: &&PaymentRefund| known.payment.refunds.iter().all(|old| old.id != refund.id);
    let at_desk = step.payment.refunds.iter().find(is_new).filter(|_| step.payment.is_applied);
    let done = at_desk.and_then(|refund| {
        known.order.refunded_at_desk(&step.payment.id, &refund.id, &refund.amount, now)
    });
    let Some(done) = done else { return with_order(write, &known.order, None, step, now) };
    let write = desk_refund::record(step.write(write, now), &done, now);
    (write, Known { payment: step.payment, order: done.order }, Vec::new())
}

fn with_order(
    write: Write,
    order: &Order,
    changed: Option<Order>,
    step: Step,
    now: Timestamp,
) -> (Write, Known, Vec<Payment>) {
    let write = step.write(write, now).also(changed.as_ref(), |write, order| {
        let event = Event::new(&ORDER_UPDATED, order.about(), &OrderView::from(order), now);
        write.replace(order, Code::VersionConflict).emit(event)
    });
    let order = changed.unwrap_or_else(|| order.clone());
    (write, Known { payment: step.payment, order }, Vec::new())
}

/// Asks the provider about a payment; takes what was authorized where nobody has to say so, unless
/// the order does not want it any more.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn look(
    app: &App,
    connected: &Connected,
    payment: &Payment,
) -> Result<Observed, Problem> {
    let seen = connected.fetch(app, payment).await?;
    let is_ours_to_take = seen.state == ObservedState::Authorized
        && payment.capture_method == CaptureMethod::Automatic
        && seen.amount.as_ref() == Some(&payment.amount)
        && (payment.is_open() || payment.status == PaymentStatus::Authorized);
    if !is_ours_to_take {
        return Ok(seen);
    }
    let known = load(app, &ProviderReference::from(payment)).await?;
    let provider_payment = seen.provider_payment.clone();
    let carried = Payment { provider_payment, captured: payment.amount.clone(), ..known.payment };
    if surplus::refusal(&known.order, &carried).is_some() {
        return Ok(seen);
    }
    match connected.capture(app, &carried, &payment.amount).await {
        Ok(captured) => Ok(captured),
        Err(failure) => {
            // The promise is news all the same, and the next look takes it.
            tracing::warn!(cause = %failure, "authorized, but not captured");
            Ok(seen)
        }
    }
}

/// How much of a payment its merchant may take now: not more than its order is short of.
///
/// # Errors
/// `not_capturable`, `amount_exceeds_authorized`, `order_already_paid`; a fault of `/amount`.
pub fn capturable(
    payment: &Payment,
    order: &Order,
    wanted: Option<&Money>,
) -> Result<Money, Problem> {
    if order.is_over() {
        let current = Code::NotCapturable.with("current", payment.status.as_str());
        return Err(current.with("order_status", order.status.as_str()));
    }
    let amount = payment.capturable(wanted)?;
    let outstanding = order.outstanding();
    // Two ways to pay one order may both have been begun.
    if outstanding.is_zero() {
        return Err(Code::OrderAlreadyPaid.into());
    }
    match (outstanding.minus(&amount), wanted) {
        (Some(_), _) => Ok(amount),
        (None, None) => payment.capturable(Some(&outstanding)),
        (None, Some(_)) => {
            let detail = "Must be at most what is left to pay for the order.";
            Err(Problem::field("/amount", "out_of_range", detail))
        }
    }
}
