//! Disputes: a customer's bank contests a payment, as a chargeback or an inquiry.
//!
//! - [`Dispute`] is the item. [`Dispute::after`] merges a provider's report into it; the result is the same
//!   in whatever order, and however often, reports arrive.
//! - The amount that it holds is recorded on its payment and order
//!   ([`PaymentDispute`](crate::payment::PaymentDispute)), and cannot be refunded.
//! - [`evidence`]: a merchant's evidence, in the provider's own fields.
//! - [`record_disputes`](crate::workflows::record_disputes) saves reports, and
//!   [`submit_evidence`](crate::workflows::submit_evidence) sends evidence to the provider.
//!
//! The providers' references: <https://docs.stripe.com/api/disputes/object>,
//! <https://razorpay.com/docs/api/disputes/entity>.

pub mod evidence;
pub mod load;
mod samples;
mod state;
#[cfg(test)]
mod tests;
mod topics;
mod view;

use core_types::event::{Event, EventSubject, Topic};
use core_types::id::{DisputeEvidenceId, DisputeId, OrderId, PaymentId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};

pub use state::{DisputeChange, ObservedDispute};
pub use topics::*;
pub use view::DisputeView;

primitives::string_enum! {
    /// The type of a dispute.
    DisputeType {
        /// The bank requests information: no money was withdrawn, and a refund may resolve it. Stripe's
        /// statuses `warning_…`, Razorpay's phases `fraud` and `retrieval`.
        Inquiry = "inquiry",
        /// The bank reverses the payment: the amount is held until the dispute is over.
        Chargeback = "chargeback",
    }
}

primitives::string_enum! {
    /// The status of a dispute. Of two reports with the same time, the one whose status is listed later here
    /// counts.
    DisputeStatus {
        /// The bank waits for evidence.
        NeedsResponse = "needs_response",
        /// The bank has the evidence.
        UnderReview = "under_review",
        /// It ended without a decision: an inquiry without consequences.
        Closed = "closed",
        /// The merchant won, and keeps the payment.
        Won = "won",
        /// The customer won, and gets the payment back.
        Lost = "lost",
    }
}

primitives::string_enum! {
    /// The status of evidence.
    EvidenceStatus {
        /// It is being sent to the provider.
        Pending = "pending",
        /// The provider has it as a draft, which the bank does not see.
        Staged = "staged",
        /// The provider has passed it to the bank, or will.
        Submitted = "submitted",
        /// The provider rejected it.
        Failed = "failed",
    }
}

/// The evidence that was sent last, without its content, which only the provider stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentEvidence {
    /// The id: `dse_` and 32 hexadecimal digits. It is also the idempotency key at the provider.
    pub id: DisputeEvidenceId,
    /// The status.
    pub status: EvidenceStatus,
    /// Whether it is submitted to the bank; otherwise it is a draft.
    pub submit: bool,
    /// The names of its fields.
    pub fields: Vec<String>,
    /// The provider's error code, if it rejected the evidence.
    pub failure_code: Option<String>,
    /// When it was sent.
    pub created_at: Timestamp,
    /// When the provider responded.
    pub answered_at: Option<Timestamp>,
}

/// A dispute of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispute {
    /// The id: `dsp_` and 32 hexadecimal digits.
    pub id: DisputeId,
    /// The store.
    pub store_id: StoreId,
    /// The order that the payment is for.
    pub order_id: OrderId,
    /// The order number.
    pub order_number: String,
    /// The payment.
    pub payment_id: PaymentId,
    /// The payment provider.
    pub provider: ProviderName,
    /// The provider's id of the dispute: `du_…`, `disp_…`.
    pub provider_reference: String,
    /// The type.
    pub kind: DisputeType,
    /// The status.
    pub status: DisputeStatus,
    /// The disputed amount, which may be in another currency than the payment's.
    pub amount: Money,
    /// The amount of the payment that it holds or has withdrawn.
    pub held: Money,
    /// The reason code of the provider.
    pub reason: String,
    /// When the provider stops accepting evidence; none if it accepts none.
    pub due_by: Option<Timestamp>,
    /// The evidence that was sent last.
    #[serde(default)]
    pub evidence: Option<SentEvidence>,
    /// The provider's time of the latest report.
    pub told_at: Timestamp,
    /// When its end was recorded.
    #[serde(default)]
    pub closed_at: Option<Timestamp>,
    /// When the provider opened it.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Dispute {
    const KIND: &'static str = "dispute";
    const PACKING: Option<Packing> = Some(Packing::ALL);
    fn key(&self) -> Key {
        key::dispute(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let status = self.status.as_str();
        vec![
            key::disputes_of_store(&self.store_id, self.created_at, &self.id),
            key::disputes_of_status(&self.store_id, status, self.created_at, &self.id),
        ]
    }
}

impl Resource for Dispute {
    type View = DisputeView;

    fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }

    /// The event also appears in the timeline of its order.
    fn event(&self, topic: &Topic<DisputeView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.order_id.as_str())
    }
}

impl DisputeStatus {
    /// Whether the dispute has ended, as far as the provider has reported.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Closed | Self::Won | Self::Lost)
    }
}

impl Dispute {
    /// Derives the id of a store's dispute from the provider's id.
    pub fn id_of(store: &StoreId, provider: ProviderName, reference: &str) -> DisputeId {
        DisputeId::derive(&[store.as_str(), provider.as_str(), reference])
    }

    /// The evidence that is being sent.
    pub fn pending_evidence(&self) -> Option<&SentEvidence> {
        self.evidence.as_ref().filter(|sent| sent.status == EvidenceStatus::Pending)
    }

    /// The actions that its status allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let is_accepted =
            self.status == DisputeStatus::NeedsResponse && self.pending_evidence().is_none();
        if is_accepted { vec!["submit_evidence"] } else { Vec::new() }
    }
}
