//! The representation of a dispute in responses and events.

use core_types::id::{DisputeId, OrderId, PaymentId, StoreId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;

use super::{Dispute, DisputeStatus, DisputeType, SentEvidence};

core_types::view! {
    /// A dispute of a payment.
    DisputeView of dispute: Dispute {
        /// The id: `dsp_` and 32 hexadecimal digits.
        id: DisputeId,
        /// The store.
        store_id: StoreId,
        /// The order that the payment is for.
        order_id: OrderId,
        /// The order number.
        order_number: String,
        /// The payment.
        payment_id: PaymentId,
        /// The payment provider.
        provider: ProviderName,
        /// The provider's id of the dispute.
        provider_reference: String,
        /// The type.
        r#type: DisputeType = dispute.kind,
        /// The status.
        status: DisputeStatus,
        /// The disputed amount, which may be in another currency than the payment's.
        amount: Money,
        /// The amount of the payment that it holds or has withdrawn: zero for an open inquiry, for a dispute
        /// that is won or closed, and for one in another currency than the payment's.
        held: Money,
        /// The reason code of the provider.
        reason: String,
        /// When the provider stops accepting evidence; none if it accepts none.
        due_by: Option<Timestamp>,
        /// The evidence that was sent last, without its content, which only the provider stores.
        evidence: Option<SentEvidence>,
        /// The actions that its status allows now: `submit_evidence`.
        allowed_actions: Vec<&'static str> = dispute.allowed_actions(),
        /// When its end was recorded.
        closed_at: Option<Timestamp>,
        /// When the provider opened it.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}
