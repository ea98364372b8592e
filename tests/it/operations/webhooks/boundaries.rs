//! Every counted promise at its boundary: n works, n + 1 does not.

use std::time::Duration;

use support::clock::{DAY, HOUR, MINUTE};
use support::{Behaviour, Gateway, Value, eventually, json};

use super::{DEADLINE, DELIVERIES, SUBSCRIPTIONS, Watched, is_signed_by};

fn headers(count: usize) -> Value {
    (0..count)
        .map(|n| (format!("x-custom-{n}"), json!("v")))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[tokio::test]
async fn ten_headers_are_sent_and_eleven_are_rejected() {
    let fields = json!({"headers": headers(10)});
    let watched = Watched::with(Gateway::start().await, Behaviour::Status(200), fields).await;
    watched.rename("With headers").await;
    let received = watched.receiver.wait_for(1).await.remove(0);
    assert!((0..10).all(|n| received.header(&format!("x-custom-{n}")) == "v"));
    let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
    let rejected = |field: &'static str, value: Value, code: &'static str| {
        let (owner, path) = (watched.owner(), path.clone());
        async move {
            let reply = owner.patch(&path).json(json!({field: value})).await.expect(422);
            assert_eq!(reply.field_errors()[0].1, code, "{}", reply.text);
        }
    };
    rejected("headers", headers(11), "too_many").await;
    rejected("headers", json!({"x-long": "v".repeat(1_025)}), "invalid_header_value").await;
    let longest = json!({"headers": {"x-long": "v".repeat(1_024)}});
    watched.owner().patch(&path).json(longest).await.expect(200);
    rejected("event_types", json!(vec!["store.updated"; 51]), "too_many").await;
    let most = json!({"event_types": vec!["store.updated"; 50]});
    watched.owner().patch(&path).json(most).await.expect(200);
    rejected("description", json!("d".repeat(201)), "too_long").await;
    watched.owner().patch(&path).json(json!({"description": "d".repeat(200)})).await.expect(200);
    assert_eq!(headers_shown(&watched).await, 1);
}

async fn headers_shown(watched: &Watched) -> usize {
    watched.subscription().await["headers"].as_object().unwrap().len()
}

#[tokio::test]
async fn deleting_a_subscription_frees_one_of_the_quota() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let input = json!({"url": watched.receiver.url("/x"), "event_types": ["*"]});
    for _ in 1..50 {
        watched.owner().post(SUBSCRIPTIONS).json(input.clone()).await.expect(201);
    }
    let full = watched.owner().post(SUBSCRIPTIONS).json(input.clone()).await.expect(409);
    full.problem("subscription_limit");
    let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
    watched.owner().delete(&path).await.expect(204);
    watched.owner().delete(&path).await.expect(404);
    watched.owner().post(SUBSCRIPTIONS).json(input.clone()).await.expect(201);
    watched.owner().post(SUBSCRIPTIONS).json(input).await.expect(409).problem("subscription_limit");
}

#[tokio::test]
async fn a_secrets_grace_period_ends_to_the_millisecond() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let id = watched.subscription["id"].as_str().unwrap();
    let path = format!("{SUBSCRIPTIONS}/{id}/secret/rotate");
    let grace = |seconds: u64| json!({"grace_seconds": seconds});
    let reply = watched.owner().post(&path).json(grace(604_801)).await.expect(422);
    assert_eq!(reply.field_errors(), [("/grace_seconds".to_owned(), "out_of_range".to_owned())]);
    watched.gateway.app().clock.stop();
    let new = watched.owner().post(&path).json(grace(604_800)).await.expect(200).str("/secret");
    watched.gateway.advance(7 * DAY - Duration::from_millis(1));
    let owner = watched.merchant.sign_in_again().await.at(&watched.store);
    watched.rename_as(&owner, "The last moment").await;
    let both = watched.receiver.wait_for(1).await.remove(0);
    assert!(is_signed_by(&both, watched.secret()) && is_signed_by(&both, &new));
    watched.gateway.advance(Duration::from_millis(1));
    watched.rename_as(&owner, "After it").await;
    let alone = watched.receiver.wait_for(2).await.remove(1);
    assert!(!is_signed_by(&alone, watched.secret()) && is_signed_by(&alone, &new));
}

/// The id of the only delivery.
async fn only(watched: &Watched) -> String {
    let item = watched.gateway.items_of("delivery", "DLV#").await.remove(0);
    item["id"].as_str().unwrap().to_owned()
}

/// A delivery whose tenth attempt fails, of a subscription that counts `exhausted` and has failed
/// for `failing`; answers with what becomes of the subscription.
async fn after_one_more(exhausted: u32, failing: Duration) -> Value {
    let watched = Watched::by(Behaviour::Status(500)).await;
    watched.gateway.app().clock.stop();
    watched.rename("The last straw").await;
    watched.delivery_in("retrying").await;
    let reported = || async {
        let subscription = watched.subscription().await;
        (subscription["stats"]["consecutive_failures"] == 1).then_some(())
    };
    eventually(DEADLINE, reported).await;
    let delivery = only(&watched).await;
    watched.gateway.age_failures(&delivery, failing, exhausted).await;
    watched.gateway.age_delivery(&delivery, 9).await;
    watched.gateway.sweep().await;
    watched.delivery_in("exhausted").await;
    eventually(DEADLINE, || async {
        let subscription = watched.subscription().await;
        (subscription["stats"]["consecutive_failures"] == 2).then_some(subscription)
    })
    .await
}

#[tokio::test]
async fn a_subscription_is_disabled_after_120_hours_and_20_exhausted_deliveries() {
    let moment = Duration::from_millis(1);
    for (exhausted, failing) in [(18, 120 * HOUR), (19, 120 * HOUR - moment)] {
        let kept = after_one_more(exhausted, failing).await;
        assert_eq!(kept["status"], "enabled", "{exhausted} for {failing:?}: {kept}");
    }
    let disabled = after_one_more(19, 120 * HOUR).await;
    assert_eq!(disabled["status"], "disabled_by_system", "{disabled}");
    assert_eq!(disabled["disabled_reason"], "failing");
}

#[tokio::test]
async fn ten_failures_open_the_circuit_and_nine_do_not() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    for failures in 1..=9 {
        watched.rename(&format!("Failure {failures}")).await;
        eventually(DEADLINE, || async {
            let stats = watched.subscription().await["stats"].clone();
            (stats["consecutive_failures"] == failures).then_some(())
        })
        .await;
    }
    assert_eq!(watched.subscription().await["health"], "failing");
    watched.rename("Failure 10").await;
    eventually(DEADLINE, || async {
        (watched.subscription().await["health"] == "circuit_open").then_some(())
    })
    .await;
    watched.rename("Not sent").await;
    eventually(DEADLINE, || async {
        watched.deliveries().await.iter().any(|one| one["held_by"] == "circuit").then_some(())
    })
    .await;
    assert_eq!(watched.receiver.requests().len(), 10);
}

#[tokio::test]
async fn an_exhausted_delivery_is_never_retried() {
    let watched = Watched::by(Behaviour::Status(500)).await;
    watched.rename("Ninth").await;
    watched.delivery_in("retrying").await;
    let ninth = only(&watched).await;
    watched.gateway.age_delivery(&ninth, 8).await;
    watched.gateway.sweep().await;
    watched.receiver.wait_for(2).await;
    assert_eq!(watched.delivery_in("retrying").await["attempts"], 9, "one is left");
    watched.gateway.advance(2 * DAY);
    watched.gateway.sweep().await;
    watched.receiver.wait_for(3).await;
    let owner = watched.merchant.sign_in_again().await.at(&watched.store);
    let path = format!("{DELIVERIES}/{ninth}");
    eventually(DEADLINE, || async {
        let shown = owner.get(&path).await.expect(200).json;
        (shown["status"] == "exhausted" && shown["attempts"] == 10).then_some(())
    })
    .await;
    for _ in 0..3 {
        watched.gateway.advance(2 * DAY + MINUTE);
        let report = watched.gateway.sweep().await;
        assert_eq!(report.deliveries, 0, "{report:?}");
    }
    assert_eq!(watched.receiver.requests().len(), 3);
}
