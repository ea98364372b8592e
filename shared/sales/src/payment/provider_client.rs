//! The client of a provider, with the credentials of a store.

use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use http::HeaderMap;
use primitives::clock::Timestamp;
use services::Services;

use super::capabilities::{Capabilities, Capable};
use super::manual::Manual;
use super::provider::{
    CaptureResult, ClientParameters, CreatedPayment, Forged, Observed, Provider, ProviderFailure,
    ProviderWebhookEvent, RedirectParameters, RefundResult,
};
use super::razorpay::Razorpay;
use super::stripe::Stripe;
use super::{NewPayment, Payment};
use crate::dispute::evidence::Evidence;
use crate::dispute::{Dispute, ObservedDispute};

/// A client of a provider, with the credentials of a store.
#[derive(Debug, Clone)]
pub enum ProviderClient {
    /// Cash or bank transfer.
    Manual(Manual),
    /// Razorpay.
    Razorpay(Razorpay),
    /// Stripe.
    Stripe(Stripe),
}

impl Capabilities {
    /// The capabilities of a provider.
    pub const fn of(provider: ProviderName) -> Self {
        match provider {
            ProviderName::Manual => Manual::CAPABILITIES,
            ProviderName::Razorpay => Razorpay::CAPABILITIES,
            ProviderName::Stripe => Stripe::CAPABILITIES,
        }
    }
}

/// Evaluates a call with the provider of the variant.
macro_rules! each {
    ($client:expr, $provider:ident => $call:expr) => {
        match $client {
            ProviderClient::Manual($provider) => $call,
            ProviderClient::Razorpay($provider) => $call,
            ProviderClient::Stripe($provider) => $call,
        }
    };
}

impl Provider for ProviderClient {
    fn name(&self) -> ProviderName {
        each!(self, provider => provider.name())
    }

    async fn create_payment(
        &self,
        services: &Services,
        id: &PaymentId,
        input: &NewPayment,
    ) -> Result<CreatedPayment, ProviderFailure> {
        each!(self, provider => provider.create_payment(services, id, input).await)
    }

    fn client_parameters(&self, payment: &Payment, secret: Option<String>) -> ClientParameters {
        each!(self, provider => provider.client_parameters(payment, secret))
    }

    fn verify_return(
        &self,
        payment: &Payment,
        returned: &RedirectParameters,
    ) -> Result<(), Forged> {
        each!(self, provider => provider.verify_return(payment, returned))
    }

    fn webhook(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<ProviderWebhookEvent, Forged> {
        each!(self, provider => provider.webhook(headers, body, now))
    }

    async fn fetch(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Observed, ProviderFailure> {
        each!(self, provider => provider.fetch(services, payment).await)
    }

    async fn capture(
        &self,
        services: &Services,
        payment: &Payment,
        amount: &Money,
    ) -> Result<CaptureResult, ProviderFailure> {
        each!(self, provider => provider.capture(services, payment, amount).await)
    }

    async fn void(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Observed, ProviderFailure> {
        each!(self, provider => provider.void(services, payment).await)
    }

    async fn refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
        amount: &Money,
    ) -> Result<RefundResult, ProviderFailure> {
        each!(self, provider => provider.refund(services, payment, id, amount).await)
    }

    async fn fetch_refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
    ) -> Result<Option<RefundResult>, ProviderFailure> {
        each!(self, provider => provider.fetch_refund(services, payment, id).await)
    }

    async fn disputes(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Vec<ObservedDispute>, ProviderFailure> {
        each!(self, provider => provider.disputes(services, payment).await)
    }

    async fn fetch_dispute(
        &self,
        services: &Services,
        dispute: &Dispute,
    ) -> Result<ObservedDispute, ProviderFailure> {
        each!(self, provider => provider.fetch_dispute(services, dispute).await)
    }

    async fn send_evidence(
        &self,
        services: &Services,
        dispute: &Dispute,
        evidence: &Evidence,
    ) -> Result<ObservedDispute, ProviderFailure> {
        each!(self, provider => provider.send_evidence(services, dispute, evidence).await)
    }

    async fn check(&self, services: &Services) -> Result<(), ProviderFailure> {
        each!(self, provider => provider.check(services).await)
    }
}
