//! Returns money that no order accepts: voids an authorization, refunds a capture. That begins as soon as
//! the money is reported; after a failure it stays due, and is retried ([`super::process_payment`]).

use primitives::problem::{Code, Problem};
use services::Services;
use table::retry;

use super::refund_order;
use crate::order::load;
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::Provider;
use crate::payment::provider_client::ProviderClient;
use crate::payment::{Attention, Payment, PaymentSource, PaymentStatus};

/// Returns an amount other than the requested one after the order has ended, when nobody can accept it any
/// more.
///
/// # Errors
/// Those of the provider: the payment stays due.
pub(super) async fn turn_down(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) -> Result<(), Problem> {
    let Some(late) = payment.flagged(Attention::LatePayment, services.clock.now()) else {
        return Ok(());
    };
    services.table.write().replace(&late, Code::VersionConflict).commit().await?;
    return_unapplied(services, provider_client, &late).await
}

/// Returns the unapplied money of these payments, each through its own provider.
pub(super) async fn return_all(services: &Services, payments: &[Payment]) {
    for payment in payments {
        match connect(services, &payment.store_id, payment.provider).await {
            Ok(provider_client) => return_or_warn(services, &provider_client, payment).await,
            Err(problem) => warn(payment, &problem),
        }
    }
}

/// Returns a payment's unapplied money. After a failure, which is logged, the payment stays marked; the
/// sweep or the merchant tries again.
pub(super) async fn return_or_warn(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) {
    if let Err(problem) = return_unapplied(services, provider_client, payment).await {
        warn(payment, &problem);
    }
}

fn warn(payment: &Payment, problem: &Problem) {
    tracing::warn!(
        cause = %problem, payment = payment.id.as_str(),
        "refund of an unapplied payment failed; the sweep tries again"
    );
}

/// Returns a payment's unapplied money. If another refund of it is pending, does nothing, and the payment
/// stays due.
pub(super) async fn return_unapplied(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) -> Result<(), Problem> {
    let payment = if payment.status == PaymentStatus::Authorized {
        void(services, provider_client, payment).await?
    } else {
        payment.clone()
    };
    // The authorization may have been captured before it was voided.
    let is_taken = payment.status != PaymentStatus::Authorized;
    if is_taken && payment.is_to_go_back() && !payment.is_going_back_otherwise() {
        let id = payment.unapplied_refund();
        refund_order::return_part(services, provider_client, &payment, &id, None).await?;
    }
    Ok(())
}

async fn void(
    services: &Services,
    provider_client: &ProviderClient,
    payment: &Payment,
) -> Result<Payment, Problem> {
    let lookup = PaymentLookup::from(payment);
    let observed = provider_client.void(services, payment).await?;
    retry(|| async {
        let now = services.clock.now();
        let current = load::payment(services, &lookup).await?.payment;
        let Some(change) = current.observe(&observed, PaymentSource::Sync, now)? else {
            return Ok(current);
        };
        change.write(services.table.write(), now).commit().await?;
        Ok(change.payment)
    })
    .await
}
