//! Stripe's refunds: created, listed and finished.

use primitives::clock::Timestamp;
use serde_json::{Value, json};

use super::objects::{Refund, RefundStatus};
use super::{Form, Stripe, amount, event, metadata, missing, reject, unknown};
use crate::providers::call::ApiResult;
use crate::providers::id::mint;

impl Stripe {
    /// `POST /v1/refunds`; without an amount, the whole refundable amount.
    pub(super) fn refund(&mut self, form: &Form, is_pending: bool, now: Timestamp) -> ApiResult {
        let id = form.get("payment_intent").ok_or_else(|| missing("payment_intent"))?;
        let requested = amount(form, "amount")?;
        self.find(id)?;
        let charge = self.charges.iter().find(|charge| charge.carries(id));
        let Some(charge) = charge.filter(|charge| charge.is_captured) else {
            let message =
                format!("PaymentIntent {id} does not have a successful charge to refund.");
            return Err(reject("payment_intent_unexpected_state", &message));
        };
        let charge = charge.clone();
        if self.is_disputed(&charge) {
            let message = format!("Charge {} has been charged back.", charge.id);
            return Err(reject("charge_disputed", &message));
        }
        let left = charge.refundable();
        if left == 0 {
            let message = format!("Charge {} has already been refunded.", charge.id);
            return Err(reject("charge_already_refunded", &message));
        }
        let amount = requested.unwrap_or(left);
        if amount > left {
            let message = "Refund amount is greater than unrefunded amount on charge.";
            return Err(reject("amount_too_large", message));
        }
        for known in self.charges.iter_mut().filter(|known| known.id == charge.id) {
            known.amount_refunded = known.amount_refunded.saturating_add(amount);
        }
        let refund = Refund {
            status: if is_pending { RefundStatus::Pending } else { RefundStatus::Succeeded },
            id: mint("re_", 24),
            intent: id.clone(),
            charge: charge.id.clone(),
            amount,
            currency: charge.currency.clone(),
            metadata: metadata(form),
            created: now.seconds(),
        };
        let view = refund.view();
        self.refunds.push(refund);
        self.tell("charge.refunded", id, now);
        self.tell("refund.created", id, now);
        Ok(view)
    }

    /// `GET /v1/refunds`, the newest first.
    pub(super) fn refunds_of(&self, form: &Form) -> Value {
        let intent = form.get("payment_intent");
        let limit = form.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(10);
        let ours = |refund: &&Refund| intent.is_none_or(|intent| refund.intent == *intent);
        let found = self.refunds.iter().rev().filter(ours);
        let data: Vec<Value> = found.take(limit).map(Refund::view).collect();
        json!({"object": "list", "url": "/v1/refunds", "has_more": false, "data": data})
    }

    /// A refund succeeds or fails. Returns it.
    pub(crate) fn finish_refund(
        &mut self,
        id: &str,
        has_succeeded: bool,
        now: Timestamp,
    ) -> ApiResult {
        let found = self.refunds.iter_mut().find(|refund| refund.id == id);
        let refund = found.ok_or_else(|| unknown("refund", id))?;
        if refund.status == RefundStatus::Failed {
            return Err(reject("refund_failed", "This refund has failed."));
        }
        refund.status = if has_succeeded { RefundStatus::Succeeded } else { RefundStatus::Failed };
        let refund = refund.clone();
        if !has_succeeded {
            let charge = self.charges.iter_mut().find(|charge| charge.id == refund.charge);
            if let Some(charge) = charge {
                charge.amount_refunded = charge.amount_refunded.saturating_sub(refund.amount);
            }
            self.events.push(event("refund.failed", &refund.view(), now));
        }
        self.events.push(event("refund.updated", &refund.view(), now));
        self.events.push(event("charge.refund.updated", &refund.view(), now));
        Ok(refund.view())
    }

    /// The merchant creates a refund on the dashboard.
    pub(crate) fn refund_on_dashboard(
        &mut self,
        intent: &str,
        amount: i64,
        now: Timestamp,
    ) -> ApiResult {
        let pairs = [("payment_intent", intent.to_owned()), ("amount", amount.to_string())];
        let form = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.refund(&form, false, now)
    }
}
