//! What comes of the table's stream, of the schedule, and of the other queues.

use emulators::faults::Faults;
use support::clock::Timestamp;
use support::{Market, Merchant, Receiver, eventually, json};

use super::*;

const SOON: Duration = Duration::from_secs(30);

/// A gateway all of whose functions are on a way to the table on which a test says what is never taken.
async fn planned() -> (Gateway, Faults) {
    let faults = Faults::planned();
    let planned = faults.clone();
    let gateway =
        Gateway::start_with(move |options| options.embedded.planned = Some(planned)).await;
    (gateway, faults)
}

/// How many messages were received too often, of all queues.
async fn dead_letters(gateway: &Gateway) -> u64 {
    gateway.look().await.dead_letters.unwrap()
}

/// A store whose changes are sent to a receiver.
async fn watched(gateway: &Gateway) -> (support::Client, String, Receiver) {
    let merchant = Merchant::sign_up(gateway).await;
    let store = merchant.open_store().await;
    let receiver = Receiver::start().await;
    let owner = merchant.at(&store);
    let input = json!({"url": receiver.url("/"), "event_types": ["store.updated"]});
    owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    gateway.quiet().await;
    (owner, format!("/v1/stores/{}", store.id), receiver)
}

#[tokio::test]
async fn an_event_with_an_unwritable_delivery_fails_and_the_next_is_delivered() {
    let (gateway, faults) = planned().await;
    let (owner, path, receiver) = watched(&gateway).await;
    faults.reject(|operation, input| operation == "PutItem" && input.to_string().contains("DLV#"));
    owner.patch(&path).json(json!({"name": "Never"})).await.expect(200);
    let failed = eventually(SOON, || async {
        let events = owner.elsewhere().get("/v1/operations/outbox?status=failed").await.expect(200);
        events.data().first().cloned()
    })
    .await;
    assert_eq!(failed["failure"], "internal_error", "{failed}");
    faults.reject(|_, _| false);
    owner.patch(&path).json(json!({"name": "Then"})).await.expect(200);
    receiver.wait_for(1).await;
    assert_eq!(receiver.requests()[0].json()["data"]["name"], "Then");
    assert_eq!(dead_letters(&gateway).await, 0);
}

/// Where not even that it failed can be written, nobody comes back to it.
#[tokio::test]
async fn an_event_that_cannot_be_marked_failed_is_no_longer_due() {
    let (gateway, faults) = planned().await;
    let (owner, path, _receiver) = watched(&gateway).await;
    faults.reject(|_, input| {
        let text = input.to_string();
        text.contains("#progress")
    });
    owner.patch(&path).json(json!({"name": "Never"})).await.expect(200);
    eventually(SOON, || async {
        gateway.items("EVT#").await.iter().all(|item| item["GSI3PK"].is_null()).then_some(())
    })
    .await;
    gateway.advance(Duration::from_mins(5));
    assert_eq!(gateway.sweep().await.failures, 0);
}

#[tokio::test]
async fn a_delivery_with_an_unwritable_outcome_is_exhausted() {
    let (gateway, faults) = planned().await;
    let (owner, path, receiver) = watched(&gateway).await;
    faults.reject(|_, input| {
        let text = input.to_string();
        text.contains("DLV#") && text.contains("\"succeeded\"")
    });
    owner.patch(&path).json(json!({"name": "Once"})).await.expect(200);
    let ended = eventually(SOON, || async {
        let path = "/v1/operations/webhook-deliveries?status=exhausted";
        owner.elsewhere().get(path).await.expect(200).data().first().cloned()
    })
    .await;
    assert_eq!(ended["last_error"], "internal_error", "{ended}");
    gateway.advance(Duration::from_mins(10));
    gateway.sweep().await;
    assert_eq!(receiver.requests().len(), 1, "it is not sent again");
    assert_eq!(dead_letters(&gateway).await, 0);
}

#[tokio::test]
async fn a_mail_with_an_unwritable_lease_fails() {
    let (gateway, faults) = planned().await;
    faults.reject(|_, input| {
        let text = input.to_string();
        text.contains("MAI#") && text.contains("\"sending\"")
    });
    Merchant::sign_up(&gateway).await;
    let mail = eventually(SOON, || async {
        gateway.items("MAI#").await.into_iter().find(|mail| mail["state"] == "failed")
    })
    .await;
    assert!(mail["GSI3PK"].is_null());
    assert_eq!(dead_letters(&gateway).await, 0);
}

/// Of each kind of due work, an item that nobody can read: the first sweep tells of it, and the next finds
/// nothing.
#[tokio::test]
async fn unreadable_due_items_lose_their_due_mark_once() {
    let market = Market::open().await;
    let gateway = &market.gateway;
    gateway.quiet().await;
    let store = market.store.id.replace("sto_", "");
    let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(32));
    let (order, payment) = (id("ord"), id("pay"));
    let places = [
        ("EVT", format!("EVT#{}", "0".repeat(30)), "A".to_owned()),
        ("DLV", format!("DLV#{}", id("dlv")), "A".to_owned()),
        ("RED", format!("STO#{}", id("sto")), "A".to_owned()),
        ("ORD", format!("STO#sto_{store}#ORD#{order}"), "A".to_owned()),
        ("PAY", format!("STO#sto_{store}#ORD#{order}"), format!("PAY#{payment}")),
        ("CAT", format!("STO#sto_{store}#CATDEL#{}", id("cat")), "A".to_owned()),
        ("THP", format!("STO#sto_{store}"), format!("THP#{}", id("thp"))),
        ("RUN", format!("IMP#{}", id("imp")), "A".to_owned()),
        ("MAI", format!("MAI#{}", id("mai")), "A".to_owned()),
    ];
    let table = gateway.system().embedded().dynamodb();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let long_ago = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    for (kind, pk, sk) in &places {
        let put = table.put_item().table_name(TABLE).item("PK", text(pk)).item("SK", text(sk));
        let put = put.item("entity", text("odd")).item("version", text("none"));
        let put = put.item("GSI3PK", text(&format!("DUE#{kind}#0")));
        put.item("GSI3SK", text(&format!("{long_ago}#odd"))).send().await.unwrap();
    }
    let is_due = async || {
        let all = gateway.items("").await.into_iter();
        let due = all.filter(|item| item["entity"] == "odd" && item["GSI3PK"].is_string());
        due.map(|item| item["PK"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(is_due().await.len(), places.len());
    assert!(gateway.sweep().await.failures >= 7);
    eventually(SOON, || async { is_due().await.is_empty().then_some(()) }).await;
    assert_eq!(gateway.sweep().await.failures, 0);
    assert_eq!(dead_letters(gateway).await, 0);
}
