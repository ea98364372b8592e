//! Cash and bank transfer: no provider is called, and the merchant captures the payment on receipt.

use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use http::HeaderMap;
use primitives::clock::Timestamp;
use serde_json::json;
use services::Services;

use super::capabilities::{Capabilities, Capable};
use super::provider::{
    CaptureResult, ClientParameters, CreatedPayment, Forged, Provider, ProviderFailure,
    ProviderWebhookEvent, RedirectParameters, RefundResult,
};
use super::{NewPayment, Observed, ObservedState, Payment};
use crate::dispute::evidence::Evidence;
use crate::dispute::{Dispute, ObservedDispute};

/// The account of one store for cash and bank transfer.
#[derive(Debug, Clone, Default)]
pub struct Manual {
    /// The instructions for customers, such as the account for a bank transfer.
    pub instructions: Option<String>,
}

impl Capable for Manual {
    const CAPABILITIES: Capabilities = Capabilities {
        is_online: false,
        authorizes_anew: false,
        captures_in_part: true,
        has_several_payments: false,
    };
}

impl Provider for Manual {
    fn name(&self) -> ProviderName {
        ProviderName::Manual
    }

    async fn create_payment(
        &self,
        _: &Services,
        id: &PaymentId,
        _: &NewPayment,
    ) -> Result<CreatedPayment, ProviderFailure> {
        Ok(CreatedPayment { reference: id.to_string(), client_secret: None })
    }

    fn client_parameters(&self, payment: &Payment, _: Option<String>) -> ClientParameters {
        let options = json!({
            "instructions": self.instructions,
            "reference": payment.order_number,
        });
        ClientParameters { key_id: None, client_secret: None, options }
    }

    /// Accepts any return: it does not prove that the payment was made.
    fn verify_return(&self, _: &Payment, _: &RedirectParameters) -> Result<(), Forged> {
        Ok(())
    }

    fn webhook(
        &self,
        _: &HeaderMap,
        _: &[u8],
        _: Timestamp,
    ) -> Result<ProviderWebhookEvent, Forged> {
        Err(Forged)
    }

    async fn fetch(&self, _: &Services, payment: &Payment) -> Result<Observed, ProviderFailure> {
        Ok(Observed::pending(&payment.provider_reference))
    }

    async fn capture(
        &self,
        _: &Services,
        payment: &Payment,
        amount: &Money,
    ) -> Result<CaptureResult, ProviderFailure> {
        let observed = Observed::pending(&payment.provider_reference);
        let (state, amount) = (ObservedState::Captured, Some(amount.clone()));
        Ok(CaptureResult::by_us(Observed { state, amount, ..observed }))
    }

    async fn void(&self, _: &Services, payment: &Payment) -> Result<Observed, ProviderFailure> {
        let observed = Observed::pending(&payment.provider_reference);
        Ok(Observed { state: ObservedState::Voided, ..observed })
    }

    /// Succeeds at once: the merchant pays the money back.
    async fn refund(
        &self,
        _: &Services,
        _: &Payment,
        id: &RefundId,
        _: &Money,
    ) -> Result<RefundResult, ProviderFailure> {
        Ok(RefundResult::Done(id.to_string()))
    }

    async fn fetch_refund(
        &self,
        _: &Services,
        _: &Payment,
        id: &RefundId,
    ) -> Result<Option<RefundResult>, ProviderFailure> {
        Ok(Some(RefundResult::Done(id.to_string())))
    }

    /// Returns none: cash cannot be disputed.
    async fn disputes(
        &self,
        _: &Services,
        _: &Payment,
    ) -> Result<Vec<ObservedDispute>, ProviderFailure> {
        Ok(Vec::new())
    }

    async fn fetch_dispute(
        &self,
        _: &Services,
        _: &Dispute,
    ) -> Result<ObservedDispute, ProviderFailure> {
        Err(ProviderFailure::Rejected("not_supported".into()))
    }

    async fn send_evidence(
        &self,
        _: &Services,
        _: &Dispute,
        _: &Evidence,
    ) -> Result<ObservedDispute, ProviderFailure> {
        Err(ProviderFailure::Rejected("not_supported".into()))
    }

    async fn check(&self, _: &Services) -> Result<(), ProviderFailure> {
        Ok(())
    }
}
