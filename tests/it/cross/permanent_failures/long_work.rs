//! Long work of every kind.

use core_types::id::{
    CustomerId, DrillId, ExportId, ImportId, LoadTestId, RedactionId, ReplayId, StoreId,
};
use emulators::faults::Faults;
use support::{Market, Operator, Receiver, Shopper, cart, json, unique};

use super::*;

async fn market() -> Market {
    Market::open_with(|options| options.has_runner = false).await
}

/// Has every write of the work rejected in turn, and sees it end each time; `begin` begins it anew, which it
/// could not while another is under way. Answers with how often it failed.
async fn at_each_write(
    gateway: &Gateway,
    numbers: impl IntoIterator<Item = usize>,
    begin: impl AsyncFn(usize) -> RunMessage,
) -> usize {
    let mut failed = 0;
    for number in numbers {
        let work = begin(number).await;
        let (app, faults) = without_write(gateway, number);
        let found = to_its_end(gateway, &app, &work).await;
        if !has_rejected(&faults) {
            assert!(number > 0, "it writes nothing");
            break;
        }
        let Some(item) = found else {
            failed += 1;
            continue;
        };
        if item["status"] == "failed" {
            failed += 1;
            let reason = &item["status_reason"];
            let is_said = reason == "internal_error" || item["stop_reason"].is_string();
            assert!(is_said, "{item}");
        }
        assert!(item["due_at"].is_null(), "{item}");
    }
    failed
}

async fn import(market: &Market, kind: &str, file: &str) -> RunMessage {
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    let id = owner.post("/v1/imports").json(json!({"kind": kind, "on_existing": "update"})).await;
    let id = id.expect(201).str("/id");
    let part = owner.put(&format!("/v1/imports/{id}/parts/1")).header("content-type", "text/csv");
    part.body(file.as_bytes().to_vec()).await.expect(200);
    owner.post(&format!("/v1/imports/{id}/start")).json(json!({})).await.expect(202);
    RunMessage::Import { id: ImportId::parse(&id).unwrap() }
}

#[tokio::test]
async fn an_import_ends_when_any_write_is_rejected() {
    let market = market().await;
    let file = |number: usize| {
        format!(
            "Handle,Title,Variant SKU,Variant Price,Variant Inventory Tracker,Variant Inventory Qty\n\
             a-{number},A,SA-{number},1,shopify,3\nb-{number},B,SB-{number},x,shopify,1\n"
        )
    };
    let begin = async |number| import(&market, "products", &file(number)).await;
    assert!(at_each_write(&market.gateway, 0..20, begin).await >= 2);
    let people = |number: usize| format!("Email,First Name\np{number}@mail.example,Ann\n");
    let begin = async |number| import(&market, "customers", &people(number)).await;
    assert!(at_each_write(&market.gateway, 0..20, begin).await >= 2);
    let inventory = json!({"levels": [{"quantity": 1}]});
    let lamp = json!({"title": "A Lamp", "variants": [
        {"sku": "LAMP", "price": support::inr(100), "inventory": inventory},
    ]});
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    owner.post("/v1/products").json(lamp).key("lamp").await.expect(201);
    let begin = async |_| import(&market, "inventory", "SKU,Available\nLAMP,7\n").await;
    assert!(at_each_write(&market.gateway, 0..20, begin).await >= 1);
    let told = market.gateway.events("import.finished").await;
    assert!(told.iter().any(|event| event["data"]["status_reason"] == "internal_error"));
}

#[tokio::test]
async fn an_unfinishable_or_unreadable_import_does_not_block_the_next() {
    let market = market().await;
    let file = "Handle,Title,Variant Price\na,A,1\n";
    for is_spoilt in [false, true] {
        let work = import(&market, "products", file).await;
        let key = work.key();
        let faults = Faults::planned();
        let app = market.gateway.system().embedded().app_over(&faults);
        if is_spoilt {
            spoil(&market.gateway, &key.pk, &key.sk).await;
        } else {
            // Nothing is taken of its item but what makes it smaller.
            faults.reject(move |_, input| {
                let text = input.to_string();
                text.contains(&key.pk) && !text.contains("\"REMOVE GSI3PK, GSI3SK\"")
            });
        }
        let left = to_its_end(&market.gateway, &app, &work).await.unwrap();
        assert_eq!(left["status"], if is_spoilt { "failed" } else { "running" });
    }
    import(&market, "products", file).await;
}

#[tokio::test]
async fn an_export_ends_when_any_write_is_rejected() {
    let market = market().await;
    market.stock(100, 3).await;
    let begin = async |_| {
        let owner = market.merchant.sign_in_again().await.at(&market.store);
        let asked = owner.post("/v1/exports").json(json!({"kind": "products"})).await;
        let id = asked.expect(202).str("/id");
        RunMessage::Export { id: ExportId::parse(&id).unwrap() }
    };
    assert_eq!(at_each_write(&market.gateway, 0..20, begin).await, 2, "its chunk, and its end");
}

#[tokio::test]
async fn a_replay_ends_when_any_write_is_rejected() {
    let market = market().await;
    let receiver = Receiver::start().await;
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    market.owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    let path = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&path).json(json!({"name": "Another"})).await.expect(200);
    receiver.wait_for(1).await;
    let since = market.store.view["created_at"].clone();
    let begin = async |_| {
        let owner = market.merchant.sign_in_again().await.at(&market.store);
        let input = json!({"kind": "range", "since": since, "event_types": ["store.updated"]});
        let asked = owner.post("/v1/operations/runtime/replays").json(input).await;
        let id = asked.expect(202).str("/id");
        market.gateway.advance(Duration::from_secs(10));
        RunMessage::Replay { id: ReplayId::parse(&id).unwrap() }
    };
    assert!(at_each_write(&market.gateway, 0..20, begin).await >= 3);
}

/// A customer who has ordered.
async fn customer(market: &Market, variant: &str) -> Shopper {
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let input = cart(&[(variant, 1)]);
    let placed =
        shopper.post(&market.orders_path()).json(input).key(&unique("o")).await.expect(201);
    let owner = market.merchant.sign_in_again().await.at(&market.store);
    let cancel = format!("/v1/orders/{}/cancel", placed.str("/order/id"));
    owner.post(&cancel).key(&unique("c")).json(json!({})).await.expect(200);
    shopper
}

#[tokio::test]
async fn redactions_and_merges_end_when_any_write_is_rejected_and_resume() {
    let market = market().await;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let change = json!({"privacy": {"redaction_days": 0}});
    market.owner.patch(&settings).json(change).await.expect(200);
    let variant = market.stock(100, 100).await;
    let store_id = StoreId::parse(&market.store.id).unwrap();
    let redact = async |shopper: &Shopper| {
        let owner = market.merchant.sign_in_again().await.at(&market.store);
        let path = format!("/v1/customers/{}/redact", shopper.id);
        let id = owner.post(&path).json(json!({})).await.expect(202).str("/id");
        RunMessage::Redaction { id: RedactionId::parse(&id).unwrap() }
    };
    let begin = async |_| redact(&customer(&market, &variant).await).await;
    assert!(at_each_write(&market.gateway, [0, 1, 3, 6], begin).await >= 2);
    let merge = async |stays: &Shopper, goes: &Shopper| {
        let owner = market.merchant.sign_in_again().await.at(&market.store);
        let path = format!("/v1/customers/{}/merges", stays.id);
        let asked = owner.post(&path).json(json!({"source_id": goes.id})).await.expect(202);
        assert_eq!(asked.str("/status"), "running");
        RunMessage::Merge {
            store_id: store_id.clone(),
            customer_id: CustomerId::parse(&stays.id).unwrap(),
            source_id: CustomerId::parse(&goes.id).unwrap(),
        }
    };
    let begin = async |_| {
        let (stays, goes) = (customer(&market, &variant).await, customer(&market, &variant).await);
        merge(&stays, &goes).await
    };
    assert!(at_each_write(&market.gateway, [0, 1, 3], begin).await >= 2);
    // What has failed goes on where it was.
    let (stays, goes) = (customer(&market, &variant).await, customer(&market, &variant).await);
    let work = merge(&stays, &goes).await;
    let (app, _) = without_write(&market.gateway, 1);
    assert_eq!(to_its_end(&market.gateway, &app, &work).await.unwrap()["status"], "failed");
    assert_eq!(merge(&stays, &goes).await, work);
    let whole = market.gateway.app();
    assert_eq!(to_its_end(&market.gateway, whole, &work).await.unwrap()["status"], "succeeded");
    let work = redact(&stays).await;
    let (app, _) = without_write(&market.gateway, 2);
    assert_eq!(to_its_end(&market.gateway, &app, &work).await.unwrap()["status"], "failed");
    assert_eq!(redact(&stays).await, work);
    assert_eq!(to_its_end(&market.gateway, whole, &work).await.unwrap()["status"], "succeeded");
    let left = market.gateway.items("STO#").await.into_iter();
    let named: Vec<Value> = left.filter(|it| it.to_string().contains(&stays.email)).collect();
    assert!(named.is_empty(), "{named:?}");
}

#[tokio::test]
async fn linking_guest_orders_ends_when_any_write_is_rejected() {
    let market = market().await;
    let variant = market.stock(100, 100).await;
    let begin = async |_| {
        let email = format!("{}@mail.example", unique("guest"));
        let mut input = cart(&[(&variant, 1)]);
        input["email"] = json!(email);
        let placed = [market.order(input.clone()).await, market.order(input).await];
        let shopper = Shopper::register_as(&market.gateway, &market.store, &email).await;
        assert_eq!(placed.len(), 2);
        let works = market.gateway.items_of("guest_orders", "STO#").await;
        assert_eq!(works.len(), 1, "the one before has ended");
        RunMessage::GuestOrders {
            store_id: StoreId::parse(&market.store.id).unwrap(),
            customer_id: CustomerId::parse(&shopper.id).unwrap(),
            guest: works[0]["guest"].as_str().unwrap().to_owned(),
        }
    };
    // Two orders, and its own end: which is then made by other means.
    assert_eq!(at_each_write(&market.gateway, 0..9, begin).await, 3);
    assert!(market.gateway.items_of("guest_orders", "STO#").await.is_empty());
    let orders = market.gateway.items_of("order", "STO#").await;
    let guests = orders.iter().filter(|order| order["customer_id"].is_null()).count();
    assert_eq!((orders.len(), guests), (8, 2), "one that is not joined keeps no other from it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_tests_and_drills_release_the_canary_when_a_write_is_rejected() {
    let market = market().await;
    let operator = Operator::sign_up(&market.gateway).await;
    let gateway = &market.gateway;
    let begin = async |_| {
        let input = json!({"duration_s": 1, "requests_per_second": 1});
        let operator = operator.sign_in_again().await;
        let asked = operator.post("/v1/operations/runtime/load-tests").json(input).await;
        let id = asked.expect(202).str("/id");
        RunMessage::LoadTest { id: LoadTestId::parse(&id).unwrap() }
    };
    // Its first makes the canary's shop.
    let (whole, work) = (gateway.app(), begin(0).await);
    assert_eq!(to_its_end(gateway, whole, &work).await.unwrap()["status"], "completed");
    assert!(at_each_write(gateway, 0..6, begin).await >= 2);
    let begin = async |_| {
        let input = json!({
            "kind": "queue_unavailable", "hypothesis": "It arrives.", "target": "canary",
            "duration_s": 1, "rto_s": 60, "rpo_events": 0, "confirm": true,
        });
        let path = "/v1/operations/runtime/failover-drills";
        let operator = operator.sign_in_again().await;
        let asked = operator.post(path).key(&unique("drill")).json(input).await.expect(202);
        RunMessage::Drill { id: DrillId::parse(&asked.str("/id")).unwrap() }
    };
    assert!(at_each_write(gateway, [0, 1, 4, 7], begin).await >= 2);
    assert!(gateway.items_of("canary_hold", "FLT#").await.is_empty());
}
