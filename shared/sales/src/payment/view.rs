//! The representation of a payment in responses and events.

use core_types::id::{OrderId, PaymentId, StoreId};
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;

use super::{
    Attention, CaptureMethod, Mode, Payment, PaymentAttempt, PaymentDispute, PaymentRefund,
    PaymentStatus, Receipt,
};

core_types::view! {
    /// A payment.
    PaymentView of payment: Payment {
        /// The id: `pay_` and 32 hexadecimal digits.
        id: PaymentId,
        /// The store.
        store_id: StoreId,
        /// The order that it pays.
        order_id: OrderId,
        /// The order number.
        order_number: String,
        /// The payment provider.
        provider: ProviderName,
        /// Test or live.
        mode: Mode,
        /// The provider's id of the order or payment intent.
        provider_reference: String,
        /// The provider's id of the payment or charge.
        provider_payment: Option<String>,
        /// The requested amount.
        amount: Money,
        /// The authorized amount.
        authorized: Money,
        /// The captured amount.
        captured: Money,
        /// The refunded amount, without pending refunds.
        refunded: Money,
        /// The amount that disputes hold or have withdrawn, and that was not refunded.
        disputed: Money = payment.disputed(),
        /// The amount that can still be refunded: captured, less refunded, pending and disputed.
        refundable: Money = payment.refundable(),
        /// The status.
        status: PaymentStatus,
        /// The capture method.
        capture_method: CaptureMethod,
        /// The payment method, in the provider's terms: `card`, `upi`.
        method: Option<String>,
        /// The reason why it needs attention.
        attention: Option<Attention>,
        /// The newest 50 attempts, newest last.
        attempts: Vec<PaymentAttempt>,
        /// The newest 50 receipts of captures and refunds, newest last.
        receipts: Vec<Receipt>,
        /// The refunds.
        refunds: Vec<PaymentRefund>,
        /// The disputes.
        disputes: Vec<PaymentDispute>,
        /// The actions that its state allows now.
        allowed_actions: Vec<&'static str> = payment.allowed_actions(),
        /// When the order expires unless it is paid.
        expires_at: Option<Timestamp>,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}
