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
    Attention, CaptureMethod, Happened, Observed, ObservedState, Payment, PaymentStatus,
    ProviderName, ProviderReference, RefundState, Source, Step,
};
use crate::event::{Event, ORDER_UPDATED};
use crate::id::{PaymentId, RefundId, StoreId};
use crate::key;
use crate::order::{self, Order, OrderView, Receipt};

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
    // Boxed: it is held by every handler that settles something.
    let (known, answer) = retry(|| Box::pin(once(app, news, &answer))).await?;
    if known.payment.is_to_go_back() {
        Box::pin(give_back(app, connected, news.place, &known.payment)).await;
    }
    Ok(answer)
}

/// One attempt: read, decide, write.
async fn once(
    app: &App,
    news: News<'_>,
    answer: &impl Fn(&Known) -> Answer,
) -> Result<(Known, Answer), Problem> {
    let now = app.clock.now();
    let (known, is_handled) = read(app, news.place, news.event).await?;
    if is_handled {
        let answer = answer(&known);
        return Ok((known, answer));
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
            Ok((known, answered))
        }
        Ok(Some(step)) => {
            let (write, next) = decide(write, &known.order, step, now)?;
            let answered = answer(&next);
            let answered = if news.is_answer {
                write.answer(answered, now).await?
            } else {
                write.commit().await?;
                answered
            };
            order::spent::note(app, &known.order, &next.order).await;
            Ok((next, answered))
        }
    }
}

/// The provider took something else than was asked for: nobody but the merchant can say why.
async fn mismatched(
    write: Write,
    news: News<'_>,
    known: Known,
    mismatch: Problem,
    answer: &impl Fn(&Known) -> Answer,
    now: Timestamp,
) -> Result<(Known, Answer), Problem> {
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
    Ok((known, answer))
}

/// What a step of a payment means for its order.
fn decide(
    write: Write,
    order: &Order,
    step: Step,
    now: Timestamp,
) -> Result<(Write, Known), Problem> {
    let (payment_id, provider) = (step.payment.id.clone(), step.payment.provider.as_str());
    let receipt = |amount| Receipt { payment_id: &payment_id, provider, amount };
    let settled = match step.happened {
        Happened::Authorized | Happened::Captured if refusal(order, &step.payment).is_some() => {
            return Ok(surplus(write, order, step, now));
        }
        Happened::Authorized => order.authorize(receipt(&step.payment.authorized), now),
        Happened::Captured => order.settle_payment(receipt(&step.payment.captured), now)?,
        Happened::Voided => {
            return Ok(with_order(write, order, order.void_payment(&payment_id, now), step, now));
        }
        Happened::Failed => {
            return Ok(with_order(write, order, order.payment_failed(now), step, now));
        }
        Happened::Refunded | Happened::RefundFailed => None,
    };
    let Some(settled) = settled else { return Ok(with_order(write, order, None, step, now)) };
    let mut step = step;
    step.payment.is_applied = true;
    let write = order::settle(step.write(write, now), &settled, now);
    Ok((write, Known { payment: step.payment, order: settled.order }))
}

/// Why the order does not take this payment's money.
fn refusal(order: &Order, payment: &Payment) -> Option<Attention> {
    let promised = order.payment(&payment.id).is_some_and(|known| !known.voided);
    if order.is_over() {
        return Some(Attention::LatePayment);
    }
    let is_taken = order.outstanding().is_zero();
    let is_promised = payment.captured.is_zero() && !order.authorized().is_zero() && !promised;
    (is_taken || is_promised).then_some(Attention::DuplicatePayment)
}

/// Money that the order does not take: the payment alone knows of it.
fn surplus(write: Write, order: &Order, step: Step, now: Timestamp) -> (Write, Known) {
    let mut step = step;
    step.payment.attention = refusal(order, &step.payment);
    step.payment.is_applied = false;
    let write = step.write(write, now);
    (write, Known { payment: step.payment, order: order.clone() })
}

fn with_order(
    write: Write,
    order: &Order,
    changed: Option<Order>,
    step: Step,
    now: Timestamp,
) -> (Write, Known) {
    let write = step.write(write, now).also(changed.as_ref(), |write, order| {
        let event = Event::new(&ORDER_UPDATED, order.about(), &OrderView::from(order), now);
        write.replace(order, Code::VersionConflict).emit(event)
    });
    let order = changed.unwrap_or_else(|| order.clone());
    (write, Known { payment: step.payment, order })
}

/// Asks the provider about a payment; takes what was authorized where nobody has to say so.
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
        && payment.is_open();
    if !is_ours_to_take {
        return Ok(seen);
    }
    let carried = Payment { provider_payment: seen.provider_payment.clone(), ..payment.clone() };
    match connected.capture(app, &carried, &payment.amount).await {
        Ok(captured) => Ok(captured),
        Err(failure) => {
            // The promise is news all the same, and the next look takes it.
            tracing::warn!(cause = %failure, "authorized, but not captured");
            Ok(seen)
        }
    }
}

impl Payment {
    /// Whether the order did not take this payment's money, and it has not gone back yet.
    fn is_to_go_back(&self) -> bool {
        let late =
            matches!(self.attention, Some(Attention::LatePayment | Attention::DuplicatePayment));
        let held = self.status == PaymentStatus::Authorized
            || matches!(self.status, PaymentStatus::Captured | PaymentStatus::PartiallyRefunded);
        let refused = self.refunds.iter().any(|refund| {
            refund.id == self.surplus_refund() && refund.status == RefundState::Failed
        });
        late && held && !self.is_applied && !refused
    }

    /// The id of the refund of money that the order did not take: one, however often it is tried.
    fn surplus_refund(&self) -> RefundId {
        RefundId::derive(&[self.id.as_str(), "surplus"])
    }
}

/// Sends back what the order did not take. A failure leaves the payment marked; the next sync, or
/// the merchant, tries again.
async fn give_back(app: &App, connected: &Connected, place: &ProviderReference, payment: &Payment) {
    let outcome = if payment.status == PaymentStatus::Authorized {
        let_go(app, connected, place, payment).await
    } else {
        refund_surplus(app, connected, place, payment).await
    };
    if let Err(problem) = outcome {
        tracing::warn!(cause = %problem, payment = payment.id.as_str(), "money not sent back");
    }
}

async fn let_go(
    app: &App,
    connected: &Connected,
    place: &ProviderReference,
    payment: &Payment,
) -> Result<(), Problem> {
    let seen = connected.void(app, payment).await?;
    retry(|| async {
        let now = app.clock.now();
        let known = load(app, place).await?;
        match known.payment.observe(&seen, Source::Sync, now)? {
            None => Ok(()),
            Some(step) => step.write(app.table.write(), now).commit().await,
        }
    })
    .await
}

async fn refund_surplus(
    app: &App,
    connected: &Connected,
    place: &ProviderReference,
    payment: &Payment,
) -> Result<(), Problem> {
    let id = payment.surplus_refund();
    let reserved = super::refund::reserve(app, place, &id, None).await?;
    super::refund::carry_out(app, connected, &reserved, &id).await.map(drop)
}
