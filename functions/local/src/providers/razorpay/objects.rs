//! Razorpay's objects, and their JSON in the API.

use serde_json::{Value, json};

/// An order, which a shop creates and a customer pays.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) amount_paid: i64,
    pub(super) currency: String,
    pub(super) receipt: Value,
    pub(super) notes: Value,
    pub(super) attempts: u32,
    pub(super) is_captured_automatically: bool,
    pub(super) created_at: i64,
}

/// The status of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Authorized,
    Captured,
    Refunded,
    Failed,
}

/// A payment: an attempt to pay an order.
#[derive(Debug, Clone)]
pub(super) struct Payment {
    pub(super) id: String,
    pub(super) order_id: String,
    pub(super) amount: i64,
    pub(super) amount_refunded: i64,
    pub(super) currency: String,
    pub(super) status: Status,
    /// Whether it was ever captured; an uncaptured payment is refunded as well.
    pub(super) is_captured: bool,
    pub(super) notes: Value,
    pub(super) created_at: i64,
}

/// The status of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefundStatus {
    Pending,
    Processed,
    Failed,
}

/// A refund.
#[derive(Debug, Clone)]
pub(super) struct Refund {
    pub(super) status: RefundStatus,
    pub(super) id: String,
    pub(super) payment_id: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) receipt: Value,
    pub(super) notes: Value,
    pub(super) created_at: i64,
}

impl Order {
    fn status(&self) -> &'static str {
        match (self.amount_paid, self.attempts) {
            (1.., _) => "paid",
            (_, 1..) => "attempted",
            (_, 0) => "created",
        }
    }

    pub(super) fn view(&self) -> Value {
        json!({
            "id": self.id, "entity": "order", "amount": self.amount,
            "amount_paid": self.amount_paid,
            "amount_due": self.amount.saturating_sub(self.amount_paid),
            "currency": self.currency, "receipt": self.receipt, "offer_id": null,
            "status": self.status(), "attempts": self.attempts, "notes": self.notes,
            "created_at": self.created_at,
        })
    }
}

impl Payment {
    pub(super) fn view(&self) -> Value {
        let status = match self.status {
            Status::Authorized => "authorized",
            Status::Captured => "captured",
            Status::Refunded => "refunded",
            Status::Failed => "failed",
        };
        let refund_status = match (self.status, self.amount_refunded) {
            (Status::Refunded, _) => Some("full"),
            (_, 1..) => Some("partial"),
            _ => None,
        };
        let failed = |text| (self.status == Status::Failed).then_some(text);
        json!({
            "id": self.id, "entity": "payment", "amount": self.amount, "currency": self.currency,
            "status": status, "order_id": self.order_id, "invoice_id": null,
            "international": false, "method": "upi", "amount_refunded": self.amount_refunded,
            "refund_status": refund_status,
            "captured": self.is_captured,
            "description": null, "card_id": null, "bank": null, "wallet": null,
            "vpa": "shopper@upi", "email": "shopper@example.com", "contact": "+919999999999",
            "notes": self.notes, "fee": null, "tax": null,
            "error_code": failed("BAD_REQUEST_ERROR"),
            "error_description": failed("Your payment was declined by your bank."),
            "error_source": failed("issuer_bank"),
            "error_step": failed("payment_authorization"),
            "error_reason": failed("payment_declined"),
            "acquirer_data": {}, "created_at": self.created_at,
        })
    }
}

impl Refund {
    pub(super) fn view(&self) -> Value {
        let (status, speed) = match self.status {
            RefundStatus::Pending => ("pending", None),
            RefundStatus::Processed => ("processed", Some("normal")),
            RefundStatus::Failed => ("failed", None),
        };
        json!({
            "id": self.id, "entity": "refund", "amount": self.amount, "currency": self.currency,
            "payment_id": self.payment_id, "notes": self.notes, "receipt": self.receipt,
            "acquirer_data": {"arn": null}, "created_at": self.created_at, "batch_id": null,
            "status": status, "speed_processed": speed, "speed_requested": "normal",
        })
    }
}
