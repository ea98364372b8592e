//! Evidence for a dispute, through providers that behave, and through providers that do not.

use support::clock::{DAY, MINUTE};
use support::{Reply, Trouble, Value, Verdict, json, unique};

use super::connected::Connected;

const PROVIDERS: [&str; 2] = ["razorpay", "stripe"];

/// Evidence as the provider takes it.
fn evidence(provider: &str) -> Value {
    match provider {
        "razorpay" => {
            json!({"summary": "It was delivered.", "shipping_proof": ["doc_EFtmUsbwpXwBH9"]})
        }
        _ => json!({"uncategorized_text": "It was delivered.", "shipping_documentation": "file_1"}),
    }
}

impl Connected {
    async fn send(&self, dispute: &str, key: &str, input: Value) -> Reply {
        let path = format!("/v1/payments/disputes/{dispute}/evidence");
        self.owner.post(&path).key(key).json(input).await
    }

    async fn submit(&self, dispute: &str, provider: &str, key: &str) -> Reply {
        self.send(dispute, key, json!({"evidence": evidence(provider), "submit": true})).await
    }

    async fn dispute(&self, dispute: &str) -> Reply {
        self.owner.get(&format!("/v1/payments/disputes/{dispute}")).await.expect(200)
    }

    /// What the provider was told about a dispute.
    fn told_about(&self, reference: &str) -> Vec<support::ProviderCall> {
        let contest = self.providers.calls(&format!("/disputes/{reference}/contest"));
        let update = self.providers.calls(&format!("/disputes/{reference}"));
        let posted =
            contest.into_iter().chain(update.into_iter().filter(|call| call.method == "POST"));
        posted.collect()
    }

    /// Evidence that is kept, of a store's disputes.
    async fn kept(&self) -> Vec<Value> {
        let prefix = format!("STO#{}#DSP#", self.store.id);
        self.gateway.items_of("dispute_evidence", &prefix).await
    }
}

#[tokio::test]
async fn evidence_is_staged_and_submitted_once() {
    let connected = Connected::open().await;
    for (round, provider) in PROVIDERS.into_iter().enumerate() {
        let (_, _, reference, id) = connected.disputed(provider).await;
        let draft = || connected.send(&id, "draft", json!({"evidence": evidence(provider)}));
        let staged = draft().await.expect(200);
        assert_eq!(staged.str("/status"), "needs_response", "{provider}: {}", staged.text);
        assert_eq!(staged.str("/evidence/status"), "staged");
        assert_eq!(staged.at("/evidence/submit"), &json!(false));
        assert_eq!(staged.at("/evidence/fields").as_array().unwrap().len(), 2);
        assert!(
            !staged.text.contains("It was delivered"),
            "what it says is the provider's to keep"
        );
        assert_eq!(draft().await.expect(200).header("idempotent-replayed"), Some("true"));
        assert_eq!(connected.told_about(&reference).len(), 1);

        let stale = connected.owner.post(&format!("/v1/payments/disputes/{id}/evidence"));
        let input = json!({"evidence": evidence(provider), "submit": true});
        stale.key(&unique("stale")).if_match("\"1\"").json(input).await.expect(412);
        let submitted = connected.submit(&id, provider, "submit").await.expect(200);
        assert_eq!(submitted.str("/status"), "under_review", "{provider}: {}", submitted.text);
        assert_eq!(submitted.str("/evidence/status"), "submitted");
        assert_eq!(submitted.json, connected.dispute(&id).await.json);
        let told = connected.told_about(&reference);
        assert_eq!(told.len(), 2);
        assert!(
            told[1].body.contains("was") && told[1].body.contains("submit"),
            "{}",
            told[1].body
        );
        let key = (provider == "stripe").then(|| submitted.str("/evidence/id"));
        assert_eq!(told[1].key, key, "Razorpay takes no key");
        let again = connected.submit(&id, provider, &unique("again")).await.expect(409);
        assert_eq!(again.str("/current"), "under_review");
        again.problem("invalid_state_transition");
        // The provider's own word is no news any more.
        connected.tell("reviewed", &reference).await;
        assert_eq!(connected.gateway.events("dispute.updated").await.len(), 2 * (round + 1));
        assert!(connected.kept().await.is_empty());
    }
}

#[tokio::test]
async fn evidence_is_submitted_again_on_the_banks_request() {
    let connected = Connected::open().await;
    let (_, _, reference, id) = connected.disputed("razorpay").await;
    connected.submit(&id, "razorpay", "first").await.expect(200);
    connected.gateway.advance(MINUTE * 2);
    connected.providers.validate(&reference, Verdict::AskAgain);
    connected.tell("asked", &reference).await;
    assert_eq!(connected.dispute(&id).await.str("/status"), "needs_response");
    let second = connected.submit(&id, "razorpay", "second").await.expect(200);
    assert_eq!(second.str("/status"), "under_review");
    assert_eq!(connected.told_about(&reference).len(), 2);
}

#[tokio::test]
async fn invalid_evidence_is_rejected_before_the_provider_is_called() {
    let mut connected = Connected::open().await;
    let before = connected.providers.calls("").len();
    for provider in PROVIDERS {
        let (payment, _, reference, id) = connected.disputed(provider).await;
        let items = connected.gateway.count().await;
        let wrong = json!({"evidence": {"no_such": "x", "amount": 0}, "submit": true});
        let faults = connected.send(&id, &unique("key"), wrong).await.expect(422).field_errors();
        let named: Vec<&str> = faults.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(named, ["/evidence/amount", "/evidence/no_such"], "{provider}");
        for input in [
            json!({}),
            json!({"evidence": []}),
            json!({"evidence": {}}),
            json!({"evidence": {"summary": ["x"]}, "more": 1}),
        ] {
            connected.send(&id, &unique("key"), input).await.expect(422);
        }
        let path = format!("/v1/payments/disputes/{id}/evidence");
        let keyless = connected.owner.post(&path).json(json!({"evidence": evidence(provider)}));
        keyless.await.expect(400).problem("idempotency_key_required");
        let elsewhere = format!("/v1/payments/disputes/{payment}/evidence");
        let input = json!({"evidence": evidence(provider)});
        connected
            .owner
            .post(&elsewhere)
            .key("x")
            .json(input)
            .await
            .expect(404)
            .problem("not_found");
        assert!(connected.told_about(&reference).is_empty());
        assert_eq!(connected.gateway.count().await, items, "nothing was written");
        // Nobody takes it any more.
        connected.wait(DAY * 8).await;
        let late = connected.submit(&id, provider, &unique("late")).await.expect(409);
        assert!(late.at("/due_by").is_string());
        late.problem("evidence_past_due");
        connected.providers.validate(&reference, Verdict::Lose);
        connected.tell("lost", &reference).await;
        let over = connected.submit(&id, provider, &unique("over")).await.expect(409);
        assert_eq!(over.str("/current"), "lost");
        over.problem("invalid_state_transition");
        assert!(connected.told_about(&reference).is_empty());
    }
    assert!(connected.providers.calls("").len() > before, "they were asked about payments alone");
}

#[tokio::test]
async fn unanswered_evidence_is_pending_and_submitted_once() {
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        // It has arrived, and nobody has said so.
        let (_, _, reference, id) = connected.disputed(provider).await;
        connected.providers.next([Trouble::DoneButLate]);
        connected.submit(&id, provider, "lost").await.expect(504).problem("provider_timeout");
        let known = connected.dispute(&id).await;
        assert_eq!(known.str("/evidence/status"), "pending", "{provider}");
        assert_eq!(known.at("/allowed_actions"), &json!([]));
        let other = connected.submit(&id, provider, "other").await.expect(409);
        assert_eq!(other.str("/evidence_id"), known.str("/evidence/id"));
        other.problem("evidence_pending");
        let kept = connected.kept().await;
        assert_eq!(kept.len(), 1);
        assert!(!Value::from(kept).to_string().contains("delivered"), "it is sealed");
        let resumed = connected.submit(&id, provider, "lost").await.expect(200);
        assert_eq!(resumed.str("/status"), "under_review", "{provider}: {}", resumed.text);
        assert_eq!(resumed.str("/evidence/status"), "submitted");
        assert_eq!(connected.told_about(&reference).len(), 1, "{provider}");

        // It never arrived, and the sweep sends it.
        let (payment, _, reference, id) = connected.disputed(provider).await;
        connected.providers.next([Trouble::Hang]);
        connected.submit(&id, provider, "swept").await.expect(504);
        connected.providers.next([Trouble::Reject(500, "server_error")]);
        connected.gateway.advance(MINUTE * 2);
        connected.gateway.sweep().await;
        assert_eq!(connected.dispute(&id).await.str("/evidence/status"), "pending");
        connected.gateway.advance(MINUTE * 5);
        connected.gateway.sweep().await;
        let known = connected.dispute(&id).await;
        assert_eq!(known.str("/evidence/status"), "submitted", "{provider}");
        assert_eq!(known.str("/status"), "under_review");
        assert_eq!(connected.told_about(&reference).len(), 2, "{provider}");
        let replayed = connected.submit(&id, provider, "swept").await.expect(200);
        assert_eq!(replayed.json, known.json);
        let entry = connected.payment(&payment).await;
        assert!(entry.json.pointer("/disputes/0/evidence").is_none(), "{}", entry.text);
        assert!(connected.kept().await.is_empty());
    }
}

#[tokio::test]
async fn rejected_evidence_can_be_replaced() {
    let connected = Connected::open().await;
    for provider in PROVIDERS {
        let (_, _, reference, id) = connected.disputed(provider).await;
        connected.providers.next([Trouble::Reject(400, "invalid_file")]);
        for _ in 0..2 {
            let rejected = connected.submit(&id, provider, "refused").await.expect(502);
            assert_eq!(rejected.str("/failure_code"), "invalid_file", "{provider}");
            rejected.problem("provider_error");
        }
        assert_eq!(connected.told_about(&reference).len(), 1, "{provider}");
        let known = connected.dispute(&id).await;
        assert_eq!(known.str("/evidence/status"), "failed");
        assert_eq!(known.str("/evidence/failure_code"), "invalid_file");
        assert_eq!(known.at("/allowed_actions"), &json!(["submit_evidence"]));
        let other = connected.submit(&id, provider, "other").await.expect(200);
        assert_eq!(other.str("/evidence/status"), "submitted");
        assert!(connected.kept().await.is_empty());
    }
}
