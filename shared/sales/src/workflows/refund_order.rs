//! Refunds, in three steps: reserve, ask the providers, record.
//!
//! Crash story. After the first step the amount is reserved and the refund is pending; nobody
//! else can refund it. A provider is asked under the refund's id, which it deduplicates on, and
//! the refund's id follows from the caller's idempotency key: so the same request sent again
//! resumes the refund where it was left, and no provider pays twice. Nobody has to send it again:
//! a payment with a pending refund carries a due mark ([`super::process_payment`]), and the
//! provider's own event may be faster. A provider that rejects for good sets the reserved amount
//! free; one that does not answer leaves it pending.
//!
//! A provider either does it ([`RefundResult::Done`]), rejects it ([`RefundResult::Rejected`]), or
//! takes it in and says later what became of it ([`RefundResult::Pending`]). Whoever learns that,
//! from an answer or from an event, records it on the payment, the refund and the order alike.

mod reserve;

use std::time::Duration;

use catalogue::inventory;
use core_types::id::{OrderId, PaymentId, RefundId, StoreId};
use core_types::money::Money;
use gateway::app::App;
use primitives::clock::MINUTE;
use primitives::problem::{Code, Problem};
use gateway::reply::Reply;
use gateway::request::IfMatch;

use self::reserve::{reserve, reserve_unapplied};
use super::save_change::Spending;
use crate::order::aggregate::OrderAggregate;
use crate::order::refund::{Refund, RefundReason, RefundStatus, WantedRefund};
use crate::order::{Order, load};
use crate::payment::connected::Connected;
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::{Provider, ProviderFailure, RefundNotice, RefundResult};
use crate::payment::{Payment, PaymentRefund, RefundState};

pub use self::reserve::has_begun;
pub(super) use self::reserve::{Earlier, NewRefund, Reserved, begin};

/// A refund that was asked for so long ago is looked up before it is asked for again: providers
/// forget what they deduplicate on.
const LOOKED_UP_AFTER: Duration = MINUTE.saturating_mul(10);

/// A refund of an order that is asked for.
#[derive(Debug, Clone)]
pub struct RefundOrder {
    /// What is to go back.
    pub wanted: WantedRefund,
    /// Why.
    pub reason: RefundReason,
    /// In the merchant's words.
    pub note: Option<String>,
    /// What the refund's id follows from: who asks for what, and under which idempotency key.
    pub seed: String,
    /// The order's version that the caller has seen, if it says so.
    pub if_match: IfMatch,
}

/// Refunds what is asked for, and answers with the order and its refund.
///
/// # Errors
/// Those of [`Order::plan_refund`]; `precondition_failed`, `provider_not_connected`; once the
/// amount is reserved only `provider_error`, `provider_timeout` and others that no idempotency key
/// keeps.
pub async fn refund<R: Reply>(
    app: &App,
    store: &StoreId,
    id: &OrderId,
    input: &RefundOrder,
    answer: impl Fn(&Order, &Refund) -> R,
) -> Result<R, Problem> {
    let answer = |order: &Order, refund: Option<&Refund>| {
        let refund = refund.ok_or_else(|| Problem::internal("a refund that was not made"))?;
        Ok(answer(order, refund))
    };
    let spending = Spending::default();
    let reserved = inventory::persist_eventual_first(|consistency| {
        reserve(app, (store, id, consistency), input, &spending, &answer)
    })
    .await?;
    finish(app, reserved, &answer).await
}

/// The second and the third step, where there is something to ask a provider for.
pub(super) async fn finish<R: Reply>(
    app: &App,
    reserved: Reserved<R>,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<R, Problem> {
    let (aggregate, refund, at_hand) = match reserved {
        Reserved::Done(answer) => return Ok(answer),
        Reserved::Pending(aggregate, refund, at_hand) => (aggregate, refund, at_hand),
    };
    let mut results = Vec::new();
    for (id, amount) in refund.pending() {
        let payment = aggregate.payment(&id)?;
        let known = at_hand.iter().find(|account| account.name() == payment.provider);
        let result = match known {
            Some(connected) => request(app, connected, payment, &refund.id, &amount).await,
            None => match connect(app, &payment.store_id, payment.provider).await {
                Ok(connected) => request(app, &connected, payment, &refund.id, &amount).await,
                Err(problem) => Err(problem),
            },
        };
        results.push((id, result.map_err(passing)?));
    }
    let spending = Spending::default();
    // Every version is demanded by the write: the order need not be read again before somebody else
    // turns out to have changed it.
    let mut known = Some(aggregate);
    inventory::persist(|| {
        let known = known.take();
        record(app, (known, &refund), &results, &spending, answer)
    })
    .await
}

/// What went wrong after the amount was reserved: the same request is to try again, so it must not
/// be a rejection that its idempotency key would keep.
fn passing(problem: Problem) -> Problem {
    match problem.code {
        Code::ProviderNotConnected => {
            Code::ProviderError.with("provider_code", "not_connected").because(&problem)
        }
        _ => problem,
    }
}

/// The second step: asks a payment's provider to refund `amount`, once per refund id however
/// often it is asked. One that has taken the refund in before is asked what has become of it.
///
/// # Errors
/// `provider_error`, `provider_timeout`, `service_unavailable`: it may have been done; ask again
/// under the same id.
async fn request(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<RefundResult, Problem> {
    let entry = payment.refunds.iter().find(|refund| refund.id == *id);
    let is_old = |entry: &PaymentRefund| {
        entry.provider_reference.is_some()
            || entry.created_at.plus(LOOKED_UP_AFTER) <= app.clock.now()
    };
    if entry.is_some_and(is_old)
        && let Some(result) = connected.look_up_refund(app, payment, id).await?
    {
        return Ok(result);
    }
    match connected.refund(app, payment, id, amount).await {
        Err(ProviderFailure::Rejected(code)) => Ok(RefundResult::Rejected(code)),
        result => result.map_err(Problem::from),
    }
}

/// The third step of a request's refund, and its answer: over the order as it is known, or as it is.
async fn record<R: Reply>(
    app: &App,
    (known, refund): (Option<Box<OrderAggregate>>, &Refund),
    results: &[(PaymentId, RefundResult)],
    spending: &Spending,
    answer: &impl Fn(&Order, Option<&Refund>) -> Result<R, Problem>,
) -> Result<R, Problem> {
    let now = app.clock.now();
    let aggregate = match known {
        Some(known) => *known,
        None => load::aggregate(app, &refund.store_id, &refund.order_id).await?,
    };
    let known = aggregate.refund(&refund.id)?;
    let Some(change) = aggregate.record_refund(&refund.id, results, now) else {
        // Nothing new: somebody else has recorded it, or the provider is still at it.
        return match known.status {
            RefundStatus::Failed => Err(rejected(known)),
            _ => answer(&aggregate.order, Some(known)),
        };
    };
    let write = change.save(app, app.table.write(), spending, now).await?;
    let next = change.refund.as_ref().map_or(known, |changed| &changed.refund);
    if next.status != RefundStatus::Failed {
        return write.answer(answer(&change.order, Some(next))?, now).await;
    }
    write.commit().await?;
    Err(rejected(next))
}

fn rejected(refund: &Refund) -> Problem {
    let why = refund.transactions.iter().find_map(|part| part.failure_code.clone());
    rejected_by_provider(&refund.id, why)
}

fn rejected_by_provider(id: &RefundId, why: Option<String>) -> Problem {
    Code::ProviderError
        .with("refund_id", id.as_str())
        .with("failure_code", why)
        .because("a provider rejected a refund")
}

/// Resumes a refund that is reserved on a payment: the second and the third step.
///
/// # Errors
/// `provider_error`, `provider_timeout`, `provider_not_connected`: it stays reserved.
pub(super) async fn resume(
    app: &App,
    payment: &Payment,
    reserved: &PaymentRefund,
) -> Result<(), Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    complete(app, &connected, payment, reserved).await
}

async fn complete(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    reserved: &PaymentRefund,
) -> Result<(), Problem> {
    let result = request(app, connected, payment, &reserved.id, &reserved.amount).await?;
    record_result(app, &PaymentLookup::from(payment), None, &reserved.id, &result).await
}

/// Records what an event tells of a refund, and of the payment that it refunds: one of another
/// payment for the same provider's order is none of ours.
///
/// # Errors
/// `not_found`, when the order is gone.
pub async fn receive(
    app: &App,
    lookup: &PaymentLookup,
    notice: &RefundNotice,
    carrier: Option<&str>,
) -> Result<(), Problem> {
    record_result(app, lookup, carrier, &notice.id, &notice.result).await
}

/// The third step of one payment's part. Told twice, it is recorded once.
async fn record_result(
    app: &App,
    lookup: &PaymentLookup,
    carrier: Option<&str>,
    id: &RefundId,
    result: &RefundResult,
) -> Result<(), Problem> {
    let results = [(lookup.payment_id.clone(), result.clone())];
    let spending = Spending::default();
    inventory::persist(|| async {
        let now = app.clock.now();
        let aggregate = load::aggregate(app, &lookup.store_id, &lookup.order_id).await?;
        let known = aggregate.payment(&lookup.payment_id);
        if known.is_ok_and(|payment| !payment.is_carried_by(carrier)) {
            return Ok(());
        }
        let Some(change) = aggregate.record_refund(id, &results, now) else { return Ok(()) };
        change.save(app, app.table.write(), &spending, now).await?.commit().await
    })
    .await
}

/// Refunds money that no order counts, once per refund id: all three steps.
///
/// # Errors
/// `payment_not_captured`, `refund_exceeds_captured`, `provider_timeout`; `provider_error`, also
/// when the provider rejects for good.
pub async fn refund_unapplied(
    app: &App,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<(Payment, PaymentRefund), Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    let payment = return_part(app, &connected, payment, id, Some(amount)).await?;
    let entry = payment.refund(id).cloned().ok_or(Code::NotFound)?;
    if entry.status == RefundState::Failed {
        return Err(rejected_by_provider(id, entry.failure_code));
    }
    Ok((payment, entry))
}

/// The same with the provider at hand; all that is left, when no amount is named.
///
/// # Errors
/// `provider_error`, `provider_timeout`: it stays reserved.
pub(super) async fn return_part(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    id: &RefundId,
    amount: Option<&Money>,
) -> Result<Payment, Problem> {
    let lookup = PaymentLookup::from(payment);
    let payment = reserve_unapplied(app, &lookup, id, amount).await?;
    let reserved = payment.refund(id).ok_or(Code::NotFound)?;
    if reserved.status != RefundState::Pending {
        return Ok(payment);
    }
    complete(app, connected, &payment, reserved).await?;
    load::payment(app, &lookup).await.map(|known| known.payment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_that_may_pass_is_no_answer_that_a_key_keeps() {
        let passed = passing(Code::ProviderNotConnected.into());
        assert_eq!(passed.code, Code::ProviderError);
        assert_eq!(passing(Code::NotFound.into()).code, Code::NotFound);
    }
}
