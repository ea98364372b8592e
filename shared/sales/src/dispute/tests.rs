//! The state of a dispute, its evidence, and the amount that it holds of its payment.

use std::time::Duration;

use core_types::id::{DisputeEvidenceId, RefundId};
use core_types::money::{self, Money};
use core_types::provider::ProviderName;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Code;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::evidence::{Evidence, parse};
use super::{
    Dispute, DisputeStatus, DisputeType, EvidenceStatus, ObservedDispute, evidence::PendingEvidence,
};
use crate::payment::tests::{NOW, captured};
use crate::payment::{Payment, RefundState};

use DisputeStatus::{Closed, Lost, NeedsResponse, UnderReview, Won};
use DisputeType::{Chargeback, Inquiry};

fn at(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

/// A report of an event at this second.
fn reported(
    seconds: u64,
    kind: DisputeType,
    status: DisputeStatus,
    amount: i64,
) -> ObservedDispute {
    ObservedDispute {
        reference: "disp_1".into(),
        provider_payment: Some("pay_1".into()),
        kind,
        status,
        amount: money::sample(amount),
        taken: None,
        reason: "fraudulent".into(),
        due_by: Some(NOW.plus(DAY)),
        created_at: NOW,
        told_at: Some(at(seconds)),
        is_submitted: false,
    }
}

/// The dispute after all of these reports, in their order.
fn after(payment: &Payment, all: &[ObservedDispute]) -> Dispute {
    let mut known = None;
    for one in all {
        if let Some(change) = Dispute::after(known.as_ref(), one, payment, NOW) {
            known = Some(change.dispute);
        }
    }
    known.unwrap()
}

fn topics(payment: &Payment, all: &[ObservedDispute]) -> Vec<&'static str> {
    let (mut known, mut names) = (None, Vec::new());
    for one in all {
        if let Some(change) = Dispute::after(known.as_ref(), one, payment, NOW) {
            names.extend(change.topics.iter().map(|topic| topic.name));
            known = Some(change.dispute);
        }
    }
    names
}

#[test]
fn a_chargeback_holds_its_amount_until_it_is_won_and_an_inquiry_holds_nothing() {
    let payment = captured(1_000);
    let usd: Money = serde_json::from_value(json!({"amount": 600, "currency": "USD"})).unwrap();
    let part =
        ObservedDispute { taken: Some(money::sample(400)), ..reported(0, Chargeback, Lost, 600) };
    let foreign = ObservedDispute { amount: usd, ..reported(0, Chargeback, NeedsResponse, 0) };
    for (observed, held) in [
        (reported(0, Chargeback, NeedsResponse, 600), 600),
        (reported(0, Chargeback, UnderReview, 600), 600),
        (reported(0, Chargeback, Won, 600), 0),
        (reported(0, Chargeback, Closed, 600), 0),
        (reported(0, Chargeback, Lost, 600), 600),
        (part, 400),
        (reported(0, Inquiry, NeedsResponse, 600), 0),
        (reported(0, Inquiry, UnderReview, 600), 0),
        (reported(0, Inquiry, Lost, 600), 600),
        (foreign, 0),
    ] {
        let dispute = after(&payment, std::slice::from_ref(&observed));
        assert_eq!(dispute.held, money::sample(held), "{observed:?}");
        let change = payment.with_disputes([&dispute], NOW).unwrap();
        assert_eq!(change.payment.refundable(), money::sample(1_000 - held), "{observed:?}");
        assert!(change.payment.with_disputes([&dispute], NOW).is_none(), "reported twice");
    }
}

#[test]
fn outdated_reports_are_ignored_and_responses_are_current() {
    let payment = captured(1_000);
    let (open, won) = (reported(0, Chargeback, NeedsResponse, 9), reported(9, Chargeback, Won, 9));
    assert_eq!(
        topics(&payment, &[open.clone(), won.clone(), open.clone(), won.clone()]),
        ["dispute.created", "dispute.won"]
    );
    // The end arrives before the opening: both are announced at once, and the late report changes nothing.
    assert_eq!(topics(&payment, &[won.clone(), open.clone()]), ["dispute.created", "dispute.won"]);
    // A bank may request more evidence after its review.
    let again = reported(20, Chargeback, NeedsResponse, 9);
    let review = reported(10, Chargeback, UnderReview, 9);
    assert_eq!(
        topics(&payment, &[open.clone(), review, again]),
        ["dispute.created", "dispute.updated", "dispute.updated"]
    );
    // A late report without a difference still outdates older ones.
    let (same, between) =
        (reported(8, Chargeback, NeedsResponse, 9), reported(5, Chargeback, Lost, 9));
    let dispute = after(&payment, &[open.clone(), same, between]);
    assert_eq!((dispute.status, dispute.told_at), (NeedsResponse, at(8)));
    // A response has no time.
    let answered = ObservedDispute { told_at: None, ..reported(0, Chargeback, Lost, 9) };
    let known = after(&payment, &[won]);
    let change = Dispute::after(Some(&known), &answered, &payment, NOW).unwrap();
    assert_eq!((change.dispute.status, change.dispute.version), (Lost, known.version + 1));
    assert!(Dispute::after(Some(&change.dispute), &answered, &payment, NOW).is_none());
}

#[test]
fn evidence_is_accepted_one_at_a_time_while_a_response_is_needed() {
    let payment = captured(1_000);
    let open = after(&payment, &[reported(0, Chargeback, NeedsResponse, 9)]);
    let code =
        |dispute: &Dispute, now| dispute.ensure_response(now).map_err(|problem| problem.code);
    assert_eq!(code(&open, NOW), Ok(()));
    assert_eq!(code(&open, NOW.plus(DAY)), Err(Code::EvidencePastDue));
    for status in [UnderReview, Closed, Won, Lost] {
        let over = after(&payment, &[reported(0, Chargeback, status, 9)]);
        assert_eq!(code(&over, NOW), Err(Code::InvalidStateTransition), "{status:?}");
    }
    let id = DisputeEvidenceId::derive(&["a"]);
    let fields = json!({"summary": "sent"}).as_object().cloned().unwrap();
    let evidence = Evidence { id: id.clone(), submit: false, fields };
    let sent = open.with_evidence(&evidence, NOW);
    assert_eq!(code(&sent, NOW), Err(Code::EvidencePending));
    assert!(sent.answered(&DisputeEvidenceId::derive(&["b"]), None, NOW).is_none());
    let staged = sent.answered(&id, None, NOW).unwrap();
    assert_eq!(staged.evidence.as_ref().unwrap().status, EvidenceStatus::Staged);
    assert!(staged.answered(&id, None, NOW).is_none(), "it is known");
    assert_eq!(code(&staged, NOW), Ok(()), "a draft may be changed");
    let rejected = sent.answered(&id, Some("no"), NOW).unwrap().evidence.unwrap();
    assert_eq!(
        (rejected.status, rejected.failure_code.as_deref()),
        (EvidenceStatus::Failed, Some("no"))
    );
    let key = crypto::seal::SealKey::generate();
    let pending = PendingEvidence::seal(&sent, &evidence, &key, NOW);
    assert!(!pending.sealed_fields.contains("sent"));
    assert_eq!(pending.open(&key).unwrap(), evidence);
}

#[test]
fn all_field_errors_of_evidence_are_reported_for_each_provider() {
    let errors = |provider, evidence: Value, submit| {
        let parsed = parse(provider, &evidence, &money::sample(500), submit);
        let problem = match parsed {
            Ok(fields) => return vec![fields.len().to_string()],
            Err(problem) => problem,
        };
        let errors = problem.errors().iter();
        errors
            .map(|error| format!("{} {}", error.pointer, error.violation.code))
            .collect::<Vec<_>>()
    };
    let (stripe, razorpay) = (ProviderName::Stripe, ProviderName::Razorpay);
    assert_eq!(
        errors(stripe, json!({"product_description": "A book", "receipt": "file_1"}), true),
        ["2"]
    );
    assert_eq!(errors(stripe, json!("text"), true), ["/evidence invalid_type"]);
    assert_eq!(errors(stripe, json!({}), true), ["/evidence too_few"]);
    assert_eq!(
        errors(stripe, json!({"a/b": "x", "receipt": 1, "summary": "x"}), true),
        [
            "/evidence/a~1b unknown_field",
            "/evidence/receipt invalid_type",
            "/evidence/summary unknown_field"
        ]
    );
    let long = "x".repeat(150_001);
    assert_eq!(errors(stripe, json!({"uncategorized_text": long}), true), ["/evidence too_long"]);
    let complete = json!({
        "amount": 500, "summary": "sent", "shipping_proof": ["doc_1"],
        "others": [{"type": "receipt_signed_by_customer", "document_ids": ["doc_2"]}],
    });
    assert_eq!(errors(razorpay, complete, true), ["4"]);
    assert_eq!(errors(razorpay, json!({"summary": "sent"}), false), ["1"]);
    assert_eq!(errors(razorpay, json!({"summary": "sent"}), true), ["/evidence too_few"]);
    let wrong = json!({
        "amount": 501, "summary": "", "billing_proof": [], "receipt": "x",
        "others": [{"type": "two words", "document_ids": [1]}, {"kind": "x"}],
    });
    assert_eq!(
        errors(razorpay, wrong, true),
        [
            "/evidence/amount out_of_range",
            "/evidence/billing_proof invalid_type",
            "/evidence/others/0/type invalid_type",
            "/evidence/others/0/document_ids invalid_type",
            "/evidence/others/1 invalid_type",
            "/evidence/receipt unknown_field",
            "/evidence/summary too_long",
        ]
    );
}

fn any_report() -> impl Strategy<Value = ObservedDispute> {
    let kind = prop_oneof![Just(Inquiry), Just(Chargeback)];
    let status =
        prop_oneof![Just(NeedsResponse), Just(UnderReview), Just(Closed), Just(Won), Just(Lost)];
    (0..6_u64, kind, status, 1..1_500_i64, 0..3_u8).prop_map(
        |(second, kind, status, amount, nth)| {
            let reference = format!("disp_{nth}");
            ObservedDispute { reference, ..reported(second, kind, status, amount) }
        },
    )
}

/// An action on a payment.
#[derive(Debug, Clone)]
enum Action {
    Report(Box<ObservedDispute>),
    Begin(i64),
    Finish(usize, bool),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        any_report().prop_map(|reported| Action::Report(Box::new(reported))),
        (1..1_200_i64).prop_map(Action::Begin),
        (0..5_usize, any::<bool>()).prop_map(|(nth, done)| Action::Finish(nth, done)),
    ]
}

proptest! {
    /// Reports in any order and with repetitions result in the latest one.
    #[test]
    fn the_order_of_reports_makes_no_difference(
        history in proptest::collection::vec(
            prop_oneof![Just(NeedsResponse), Just(UnderReview), Just(Closed), Just(Won), Just(Lost)],
            1..6,
        ),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let payment = captured(1_000);
        let events: Vec<ObservedDispute> = history
            .iter()
            .zip(0_u64..)
            .map(|(status, second)| reported(second, Chargeback, *status, 600))
            .collect();
        let mut reported: Vec<ObservedDispute> =
            order.iter().map(|index| index.get(&events).clone()).collect();
        // Each is reported once at least.
        reported.extend(events.iter().rev().cloned());
        let (known, straight) = (after(&payment, &reported), after(&payment, &events));
        prop_assert_eq!((known.status, known.held), (straight.status, straight.held));
        prop_assert_eq!(known.told_at, straight.told_at);
        prop_assert_eq!(known.status, *history.last().unwrap());
    }

    /// The captured amount is the sum of the refunded, pending, disputed and refundable amounts.
    #[test]
    fn refunds_and_disputes_never_break_a_payments_sums(
        actions in proptest::collection::vec(action(), 0..30),
    ) {
        let mut payment = captured(1_000);
        let mut disputes: Vec<Dispute> = Vec::new();
        for (action, index) in actions.iter().zip(0_u32..) {
            match action {
                Action::Report(reported) => {
                    let known = disputes.iter().find(|one| one.provider_reference == reported.reference);
                    let Some(change) = Dispute::after(known, reported, &payment, NOW) else { continue };
                    disputes.retain(|one| one.id != change.dispute.id);
                    if let Some(next) = payment.with_disputes([&change.dispute], NOW) {
                        payment = next.payment;
                    }
                    disputes.push(change.dispute);
                }
                Action::Begin(amount) => {
                    let id = RefundId::derive(&[&index.to_string()]);
                    let free = payment.refundable();
                    let begun = payment.begin_refund(&id, &money::sample(*amount), NOW);
                    prop_assert_eq!(begun.is_ok(), *amount <= free.amount);
                    payment = begun.unwrap_or(payment);
                }
                Action::Finish(nth, done) => {
                    let Some(refund) = payment.refunds.get(*nth) else { continue };
                    if refund.status == RefundState::Failed { continue }
                    let outcome = if *done { Ok("rfnd".into()) } else { Err("no".into()) };
                    let id = refund.id.clone();
                    if let Some(next) = payment.finish_refund(&id, &outcome, NOW) {
                        payment = next.payment;
                    }
                }
            }
            let parts = [
                payment.refunded.clone(), payment.pending(), payment.disputed(), payment.refundable(),
            ];
            let sum = Money::sum(&parts, &payment.amount.currency).unwrap();
            prop_assert_eq!(&sum, &payment.captured);
            let is_open = disputes.iter().any(|one| !one.status.is_over());
            prop_assert_eq!(payment.has_open_dispute(), is_open);
            prop_assert_eq!(payment.due_at().is_some(), is_open || !payment.pending().is_zero());
        }
    }
}
