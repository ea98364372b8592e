//! Razorpay's refunds: those that are requested, and automatic ones.

use primitives::clock::Timestamp;
use serde_json::{Value, json};

use super::objects::{Payment, Refund, RefundStatus, Status};
use super::{Razorpay, amount, field, notes, reject, unknown};
use crate::providers::call::ApiResult;
use crate::providers::id::mint;

impl Razorpay {
    /// The customer pays a paid order again: Razorpay does not capture the second payment, and refunds it
    /// automatically. Returns the payment.
    pub(crate) fn pay_again(&mut self, order: &str, now: Timestamp) -> ApiResult {
        let known = self.order(order)?;
        known.attempts = known.attempts.saturating_add(1);
        let payment = Payment {
            id: mint("pay_", 14),
            order_id: known.id.clone(),
            amount: known.amount,
            amount_refunded: 0,
            currency: known.currency.clone(),
            status: Status::Authorized,
            is_captured: false,
            notes: known.notes.clone(),
            created_at: now.seconds(),
        };
        let id = payment.id.clone();
        self.payments.push(payment);
        self.tell("payment.authorized", &id, now);
        self.lapse(&id, now)
    }

    /// An authorized payment that was not captured is refunded automatically. Returns the payment.
    pub(crate) fn lapse(&mut self, id: &str, now: Timestamp) -> ApiResult {
        let found = self.payments.iter_mut().find(|payment| payment.id == id);
        let payment = found.ok_or_else(unknown)?;
        if payment.status != Status::Authorized {
            return Err(reject("The payment is not authorized.", "input_validation_failed"));
        }
        payment.status = Status::Refunded;
        payment.amount_refunded = payment.amount;
        let refund = Refund {
            status: RefundStatus::Processed,
            id: mint("rfnd_", 14),
            payment_id: id.to_owned(),
            amount: payment.amount,
            currency: payment.currency.clone(),
            receipt: Value::Null,
            notes: json!([]),
            created_at: now.seconds(),
        };
        let view = payment.view();
        self.refunds.push(refund);
        self.tell("refund.created", id, now);
        self.tell("refund.processed", id, now);
        Ok(view)
    }

    /// `POST /v1/payments/{id}/refund`; without an amount, the whole refundable amount.
    pub(super) fn refund(
        &mut self,
        id: &str,
        input: &Value,
        is_pending: bool,
        now: Timestamp,
    ) -> ApiResult {
        let found = self.payments.iter_mut().find(|payment| payment.id == id);
        let payment = found.ok_or_else(unknown)?;
        let invalid = |text| Err(reject(text, "input_validation_failed"));
        match payment.status {
            Status::Captured => {}
            Status::Refunded => return invalid("The payment has been fully refunded already"),
            Status::Authorized | Status::Failed => {
                return invalid("The payment status should be captured for action to be taken");
            }
        }
        let left = payment.amount.saturating_sub(payment.amount_refunded);
        let requested = if input.get("amount").is_some() { amount(input)? } else { left };
        if requested < 1 {
            return invalid("The amount must be at least 1.");
        }
        if requested > left {
            return invalid("The refund amount provided is greater than amount captured");
        }
        payment.amount_refunded = payment.amount_refunded.saturating_add(requested);
        if requested == left {
            payment.status = Status::Refunded;
        }
        let refund = Refund {
            status: if is_pending { RefundStatus::Pending } else { RefundStatus::Processed },
            id: mint("rfnd_", 14),
            payment_id: id.to_owned(),
            amount: requested,
            currency: payment.currency.clone(),
            receipt: field(input, "receipt"),
            notes: notes(input),
            created_at: now.seconds(),
        };
        let view = refund.view();
        self.refunds.push(refund);
        self.tell("refund.created", id, now);
        if !is_pending {
            self.tell("refund.processed", id, now);
        }
        Ok(view)
    }

    /// A refund succeeds or fails. Returns it.
    pub(crate) fn finish_refund(
        &mut self,
        id: &str,
        has_succeeded: bool,
        now: Timestamp,
    ) -> ApiResult {
        let found = self.refunds.iter_mut().find(|refund| refund.id == id);
        let refund = found.ok_or_else(unknown)?;
        if refund.status == RefundStatus::Failed {
            return Err(reject("The refund has failed.", "input_validation_failed"));
        }
        refund.status = if has_succeeded { RefundStatus::Processed } else { RefundStatus::Failed };
        let refund = refund.clone();
        let payment = self.payments.iter_mut().find(|payment| payment.id == refund.payment_id);
        if let Some(payment) = payment.filter(|_| !has_succeeded) {
            payment.amount_refunded = payment.amount_refunded.saturating_sub(refund.amount);
            payment.status = Status::Captured;
        }
        let kind = if has_succeeded { "refund.processed" } else { "refund.failed" };
        let event = self.event_with(kind, &refund.payment_id, Some(&refund), now);
        self.events.extend(event);
        Ok(refund.view())
    }

    /// The merchant creates a refund on the dashboard.
    pub(crate) fn refund_on_dashboard(
        &mut self,
        id: &str,
        amount: i64,
        now: Timestamp,
    ) -> ApiResult {
        self.refund(id, &json!({ "amount": amount }), false, now)
    }
}
