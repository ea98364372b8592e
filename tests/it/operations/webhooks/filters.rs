//! Filters: which events of a type are sent.

use support::{Behaviour, Gateway, json};

use super::{SUBSCRIPTIONS, Watched};

#[tokio::test]
async fn only_events_that_match_the_filter_are_delivered() {
    let filter = json!({"$.data.name": {"prefix": "Keep"}, "$.entity.type": ["store", "order"]});
    let fields = json!({"filter": filter, "description": "Filtered"});
    let watched = Watched::with(Gateway::start().await, Behaviour::Status(200), fields).await;
    assert_eq!(watched.subscription["filter"], filter);
    for name in ["Drop this", "Keep this", "Drop that", "Keep that"] {
        watched.rename(name).await;
    }
    let kept = watched.receiver.wait_for(2).await;
    watched.delivery_in("succeeded").await;
    let mut names: Vec<_> =
        kept.iter().map(|kept| kept.json()["data"]["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names, ["Keep that", "Keep this"]);
    // What was not wanted is not missing.
    let verified = watched.owner().get("/v1/operations/outbox/verify").await.expect(200);
    assert_eq!((verified.int("/missing"), verified.int("/orphan")), (0, 0), "{}", verified.text);
    // Another filter replaces it, null takes it away, and what is not named stays.
    let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
    let only = json!({"$.data.name": ["Only this"]});
    let input = json!({"filter": only});
    let changed = watched.owner().patch(&path).json(input).await.expect(200);
    assert_eq!(changed.at("/filter"), &only);
    let changed = watched.owner().patch(&path).json(json!({"description": "x"})).await.expect(200);
    assert_eq!(changed.at("/filter"), &only);
    let changed = watched.owner().patch(&path).json(json!({"filter": null})).await.expect(200);
    assert!(changed.at("/filter").is_null());
    watched.rename("Anything").await;
    let all = watched.receiver.wait_for(3).await;
    assert_eq!(all[2].json()["data"]["name"], "Anything");
    assert_eq!(watched.gateway.items_of("delivery", "DLV#").await.len(), 3);
}

#[tokio::test]
async fn invalid_subscription_options_are_reported_by_field() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    let before = watched.gateway.count().await;
    let input = json!({
        "url": watched.receiver.url("/"), "event_types": ["*"],
        "filter": {
            "data.name": "x", "$..a..b": 1, "$.data.name": {"like": "x"},
            "$.data.total": {"gte": null}
        },
        "ordering": "subject", "max_rate_per_second": 101
    });
    let expected = [
        ("/filter/$..a..b", "json_path_too_costly"),
        ("/filter/$.data.name/like", "unknown_operator"),
        ("/filter/$.data.total/gte", "invalid_type"),
        ("/filter/data.name", "invalid_json_path"),
        ("/max_rate_per_second", "out_of_range"),
        ("/ordering", "invalid_choice"),
    ]
    .map(|(at, code)| (at.to_owned(), code.to_owned()));
    let reply = watched.owner().post(SUBSCRIPTIONS).json(input.clone()).await.expect(422);
    assert_eq!(reply.field_errors(), expected);
    let path = format!("{SUBSCRIPTIONS}/{}", watched.subscription["id"].as_str().unwrap());
    let mut change = input;
    change.as_object_mut().unwrap().remove("url");
    let reply = watched.owner().patch(&path).json(change).await.expect(422);
    assert_eq!(reply.field_errors(), expected);
    assert_eq!(watched.gateway.count().await, before);
    let defaults = watched.subscription().await;
    assert_eq!((&defaults["filter"], &defaults["ordering"]), (&json!(null), &json!("none")));
    assert!(defaults["max_rate_per_second"].is_null());
    for (rate, status) in [(0, 422), (1, 200), (100, 200), (101, 422)] {
        let input = json!({"max_rate_per_second": rate});
        watched.owner().patch(&path).json(input).await.expect(status);
    }
    let input = json!({"max_rate_per_second": null, "ordering": "entity"});
    let changed = watched.owner().patch(&path).json(input).await.expect(200);
    assert_eq!(changed.str("/ordering"), "entity");
    assert!(changed.at("/max_rate_per_second").is_null());
}
