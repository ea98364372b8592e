//! A dispute as the merchant and their apps see it.

use core_types::id::{DisputeId, OrderId, PaymentId, StoreId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;

use super::{Dispute, DisputeStatus, DisputeType, SentEvidence};

core_types::view! {
    /// A dispute of a payment.
    DisputeView of dispute: Dispute {
        /// `dsp_` and 32 hexadecimal digits.
        id: DisputeId,
        /// The store that it belongs to.
        store_id: StoreId,
        /// The order that the payment is for.
        order_id: OrderId,
        /// The order's number.
        order_number: String,
        /// The payment.
        payment_id: PaymentId,
        /// Its provider.
        provider: ProviderName,
        /// The provider's id of the dispute.
        provider_reference: String,
        /// What the bank wants: to know more, or the money.
        r#type: DisputeType = dispute.kind,
        /// How far it has come.
        status: DisputeStatus,
        /// What is disputed.
        amount: Money,
        /// What it holds of the payment, or has taken: nothing of an inquiry, of one that is won or
        /// closed, and of one in another currency than the payment's.
        held: Money,
        /// Why, in the provider's word.
        reason: String,
        /// Until when the provider takes evidence, if it takes any.
        due_by: Option<Timestamp>,
        /// The evidence that was sent last; what it says is the provider's to keep.
        evidence: Option<SentEvidence>,
        /// What can be done about it.
        allowed_actions: Vec<&'static str> = dispute.allowed_actions(),
        /// When it was seen to be over.
        closed_at: Option<Timestamp>,
        /// When the provider opened it.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}
