//! What a replay is asked for, and by whom.

use support::Shop;

use super::*;

#[tokio::test]
async fn an_invalid_replay_reports_every_field_error_and_writes_nothing() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("One").await;
    watched.receiver.wait_for(1).await;
    watched.gateway.quiet().await;
    let owner = watched.owner();
    let before = watched.gateway.count().await;
    let rejected = |input: Value, errors: &'static [(&'static str, &'static str)]| {
        let (gateway, owner) = (&watched.gateway, owner.clone());
        async move {
            // Each has its price.
            gateway.advance(Duration::from_secs(2));
            let reply = owner.post(REPLAYS).json(input.clone()).await.expect(422);
            let found = reply.field_errors();
            let found: Vec<_> =
                found.iter().map(|(at, code)| (at.as_str(), code.as_str())).collect();
            assert_eq!(found, errors, "{input}: {}", reply.text);
        }
    };
    let unknown = format!("dlv_{}", "0".repeat(32));
    rejected(json!({}), &[("/kind", "required")]).await;
    rejected(json!({"kind": "all"}), &[("/kind", "invalid_choice")]).await;
    let errors = &[("/since", "required"), ("/subscription_id", "required")];
    rejected(json!({"kind": "recover"}), errors).await;
    rejected(json!({"kind": "delivery"}), &[("/delivery_ids", "required")]).await;
    let input = json!({"kind": "delivery", "delivery_ids": [], "since": since(&watched)});
    rejected(input, &[("/delivery_ids", "too_few"), ("/since", "not_applicable")]).await;
    let input = json!({"kind": "delivery", "delivery_ids": [unknown]});
    rejected(input, &[("/delivery_ids/0", "unknown_delivery")]).await;
    let input = json!({"kind": "delivery", "delivery_ids": vec![unknown.as_str(); 101]});
    rejected(input, &[("/delivery_ids", "too_many")]).await;
    let input = json!({"kind": "range", "since": "2026-01-01T00:00:00Z", "max_count": 10_001});
    rejected(input, &[("/max_count", "out_of_range"), ("/since", "range_too_wide")]).await;
    let input =
        with(range(&watched), json!({"rate_per_second": 1_001, "event_types": ["no.such"]}));
    let errors = &[("/event_types/0", "unknown_event_type"), ("/rate_per_second", "out_of_range")];
    rejected(input, errors).await;
    let input =
        with(range(&watched), json!({"subscription_id": format!("whs_{}", "0".repeat(32))}));
    owner.post(REPLAYS).json(input).await.expect(404).problem("not_found");
    assert_eq!(watched.gateway.count().await, before);
}

#[tokio::test]
async fn an_app_replays_only_to_its_own_subscriptions() {
    let scopes = &["read_store", "write_webhooks", "write_operations"];
    let shop = Shop::with_published_app(scopes).await;
    shop.authorize().await;
    let app = shop.app_client().await;
    let (its, own) = (Receiver::start().await, Receiver::start().await);
    let request =
        |receiver: &Receiver| json!({"url": receiver.url("/"), "event_types": ["store.*"]});
    app.post(SUBSCRIPTIONS).json(request(&its)).await.expect(201);
    let merchants =
        shop.owner().post(SUBSCRIPTIONS).json(request(&own)).await.expect(201).str("/id");
    let path = format!("/v1/stores/{}", shop.store.id);
    shop.owner().patch(&path).json(json!({"name": "Renamed"})).await.expect(200);
    its.wait_for(1).await;
    own.wait_for(1).await;
    let range = json!({
        "kind": "range", "since": shop.store.view["created_at"], "event_types": ["store.updated"],
    });
    let foreign = with(range.clone(), json!({"subscription_id": merchants}));
    app.post(REPLAYS).json(foreign).await.expect(404).problem("not_found");
    let deliveries = shop.owner().get(DELIVERIES).await.expect(200).data().clone();
    let to_merchant = deliveries.iter().find(|one| one["subscription_id"] == merchants.as_str());
    let ids = json!({"kind": "delivery", "delivery_ids": [to_merchant.unwrap()["id"]]});
    let rejected = app.post(REPLAYS).json(ids).await.expect(422);
    assert_eq!(rejected.field_errors()[0].1, "unknown_delivery");
    let begun = app.post(REPLAYS).json(range.clone()).await.expect(202).str("/id");
    let replay = over(&app, &begun).await;
    assert_eq!((&replay["status"], &replay["matched"]), (&json!("succeeded"), &json!(1)));
    assert_eq!((its.requests().len(), own.requests().len()), (2, 1));
    let theirs = shop.owner().post(REPLAYS).json(range).await.expect(202).str("/id");
    over(&shop.owner(), &theirs).await;
    let path = format!("{REPLAYS}/{theirs}");
    app.get(&path).await.expect(404).problem("not_found");
    let shown = app.get(REPLAYS).await.expect(200).data().clone();
    assert_eq!(shown.iter().map(|one| &one["id"]).collect::<Vec<_>>(), [begun.as_str()]);
    assert_eq!(shop.owner().get(REPLAYS).await.expect(200).data().len(), 2);
}
