//! A payment as the merchant and their apps see it.

use gateway::clock::Timestamp;
use ground::id::{OrderId, PaymentId, StoreId};
use ground::money::Money;
use ground::provider::ProviderName;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Attempt, Attention, CaptureMethod, Mode, Payment, PaymentRefund, PaymentStatus, Receipt,
};

/// A payment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PaymentView {
    /// The id.
    pub id: PaymentId,
    /// The store.
    pub store_id: StoreId,
    /// The order it pays.
    pub order_id: OrderId,
    /// The order's number.
    pub order_number: String,
    /// Through whom.
    pub provider: ProviderName,
    /// Whether money moves.
    pub mode: Mode,
    /// What it was opened as with the provider.
    pub provider_reference: String,
    /// What carries the money.
    pub provider_payment: Option<String>,
    /// What was asked for.
    pub amount: Money,
    /// What the customer has agreed to.
    pub authorized: Money,
    /// What was taken.
    pub captured: Money,
    /// What was given back.
    pub refunded: Money,
    /// What can still go back.
    pub refundable: Money,
    /// What has become of it.
    pub status: PaymentStatus,
    /// When the money is taken.
    pub capture_method: CaptureMethod,
    /// How the customer paid, in the provider's word.
    pub method: Option<String>,
    /// Why somebody should look at it.
    pub attention: Option<Attention>,
    /// What was tried.
    pub attempts: Vec<Attempt>,
    /// What moved.
    pub receipts: Vec<Receipt>,
    /// What goes or went back.
    pub refunds: Vec<PaymentRefund>,
    /// What can be done with it.
    pub allowed_actions: Vec<&'static str>,
    /// When the order stops waiting for it.
    pub expires_at: Option<Timestamp>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&Payment> for PaymentView {
    fn from(payment: &Payment) -> Self {
        let payment = payment.clone();
        Self {
            refundable: payment.refundable(),
            allowed_actions: payment.allowed_actions(),
            id: payment.id,
            store_id: payment.store_id,
            order_id: payment.order_id,
            order_number: payment.order_number,
            provider: payment.provider,
            mode: payment.mode,
            provider_reference: payment.provider_reference,
            provider_payment: payment.provider_payment,
            amount: payment.amount,
            authorized: payment.authorized,
            captured: payment.captured,
            refunded: payment.refunded,
            status: payment.status,
            capture_method: payment.capture_method,
            method: payment.method,
            attention: payment.attention,
            attempts: payment.attempts,
            receipts: payment.receipts,
            refunds: payment.refunds,
            expires_at: payment.expires_at,
            created_at: payment.created_at,
            updated_at: payment.updated_at,
            version: payment.version,
        }
    }
}
