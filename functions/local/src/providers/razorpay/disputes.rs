//! Razorpay's disputes: opened by a bank, contested by the merchant, won or lost.

use primitives::clock::{DAY, Timestamp};
use serde_json::{Map, Value, json};

use super::objects::Status;
use super::{Razorpay, collection, reject, unknown};
use crate::providers::call::{ApiResult, ProviderRejection};
use crate::providers::disputes::{NewDispute, Verdict};
use crate::providers::id::mint;
use crate::providers::webhook::Event;

/// How long a bank waits for evidence, in days.
const DAYS: u32 = 3;
/// The fields of a contest.
const FIELDS: [&str; 13] = [
    "amount",
    "summary",
    "shipping_proof",
    "billing_proof",
    "cancellation_proof",
    "customer_communication",
    "proof_of_service",
    "explanation_letter",
    "refund_confirmation",
    "access_activity_log",
    "refund_cancellation_policy",
    "term_and_conditions",
    "others",
];

/// A dispute of a payment.
#[derive(Debug, Clone)]
pub(super) struct Dispute {
    id: String,
    payment_id: String,
    amount: i64,
    amount_deducted: i64,
    currency: String,
    status: &'static str,
    phase: &'static str,
    evidence: Map<String, Value>,
    submitted_at: Option<i64>,
    respond_by: i64,
    created_at: i64,
}

impl Dispute {
    fn view(&self) -> Value {
        let mut evidence = self.evidence.clone();
        for field in FIELDS {
            evidence.entry(field).or_insert(Value::Null);
        }
        evidence.insert("submitted_at".to_owned(), self.submitted_at.into());
        json!({
            "id": self.id, "entity": "dispute", "payment_id": self.payment_id,
            "amount": self.amount, "currency": self.currency,
            "amount_deducted": self.amount_deducted, "reason_code": "chargeback_authorization",
            "respond_by": self.respond_by, "status": self.status, "phase": self.phase,
            "created_at": self.created_at, "evidence": evidence,
        })
    }
}

fn invalid<T>(text: &str) -> Result<T, ProviderRejection> {
    Err(reject(text, "input_validation_failed"))
}

impl Razorpay {
    /// A bank disputes a payment. Returns the dispute.
    pub(crate) fn dispute(&mut self, id: &str, input: &NewDispute, now: Timestamp) -> ApiResult {
        let found = self.payments.iter().find(|payment| payment.id == id);
        let payment = found.ok_or_else(unknown)?;
        if !matches!(payment.status, Status::Captured | Status::Refunded) {
            return invalid("Nothing was taken that could be disputed.");
        }
        let due = now.plus(DAY.saturating_mul(DAYS)).seconds();
        let dispute = Dispute {
            id: mint("disp_", 14),
            payment_id: id.to_owned(),
            amount: input.amount.unwrap_or(payment.amount),
            amount_deducted: 0,
            currency: input.currency.clone().unwrap_or_else(|| payment.currency.clone()),
            status: "open",
            phase: if input.is_inquiry { "retrieval" } else { "chargeback" },
            evidence: Map::new(),
            submitted_at: None,
            respond_by: due,
            created_at: now.seconds(),
        };
        let (view, id) = (dispute.view(), dispute.id.clone());
        self.disputes.push(dispute);
        self.tell_dispute("payment.dispute.created", &id, now);
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
        let kind = match verdict {
            Verdict::Win => {
                dispute.status = "won";
                "payment.dispute.won"
            }
            Verdict::Lose => {
                dispute.status = "lost";
                dispute.amount_deducted = dispute.amount;
                "payment.dispute.lost"
            }
            Verdict::Close => {
                dispute.status = "closed";
                "payment.dispute.closed"
            }
            Verdict::AskAgain => {
                dispute.status = "open";
                dispute.submitted_at = None;
                "payment.dispute.action_required"
            }
            Verdict::Escalate => {
                dispute.phase = "chargeback";
                "payment.dispute.created"
            }
        };
        let view = dispute.view();
        self.tell_dispute(kind, id, now);
        Ok(view)
    }

    /// `PATCH /v1/disputes/{id}/contest`: stores a draft, or submits it.
    pub(super) fn contest(&mut self, id: &str, input: &Value, now: Timestamp) -> ApiResult {
        let dispute = self.find_dispute(id)?;
        if dispute.status != "open" {
            return invalid("Action not allowed: the dispute is not open.");
        }
        let fields = input.as_object().cloned().unwrap_or_default();
        let is_known = |name: &String| name == "action" || FIELDS.contains(&name.as_str());
        if let Some(name) = fields.keys().find(|name| !is_known(name)) {
            return invalid(&format!("{name} is/are not required and should not be sent"));
        }
        if fields.get("amount").and_then(Value::as_i64).is_some_and(|it| it > dispute.amount) {
            return invalid("The contested amount is more than the dispute's.");
        }
        let evidence = fields.into_iter().filter(|(name, _)| name != "action");
        dispute.evidence.extend(evidence);
        let is_submitted = match input.get("action").and_then(Value::as_str) {
            Some("submit") => true,
            Some("draft") | None => false,
            Some(_) => return invalid("The selected action is invalid."),
        };
        if is_submitted {
            dispute.status = "under_review";
            dispute.submitted_at = Some(now.seconds());
        }
        let view = dispute.view();
        if is_submitted {
            self.tell_dispute("payment.dispute.under_review", id, now);
        }
        Ok(view)
    }

    /// `GET /v1/disputes/{id}`.
    pub(super) fn show_dispute(&mut self, id: &str) -> ApiResult {
        self.find_dispute(id).map(|dispute| dispute.view())
    }

    /// `GET /v1/disputes`, the newest first, from a time on.
    pub(super) fn list_disputes(&self, query: &str) -> Value {
        let of = |wanted: &str| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            let found = pairs.find(|(name, _)| name == wanted);
            found.and_then(|(_, value)| value.parse::<i64>().ok()).unwrap_or_default()
        };
        let skip = usize::try_from(of("skip")).unwrap_or_default();
        let since = |dispute: &&Dispute| dispute.created_at >= of("from");
        let mut found: Vec<Value> = self.disputes.iter().filter(since).map(Dispute::view).collect();
        found.truncate(found.len().saturating_sub(skip));
        collection(found, query)
    }

    /// An event about the current state of a dispute and its payment.
    pub(crate) fn dispute_event(
        &self,
        kind: &'static str,
        id: &str,
        now: Timestamp,
    ) -> Option<Event> {
        let dispute = self.disputes.iter().find(|dispute| dispute.id == id)?;
        let payment = self.payments.iter().find(|known| known.id == dispute.payment_id)?;
        let parts = vec![("payment", payment.view()), ("dispute", dispute.view())];
        Some(super::event_of(kind, parts, now))
    }

    fn tell_dispute(&mut self, kind: &'static str, id: &str, now: Timestamp) {
        let event = self.dispute_event(kind, id, now);
        self.events.extend(event);
    }

    fn find_dispute(&mut self, id: &str) -> Result<&mut Dispute, ProviderRejection> {
        self.disputes.iter_mut().find(|dispute| dispute.id == id).ok_or_else(unknown)
    }
}
