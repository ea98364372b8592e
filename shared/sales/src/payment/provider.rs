//! The interface of payment providers, and the types of its requests and responses.

use std::fmt;

use core_types::id::{PaymentId, RefundId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use http::{HeaderMap, header};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use services::Services;

use super::{NewPayment, Payment};
use crate::dispute::evidence::Evidence;
use crate::dispute::{Dispute, ObservedDispute};

/// The `Retry-After` of a busy provider, in seconds.
const BUSY_FOR: &str = "2";

/// A payment provider with the credentials of one store. Every call has a deadline and is made once.
///
/// A request that must not be executed twice has an idempotency key derived from our ids. A capture or
/// cancellation, which a provider executes once anyway, has none, because for a known key a provider repeats
/// its old failures.
pub trait Provider {
    /// The name of the provider.
    fn name(&self) -> ProviderName;

    /// Creates a payment: an order at Razorpay, a payment intent at Stripe.
    fn create_payment(
        &self,
        services: &Services,
        id: &PaymentId,
        input: &NewPayment,
    ) -> impl Future<Output = Result<CreatedPayment, ProviderFailure>> + Send;

    /// The parameters with which the customer's browser pays.
    fn client_parameters(&self, payment: &Payment, secret: Option<String>) -> ClientParameters;

    /// Verifies that the parameters of the customer's return are the provider's, for this payment. They do
    /// not prove that it was paid: that is for [`Provider::fetch`].
    fn verify_return(&self, payment: &Payment, returned: &RedirectParameters)
    -> Result<(), Forged>;

    /// Verifies the signature of a webhook and parses it.
    fn webhook(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<ProviderWebhookEvent, Forged>;

    /// Loads the state of a payment.
    fn fetch(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> impl Future<Output = Result<Observed, ProviderFailure>> + Send;

    /// Captures an authorized payment. If it was captured before, returns that capture.
    fn capture(
        &self,
        services: &Services,
        payment: &Payment,
        amount: &Money,
    ) -> impl Future<Output = Result<CaptureResult, ProviderFailure>> + Send;

    /// Voids a payment. If it was captured in the meantime, returns the captured payment.
    fn void(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> impl Future<Output = Result<Observed, ProviderFailure>> + Send;

    /// Refunds an amount, once per refund id.
    fn refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
        amount: &Money,
    ) -> impl Future<Output = Result<RefundResult, ProviderFailure>> + Send;

    /// Loads the result of a refund; none if the provider does not have it.
    fn fetch_refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
    ) -> impl Future<Output = Result<Option<RefundResult>, ProviderFailure>> + Send;

    /// Loads the disputes of a captured payment.
    fn disputes(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> impl Future<Output = Result<Vec<ObservedDispute>, ProviderFailure>> + Send;

    /// Loads a dispute.
    fn fetch_dispute(
        &self,
        services: &Services,
        dispute: &Dispute,
    ) -> impl Future<Output = Result<ObservedDispute, ProviderFailure>> + Send;

    /// Saves evidence as a draft, or submits it to the bank; returns the dispute afterwards.
    fn send_evidence(
        &self,
        services: &Services,
        dispute: &Dispute,
        evidence: &Evidence,
    ) -> impl Future<Output = Result<ObservedDispute, ProviderFailure>> + Send;

    /// Checks that the provider accepts the credentials.
    fn check(
        &self,
        services: &Services,
    ) -> impl Future<Output = Result<(), ProviderFailure>> + Send;
}

/// A payment that the provider has created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedPayment {
    /// The provider's reference.
    pub reference: String,
    /// The client secret for the customer's browser, if the provider has one.
    pub client_secret: Option<String>,
}

/// The parameters with which the customer's browser pays.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PaymentClient")]
pub struct ClientParameters {
    /// The public key of the store's account.
    pub key_id: Option<String>,
    /// The client secret, which only this customer may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The options of the provider's script.
    pub options: Value,
}

/// The parameters of the customer's return from the provider.
#[derive(Debug, Clone, Default)]
pub struct RedirectParameters {
    /// The id of Razorpay's order.
    pub razorpay_order_id: Option<String>,
    /// The id of Razorpay's payment.
    pub razorpay_payment_id: Option<String>,
    /// Razorpay's signature over both.
    pub razorpay_signature: Option<String>,
    /// The id of Stripe's payment intent.
    pub payment_intent: Option<String>,
}

/// A webhook whose signature was verified.
#[derive(Debug, Clone)]
pub struct ProviderWebhookEvent {
    /// The provider's event id.
    pub event_id: String,
    /// The provider's type of the event.
    pub kind: String,
    /// The report about a payment; none if the event is about something else.
    pub observed: Option<Observed>,
    /// The report about a dispute of that payment.
    pub dispute: Option<ObservedDispute>,
}

/// The state of a refund of ours at the provider, from a response or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundResult {
    /// It succeeded; with the provider's id of it.
    Done(String),
    /// It is accepted, and its result comes later; with the provider's id of it.
    Pending(String),
    /// It is rejected finally; with the provider's error code.
    Rejected(String),
}

/// The report of an event about a refund of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundNotice {
    /// The refund, from the metadata that we sent to the provider.
    pub id: RefundId,
    /// The state of the refund.
    pub result: RefundResult,
}

/// A provider's report of a payment, from a response or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The provider's reference ([`Payment::provider_reference`]).
    pub reference: String,
    /// The state.
    pub state: ObservedState,
    /// The provider's id of the payment or charge.
    pub provider_payment: Option<String>,
    /// The authorized or captured amount.
    pub amount: Option<Money>,
    /// The refunded amount in total.
    pub refunded: Option<Money>,
    /// The payment method.
    pub method: Option<String>,
    /// The provider's error code, if it failed.
    pub failure_code: Option<String>,
    /// The refund that the event is about, if it is one of ours.
    pub refund: Option<RefundNotice>,
}

/// The result of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureResult {
    /// The payment afterwards.
    pub observed: Observed,
    /// Whether this call captured it; otherwise somebody else did, or an earlier call whose response was
    /// lost.
    pub is_ours: bool,
}

impl CaptureResult {
    /// A capture by this call.
    pub const fn by_us(observed: Observed) -> Self {
        Self { observed, is_ours: true }
    }

    /// A capture before this call.
    pub const fn before(observed: Observed) -> Self {
        Self { observed, is_ours: false }
    }
}

/// The state of a payment at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservedState {
    /// The customer has not paid.
    Pending,
    /// The customer has paid, and the provider waits for their bank, which may take days.
    Processing,
    /// The last attempt failed.
    Failed,
    /// The amount is held.
    Authorized,
    /// The amount was captured.
    Captured,
    /// It was voided.
    Voided,
}

impl Observed {
    /// The report of a payment that is not paid.
    pub fn pending(reference: &str) -> Self {
        Self {
            reference: reference.to_owned(),
            state: ObservedState::Pending,
            provider_payment: None,
            amount: None,
            refunded: None,
            method: None,
            failure_code: None,
            refund: None,
        }
    }

    /// Whether the whole captured amount was refunded.
    pub fn has_all_gone_back(&self) -> bool {
        self.state == ObservedState::Captured
            && self.amount.is_some()
            && self.amount == self.refunded
    }
}

/// A message that is not the provider's: its signature does not match, or it is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forged;

impl From<Forged> for Problem {
    fn from(_: Forged) -> Self {
        Code::SignatureMismatch.into()
    }
}

/// The failure of a request to a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderFailure {
    /// It did not respond in time. It may have executed the request.
    Timeout,
    /// It could not be reached, or its response is invalid. It may have executed the request.
    Broken(String),
    /// It rejected the credentials.
    Unauthorized,
    /// It is busy, perhaps with the same request. It may have executed it.
    Busy,
    /// It rejected the request, with its error code.
    Rejected(String),
}

impl ProviderFailure {
    /// Whether the provider has rejected the request, so that a retry is of no use.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Rejected(_))
    }

    /// The provider's error code, or ours for a failure without one.
    pub fn code(&self) -> &str {
        match self {
            Self::Timeout => "timeout",
            Self::Broken(_) => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::Busy => "busy",
            Self::Rejected(code) => code,
        }
    }
}

impl fmt::Display for ProviderFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(cause) => write!(f, "payment provider: {cause}"),
            other => write!(f, "payment provider: {}", other.code()),
        }
    }
}

impl std::error::Error for ProviderFailure {}

/// 504 for a timeout, otherwise 502. The provider's own text only goes to the log.
impl From<ProviderFailure> for Problem {
    fn from(failure: ProviderFailure) -> Self {
        let other = || Code::ProviderError.with("provider_code", failure.code()).because(&failure);
        match &failure {
            ProviderFailure::Timeout => Self::from(Code::ProviderTimeout),
            ProviderFailure::Busy => other().header(header::RETRY_AFTER, BUSY_FOR),
            _ => other(),
        }
    }
}
