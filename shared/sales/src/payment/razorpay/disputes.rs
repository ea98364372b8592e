//! Razorpay's disputes (<https://razorpay.com/docs/api/disputes>).

use core_types::fields::Currency;
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::fields::FromText;
use serde_json::{Value, json};
use services::Services;

use super::super::Payment;
use super::super::call::text;
use super::super::provider::ProviderFailure;
use super::super::units::ProviderUnits;
use super::Razorpay;
use crate::dispute::evidence::Evidence;
use crate::dispute::{Dispute, DisputeStatus, DisputeType, ObservedDispute};

/// The longest page of a list, in items.
const PAGE: usize = 100;
/// The most pages that are searched for the disputes of one payment: Razorpay can only list those of an
/// account by time (<https://razorpay.com/docs/api/disputes/fetch-all>).
const PAGES: usize = 5;

/// Parses a time in seconds; 0 is none.
pub(super) fn time(seconds: &Value) -> Option<Timestamp> {
    let seconds = seconds.as_i64().filter(|seconds| *seconds > 0)?;
    seconds.checked_mul(1_000).map(Timestamp::from_millis)
}

/// Parses a dispute; none with an unknown status. It is an inquiry in the phases `fraud` and `retrieval`, and
/// a chargeback in `chargeback`, `pre_arbitration` and `arbitration`.
pub(super) fn dispute(entity: &Value) -> Option<ObservedDispute> {
    let status = match entity.get("status")?.as_str()? {
        "open" => DisputeStatus::NeedsResponse,
        "under_review" => DisputeStatus::UnderReview,
        "won" => DisputeStatus::Won,
        "lost" => DisputeStatus::Lost,
        "closed" => DisputeStatus::Closed,
        _ => return None,
    };
    let kind = match entity.get("phase").and_then(Value::as_str) {
        Some("fraud" | "retrieval") => DisputeType::Inquiry,
        _ => DisputeType::Chargeback,
    };
    let currency = Currency::from_text(entity.get("currency")?.as_str()?).ok()?;
    let units = ProviderUnits::of_razorpay(&currency);
    let money = |name| Money::new(units.read(entity.get(name)?.as_i64()?)?, &currency);
    Some(ObservedDispute {
        reference: text(entity, "/id")?,
        provider_payment: text(entity, "/payment_id"),
        kind,
        status,
        amount: money("amount")?,
        // A dispute that was contested in part may be lost in part.
        taken: money("amount_deducted").filter(|taken| !taken.is_zero()),
        reason: text(entity, "/reason_code").unwrap_or_default(),
        due_by: entity.get("respond_by").and_then(time),
        created_at: time(entity.get("created_at")?)?,
        told_at: None,
        is_submitted: entity.pointer("/evidence/submitted_at").is_some_and(Value::is_i64),
    })
}

/// Parses the dispute of a response.
pub(super) fn read(answer: &Value) -> Result<ObservedDispute, ProviderFailure> {
    dispute(answer).ok_or_else(|| {
        ProviderFailure::Broken("the dispute of accepted evidence is missing".into())
    })
}

/// The body that contests a dispute, with the amount in Razorpay's unit.
pub(super) fn contest(dispute: &Dispute, evidence: &Evidence) -> Result<Value, ProviderFailure> {
    let mut fields = evidence.fields.clone();
    if let Some(amount) = fields.get("amount").and_then(Value::as_i64) {
        let amount = Money { amount, currency: dispute.amount.currency.clone() };
        fields.insert("amount".to_owned(), super::units(&amount)?.into());
    }
    fields.insert("action".to_owned(), json!(if evidence.submit { "submit" } else { "draft" }));
    Ok(Value::Object(fields))
}

impl Razorpay {
    /// `GET /v1/disputes`, from the creation of the payment on.
    pub(super) async fn disputes_of(
        &self,
        services: &Services,
        payment: &Payment,
    ) -> Result<Vec<ObservedDispute>, ProviderFailure> {
        let Some(paid) = payment.provider_payment.as_deref() else { return Ok(Vec::new()) };
        let from = payment.created_at.seconds();
        let mut found = Vec::new();
        for page in 0..PAGES {
            let skip = page.saturating_mul(PAGE);
            let path = format!("/v1/disputes?from={from}&count={PAGE}&skip={skip}");
            let answer = self.get(services, &path).await?;
            let items = answer.get("items").and_then(Value::as_array);
            let items = items.ok_or_else(|| ProviderFailure::Broken("no disputes".into()))?;
            let listed = items.iter().filter_map(dispute);
            found.extend(listed.filter(|one| one.provider_payment.as_deref() == Some(paid)));
            if items.len() < PAGE {
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use core_types::money;

    use super::*;

    /// A dispute like the one of <https://razorpay.com/docs/api/disputes/entity>.
    fn entity(status: &str, phase: &str) -> Value {
        json!({
            "id": "disp_AHfqOvkldwsbqt", "entity": "dispute", "payment_id": "pay_EsyWjHrfzb59eR",
            "amount": 10_000, "currency": "INR", "amount_deducted": 0,
            "reason_code": "chargeback", "respond_by": 1_590_604_200, "status": status,
            "phase": phase, "created_at": 1_590_059_211,
            "evidence": {"amount": 9_000, "summary": "goods delivered", "submitted_at": null},
        })
    }

    #[test]
    fn a_dispute_of_razorpays_is_read_in_every_status_and_phase() {
        use DisputeStatus::{Closed, Lost, NeedsResponse, UnderReview, Won};
        use DisputeType::{Chargeback, Inquiry};
        for (word, expected) in [
            ("open", NeedsResponse),
            ("under_review", UnderReview),
            ("won", Won),
            ("lost", Lost),
            ("closed", Closed),
        ] {
            assert_eq!(dispute(&entity(word, "chargeback")).unwrap().status, expected, "{word}");
        }
        assert_eq!(dispute(&entity("of_tomorrow", "chargeback")), None);
        for (phase, expected) in [
            ("fraud", Inquiry),
            ("retrieval", Inquiry),
            ("chargeback", Chargeback),
            ("pre_arbitration", Chargeback),
            ("arbitration", Chargeback),
        ] {
            assert_eq!(dispute(&entity("open", phase)).unwrap().kind, expected, "{phase}");
        }
        let mut lost = entity("lost", "chargeback");
        lost["amount_deducted"] = 9_000.into();
        lost["evidence"]["submitted_at"] = 1_590_603_200.into();
        let read = dispute(&lost).unwrap();
        assert_eq!((read.amount, read.taken), (money::sample(10_000), Some(money::sample(9_000))));
        assert!(read.is_submitted && !dispute(&entity("open", "fraud")).unwrap().is_submitted);
        assert_eq!(read.due_by.map(Timestamp::seconds), Some(1_590_604_200));
    }
}
