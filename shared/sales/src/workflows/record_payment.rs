//! Records an update about a payment on the payment and its order, once.
//!
//! A customer's return, a webhook and a fetch may report the same at the same moment. Each reads, decides
//! and writes on condition of the versions that it has read; one of them writes, and the others read again
//! and find nothing new. A webhook's event is recorded in the transaction that it causes: after a crash
//! before that, the provider sends it again.
//!
//! Money for an order that has expired, was cancelled or is already paid does not change the order: the
//! payment records it, is marked for attention, and the money is returned. An amount other than the
//! requested one does not change it either, until the merchant accepts ([`accept()`]) or refunds it. If the
//! order ends before that, the amount is returned automatically.
//!
//! A capture that was refunded before it was reported is applied in one step with its refund.

mod accept;
mod capture;

use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Key;
use table::{Attempt, Completion, Write, retry_attempts};

pub use accept::accept;
pub use capture::{capture, fetch_and_capture};

use super::return_unapplied;
use crate::order::aggregate::PaymentWithOrder;
use crate::order::{IncomingPayment, ORDER_PAID, ORDER_UPDATED, Order, OrderChange, load};
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::Provider;
use crate::payment::provider_client::ProviderClient;
use crate::payment::provider_event::ProviderEvent;
use crate::payment::{
    Attention, Capabilities, Observed, Payment, PaymentChange, PaymentRefund, PaymentSource,
    PaymentStatus, Transition,
};

/// An update about a payment.
#[derive(Debug, Clone, Copy)]
pub struct PaymentUpdate<'a> {
    /// The payment.
    pub lookup: &'a PaymentLookup,
    /// The payment as its provider reports it.
    pub observed: &'a Observed,
    /// The source of the report.
    pub source: PaymentSource,
    /// The provider's event, if that is the source.
    pub event: Option<&'a ProviderEvent>,
}

/// The result of an attempt.
struct RecordingResult<O> {
    current: PaymentWithOrder,
    output: O,
    /// Whether the update was new.
    is_new: bool,
    /// Authorizations that the order no longer needs.
    superseded: Vec<Payment>,
}

impl<O> RecordingResult<O> {
    /// Nothing has changed.
    fn unchanged(
        current: PaymentWithOrder,
        completion: &impl Completion<PaymentWithOrder, Output = O>,
    ) -> Self {
        let output = completion.unchanged(&current);
        Self { current, output, is_new: false, superseded: Vec::new() }
    }
}

/// Records an update. The outcome is the payment and the order after it. Money that the order does not
/// accept is returned.
///
/// # Errors
/// `amount_mismatch`, unless a webhook reported it: the payment is marked, and awaits the merchant's
/// decision.
pub async fn record<C: Completion<PaymentWithOrder>>(
    services: &Services,
    provider_client: &ProviderClient,
    update: PaymentUpdate<'_>,
    completion: &C,
) -> Result<C::Output, Problem> {
    let RecordingResult { current, output, .. } =
        apply(services, provider_client, update, completion).await?;
    let was_requested = matches!(update.source, PaymentSource::Verify | PaymentSource::Sync);
    if was_requested && current.payment.awaits_decision() {
        return Err(unexpected(&current.payment));
    }
    Ok(output)
}

/// The error for an amount other than the requested one.
fn unexpected(payment: &Payment) -> Problem {
    let observed = if payment.captured.is_zero() { &payment.authorized } else { &payment.captured };
    let to_json = |money| serde_json::to_value(money).unwrap_or_default();
    Code::AmountMismatch
        .with("expected", to_json(&payment.amount))
        .with("received", to_json(observed))
}

/// Applies an update, and returns money that the order does not accept.
async fn apply<C: Completion<PaymentWithOrder>>(
    services: &Services,
    provider_client: &ProviderClient,
    update: PaymentUpdate<'_>,
    completion: &C,
) -> Result<RecordingResult<C::Output>, Problem> {
    // Boxed: the future of every handler that records something contains it.
    let once = |attempt| Box::pin(once(services, update, attempt, completion));
    let recorded = retry_attempts(once).await?;
    Box::pin(async {
        if recorded.current.payment.is_to_go_back() {
            return_unapplied::return_or_warn(services, provider_client, &recorded.current.payment)
                .await;
        }
        return_unapplied::return_all(services, &recorded.superseded).await;
    })
    .await;
    Ok(recorded)
}

/// Completes a webhook's report. Usually that is the report itself.
///
/// If several payments can be made under one reference, a report of a full refund may be about the second
/// one, of an order that the first one has paid. Only the provider knows, so the payment is fetched then.
///
/// # Errors
/// `provider_error`, `provider_timeout`: the event is to be sent again.
pub async fn in_full(
    services: &Services,
    provider_client: &ProviderClient,
    lookup: &PaymentLookup,
    observed: &Observed,
) -> Result<Observed, Problem> {
    let has_several = Capabilities::of(provider_client.name()).has_several_payments;
    if !has_several || !observed.has_all_gone_back() {
        return Ok(observed.clone());
    }
    let payment = load::payment(services, lookup).await?.payment;
    if !payment.captured.is_zero() {
        return Ok(observed.clone());
    }
    Ok(provider_client.fetch(services, &payment).await?)
}

/// Makes one attempt: reads, decides and writes.
async fn once<C: Completion<PaymentWithOrder>>(
    services: &Services,
    update: PaymentUpdate<'_>,
    attempt: Attempt,
    completion: &C,
) -> Result<RecordingResult<C::Output>, Problem> {
    let now = services.clock.now();
    let (current, is_handled) =
        load::payment_and_event(services, update.lookup, update.event).await?;
    if is_handled {
        return Ok(RecordingResult::unchanged(current, completion));
    }
    let write = services.table.write();
    let write =
        write.when_some(update.event, |write, event| write.create(event, Code::VersionConflict));
    match current.payment.observe(update.observed, update.source, now) {
        Err(mismatch) => record_mismatch(write, update, current, mismatch, completion, now).await,
        Ok(None) => {
            if update.event.is_some() {
                write.commit().await?;
            }
            Ok(RecordingResult::unchanged(current, completion))
        }
        Ok(Some(change)) => {
            let others = match change.transition {
                Transition::Captured => other_authorizations(services, &current).await?,
                _ => Vec::new(),
            };
            let DecidedUpdate { change, payment, superseded } =
                decide(&current, change, &others, now)?;
            let write = change.save(services, write, attempt, now).await?;
            let next = PaymentWithOrder { payment, order: change.order };
            // An update that ends in an error is not the end of its workflow.
            let is_rejected = next.payment.awaits_decision()
                || (update.source == PaymentSource::Admin && next.payment.is_to_go_back());
            let output = if is_rejected {
                write.commit().await?;
                completion.unchanged(&next)
            } else {
                completion.commit(write, &next, now).await?
            };
            Ok(RecordingResult { current: next, output, is_new: true, superseded })
        }
    }
}

/// Loads the order's open authorizations other than this payment. Makes a read only if there are any.
async fn other_authorizations(
    services: &Services,
    current: &PaymentWithOrder,
) -> Result<Vec<Payment>, Problem> {
    let open = current.order.payments.iter().filter(|promise| {
        promise.is_open_authorization() && promise.payment_id != current.payment.id
    });
    let (store, order) = (&current.order.store_id, &current.order.id);
    let keys: Vec<Key> =
        open.map(|promise| key::payment(store, order, &promise.payment_id)).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let promises: Result<Vec<Option<Payment>>, Problem> =
        keys.iter().map(|key| found.take(key)).collect();
    Ok(promises?.into_iter().flatten().collect())
}

/// Marks a payment whose amount is in another currency and cannot be recorded, for the merchant to resolve.
async fn record_mismatch<C: Completion<PaymentWithOrder>>(
    write: Write,
    update: PaymentUpdate<'_>,
    current: PaymentWithOrder,
    mismatch: Problem,
    completion: &C,
    now: Timestamp,
) -> Result<RecordingResult<C::Output>, Problem> {
    let flagged = current.payment.flagged(Attention::AmountMismatch, now);
    let payment = flagged.clone().unwrap_or_else(|| current.payment.clone());
    let write =
        write.when_some(flagged, |write, payment| write.replace(&payment, Code::VersionConflict));
    write.commit().await?;
    if update.source != PaymentSource::Webhook {
        return Err(mismatch);
    }
    Ok(RecordingResult::unchanged(PaymentWithOrder { payment, ..current }, completion))
}

/// The writes that an update leads to.
struct DecidedUpdate {
    change: OrderChange,
    /// The payment after the update.
    payment: Payment,
    /// Authorizations that the order no longer needs.
    superseded: Vec<Payment>,
}

impl DecidedUpdate {
    /// Combines a payment's change with a change of its order.
    fn of(change: OrderChange, payment: PaymentChange) -> Self {
        let current = payment.payment.clone();
        // A dispute may have been reported before its capture.
        let change = change.with_payment(payment).and_disputed(&current, current.updated_at);
        Self { change, payment: current, superseded: Vec::new() }
    }
}

/// Decides how a payment's change affects its order, and which authorizations it supersedes.
fn decide(
    current: &PaymentWithOrder,
    change: PaymentChange,
    others: &[Payment],
    now: Timestamp,
) -> Result<DecidedUpdate, Problem> {
    let before = &current.order;
    let completed = match change.transition {
        Transition::Processing => None,
        _ => before.without_processing(&change.payment.id, now),
    };
    let order = completed.as_ref().unwrap_or(before);
    let unchanged = || match &completed {
        Some(next) => OrderChange::new(before, next.changed(now)).announced(&ORDER_UPDATED),
        None => OrderChange::none(before),
    };
    let (payment_id, provider) = (change.payment.id.clone(), change.payment.provider.as_str());
    let receipt = |amount| IncomingPayment { payment_id: &payment_id, provider, amount };
    let next = match change.transition {
        Transition::Authorized | Transition::Captured
            if order.rejection(&change.payment).is_some() =>
        {
            return Ok(rejected(order, unchanged(), change));
        }
        Transition::Mismatched if order.is_over() || order.outstanding().is_zero() => {
            return Ok(rejected(order, unchanged(), change));
        }
        Transition::Processing => order.payment_processing(&payment_id, now),
        Transition::Authorized => order.authorize(receipt(&change.payment.authorized), now),
        Transition::Captured => order.apply_payment(receipt(&change.payment.captured), now)?,
        Transition::Voided => order.void_payment(&payment_id, now),
        Transition::Failed => {
            let next = order.payment_failed(now).map(|next| OrderChange::new(order, next));
            let next = next.map(|next| next.announced(&ORDER_UPDATED));
            return Ok(DecidedUpdate::of(next.unwrap_or_else(unchanged), change));
        }
        Transition::Refunded => return Ok(externally_refunded(current, change, now)),
        _ => None,
    };
    let Some(next) = next else { return Ok(DecidedUpdate::of(unchanged(), change)) };
    let mut change = change;
    let brings_money = !matches!(change.transition, Transition::Voided | Transition::Processing);
    change.payment.is_applied |= brings_money;
    let (next, superseded) = supersede(next, others, now);
    let external = change.has_gone_back.then(|| external_refund(&current.payment, &change.payment));
    let next = match external.flatten() {
        Some(external) => {
            next.and_externally_refunded(&payment_id, &external.id, &external.amount, now)
        }
        None => next,
    };
    Ok(DecidedUpdate { superseded, ..DecidedUpdate::of(next, change) })
}

/// Supersedes the other authorizations once the order is paid in full.
fn supersede(
    change: OrderChange,
    others: &[Payment],
    now: Timestamp,
) -> (OrderChange, Vec<Payment>) {
    if !change.announces(&ORDER_PAID) {
        return (change, Vec::new());
    }
    let superseded: Vec<PaymentChange> =
        others.iter().map(|payment| payment.superseded(now)).collect();
    let payments = superseded.iter().map(|change| change.payment.clone()).collect();
    let change =
        superseded.into_iter().fold(change.without_authorizations(), OrderChange::with_payment);
    (change, payments)
}

/// The refund that is new on a payment: it was made directly at the provider.
fn external_refund<'a>(before: &Payment, after: &'a Payment) -> Option<&'a PaymentRefund> {
    after.refunds.iter().find(|refund| before.refund(&refund.id).is_none())
}

/// Records money that the order does not accept, on the payment alone.
fn rejected(order: &Order, next: OrderChange, mut change: PaymentChange) -> DecidedUpdate {
    let is_refunded = change.payment.status == PaymentStatus::Refunded;
    change.payment.attention = order.rejection(&change.payment).filter(|_| !is_refunded);
    change.payment.is_applied = false;
    DecidedUpdate::of(next, change)
}

/// Records a refund. If it was made directly at the provider, the order records it too.
fn externally_refunded(
    current: &PaymentWithOrder,
    change: PaymentChange,
    now: Timestamp,
) -> DecidedUpdate {
    let external = external_refund(&current.payment, &change.payment);
    let unchanged = OrderChange::none(&current.order);
    let next = match external.filter(|_| change.payment.is_applied) {
        Some(external) => unchanged.and_externally_refunded(
            &change.payment.id,
            &external.id,
            &external.amount,
            now,
        ),
        None => unchanged,
    };
    DecidedUpdate::of(next, change)
}

#[cfg(test)]
mod tests;
