//! Giving money back: the second and third step of a refund.

use gateway::app::App;
use gateway::problem::{Code, Problem};
use gateway::table::retry;

use super::account::connect;
use super::provider::{Connected, Provider};
use super::{Payment, PaymentRefund, ProviderReference, RefundState, settle};
use crate::id::RefundId;
use crate::money::Money;

/// Asks a payment's provider to give `amount` back, once per refund id however often it is asked.
/// `Ok(Ok(…))` is the provider's reference; `Ok(Err(…))` is the code of a provider that refused,
/// which is final.
///
/// # Errors
/// `provider_error`, `provider_timeout`: it may have been done; ask again under the same id.
pub async fn ask(
    app: &App,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<Result<String, String>, Problem> {
    let connected = connect(app, &payment.store_id, payment.provider).await?;
    ask_connected(app, &connected, payment, id, amount).await
}

async fn ask_connected(
    app: &App,
    connected: &Connected,
    payment: &Payment,
    id: &RefundId,
    amount: &Money,
) -> Result<Result<String, String>, Problem> {
    match connected.refund(app, payment, id, amount).await {
        Ok(reference) => Ok(Ok(reference)),
        Err(failure) if failure.is_final() => Ok(Err(failure.code().to_owned())),
        Err(failure) => Err(failure.into()),
    }
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
        let known = settle::load(app, place).await?.payment;
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
    let outcome = ask_connected(app, connected, payment, id, &reserved.amount).await?;
    let place = ProviderReference::from(payment);
    retry(|| async {
        let now = app.clock.now();
        let known = settle::load(app, &place).await?.payment;
        let Some(step) = known.finish_refund(id, &outcome, now) else { return Ok(known) };
        step.write(app.table.write(), now).commit().await?;
        Ok(step.payment)
    })
    .await
}
