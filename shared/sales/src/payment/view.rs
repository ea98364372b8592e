//! A payment as the merchant and their apps see it.

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
        /// `pay_` and 32 hexadecimal digits.
        id: PaymentId,
        /// The store that it belongs to.
        store_id: StoreId,
        /// The order it pays.
        order_id: OrderId,
        /// The order's number.
        order_number: String,
        /// Through whom.
        provider: ProviderName,
        /// Whether money moves.
        mode: Mode,
        /// What it was opened as with the provider.
        provider_reference: String,
        /// What carries the money.
        provider_payment: Option<String>,
        /// What was asked for.
        amount: Money,
        /// What the customer has agreed to.
        authorized: Money,
        /// What was taken.
        captured: Money,
        /// What was refunded.
        refunded: Money,
        /// What disputes hold of the rest, or have taken.
        disputed: Money = payment.disputed(),
        /// What can still go back: captured, less refunded, on its way back, and disputed.
        refundable: Money = payment.refundable(),
        /// What has become of it.
        status: PaymentStatus,
        /// When the money is taken.
        capture_method: CaptureMethod,
        /// How the customer paid, in the provider's word.
        method: Option<String>,
        /// Why somebody should look at it.
        attention: Option<Attention>,
        /// What was tried.
        attempts: Vec<PaymentAttempt>,
        /// What moved.
        receipts: Vec<Receipt>,
        /// What goes or went back.
        refunds: Vec<PaymentRefund>,
        /// What a bank disputes of it.
        disputes: Vec<PaymentDispute>,
        /// The actions that its state allows.
        allowed_actions: Vec<&'static str> = payment.allowed_actions(),
        /// When the order stops waiting for it.
        expires_at: Option<Timestamp>,
        /// When it was opened.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}
