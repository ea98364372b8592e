//! Giving money back: the second and third step of a refund.
//!
//! A provider either does it ([`Said::Done`]), refuses it ([`Said::Refused`]), or takes it in and
//! says later what became of it ([`Said::Pending`]). Whoever learns that, from an answer
//! ([`ask`]) or from an event, records it with [`conclude`], on the payment, on the refund and on
//! the order alike.

use std::time::Duration;

use catalogue::inventory;
use gateway::app::App;
use gateway::clock::{MINUTE, Timestamp};
use gateway::problem::{Code, Problem};
use gateway::table::{Write, retry};
use ground::event::Event;
use ground::id::{PaymentId, RefundId};
use ground::money::Money;

use super::account::connect;
use super::connected::Connected;
use super::provider::{Failure, Provider, RefundSeen, Said};
use super::{Payment, PaymentRefund, ProviderReference, RefundState, Step, known};
use crate::order::parts::Parts;
use crate::order::refund::{REFUND_FAILED, REFUND_SUCCEEDED, Refund, RefundStatus};
use crate::order::spent::Spending;
use crate::order::{ORDER_REFUNDED, ORDER_UPDATED, Order, OrderView, parts};

/// A refund that was asked for so long ago is looked up before it is asked for again: providers
/// forget what they deduplicate on.
const LOOKED_UP_AFTER: Duration = MINUTE.saturating_mul(10);

/// Asks a payment's provider to give `amount` back, once per refund id however often it is asked.
/// One that has taken the refund in before is asked what has become of it.
///
/// # Errors
/// `provider_error`, `provider_timeout`, `service_unavailable`: it may have been done; ask again
/// under the same id.
pub async fn ask(
    app: &App,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<Said, Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    ask_connected(app, &connected, payment, id, amount).await
}

async fn ask_connected(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<Said, Problem> {
    let entry = payment.refunds.iter().find(|refund| refund.id == *id);
    let is_old = |entry: &PaymentRefund| {
        entry.provider_reference.is_some()
            || entry.created_at.plus(LOOKED_UP_AFTER) <= app.clock.now()
    };
    if entry.is_some_and(is_old)
        && let Some(said) = connected.look_up_refund(app, payment, id).await?
    {
        return Ok(said);
    }
    match connected.refund(app, payment, id, amount).await {
        Err(Failure::Refused(code)) => Ok(Said::Refused(code)),
        said => said.map_err(Problem::from),
    }
}

/// What providers said to a refund of ours, ready to be written.
#[derive(Debug)]
pub struct Concluded {
    /// The order as it is then.
    pub order: Order,
    /// The refund as it is then; none for money that no order counted.
    pub refund: Option<Refund>,
    payments: Vec<Step>,
    before: Option<RefundStatus>,
    is_order_changed: bool,
}

/// What it means that providers said this to a refund: to its payments, to the refund itself and
/// to the order. `None` when all of it is known.
pub fn conclude(
    page: &Parts,
    id: &RefundId,
    said: &[(PaymentId, Said)],
    now: Timestamp,
) -> Option<Concluded> {
    let known = page.refunds.iter().find(|refund| refund.id == *id);
    let mut refund = known.map(|known| known.changed(now));
    let (mut payments, mut refused) = (Vec::new(), Vec::new());
    let mut is_told = false;
    for (payment, said) in said {
        let Some(known) = page.payments.iter().find(|known| known.id == *payment) else { continue };
        let outcome = match said {
            Said::Pending(reference) => {
                payments.extend(known.await_refund(id, reference, now));
                continue;
            }
            Said::Done(reference) => Ok(reference.clone()),
            Said::Refused(code) => Err(code.clone()),
        };
        let Some(step) = known.finish_refund(id, &outcome, now) else { continue };
        payments.push(step);
        is_told = true;
        if let Some(refund) = &mut refund {
            refund.mark(payment, &outcome);
        }
        if outcome.is_err() {
            refused.push(payment.clone());
        }
    }
    if payments.is_empty() {
        return None;
    }
    let refund = refund.filter(|_| is_told);
    let changed = refund.as_ref().filter(|_| !refused.is_empty());
    let changed = changed.map(|refund| page.order.refund_refused(refund, &refused, now));
    let is_order_changed = changed.is_some();
    Some(Concluded {
        order: changed.unwrap_or_else(|| page.order.clone()),
        refund: refund.or_else(|| known.cloned()),
        payments,
        before: known.filter(|_| is_told).map(|known| known.status),
        is_order_changed,
    })
}

impl Concluded {
    /// Adds it to a transaction, with what is announced of it.
    pub fn write(&self, write: Write, now: Timestamp) -> Write {
        let mut write = self.payments.iter().fold(write, |write, step| step.write(write, now));
        if self.is_order_changed {
            write = write.replace(&self.order, Code::VersionConflict);
        }
        let (Some(refund), Some(before)) = (&self.refund, self.before) else { return write };
        let view = OrderView::from(&self.order);
        let about_order = |topic| Event::new(topic, self.order.about(), &view, now);
        let write = write.replace(refund, Code::VersionConflict);
        match refund.status {
            RefundStatus::Succeeded if before != refund.status => {
                write.emit(refund.event(&REFUND_SUCCEEDED, now)).emit(about_order(&ORDER_REFUNDED))
            }
            RefundStatus::Failed if before != refund.status => {
                write.emit(refund.event(&REFUND_FAILED, now)).emit(about_order(&ORDER_UPDATED))
            }
            _ if self.is_order_changed => write.emit(about_order(&ORDER_UPDATED)),
            _ => write,
        }
    }
}

/// Records what a provider said to its part of a refund, on the payment, the refund and the order.
/// Said twice, it is recorded once.
///
/// # Errors
/// `not_found`, when the order is gone.
pub async fn record(
    app: &App,
    place: &ProviderReference,
    id: &RefundId,
    said: &Said,
) -> Result<(), Problem> {
    record_of(app, place, None, id, said).await
}

/// The same for what an event tells of a refund, and of the payment that it gives back: one of
/// another payment for the same provider's order is none of ours.
///
/// # Errors
/// `not_found`, when the order is gone.
pub async fn heard(
    app: &App,
    place: &ProviderReference,
    seen: &RefundSeen,
    carrier: Option<&str>,
) -> Result<(), Problem> {
    record_of(app, place, carrier, &seen.id, &seen.said).await
}

async fn record_of(
    app: &App,
    place: &ProviderReference,
    carrier: Option<&str>,
    id: &RefundId,
    said: &Said,
) -> Result<(), Problem> {
    let said = [(place.payment_id.clone(), said.clone())];
    let spending = Spending::default();
    inventory::persist(|| async {
        let now = app.clock.now();
        let page = parts::load(app, &place.store_id, &place.order_id).await?;
        let known = page.payments.iter().find(|payment| payment.id == place.payment_id);
        if known.is_some_and(|payment| !payment.is_carried_by(carrier)) {
            return Ok(());
        }
        let Some(concluded) = conclude(&page, id, &said, now) else { return Ok(()) };
        let write = concluded.write(app.table.write(), now);
        let write = spending.count(app, write, &page.order, &concluded.order).await?;
        write.commit().await
    })
    .await
}

/// Gives back money that no order counts, once per refund id: all three steps.
///
/// # Errors
/// `payment_not_captured`, `refund_exceeds_captured`, `provider_timeout`; `provider_error`, also
/// when the provider refuses for good.
pub async fn of_surplus(
    app: &App,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<(Payment, PaymentRefund), Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    let place = ProviderReference::from(payment);
    let reserved = reserve(app, &place, id, Some(amount)).await?;
    let payment = carry_out(app, &connected, &reserved, id).await?;
    let entry = payment.refunds.iter().find(|refund| refund.id == *id).cloned();
    let entry = entry.ok_or(Code::NotFound)?;
    if entry.status == RefundState::Failed {
        return Err(Code::ProviderError
            .with("refund_id", id.as_str())
            .with("failure_code", entry.failure_code)
            .because("a provider refused a refund"));
    }
    Ok((payment, entry))
}

/// The first step: reserves `amount`, or all that is left, on the payment alone.
pub(super) async fn reserve(
    app: &App,
    place: &ProviderReference,
    id: &RefundId,
    amount: Option<&Money>,
) -> Result<Payment, Problem> {
    retry(|| async {
        let known = known::load(app, place).await?.payment;
        if known.refunds.iter().any(|refund| refund.id == *id) {
            return Ok(known);
        }
        let amount = amount.cloned().unwrap_or_else(|| known.refundable());
        let next = known.begin_refund(id, &amount, app.clock.now())?;
        app.table.write().replace(&next, Code::VersionConflict).commit().await?;
        Ok(next)
    })
    .await
}

/// Asks for a refund that was reserved on the payment alone, and records the outcome.
///
/// # Errors
/// `provider_error`, `provider_timeout`: it stays reserved.
pub(super) async fn carry_out(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    id: &RefundId,
) -> Result<Payment, Problem> {
    let reserved = payment.refunds.iter().find(|refund| refund.id == *id);
    let reserved = reserved.ok_or(Code::NotFound)?;
    if reserved.status != RefundState::Pending {
        return Ok(payment.clone());
    }
    let said = ask_connected(app, connected, payment, id, &reserved.amount).await?;
    let place = ProviderReference::from(payment);
    record(app, &place, id, &said).await?;
    known::load(app, &place).await.map(|known| known.payment)
}
