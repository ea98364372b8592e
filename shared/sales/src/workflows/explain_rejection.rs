//! Explains why a provider has rejected a refund.

use core_types::money::Money;
use primitives::problem::{Code, Problem};
use services::Services;
use table::CommitOnly;

use super::record_payment::{self, PaymentUpdate};
use super::refund_order::RefundFailure;
use crate::order::load;
use crate::payment::load::connect;
use crate::payment::lookup::PaymentLookup;
use crate::payment::provider::Provider;
use crate::payment::{Payment, PaymentSource};

/// Refunds, and explains a rejection. Another refund may have been made on the provider's dashboard, and its event be
/// on its way: the payments are fetched, and what is new about them is recorded.
///
/// # Errors
/// Those of `refunding`; for a rejection `refund_exceeds_captured` if less is left of a payment than was requested,
/// otherwise `provider_error` with the provider's `failure_code`.
pub async fn explained<T>(
    services: &Services,
    refunding: impl Future<Output = Result<T, RefundFailure>>,
) -> Result<T, Problem> {
    let (id, rejections) = match refunding.await {
        Ok(refunded) => return Ok(refunded),
        Err(RefundFailure::Other(problem)) => return Err(problem),
        Err(RefundFailure::Rejected(id, rejections)) => (id, rejections),
    };
    let mut problem = None;
    for rejection in &rejections {
        match Box::pin(fetched(services, &rejection.lookup)).await {
            Ok(payment) => problem = problem.or(excess(&payment, &rejection.amount)),
            Err(cause) => {
                let payment = rejection.lookup.payment_id.as_str();
                tracing::warn!(%cause, payment, "payment not fetched after a rejected refund");
            }
        }
    }
    let rejected = || {
        let failure_code = rejections.into_iter().next().map(|rejection| rejection.failure_code);
        let problem = Code::ProviderError.with("failure_code", failure_code);
        problem.because("a provider rejected a refund")
    };
    Err(problem.unwrap_or_else(rejected).with("refund_id", id.as_str()))
}

/// The problem with a refund of more than is left of a payment.
fn excess(payment: &Payment, amount: &Money) -> Option<Problem> {
    let problem = payment.ensure_refundable(amount).err()?;
    (problem.code == Code::RefundExceedsCaptured).then_some(problem)
}

/// Records what a provider reports about a payment. Returns the payment afterwards.
async fn fetched(services: &Services, lookup: &PaymentLookup) -> Result<Payment, Problem> {
    let payment = load::payment(services, lookup).await?.payment;
    let provider_client = connect(services, &payment.store_id, payment.provider).await?;
    let observed = provider_client.fetch(services, &payment).await?;
    let source = PaymentSource::Sync;
    let update = PaymentUpdate { lookup, observed: &observed, source, event: None };
    record_payment::record(services, &provider_client, update, &CommitOnly).await?;
    load::payment(services, lookup).await.map(|current| current.payment)
}
