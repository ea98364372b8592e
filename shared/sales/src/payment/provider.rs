//! What a payment provider can do, and a store's account with one of them, ready to be called.

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

use super::{Opening, Payment};
use crate::dispute::evidence::Evidence;
use crate::dispute::{Dispute, ObservedDispute};

/// How many seconds a busy provider is given.
const BUSY_FOR: &str = "2";

/// One provider, with one store's credentials. Every call has a deadline and is made once. What
/// would be done twice if it were repeated carries an idempotency key that follows from our ids;
/// what a provider does but once by itself (a capture, a cancellation) carries none, for under a
/// key a provider repeats its old failures.
pub trait Provider {
    /// Which one it is.
    fn name(&self) -> ProviderName;

    /// Opens a payment: Razorpay's order, Stripe's payment intent.
    fn open(
        &self,
        services: &Services,
        id: &PaymentId,
        input: &Opening,
    ) -> impl Future<Output = Result<Opened, ProviderFailure>> + Send;

    /// What the customer's browser is given to pay with.
    fn client(&self, payment: &Payment, secret: Option<String>) -> Client;

    /// Whether what the customer brought back is the provider's word about this payment. It says
    /// nothing about the money: that is for [`Provider::fetch`].
    fn verify_return(&self, payment: &Payment, returned: &Returned) -> Result<(), Forged>;

    /// Reads a webhook, if the provider has signed it.
    fn webhook(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) -> Result<Notice, Forged>;

    /// Asks what has become of a payment.
    fn fetch(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> impl Future<Output = Result<Observed, ProviderFailure>> + Send;

    /// Takes money that was authorized. When it was taken before, that is what is answered.
    fn capture(
        &self,
        services: &Services,
        payment: &Payment,
        amount: &Money,
    ) -> impl Future<Output = Result<CaptureResult, ProviderFailure>> + Send;

    /// Gives a payment up. When the money was taken meanwhile, that is what is answered.
    fn void(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> impl Future<Output = Result<Observed, ProviderFailure>> + Send;

    /// Refunds money, once per refund id.
    fn refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
        amount: &Money,
    ) -> impl Future<Output = Result<RefundResult, ProviderFailure>> + Send;

    /// Asks what has become of a refund; none when the provider never heard of it.
    fn look_up_refund(
        &self,
        services: &Services,
        payment: &Payment,
        id: &RefundId,
    ) -> impl Future<Output = Result<Option<RefundResult>, ProviderFailure>> + Send;

    /// The disputes of a payment whose money was taken, as they are now.
    fn disputes(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> impl Future<Output = Result<Vec<ObservedDispute>, ProviderFailure>> + Send;

    /// A dispute as it is now.
    fn look_up_dispute(
        &self,
        services: &Services,
        dispute: &Dispute,
    ) -> impl Future<Output = Result<ObservedDispute, ProviderFailure>> + Send;

    /// Keeps evidence as a draft, or submits it to the bank; the dispute then.
    fn send_evidence(
        &self,
        services: &Services,
        dispute: &Dispute,
        evidence: &Evidence,
    ) -> impl Future<Output = Result<ObservedDispute, ProviderFailure>> + Send;

    /// Whether the credentials work.
    fn check(
        &self,
        services: &Services,
    ) -> impl Future<Output = Result<(), ProviderFailure>> + Send;
}

/// A payment as the provider opened it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The provider's reference.
    pub reference: String,
    /// What the customer's browser needs, if it is secret.
    pub client_secret: Option<String>,
}

/// What the customer's browser is given to pay with.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PaymentClient")]
pub struct Client {
    /// The public key of the store's account.
    pub key_id: Option<String>,
    /// What only this customer may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// What the provider's script takes.
    pub options: Value,
}

/// What the customer's browser brought back from the provider.
#[derive(Debug, Clone, Default)]
pub struct Returned {
    /// Razorpay's order.
    pub razorpay_order_id: Option<String>,
    /// Razorpay's payment.
    pub razorpay_payment_id: Option<String>,
    /// Razorpay's signature over both.
    pub razorpay_signature: Option<String>,
    /// Stripe's payment intent.
    pub payment_intent: Option<String>,
}

/// A webhook that is the provider's.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The provider's event id.
    pub event_id: String,
    /// Its kind, in the provider's word.
    pub kind: String,
    /// What it says about a payment; none when it is about something else.
    pub observed: Option<Observed>,
    /// What it says about a dispute of that payment.
    pub dispute: Option<ObservedDispute>,
}

/// What a provider says to a refund of ours, when it is asked or by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundResult {
    /// The money has gone back, under the provider's reference.
    Done(String),
    /// It has taken the refund in, under its reference, and says later what became of it.
    Pending(String),
    /// No, with its code. That is final.
    Rejected(String),
}

/// What a provider's event says about a refund of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundNotice {
    /// The refund: we gave the provider its id to keep with it.
    pub id: RefundId,
    /// What has become of it.
    pub result: RefundResult,
}

/// What a provider says about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Its reference, as it was opened.
    pub reference: String,
    /// How far it is.
    pub state: ObservedState,
    /// What carries the money.
    pub provider_payment: Option<String>,
    /// How much is authorized or was taken.
    pub amount: Option<Money>,
    /// How much went back, in all.
    pub refunded: Option<Money>,
    /// How the customer paid.
    pub method: Option<String>,
    /// Why it failed, in the provider's code.
    pub failure_code: Option<String>,
    /// The refund that the update is about, if it is one of ours.
    pub refund: Option<RefundNotice>,
}

/// Money that a provider has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureResult {
    /// The payment then.
    pub observed: Observed,
    /// Whether this very call took it: otherwise somebody else did, or an earlier call whose answer
    /// was lost.
    pub is_ours: bool,
}

impl CaptureResult {
    /// Taken by this call.
    pub const fn by_us(observed: Observed) -> Self {
        Self { observed, is_ours: true }
    }

    /// Taken before this call.
    pub const fn before(observed: Observed) -> Self {
        Self { observed, is_ours: false }
    }
}

/// How far a payment is, to its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservedState {
    /// Nothing has happened yet.
    Pending,
    /// The last attempt failed.
    Failed,
    /// Money is held.
    Authorized,
    /// Money was taken.
    Captured,
    /// It was given up.
    Voided,
}

impl Observed {
    /// Nothing has happened to this payment.
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

    /// Whether all that was taken has gone back.
    pub fn has_all_gone_back(&self) -> bool {
        self.state == ObservedState::Captured
            && self.amount.is_some()
            && self.amount == self.refunded
    }
}

/// Somebody else's word: a signature that does not match, or a message that is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forged;

impl From<Forged> for Problem {
    fn from(_: Forged) -> Self {
        Code::SignatureMismatch.into()
    }
}

/// Why a provider did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderFailure {
    /// It did not answer in time: it may have done it.
    Timeout,
    /// It could not be reached, or did not speak its protocol: it may have done it.
    Broken(String),
    /// The credentials are rejected.
    Unauthorized,
    /// It is busy, perhaps with this very request: it may have done it.
    Busy,
    /// It rejected, with its code.
    Rejected(String),
}

impl ProviderFailure {
    /// Whether the provider has said no, so that asking again is of no use.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Rejected(_))
    }

    /// The provider's code, or our word for why there is none.
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

/// 504 when it was late, 502 for everything else; the provider's own text goes to the log alone.
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
