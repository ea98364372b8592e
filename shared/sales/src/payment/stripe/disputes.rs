//! Stripe's disputes (<https://docs.stripe.com/api/disputes>).
//!
//! An inquiry has its own statuses, `warning_…`, and withdraws no money until it becomes a chargeback, which
//! is the same dispute (<https://docs.stripe.com/disputes/how-disputes-work>).

use primitives::clock::Timestamp;
use serde_json::Value;

use super::super::Observed;
use super::super::call::text;
use super::super::provider::ProviderFailure;
use super::objects::money;
use crate::dispute::evidence::Evidence;
use crate::dispute::{DisputeStatus, DisputeType, ObservedDispute};

/// The most disputes of one payment that are read: Stripe's longest page.
pub(super) const MAX_DISPUTES: usize = 100;

/// Parses a time in seconds; 0 is none.
pub(super) fn time(seconds: &Value) -> Option<Timestamp> {
    let seconds = seconds.as_i64().filter(|seconds| *seconds > 0)?;
    seconds.checked_mul(1_000).map(Timestamp::from_millis)
}

/// Parses a status; none if it is unknown.
fn status(word: &str) -> Option<(DisputeType, DisputeStatus)> {
    use DisputeStatus::{Closed, Lost, NeedsResponse, UnderReview, Won};
    use DisputeType::{Chargeback, Inquiry};
    Some(match word {
        "warning_needs_response" => (Inquiry, NeedsResponse),
        "warning_under_review" => (Inquiry, UnderReview),
        "warning_closed" | "prevented" => (Inquiry, Closed),
        "needs_response" => (Chargeback, NeedsResponse),
        "under_review" => (Chargeback, UnderReview),
        "won" => (Chargeback, Won),
        "lost" => (Chargeback, Lost),
        // Of old disputes: the merchant refunded the charge.
        "charge_refunded" => (Chargeback, Closed),
        _ => return None,
    })
}

/// Parses a dispute; none for another object or an unknown status.
pub(super) fn dispute(object: &Value) -> Option<ObservedDispute> {
    (object.get("object")?.as_str()? == "dispute").then_some(())?;
    let (kind, status) = status(object.get("status")?.as_str()?)?;
    let submissions = object.pointer("/evidence_details/submission_count").and_then(Value::as_i64);
    Some(ObservedDispute {
        reference: text(object, "/id")?,
        provider_payment: text(object, "/charge"),
        kind,
        status,
        amount: money(object, "amount")?,
        taken: None,
        reason: text(object, "/reason").unwrap_or_default(),
        due_by: object.pointer("/evidence_details/due_by").and_then(time),
        created_at: time(object.get("created")?)?,
        told_at: None,
        is_submitted: submissions.is_some_and(|count| count > 0),
    })
}

/// The payment that a dispute is about, without a report of its state.
pub(super) fn parse(object: &Value) -> Option<Observed> {
    let reference = text(object, "/payment_intent")?;
    Some(Observed { provider_payment: text(object, "/charge"), ..Observed::pending(&reference) })
}

/// Parses the dispute of a response.
pub(super) fn read(answer: &Value) -> Result<ObservedDispute, ProviderFailure> {
    dispute(answer).ok_or_else(|| {
        ProviderFailure::Broken("the dispute of accepted evidence is missing".into())
    })
}

/// The form that sends evidence.
pub(super) fn form(evidence: &Evidence) -> Vec<(String, String)> {
    let fields = evidence.fields.iter().map(|(name, value)| {
        (format!("evidence[{name}]"), value.as_str().unwrap_or_default().to_owned())
    });
    fields.chain([("submit".to_owned(), evidence.submit.to_string())]).collect()
}

#[cfg(test)]
mod tests {
    use core_types::money;
    use serde_json::json;

    use super::*;

    /// A dispute like the one of <https://docs.stripe.com/api/disputes/object>.
    fn object(status: &str) -> Value {
        json!({
            "id": "du_1MtJUT2eZvKYlo2CNaw2HvEv", "object": "dispute", "amount": 1000,
            "charge": "ch_1AZtxr2eZvKYlo2CJDX8whov", "created": 1_680_651_737, "currency": "inr",
            "evidence_details": {
                "due_by": 1_682_294_399, "has_evidence": false, "past_due": false,
                "submission_count": 0,
            },
            "payment_intent": "pi_1", "reason": "general", "status": status,
        })
    }

    #[test]
    fn a_dispute_of_stripes_is_read_in_every_status() {
        use DisputeStatus::{Closed, Lost, NeedsResponse, UnderReview, Won};
        use DisputeType::{Chargeback, Inquiry};
        for (word, expected) in [
            ("warning_needs_response", (Inquiry, NeedsResponse)),
            ("warning_under_review", (Inquiry, UnderReview)),
            ("warning_closed", (Inquiry, Closed)),
            ("prevented", (Inquiry, Closed)),
            ("needs_response", (Chargeback, NeedsResponse)),
            ("under_review", (Chargeback, UnderReview)),
            ("won", (Chargeback, Won)),
            ("lost", (Chargeback, Lost)),
        ] {
            let read = dispute(&object(word)).unwrap();
            assert_eq!((read.kind, read.status), expected, "{word}");
        }
        assert_eq!(dispute(&object("of_tomorrow")), None);
        let read = dispute(&object("needs_response")).unwrap();
        assert_eq!((read.amount, read.is_submitted), (money::sample(1_000), false));
        assert_eq!(read.due_by.map(Timestamp::seconds), Some(1_682_294_399));
        assert_eq!(read.created_at.seconds(), 1_680_651_737);
        let mut closed = object("needs_response");
        closed["evidence_details"] = json!({"due_by": 0, "submission_count": 1});
        let read = dispute(&closed).unwrap();
        assert_eq!((read.due_by, read.is_submitted), (None, true), "the bank takes no answer");
        assert_eq!(parse(&closed).unwrap().reference, "pi_1");
        assert_eq!(parse(&json!({"object": "dispute", "payment_intent": null})), None);
    }
}
