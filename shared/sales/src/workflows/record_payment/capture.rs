//! Fetches and captures payments at their provider, before anything is applied to the order.

use core_types::money::Money;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{CommitOnly, Completion, retry};

use super::{PaymentUpdate, RecordingResult, apply, unexpected};
use crate::order::aggregate::PaymentWithOrder;
use crate::order::load;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::{Provider, ProviderFailure};
use crate::payment::provider_client::ProviderClient;
use crate::payment::{
    Capabilities, CaptureMethod, Observed, ObservedState, Payment, PaymentSource,
};

/// Fetches a payment from its provider, and captures an authorization if its capture method is automatic and
/// the order still accepts it.
///
/// # Errors
/// `provider_error`, `provider_timeout`.
pub async fn fetch_and_capture(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) -> Result<Observed, Problem> {
    let observed = provider_client.fetch(services, payment).await?;
    let is_to_be_captured = observed.state == ObservedState::Authorized
        && payment.capture_method == CaptureMethod::Automatic
        && observed.amount.as_ref() == Some(&payment.amount)
        && payment.may_yet_be_captured();
    if !is_to_be_captured {
        return Ok(observed);
    }
    let current = load::payment(services, &PaymentLookup::from(payment)).await?;
    let provider_payment = observed.provider_payment.clone();
    let carried = Payment { provider_payment, captured: payment.amount.clone(), ..current.payment };
    if current.order.rejection(&carried).is_some() {
        return Ok(observed);
    }
    match provider_client.capture(services, &carried, &payment.amount).await {
        Ok(captured) => Ok(captured.observed),
        Err(failure) => {
            // The authorization is recorded all the same, and the next call captures it.
            tracing::warn!(
                cause = %failure, payment = payment.id.as_str(),
                "authorized payment not captured; the next call captures it"
            );
            Ok(observed)
        }
    }
}

/// Captures an authorization and records it. If callers capture one payment, or two payments of one order,
/// at the same moment, one succeeds and the others get an error.
///
/// # Errors
/// `not_capturable`: another caller has captured it, or its order has ended, and the money is returned;
/// `order_already_paid`: the order was paid otherwise meanwhile, and the money is returned;
/// `amount_mismatch`, `provider_error`, `provider_timeout`.
pub async fn capture<C: Completion<PaymentWithOrder>>(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
    amount: &Money,
    completion: &C,
) -> Result<C::Output, Problem> {
    let lookup = PaymentLookup::from(payment);
    let taken = match provider_client.capture(services, payment, amount).await {
        Ok(taken) => taken,
        Err(failure) => {
            if !failure.is_final() {
                note_unanswered(services, &lookup, amount, &failure).await;
            }
            return Err(failure.into());
        }
    };
    // A capture before this call was an earlier call of ours only if one of those got no response.
    let is_foreign = !taken.is_ours && !payment.has_unanswered_capture();
    let (observed, source) = (&taken.observed, PaymentSource::Admin);
    let update = PaymentUpdate { lookup: &lookup, observed, source, event: None };
    if is_foreign {
        let recorded = apply(services, provider_client, update, &CommitOnly).await?;
        return Err(not_capturable(&recorded.current.payment));
    }
    let RecordingResult { current, output, is_new, .. } =
        apply(services, provider_client, update, completion).await?;
    let PaymentWithOrder { payment, order } = &current;
    // A payment by hand has no provider to decide: the first caller to record it has captured it.
    let is_certain = taken.is_ours && Capabilities::of(payment.provider).is_online;
    if !is_new && !is_certain {
        return Err(not_capturable(payment));
    }
    if payment.awaits_decision() {
        return Err(unexpected(payment));
    }
    match (payment.is_applied, order.is_over()) {
        (true, _) => Ok(output),
        (false, true) => Err(not_capturable(payment).with("order_status", order.status.as_str())),
        (false, false) => {
            Err(Code::OrderAlreadyPaid.with("payment_status", payment.status.as_str()))
        }
    }
}

fn not_capturable(payment: &Payment) -> Problem {
    let current = Code::NotCapturable.with("current", payment.status.as_str());
    current.with("allowed_actions", payment.allowed_actions())
}

/// Records that a capture got no response, so that a later call recognizes the capture as ours.
async fn note_unanswered(
    services: &Services,
    lookup: &PaymentLookup,
    amount: &Money,
    why: &ProviderFailure,
) {
    let noted = retry(|| async {
        let payment = load::payment(services, lookup).await?.payment;
        let Some(next) = payment.capture_unanswered(amount, why.code(), services.clock.now())
        else {
            return Ok(());
        };
        services.table.write().replace(&next, Code::VersionConflict).commit().await
    });
    if let Err(problem) = noted.await {
        tracing::warn!(
            cause = %problem, payment = lookup.payment_id.as_str(),
            "unanswered capture not stored with its payment"
        );
    }
}
