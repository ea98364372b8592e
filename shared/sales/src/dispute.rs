//! Disputes: a customer's bank questions a payment, and takes its money back or asks about it.
//!
//! - [`Dispute`] is the item; what a provider says of it is joined to it by [`Dispute::after`],
//!   which comes to the same in whatever order, and however often, it is told.
//! - What it holds of its payment's money is counted on the payment and on its order
//!   ([`PaymentDispute`](crate::payment::PaymentDispute)): that money cannot be refunded.
//! - [`evidence`]: what a merchant says against it, in the provider's own fields.
//! - [`record_disputes`](crate::workflows::record_disputes) applies what was learnt, and
//!   [`submit_evidence`](crate::workflows::submit_evidence) sends evidence to the provider.
//!
//! The providers' words: <https://docs.stripe.com/api/disputes/object>,
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
    /// What a bank wants.
    DisputeType {
        /// To know more: no money was taken, and a refund may settle it. Stripe's statuses
        /// `warning_…`, Razorpay's phases `fraud` and `retrieval`.
        Inquiry = "inquiry",
        /// The money: it is held until the dispute is over.
        Chargeback = "chargeback",
    }
}

primitives::string_enum! {
    /// How far a dispute has come: of what is told at one moment, what stands further below is later.
    DisputeStatus {
        /// It waits for evidence.
        NeedsResponse = "needs_response",
        /// The bank has the evidence.
        UnderReview = "under_review",
        /// It ended without a winner: an inquiry that came to nothing.
        Closed = "closed",
        /// The merchant keeps the money.
        Won = "won",
        /// The customer has the money.
        Lost = "lost",
    }
}

primitives::string_enum! {
    /// What has become of evidence.
    EvidenceStatus {
        /// It is on its way to the provider.
        Pending = "pending",
        /// The provider keeps it as a draft, which the bank does not see.
        Staged = "staged",
        /// The bank has it, or gets it.
        Submitted = "submitted",
        /// The provider rejected it.
        Failed = "failed",
    }
}

/// Evidence that was sent last. What it says is the provider's to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentEvidence {
    /// `dse_` and 32 hexadecimal digits; also what the provider deduplicates on.
    pub id: DisputeEvidenceId,
    /// What has become of it.
    pub status: EvidenceStatus,
    /// Whether it is for the bank, or for the draft.
    pub submit: bool,
    /// The names of its fields.
    pub fields: Vec<String>,
    /// The provider's code, when it rejected.
    pub failure_code: Option<String>,
    /// When it was sent.
    pub created_at: Timestamp,
    /// When the provider answered.
    pub answered_at: Option<Timestamp>,
}

/// A dispute of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispute {
    /// `dsp_` and 32 hexadecimal digits.
    pub id: DisputeId,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The order that the payment is for.
    pub order_id: OrderId,
    /// The order's number.
    pub order_number: String,
    /// The payment.
    pub payment_id: PaymentId,
    /// Its provider.
    pub provider: ProviderName,
    /// The provider's id of the dispute: `du_…`, `disp_…`.
    pub provider_reference: String,
    /// What the bank wants.
    pub kind: DisputeType,
    /// How far it has come.
    pub status: DisputeStatus,
    /// What is disputed, perhaps in another currency than the payment's.
    pub amount: Money,
    /// What it holds of the payment, or has taken.
    pub held: Money,
    /// Why, in the provider's word.
    pub reason: String,
    /// Until when the provider takes evidence, if it takes any.
    pub due_by: Option<Timestamp>,
    /// The evidence that was sent last.
    #[serde(default)]
    pub evidence: Option<SentEvidence>,
    /// The provider's time of what is known.
    pub told_at: Timestamp,
    /// When it was seen to be over.
    #[serde(default)]
    pub closed_at: Option<Timestamp>,
    /// When the provider opened it.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for Dispute {
    const KIND: &'static str = "dispute";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
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

    /// In its order's timeline.
    fn event(&self, topic: &Topic<DisputeView>, now: Timestamp) -> Event {
        let event = Event::new(topic, self.event_subject(), &self.view(), now);
        event.in_timeline_of(self.order_id.as_str())
    }
}

impl DisputeStatus {
    /// Whether nothing more is to come, as far as the provider says.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Closed | Self::Won | Self::Lost)
    }
}

impl Dispute {
    /// The id of a store's dispute of a provider's.
    pub fn id_of(store: &StoreId, provider: ProviderName, reference: &str) -> DisputeId {
        DisputeId::derive(&[store.as_str(), provider.as_str(), reference])
    }

    /// Evidence that is on its way.
    pub fn pending_evidence(&self) -> Option<&SentEvidence> {
        self.evidence.as_ref().filter(|sent| sent.status == EvidenceStatus::Pending)
    }

    /// What can be done about it now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        let takes =
            self.status == DisputeStatus::NeedsResponse && self.pending_evidence().is_none();
        if takes { vec!["submit_evidence"] } else { Vec::new() }
    }
}
