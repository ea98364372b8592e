//! Payments of orders through a provider.
//!
//! - [`Payment`] is the item. Its transitions ([`Payment::observe`], [`Payment::begin_refund`], …) are pure
//!   and never go backwards, because webhooks arrive late, twice and out of order.
//! - [`provider::Provider`] is the interface of a provider, and [`provider_client::ProviderClient`] a store's account
//!   with one of them, ready for calls. [`Capabilities`] says how providers differ.
//! - [`record_payment`](crate::workflows::record_payment) saves a provider's report of a payment, from the
//!   customer's return, a webhook or a request. [`refund_order`](crate::workflows::refund_order) refunds it.
//! - [`lookup`]: finds a payment's key from its id or from the provider's reference.

pub mod acceptance;
pub mod account;
mod begun;
mod call;
pub mod capabilities;
mod capture;
pub mod credentials;
mod deadline;
pub mod load;
pub mod lookup;
pub mod manual;
pub mod manual_method;
pub mod provider;
pub mod provider_client;
pub mod provider_event;
pub mod razorpay;
mod reference;
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

use std::time::Duration;

use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{DisputeEvidenceId, DisputeId, OrderId, PaymentId, RefundId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use primitives::clock::{DAY, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};
use table::outbox::DueKind;

use crate::dispute::DisputeStatus;

pub use capabilities::Capabilities;
pub use deadline::ProviderDeadline;
pub use provider::{Observed, ObservedState};
pub use reference::ProviderReference;
pub(crate) use state::disputed;
pub use state::{PaymentChange, Transition};
pub use topics::*;
pub use units::{can_count, can_take, ensure_countable, step};
pub use view::PaymentView;

/// The time for which an order waits for a payment that its provider processes (our choice): a bank debit takes up to
/// fourteen days to succeed or fail (<https://docs.stripe.com/payments/bank-debits>).
pub const PROCESSING_WINDOW: Duration = DAY.saturating_mul(14);
/// The most attempts, and the most receipts, that a payment stores: the newest.
const MAX_RECORDS: usize = 50;

primitives::string_enum! {
    /// The mode of a payment or a provider account: test or live.
    #[schemars(rename = "PaymentMode")]
    Mode {
        /// The provider's sandbox.
        Test = "test",
        /// Live mode: real payments.
        Live = "live",
    }
}

primitives::string_enum! {
    /// The capture method of an authorized payment.
    CaptureMethod {
        /// At once when the customer authorizes it.
        Automatic = "automatic",
        /// By the merchant; until then it is only authorized.
        Manual = "manual",
    }
}

primitives::string_enum! {
    /// The status of a payment.
    PaymentStatus {
        /// It was created with the provider; the customer has not paid.
        Created = "created",
        /// The customer has paid, and the provider waits for their bank, which may take days.
        Processing = "processing",
        /// The customer has authorized it; the amount is held and can be captured.
        Authorized = "authorized",
        /// The amount was captured.
        Captured = "captured",
        /// A part of the captured amount was refunded.
        PartiallyRefunded = "partially_refunded",
        /// The whole captured amount was refunded.
        Refunded = "refunded",
        /// It was cancelled before a capture.
        Voided = "voided",
        /// The last attempt failed; the customer may try again.
        Failed = "failed",
    }
}

primitives::string_enum! {
    /// The reason why a payment needs attention.
    #[schemars(rename = "PaymentAttention")]
    Attention {
        /// It was paid after the order had expired or was cancelled. It is voided or refunded automatically.
        LatePayment = "late_payment",
        /// The order had been paid by other means. It is voided or refunded automatically.
        DuplicatePayment = "duplicate_payment",
        /// The provider authorized or captured another amount than requested. It is not applied to the order.
        AmountMismatch = "amount_mismatch",
    }
}

primitives::string_enum! {
    /// The source of a change of a payment.
    PaymentSource {
        /// The customer's return from the provider.
        Verify = "verify",
        /// A webhook of the provider.
        Webhook = "webhook",
        /// A request of the service to the provider.
        Sync = "sync",
        /// A request of the merchant or an app.
        Admin = "admin",
        /// The service by itself: the refund of a payment that its order did not accept.
        Automatic = "automatic",
    }
}

primitives::string_enum! {
    /// An action on a payment.
    Action {
        /// The amount is held.
        Authorize = "authorize",
        /// The amount is captured.
        Capture = "capture",
        /// The authorization is released.
        Void = "void",
        /// The amount is refunded.
        Refund = "refund",
    }
}

primitives::string_enum! {
    /// The status of a refund of a payment.
    RefundState {
        /// The amount is reserved; the provider has not confirmed the refund.
        Pending = "pending",
        /// The provider has confirmed it.
        Succeeded = "succeeded",
        /// The provider rejected it; the amount is no longer reserved.
        Failed = "failed",
    }
}

/// An attempt of an action at a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentAttempt {
    /// The action.
    pub action: Action,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The amount.
    pub amount: Money,
    /// The provider's id of the payment or charge.
    pub provider_payment: Option<String>,
    /// The provider's error code, if it failed.
    pub failure_code: Option<String>,
    /// The source of the information.
    pub source: PaymentSource,
    /// When it was recorded.
    pub at: Timestamp,
}

/// The record of a capture or refund.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PaymentReceipt")]
pub struct Receipt {
    /// The action.
    pub action: Action,
    /// The amount.
    pub amount: Money,
    /// The provider's id of the payment or refund.
    pub provider_reference: String,
    /// When it was recorded.
    pub at: Timestamp,
}

/// A refund of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentRefund {
    /// The refund's id, which is also the idempotency key at the provider.
    pub id: RefundId,
    /// The amount.
    pub amount: Money,
    /// The status.
    pub status: RefundState,
    /// The provider's id of the refund.
    pub provider_reference: Option<String>,
    /// The provider's error code, if it failed.
    pub failure_code: Option<String>,
    /// When the amount was reserved.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each change of the refund.
    pub version: u64,
}

/// The part of a dispute that affects its payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentDispute {
    /// The dispute.
    pub id: DisputeId,
    /// The status of the dispute.
    pub status: DisputeStatus,
    /// The amount of the payment that it holds or has withdrawn.
    pub held: Money,
    /// The evidence that is being sent to the provider; the sweep sends it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<DisputeEvidenceId>,
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// The id, which is also the idempotency key of its creation at the provider.
    pub id: PaymentId,
    /// The store.
    pub store_id: StoreId,
    /// The order that it pays.
    pub order_id: OrderId,
    /// The order number, which is on the customer's statement.
    pub order_number: String,
    /// The payment provider.
    pub provider: ProviderName,
    /// Test or live.
    pub mode: Mode,
    /// The public key of the account that it was created with.
    pub key_id: Option<String>,
    /// The provider's id of the order or payment intent: `order_…`, `pi_…`. Our own id if there is none.
    pub provider_reference: String,
    /// The provider's id of the payment or charge: `pay_…`, `ch_…`.
    pub provider_payment: Option<String>,
    /// The requested amount.
    pub amount: Money,
    /// The authorized amount.
    pub authorized: Money,
    /// The captured amount.
    pub captured: Money,
    /// The refunded amount.
    pub refunded: Money,
    /// The status.
    pub status: PaymentStatus,
    /// The capture method.
    pub capture_method: CaptureMethod,
    /// Whether the order counts the captured amount; false for late, duplicate or mismatched payments.
    pub is_applied: bool,
    /// The reason why it needs attention.
    pub attention: Option<Attention>,
    /// The payment method, in the provider's terms: `card`, `upi`.
    pub method: Option<String>,
    /// Stripe's client secret, sealed. The customer's browser needs it to pay.
    pub sealed_client_secret: Option<String>,
    /// The attempts, newest last.
    pub attempts: Vec<PaymentAttempt>,
    /// The receipts, newest last.
    pub receipts: Vec<Receipt>,
    /// The refunds.
    pub refunds: Vec<PaymentRefund>,
    /// The disputes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputes: Vec<PaymentDispute>,
    /// When its disputes were last loaded from the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "disputes_asked_at")]
    pub disputes_fetched_at: Option<Timestamp>,
    /// When the order expires unless it is paid.
    pub expires_at: Option<Timestamp>,
    /// The number of the sweep's attempts to complete pending work.
    #[serde(default)]
    pub tries: u32,
    /// The time of the last of them.
    #[serde(default)]
    pub tried_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Payment {
    const KIND: &'static str = "payment";
    const PACKING: Option<Packing> = Some(Packing::ALL);
    fn key(&self) -> Key {
        key::payment(&self.store_id, &self.order_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let listed = key::payments_of_store(&self.store_id, self.created_at, &self.id);
        let due = self.due_at().map(|at| DueKind::Payment.mark(self.id.as_str(), at));
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

    /// The event also appears in the timeline of its order.
    fn event(&self, topic: &Topic<PaymentView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.order_id.as_str())
    }
}

/// The data of a payment to create.
#[derive(Debug, Clone)]
pub struct NewPayment {
    /// The store.
    pub store_id: StoreId,
    /// The order.
    pub order_id: OrderId,
    /// The order number.
    pub order_number: String,
    /// The amount due.
    pub amount: Money,
    /// When the order expires unless it is paid.
    pub expires_at: Option<Timestamp>,
}

impl Payment {
    /// Whether it still needs its provider: it can be paid, captured or voided, has a pending refund or an
    /// open dispute, or awaits the merchant's decision.
    pub fn needs_provider(&self) -> bool {
        let is_active = self.may_yet_be_captured()
            || self.awaits_decision()
            || self.has_work()
            || self.has_open_dispute();
        Capabilities::of(self.provider).is_online && is_active
    }

    /// The refund with this id.
    pub fn refund(&self, id: &RefundId) -> Option<&PaymentRefund> {
        self.refunds.iter().find(|refund| refund.id == *id)
    }

    /// Whether the customer can still pay it.
    pub fn is_open(&self) -> bool {
        matches!(self.status, PaymentStatus::Created | PaymentStatus::Failed)
    }

    /// Whether money can still arrive by it: the customer can pay it, or has paid it and nothing is captured.
    pub fn may_yet_be_captured(&self) -> bool {
        self.is_open()
            || matches!(self.status, PaymentStatus::Processing | PaymentStatus::Authorized)
    }
}
