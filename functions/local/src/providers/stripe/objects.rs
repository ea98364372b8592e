//! Stripe's objects, and their JSON in the API.

use std::collections::BTreeMap;

use primitives::clock::Timestamp;
use serde_json::{Value, json};

use crate::providers::id::mint;

/// A payment intent, which a shop creates and a customer pays.
#[derive(Debug, Clone)]
pub(super) struct Intent {
    pub(super) id: String,
    pub(super) amount: i64,
    pub(super) amount_received: i64,
    pub(super) currency: String,
    pub(super) capture_method: String,
    pub(super) client_secret: String,
    pub(super) description: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) status: Status,
    pub(super) is_declined: bool,
    pub(super) charge: Option<String>,
    pub(super) canceled_at: Option<i64>,
    pub(super) created: i64,
}

/// The status of an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    RequiresPaymentMethod,
    Processing,
    RequiresCapture,
    Succeeded,
    Canceled,
}

/// An attempt to pay an intent, with the authorized or captured money. At most one attempt succeeds.
#[derive(Debug, Clone)]
pub(super) struct Charge {
    pub(super) id: String,
    pub(super) intent: String,
    pub(super) amount: i64,
    pub(super) amount_captured: i64,
    pub(super) amount_refunded: i64,
    pub(super) currency: String,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) is_captured: bool,
    pub(super) is_declined: bool,
    /// Whether the customer's bank has yet to answer.
    pub(super) is_pending: bool,
    /// The type of the payment method: `card`, `sepa_debit`.
    pub(super) method: &'static str,
    pub(super) created: i64,
}

/// The status of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefundStatus {
    Pending,
    Succeeded,
    Failed,
}

/// A refund.
#[derive(Debug, Clone)]
pub(super) struct Refund {
    pub(super) status: RefundStatus,
    pub(super) id: String,
    pub(super) intent: String,
    pub(super) charge: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) created: i64,
}

impl Intent {
    /// Creates an attempt to pay it.
    pub(super) fn attempt(&self, now: Timestamp) -> Charge {
        Charge {
            id: mint("ch_", 24),
            intent: self.id.clone(),
            amount: self.amount,
            amount_captured: 0,
            amount_refunded: 0,
            currency: self.currency.clone(),
            metadata: self.metadata.clone(),
            is_captured: false,
            is_declined: false,
            is_pending: false,
            method: "card",
            created: now.seconds(),
        }
    }

    pub(super) fn view(&self) -> Value {
        let status = match self.status {
            Status::RequiresPaymentMethod => "requires_payment_method",
            Status::Processing => "processing",
            Status::RequiresCapture => "requires_capture",
            Status::Succeeded => "succeeded",
            Status::Canceled => "canceled",
        };
        let held = if self.status == Status::RequiresCapture { self.amount } else { 0 };
        let declined = json!({
            "type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds",
            "message": "Your card has insufficient funds.",
        });
        json!({
            "id": self.id, "object": "payment_intent", "amount": self.amount,
            "amount_capturable": held, "amount_received": self.amount_received,
            "automatic_payment_methods": {"enabled": true, "allow_redirects": "always"},
            "canceled_at": self.canceled_at, "cancellation_reason": null,
            "capture_method": self.capture_method, "client_secret": self.client_secret,
            "confirmation_method": "automatic", "created": self.created,
            "currency": self.currency, "description": self.description,
            "last_payment_error": if self.is_declined { declined } else { Value::Null },
            "latest_charge": self.charge, "livemode": false, "metadata": self.metadata,
            "next_action": null, "payment_method_types": ["card"], "receipt_email": null,
            "setup_future_usage": null, "shipping": null, "status": status,
        })
    }
}

impl Charge {
    /// Whether it is the successful charge of this intent.
    pub(super) fn carries(&self, intent: &str) -> bool {
        self.intent == intent && !self.is_declined
    }

    /// The authorized amount that was not captured: it is released, and counts as refunded.
    pub(super) fn released(&self) -> i64 {
        self.amount.saturating_sub(self.amount_captured)
    }

    /// The amount that can still be refunded.
    pub(super) fn refundable(&self) -> i64 {
        self.amount.saturating_sub(self.amount_refunded)
    }

    pub(super) fn view(&self) -> Value {
        let status = match (self.is_pending, self.is_declined) {
            (true, _) => "pending",
            (false, true) => "failed",
            (false, false) => "succeeded",
        };
        let details = match self.method {
            "card" => json!({"brand": "visa", "last4": "4242"}),
            _ => json!({"country": "DE", "last4": "3000"}),
        };
        json!({
            "id": self.id, "object": "charge", "amount": self.amount,
            "amount_captured": self.amount_captured, "amount_refunded": self.amount_refunded,
            "captured": self.is_captured, "created": self.created, "currency": self.currency,
            "failure_code": self.is_declined.then_some("card_declined"), "livemode": false,
            "metadata": self.metadata, "paid": status == "succeeded",
            "payment_intent": self.intent,
            "payment_method_details": {"type": self.method, (self.method): details},
            "refunded": self.amount_refunded == self.amount,
            "status": status,
        })
    }
}

impl Refund {
    pub(super) fn view(&self) -> Value {
        let status = match self.status {
            RefundStatus::Pending => "pending",
            RefundStatus::Succeeded => "succeeded",
            RefundStatus::Failed => "failed",
        };
        let has_failed = self.status == RefundStatus::Failed;
        json!({
            "id": self.id, "object": "refund", "amount": self.amount, "charge": self.charge,
            "created": self.created, "currency": self.currency, "metadata": self.metadata,
            "failure_reason": has_failed.then_some("expired_or_canceled_card"),
            "payment_intent": self.intent, "reason": null, "receipt_number": null,
            "status": status,
        })
    }
}
