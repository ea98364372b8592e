//! Load tests: bounded, counted, and on the canary store alone.

use std::time::Duration;

use support::{Gateway, Market, Merchant, Operator, Value, eventually, json};

use super::drills::others_at_rest;
use super::pages::page;

const LOAD_TESTS: &str = "/v1/operations/runtime/load-tests";
const DEADLINE: Duration = Duration::from_secs(90);

async fn until(operator: &Operator, id: &str, is: impl Fn(&Value) -> bool) -> Value {
    eventually(DEADLINE, || async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let test = operator.get(&format!("{LOAD_TESTS}/{id}")).await.expect(200).json;
        is(&test).then_some(test)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_test_sends_its_planned_requests_to_the_canary_only() {
    let market = Market::open().await;
    market.stock(1_000, 5).await;
    let gateway = market.gateway;
    let operator = Operator::sign_up(&gateway).await;
    gateway.quiet().await;
    let before = others_at_rest(&gateway).await;
    let input = json!({"duration_s": 3, "requests_per_second": 20, "checkout_percent": 20});
    let begun = operator.post(LOAD_TESTS).json(input).await.expect(202);
    assert_eq!((begun.str("/status"), begun.int("/planned")), ("scheduled".to_owned(), 60));
    let id = begun.str("/id");
    let over = until(&operator, &id, |test| test["status"] == "completed").await;
    assert_eq!((&over["reads"]["sent"], &over["checkouts"]["sent"]), (&json!(48), &json!(12)));
    for kind in ["reads", "checkouts"] {
        let outcomes = &over[kind];
        assert_eq!(outcomes["succeeded"], outcomes["sent"], "{over}");
        assert_eq!(outcomes["error_basis_points"], 0, "{over}");
        let latency = |name: &str| outcomes["latency_us"][name].as_u64().unwrap();
        assert!(latency("p50") <= latency("p95") && latency("p95") <= latency("p99"), "{over}");
        assert!(outcomes["cost"]["points"].as_u64().unwrap() > 0, "{over}");
        assert!(outcomes["cost"]["unit_tenths"].as_u64().unwrap() > 0, "{over}");
    }
    // A checkout is an order of the canary's, and its three seconds took three seconds.
    let orders = gateway.items_of("order", "STO#").await;
    let is_canarys = |order: &&Value| order["store_id"] == support::CANARY_STORE;
    assert_eq!(orders.iter().filter(is_canarys).count(), 12);
    let after = others_at_rest(&gateway).await;
    let changed: Vec<_> =
        after.iter().filter(|(key, item)| before.get(*key) != Some(*item)).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{changed:?}");
    assert!(gateway.items_of("canary_hold", "FLT#").await.is_empty());
    let listed = operator.get(LOAD_TESTS).await.expect(200);
    assert_eq!(listed.data()[0], over);
    let page = page(&operator, &format!("{LOAD_TESTS}/{id}")).await;
    for shown in ["60 of 60", "completed", "checkouts", "Latency p99", "<svg"] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_load_test_stops_sending_requests() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let input = json!({"duration_s": 60, "requests_per_second": 5, "checkout_percent": 0});
    let id = operator.post(LOAD_TESTS).json(input).await.expect(202).str("/id");
    until(&operator, &id, |test| test["seconds_done"].as_u64() >= Some(1)).await;
    let abort = || operator.post(&format!("{LOAD_TESTS}/{id}/abort")).json(json!({}));
    let aborted = abort().await.expect(200);
    assert_eq!(aborted.str("/status"), "aborted");
    let stated = format!("/v1/operations/reliability-evidence/{}", aborted.str("/evidence_ids/0"));
    assert_eq!(operator.get(&stated).await.expect(200).str("/outcome"), "aborted");
    abort().await.expect(409).problem("invalid_state_transition");
    assert!(gateway.items_of("canary_hold", "FLT#").await.is_empty());
    // What is under way is given up, and not counted.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let later = operator.get(&format!("{LOAD_TESTS}/{id}")).await.expect(200).json;
    assert_eq!(later, aborted.json);
    let checkouts = gateway.items_of("order", "STO#").await;
    assert!(checkouts.is_empty());
}

#[tokio::test]
async fn load_tests_are_bounded_and_limited_to_operators_and_the_canary() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let operator = Operator::sign_up(&gateway).await;
    let good = json!({"duration_s": 1, "requests_per_second": 1});
    let asked = merchant.post(LOAD_TESTS).json(good.clone()).await;
    asked.expect(403).problem("operator_required");
    merchant.get(LOAD_TESTS).await.expect(403).problem("operator_required");
    for (field, value) in [
        ("duration_s", json!(61)),
        ("duration_s", json!(0)),
        ("requests_per_second", json!(201)),
        ("requests_per_second", json!(0)),
        ("checkout_percent", json!(101)),
    ] {
        let mut input = good.clone();
        input[field] = value;
        let rejected = operator.post(LOAD_TESTS).json(input).await.expect(422);
        assert_eq!(rejected.str("/errors/0/pointer"), format!("/{field}"));
    }
    let mut elsewhere = good.clone();
    elsewhere["target"] = json!("sto_00000000000000000000000000000000");
    operator.post(LOAD_TESTS).json(elsewhere).await.expect(403).problem("canary_only");
    assert!(gateway.items("LDT#").await.is_empty() && gateway.items("FLT#").await.is_empty());
    let locked = Gateway::start_with(|options| options.embedded.drills_allowed = false).await;
    let operator = Operator::sign_up(&locked).await;
    operator.post(LOAD_TESTS).json(good).await.expect(403).problem("canary_only");
}
