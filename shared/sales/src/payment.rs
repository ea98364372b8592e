//! Payments: what a customer pays for an order through a provider, and what becomes of it.
//!
//! - [`Payment`] is the item; its transitions ([`Payment::observe`], [`Payment::begin_refund`], …)
//!   are pure and never go backwards: webhooks come late, twice and out of order.
//! - [`provider::Provider`] is what a provider can do, and [`connected::Connected`] a store's
//!   account with one of them, ready to be called.
//! - What was learnt of a payment (by the customer's return, a webhook or a look-up) is applied by
//!   [`record_payment`](crate::workflows::record_payment), and money goes back by
//!   [`refund_order`](crate::workflows::refund_order).
//! - [`lookup`]: where a payment lies. Its id leads to its order, its provider's reference to both.

pub mod acceptance;
pub mod account;
mod begun;
mod call;
mod capture;
pub mod connected;
pub mod credentials;
mod deadline;
pub mod load;
pub mod lookup;
pub mod manual;
pub mod provider;
pub mod provider_event;
pub mod razorpay;
mod samples;
mod state;
pub mod stripe;
#[cfg(test)]
pub(crate) mod tests;
mod topics;
mod unapplied;
mod units;
mod view;
mod work;

use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{DisputeEvidenceId, DisputeId, OrderId, PaymentId, RefundId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};
use table::outbox::Due;

use crate::dispute::DisputeStatus;

pub use deadline::ProviderDeadline;
pub use provider::{Observed, ObservedState};
pub(crate) use state::disputed;
pub use state::{PaymentChange, Transition};
pub use topics::*;
pub use units::{can_count, can_take};
pub use view::PaymentView;

/// How many attempts and receipts a payment keeps: the newest.
const MAX_RECORDS: usize = 50;

primitives::string_enum! {
    /// Whether money moves.
    #[schemars(rename = "PaymentMode")]
    Mode {
        /// The provider's sandbox.
        Test = "test",
        /// Real money.
        Live = "live",
    }
}

primitives::string_enum! {
    /// When the money is taken.
    CaptureMethod {
        /// As soon as the customer has agreed.
        Automatic = "automatic",
        /// When the merchant says so; until then it is authorized.
        Manual = "manual",
    }
}

primitives::string_enum! {
    /// What has become of a payment.
    PaymentStatus {
        /// Opened with the provider; the customer has not paid.
        Created = "created",
        /// The customer has agreed; the money is held and can be captured.
        Authorized = "authorized",
        /// The money was taken.
        Captured = "captured",
        /// Some of the money went back.
        PartiallyRefunded = "partially_refunded",
        /// All of the money went back.
        Refunded = "refunded",
        /// Given up before any money was taken.
        Voided = "voided",
        /// The last attempt failed; the customer may try again.
        Failed = "failed",
    }
}

primitives::string_enum! {
    /// Why somebody should look at a payment.
    #[schemars(rename = "PaymentAttention")]
    Attention {
        /// The money came when the order was expired or cancelled; it goes back by itself.
        LatePayment = "late_payment",
        /// The order had been paid another way; it goes back by itself.
        DuplicatePayment = "duplicate_payment",
        /// The provider took another amount than was asked for; it was not applied to the order.
        AmountMismatch = "amount_mismatch",
    }
}

primitives::string_enum! {
    /// How the service learnt something about a payment.
    #[schemars(rename = "PaymentSource")]
    Source {
        /// The customer came back from the provider.
        Verify = "verify",
        /// The provider said so.
        Webhook = "webhook",
        /// The service asked the provider.
        Sync = "sync",
        /// The merchant, or an app, did it.
        Admin = "admin",
    }
}

primitives::string_enum! {
    /// An action on money.
    Action {
        /// Held.
        Authorize = "authorize",
        /// Taken.
        Capture = "capture",
        /// Voided.
        Void = "void",
        /// Refunded.
        Refund = "refund",
    }
}

primitives::string_enum! {
    /// How far a refund has come.
    RefundState {
        /// Reserved; the provider has not confirmed it.
        Pending = "pending",
        /// The provider has it.
        Succeeded = "succeeded",
        /// The provider rejected it; nothing is reserved any more.
        Failed = "failed",
    }
}

/// Something that was tried with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentAttempt {
    /// What.
    pub action: Action,
    /// Whether it worked.
    pub succeeded: bool,
    /// Of how much.
    pub amount: Money,
    /// The provider's reference of what carries the money.
    pub provider_payment: Option<String>,
    /// The provider's code of the failure.
    pub failure_code: Option<String>,
    /// How the service learnt of it.
    pub source: Source,
    /// When it was recorded.
    pub at: Timestamp,
}

/// Proof that money moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PaymentReceipt")]
pub struct Receipt {
    /// What was done.
    pub action: Action,
    /// With how much.
    pub amount: Money,
    /// The provider's reference.
    pub provider_reference: String,
    /// When it was recorded.
    pub at: Timestamp,
}

/// A refund of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentRefund {
    /// The refund; also what the provider deduplicates on.
    pub id: RefundId,
    /// How much.
    pub amount: Money,
    /// How far it has come.
    pub status: RefundState,
    /// The provider's reference.
    pub provider_reference: Option<String>,
    /// The provider's code, when it rejected.
    pub failure_code: Option<String>,
    /// When it was reserved.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Counts its changes; 1 when it was reserved.
    pub version: u64,
}

/// A dispute of a payment, as far as its money goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentDispute {
    /// The dispute.
    pub id: DisputeId,
    /// How far it has come.
    pub status: DisputeStatus,
    /// What it holds of the payment, or has taken.
    pub held: Money,
    /// Evidence that is on its way to the provider, which the sweep sends again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<DisputeEvidenceId>,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// The id; also what the provider deduplicates its opening on.
    pub id: PaymentId,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The order it pays.
    pub order_id: OrderId,
    /// The order's number, which the customer's statement shows.
    pub order_number: String,
    /// Through whom.
    pub provider: ProviderName,
    /// Whether money moves.
    pub mode: Mode,
    /// The public key of the account that it was opened with.
    pub key_id: Option<String>,
    /// What it was opened as with the provider: `order_…`, `pi_…`; our own id where there is none.
    pub provider_reference: String,
    /// What carries the money: `pay_…`, `ch_…`.
    pub provider_payment: Option<String>,
    /// What was asked for.
    pub amount: Money,
    /// What the customer has agreed to.
    pub authorized: Money,
    /// What was taken.
    pub captured: Money,
    /// What was refunded.
    pub refunded: Money,
    /// What has become of it.
    pub status: PaymentStatus,
    /// When the money is taken.
    pub capture_method: CaptureMethod,
    /// Whether the order counts what was captured; false for money that came too late or twice.
    pub is_applied: bool,
    /// Why somebody should look at it.
    pub attention: Option<Attention>,
    /// How the customer paid, in the provider's word: `card`, `upi`.
    pub method: Option<String>,
    /// What the customer's browser needs to pay, sealed (Stripe's client secret).
    pub sealed_client_secret: Option<String>,
    /// What was tried, newest last.
    pub attempts: Vec<PaymentAttempt>,
    /// What moved, newest last.
    pub receipts: Vec<Receipt>,
    /// What goes or went back.
    pub refunds: Vec<PaymentRefund>,
    /// What a bank disputes of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputes: Vec<PaymentDispute>,
    /// When its provider was last asked about its disputes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disputes_asked_at: Option<Timestamp>,
    /// When the order stops waiting for it.
    pub expires_at: Option<Timestamp>,
    /// How often the sweep has tried what is left to do.
    #[serde(default)]
    pub tries: u32,
    /// When it did so last.
    #[serde(default)]
    pub tried_at: Option<Timestamp>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Payment {
    const KIND: &'static str = "payment";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::payment(&self.store_id, &self.order_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let listed = key::payments_of_store(&self.store_id, self.created_at, &self.id);
        let due = self.due_at().map(|at| Due::Payment.mark(self.id.as_str(), at));
        let open = self.needs_provider().then(|| {
            let provider = self.provider.as_str();
            key::payments_open_with(&self.store_id, provider, self.created_at, &self.id)
        });
        std::iter::once(listed).chain(due).chain(open).collect()
    }
}

impl Resource for Payment {
    type View = PaymentView;

    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }

    /// In its order's timeline.
    fn event(&self, topic: &Topic<PaymentView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.order_id.as_str())
    }
}

/// What is needed to open a payment.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The order that it belongs to.
    pub order_id: OrderId,
    /// The order's number.
    pub order_number: String,
    /// What is due.
    pub amount: Money,
    /// When the order stops waiting.
    pub expires_at: Option<Timestamp>,
}

impl Payment {
    /// The id of the `nth` payment of an order through an account: two requests that open it at
    /// once open the same one, with the provider too. What the provider is told is part of it,
    /// because a provider rejects other words under the same key.
    pub fn id_of(input: &Opening, account: &account::ProviderAccount, nth: usize) -> PaymentId {
        let words = [
            account.provider.as_str(),
            account.mode.as_str(),
            account.capture_method.as_str(),
            account.key_id.as_deref().unwrap_or_default(),
            &input.amount.amount.to_string(),
            &nth.to_string(),
        ];
        PaymentId::of_order(&input.order_id, &words)
    }

    /// Whether something is still to be done about it that only its provider can do: it can be
    /// paid, captured or voided, money is on its way back, a bank disputes it, or the merchant has to
    /// decide.
    pub fn needs_provider(&self) -> bool {
        let is_undecided =
            self.is_open() || self.status == PaymentStatus::Authorized || self.awaits_decision();
        let is_going_on = is_undecided || self.has_work() || self.has_open_dispute();
        self.provider != ProviderName::Manual && is_going_on
    }

    /// Its refund of this id.
    pub fn refund(&self, id: &RefundId) -> Option<&PaymentRefund> {
        self.refunds.iter().find(|refund| refund.id == *id)
    }

    /// Whether the customer can still pay it.
    pub fn is_open(&self) -> bool {
        matches!(self.status, PaymentStatus::Created | PaymentStatus::Failed)
    }
}

/// The one payment of a provider's reference: how a webhook finds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProviderReference {
    /// `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// Its reference.
    pub reference: String,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The order that it belongs to.
    pub order_id: OrderId,
    /// The id of one of the order's payments.
    pub payment_id: PaymentId,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for ProviderReference {
    const KIND: &'static str = "provider_reference";
    fn key(&self) -> Key {
        key::provider_reference(self.provider.as_str(), &self.reference)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl From<&Payment> for ProviderReference {
    fn from(payment: &Payment) -> Self {
        Self {
            provider: payment.provider,
            reference: payment.provider_reference.clone(),
            store_id: payment.store_id.clone(),
            order_id: payment.order_id.clone(),
            payment_id: payment.id.clone(),
            version: 1,
        }
    }
}
