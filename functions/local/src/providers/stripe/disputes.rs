//! Stripe's disputes: opened by a bank, contested by the merchant, won or lost.

use primitives::clock::{DAY, Timestamp};
use serde_json::{Map, Value, json};

use super::objects::Charge;
use super::{Form, Stripe, event, reject, unknown};
use crate::providers::call::ApiResult;
use crate::providers::disputes::{NewDispute, Verdict};
use crate::providers::id::mint;
use crate::providers::webhook::Event;

/// How long a bank waits for evidence, in days.
const DAYS: u32 = 7;

/// A dispute of a charge.
#[derive(Debug, Clone)]
pub(super) struct Dispute {
    id: String,
    charge: String,
    intent: String,
    amount: i64,
    currency: String,
    status: &'static str,
    evidence: Map<String, Value>,
    submissions: u32,
    due_by: i64,
    created: i64,
}

impl Dispute {
    /// Whether the bank has withdrawn the money, so that the charge cannot be refunded.
    fn bars_refunds(&self) -> bool {
        matches!(self.status, "needs_response" | "under_review" | "lost")
    }

    fn view(&self) -> Value {
        json!({
            "id": self.id, "object": "dispute", "amount": self.amount,
            "balance_transactions": [], "charge": self.charge, "created": self.created,
            "currency": self.currency, "evidence": self.evidence,
            "evidence_details": {
                "due_by": self.due_by, "has_evidence": !self.evidence.is_empty(),
                "past_due": false, "submission_count": self.submissions,
            },
            "is_charge_refundable": !self.bars_refunds(), "livemode": false, "metadata": {},
            "payment_intent": self.intent, "reason": "product_not_received",
            "status": self.status,
        })
    }
}

impl Stripe {
    /// Whether a dispute prevents refunds of a charge.
    pub(super) fn is_disputed(&self, charge: &Charge) -> bool {
        self.disputes.iter().any(|dispute| dispute.charge == charge.id && dispute.bars_refunds())
    }

    /// A bank disputes the charge of an intent. Returns the dispute.
    pub(crate) fn dispute(
        &mut self,
        intent: &str,
        input: &NewDispute,
        now: Timestamp,
    ) -> ApiResult {
        self.find(intent)?;
        let charge =
            self.charges.iter().find(|charge| charge.carries(intent) && charge.is_captured);
        let Some(charge) = charge else {
            return Err(reject("charge_not_captured", "Nothing was taken that could be disputed."));
        };
        let due = now.plus(DAY.saturating_mul(DAYS)).seconds();
        let dispute = Dispute {
            id: mint("du_", 24),
            charge: charge.id.clone(),
            intent: intent.to_owned(),
            amount: input.amount.unwrap_or(charge.amount_captured),
            currency: input.currency.clone().unwrap_or_else(|| charge.currency.clone()),
            status: if input.is_inquiry { "warning_needs_response" } else { "needs_response" },
            evidence: Map::new(),
            submissions: 0,
            due_by: due,
            created: now.seconds(),
        };
        let view = dispute.view();
        self.disputes.push(dispute);
        self.events.push(event("charge.dispute.created", &view, now));
        if !input.is_inquiry {
            self.events.push(event("charge.dispute.funds_withdrawn", &view, now));
        }
        Ok(view)
    }

    /// A bank decides or continues a dispute. Returns it.
    pub(crate) fn decide_dispute(
        &mut self,
        id: &str,
        verdict: Verdict,
        now: Timestamp,
    ) -> ApiResult {
        let dispute = self.find_dispute(id)?;
        let is_inquiry = dispute.status.starts_with("warning_");
        let (status, kinds): (_, &[&'static str]) = match verdict {
            Verdict::Win => ("won", &["charge.dispute.closed", "charge.dispute.funds_reinstated"]),
            Verdict::Lose => ("lost", &["charge.dispute.closed"]),
            Verdict::Close if is_inquiry => ("warning_closed", &["charge.dispute.closed"]),
            Verdict::Close => return Err(reject("dispute_open", "Only an inquiry is closed.")),
            Verdict::Escalate => {
                ("needs_response", &["charge.dispute.updated", "charge.dispute.funds_withdrawn"])
            }
            Verdict::AskAgain => {
                return Err(reject("not_supported", "Stripe takes evidence but once."));
            }
        };
        dispute.status = status;
        let view = dispute.view();
        self.events.extend(kinds.iter().map(|kind| event(kind, &view, now)));
        Ok(view)
    }

    /// `POST /v1/disputes/{id}`: stores evidence, and submits it unless `submit` is `false`.
    pub(super) fn answer_dispute(&mut self, id: &str, form: &Form, now: Timestamp) -> ApiResult {
        let dispute = self.find_dispute(id)?;
        let is_open = matches!(dispute.status, "needs_response" | "warning_needs_response");
        if !is_open {
            let message = "This dispute cannot be updated any more.";
            return Err(reject("dispute_not_updatable", message));
        }
        for (name, value) in form {
            let field = name.strip_prefix("evidence[").and_then(|name| name.strip_suffix(']'));
            if let Some(field) = field {
                dispute.evidence.insert(field.to_owned(), Value::from(value.as_str()));
            }
        }
        if form.get("submit").is_none_or(|submit| submit == "true") {
            dispute.submissions = dispute.submissions.saturating_add(1);
            let is_inquiry = dispute.status.starts_with("warning_");
            dispute.status = if is_inquiry { "warning_under_review" } else { "under_review" };
        }
        let view = dispute.view();
        self.events.push(event("charge.dispute.updated", &view, now));
        Ok(view)
    }

    /// `GET /v1/disputes/{id}`.
    pub(super) fn show_dispute(&mut self, id: &str) -> ApiResult {
        self.find_dispute(id).map(|dispute| dispute.view())
    }

    /// `GET /v1/disputes`, the newest first.
    pub(super) fn disputes_of(&self, form: &Form) -> Value {
        let intent = form.get("payment_intent");
        let limit = form.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(10);
        let ours = |dispute: &&Dispute| intent.is_none_or(|intent| dispute.intent == *intent);
        let found = self.disputes.iter().rev().filter(ours);
        let data: Vec<Value> = found.take(limit).map(Dispute::view).collect();
        json!({"object": "list", "url": "/v1/disputes", "has_more": false, "data": data})
    }

    /// An event about the current state of a dispute.
    pub(crate) fn dispute_event(
        &self,
        kind: &'static str,
        id: &str,
        now: Timestamp,
    ) -> Option<Event> {
        let dispute = self.disputes.iter().find(|dispute| dispute.id == id)?;
        Some(event(kind, &dispute.view(), now))
    }

    fn find_dispute(
        &mut self,
        id: &str,
    ) -> Result<&mut Dispute, crate::providers::call::ProviderRejection> {
        let found = self.disputes.iter_mut().find(|dispute| dispute.id == id);
        found.ok_or_else(|| unknown("dispute", id))
    }
}
