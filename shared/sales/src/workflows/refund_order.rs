//! Refunds an order in three steps: reserve the amount, request the refund from the providers, record it.
//!
//! Crash safety. After the first step the amount is reserved and the refund is pending; no other refund can
//! use the amount. Each provider is called with the refund's id, which it deduplicates on. The id is derived
//! from the caller's idempotency key, so a repeated request resumes the refund, and no provider pays twice.
//!
//! No caller needs to repeat it: a payment with a pending refund carries a due mark
//! ([`super::process_payment`]), and the provider's own event may be faster. A provider's final rejection
//! releases the reserved amount; a missing response leaves it pending.
//!
//! A provider completes a refund ([`RefundResult::Done`]), rejects it ([`RefundResult::Rejected`]), or
//! accepts it and reports the result later ([`RefundResult::Pending`]). Responses and events are recorded in
//! the same way, on the payment, the refund and the order.

mod reserve;

use std::time::Duration;

use catalogue::inventory;
use core_types::id::{OrderId, PaymentId, RefundId, StoreId};
use core_types::money::Money;
use primitives::clock::MINUTE;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use services::Services;
use table::{Attempt, Completion};

use self::reserve::{reserve, reserve_unapplied};
use crate::order::aggregate::OrderAggregate;
use crate::order::refund::{Refund, RefundReason, RefundStatus, WantedRefund};
use crate::order::{Order, load};
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::{Provider, ProviderFailure, RefundNotice, RefundResult};
use crate::payment::provider_client::ProviderClient;
use crate::payment::{Payment, PaymentRefund, RefundState};

pub use self::reserve::has_begun;
pub(super) use self::reserve::{EarlierRefund, NewRefund, RefundReservation, begin};

/// A refund reserved longer ago than this is looked up before it is requested again, as providers forget the
/// ids that they deduplicate on.
const LOOKED_UP_AFTER: Duration = MINUTE.saturating_mul(10);

/// A request to refund an order.
#[derive(Debug, Clone)]
pub struct RefundOrder {
    /// The lines and amounts to refund.
    pub wanted: WantedRefund,
    /// The reason.
    pub reason: RefundReason,
    /// The merchant's note.
    pub note: Option<String>,
    /// The refund's id is derived from this: the caller, the request and its idempotency key.
    pub seed: String,
    /// The order's version that the caller expects, if any.
    pub expected_version: ExpectedVersion,
}

/// An order with a refund of it.
#[derive(Debug, Clone)]
pub struct Refunded {
    /// The order.
    pub order: Order,
    /// The refund.
    pub refund: Refund,
}

/// Why nothing was refunded.
#[derive(Debug)]
pub enum RefundFailure {
    /// A provider has finally rejected this refund, with the parts that it was to refund.
    Rejected(RefundId, Vec<Rejection>),
    /// Another problem.
    Other(Problem),
}

/// A payment's part of a refund that its provider has rejected.
#[derive(Debug)]
pub struct Rejection {
    /// The payment.
    pub lookup: PaymentLookup,
    /// The requested amount.
    pub amount: Money,
    /// The provider's error code.
    pub failure_code: String,
}

impl RefundFailure {
    fn of(refund: &Refund) -> Self {
        let rejections = refund.transactions.iter().filter_map(|part| {
            let (store_id, order_id) = (refund.store_id.clone(), refund.order_id.clone());
            let payment_id = part.payment_id.clone()?;
            let lookup = PaymentLookup { store_id, order_id, payment_id };
            let (amount, failure_code) = (part.amount.clone(), part.failure_code.clone()?);
            Some(Rejection { lookup, amount, failure_code })
        });
        Self::Rejected(refund.id.clone(), rejections.collect())
    }
}

impl From<Problem> for RefundFailure {
    fn from(problem: Problem) -> Self {
        Self::Other(problem)
    }
}

/// Refunds an order.
///
/// # Errors
/// Those of [`Order::plan_refund`]; `precondition_failed`, `provider_not_connected`. Once the amount is
/// reserved, the provider's rejection, or only `provider_error`, `provider_timeout` and others that are not stored
/// as idempotent responses.
pub async fn refund<C: Completion<Refunded>>(
    services: &Services,
    store: &StoreId,
    id: &OrderId,
    input: &RefundOrder,
    completion: &C,
) -> Result<C::Output, RefundFailure> {
    let reserved = inventory::retry_on_conflict_eventual_first(|consistency| {
        reserve(services, (store, id, consistency), input, completion)
    })
    .await?;
    finish(services, reserved, completion).await
}

/// Performs the second and third steps, if a provider is to refund anything. The outcome `T` is the refunded
/// order itself, or what it is a part of.
pub(super) async fn finish<T: From<Refunded>, C: Completion<T>>(
    services: &Services,
    reserved: RefundReservation<C::Output>,
    completion: &C,
) -> Result<C::Output, RefundFailure> {
    let (aggregate, refund, at_hand) = match reserved {
        RefundReservation::Done(output) => return Ok(output),
        RefundReservation::Pending(aggregate, refund, at_hand) => (aggregate, refund, at_hand),
    };
    let mut results = Vec::new();
    for (id, amount) in refund.pending() {
        let payment = aggregate.payment(&id)?;
        let known = at_hand.iter().find(|account| account.name() == payment.provider);
        let result = match known {
            Some(provider_client) => {
                request(services, provider_client, payment, &refund.id, &amount).await
            }
            None => match connect(services, &payment.store_id, payment.provider).await {
                Ok(provider_client) => {
                    request(services, &provider_client, payment, &refund.id, &amount).await
                }
                Err(problem) => Err(problem),
            },
        };
        results.push((id, result.map_err(retryable)?));
    }
    // The write requires every version, so the order is read again only after a conflict.
    let mut known = Some(aggregate);
    let recorded = inventory::retry_on_conflict_attempts(|attempt| {
        let known = known.take();
        record(services, (known, &refund), &results, attempt, completion)
    })
    .await?;
    match recorded {
        Recorded::Done(output) => Ok(output),
        Recorded::Rejected(refund) => Err(RefundFailure::of(&refund)),
    }
}

/// What came of a request's refund.
enum Recorded<O> {
    Done(O),
    Rejected(Box<Refund>),
}

/// Turns an error after the reservation into one that is not stored as an idempotent response, so that the
/// same request can be retried.
fn retryable(problem: Problem) -> Problem {
    match problem.code {
        Code::ProviderNotConnected => {
            Code::ProviderError.with("provider_code", "not_connected").because(&problem)
        }
        _ => problem,
    }
}

/// The second step: requests a refund of `amount` from a payment's provider, once per refund id. A refund
/// that the provider has accepted before is looked up first.
///
/// # Errors
/// `provider_error`, `provider_timeout`, `service_unavailable`: it may have been done; request it again
/// under the same id.
async fn request(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<RefundResult, Problem> {
    let entry = payment.refunds.iter().find(|refund| refund.id == *id);
    let is_old = |entry: &PaymentRefund| {
        entry.provider_reference.is_some()
            || entry.created_at.plus(LOOKED_UP_AFTER) <= services.clock.now()
    };
    if entry.is_some_and(is_old)
        && let Some(result) = provider_client.fetch_refund(services, payment, id).await?
    {
        return Ok(result);
    }
    match provider_client.refund(services, payment, id, amount).await {
        Err(ProviderFailure::Rejected(code)) => Ok(RefundResult::Rejected(code)),
        result => result.map_err(Problem::from),
    }
}

/// The third step of a request's refund. Uses the known order, or loads it if there is none.
async fn record<T: From<Refunded>, C: Completion<T>>(
    services: &Services,
    (known, refund): (Option<Box<OrderAggregate>>, &Refund),
    results: &[(PaymentId, RefundResult)],
    attempt: Attempt,
    completion: &C,
) -> Result<Recorded<C::Output>, Problem> {
    let now = services.clock.now();
    let aggregate = match known {
        Some(known) => *known,
        None => load::aggregate(services, &refund.store_id, &refund.order_id).await?,
    };
    let known = aggregate.refund(&refund.id)?.clone();
    let Some(change) = aggregate.record_refund(&refund.id, results, now) else {
        // Nothing new: another process has recorded it, or the refund is still pending at the provider.
        if known.status == RefundStatus::Failed {
            return Ok(Recorded::Rejected(Box::new(known)));
        }
        let outcome = Refunded { order: aggregate.order, refund: known };
        return Ok(Recorded::Done(completion.unchanged(&outcome.into())));
    };
    let write = change.save(services, services.table.write(), attempt, now).await?;
    let refund = change.refund.map_or(known, |changed| changed.refund);
    if refund.status == RefundStatus::Failed {
        write.commit().await?;
        return Ok(Recorded::Rejected(Box::new(refund)));
    }
    let outcome = Refunded { order: change.order, refund }.into();
    completion.commit(write, &outcome, now).await.map(Recorded::Done)
}

/// Resumes a refund that is reserved on a payment, with the second and third steps.
///
/// # Errors
/// `provider_error`, `provider_timeout`, `provider_not_connected`: it stays reserved.
pub(super) async fn resume(
    services: &Services,
    payment: &Payment,
    reserved: &PaymentRefund,
) -> Result<(), Problem> {
    let provider_client = connect(services, &payment.store_id, payment.provider).await?;
    complete(services, &provider_client, payment, reserved).await
}

async fn complete(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
    reserved: &PaymentRefund,
) -> Result<(), Problem> {
    let result =
        request(services, provider_client, payment, &reserved.id, &reserved.amount).await?;
    record_result(services, &PaymentLookup::from(payment), None, &reserved.id, &result).await
}

/// Records an event about a refund. `carrier` is the provider's payment that it refunds; one of another
/// payment of the same provider order is ignored.
///
/// # Errors
/// `not_found` if the order was deleted.
pub async fn receive(
    services: &Services,
    lookup: &PaymentLookup,
    notice: &RefundNotice,
    carrier: Option<&str>,
) -> Result<(), Problem> {
    record_result(services, lookup, carrier, &notice.id, &notice.result).await
}

/// The third step for one payment's part of a refund. A repeated report is recorded once.
async fn record_result(
    services: &Services,
    lookup: &PaymentLookup,
    carrier: Option<&str>,
    id: &RefundId,
    result: &RefundResult,
) -> Result<(), Problem> {
    let results = [(lookup.payment_id.clone(), result.clone())];
    let results = &results;
    inventory::retry_on_conflict_attempts(|attempt| async move {
        let now = services.clock.now();
        let aggregate = load::aggregate(services, &lookup.store_id, &lookup.order_id).await?;
        let known = aggregate.payment(&lookup.payment_id);
        if known.is_ok_and(|payment| !payment.is_carried_by(carrier)) {
            return Ok(());
        }
        let Some(change) = aggregate.record_refund(id, results, now) else { return Ok(()) };
        change.save(services, services.table.write(), attempt, now).await?.commit().await
    })
    .await
}

/// Refunds unapplied money of a payment in all three steps, once per refund id.
///
/// # Errors
/// `payment_not_captured`, `refund_exceeds_captured`, `provider_error`, `provider_timeout`; the provider's
/// rejection.
pub async fn refund_unapplied(
    services: &Services,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<(Payment, PaymentRefund), RefundFailure> {
    let provider_client = connect(services, &payment.store_id, payment.provider).await?;
    let payment = return_part(services, &provider_client, payment, id, Some(amount)).await?;
    let entry = payment.refund(id).cloned().ok_or_else(|| Problem::from(Code::NotFound))?;
    if entry.status == RefundState::Failed {
        let lookup = PaymentLookup::from(&payment);
        let failure_code = entry.failure_code.unwrap_or_default();
        let rejection = Rejection { lookup, amount: entry.amount, failure_code };
        return Err(RefundFailure::Rejected(entry.id, vec![rejection]));
    }
    Ok((payment, entry))
}

/// Refunds unapplied money at a connected provider: `amount`, or all that is left.
///
/// # Errors
/// `provider_error`, `provider_timeout`: it stays reserved.
pub(super) async fn return_part(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
    id: &RefundId,
    amount: Option<&Money>,
) -> Result<Payment, Problem> {
    let lookup = PaymentLookup::from(payment);
    let payment = reserve_unapplied(services, &lookup, id, amount).await?;
    let reserved = payment.refund(id).ok_or(Code::NotFound)?;
    if reserved.status != RefundState::Pending {
        return Ok(payment);
    }
    complete(services, provider_client, &payment, reserved).await?;
    load::payment(services, &lookup).await.map(|known| known.payment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retryable_error_is_not_stored_as_idempotent_response() {
        let passed = retryable(Code::ProviderNotConnected.into());
        assert_eq!(passed.code, Code::ProviderError);
        assert_eq!(retryable(Code::NotFound.into()).code, Code::NotFound);
    }
}
