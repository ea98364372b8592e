//! Reliability evidence: a chain without gap or fork, and where it was spoilt.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use sha2::{Digest, Sha256};
use support::clock::DAY;
use support::{Client, Evidence, Gateway, Merchant, Operator, Value, json};

pub(super) const EVIDENCE: &str = "/v1/operations/reliability-evidence";

fn drill(subject: &str) -> Evidence {
    Evidence {
        kind: "drill",
        subject: subject.to_owned(),
        outcome: "passed",
        store: None,
        summary: json!({"kind": "receiver_down", "lost_events": 0, "recovery_ms": 1_200}),
    }
}

async fn recorded(gateway: &Gateway, count: usize) {
    for number in 0..count {
        gateway.record_evidence(drill(&format!("drl_{number}"))).await;
    }
}

/// Every record that this caller sees, the newest first.
async fn all(client: &Client) -> Vec<Value> {
    // Months end at a page's end, and within one.
    let (mut found, mut path) = (Vec::new(), format!("{EVIDENCE}?limit=6"));
    loop {
        let page = client.get(&path).await.expect(200);
        found.extend(page.data().iter().cloned());
        let Some(cursor) = page.at("/page/next_cursor").as_str().map(str::to_owned) else {
            return found;
        };
        path = format!("{EVIDENCE}?limit=6&cursor={cursor}");
    }
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[tokio::test]
async fn a_hundred_parallel_appends_form_a_chain_without_gap_or_fork() {
    let gateway = Gateway::start().await;
    let names: Vec<String> = (0..100).map(|number| format!("drl_{number}")).collect();
    let racing = names.iter().map(|name| gateway.record_evidence(drill(name)));
    let ids: BTreeSet<String> = join_all(racing).await.into_iter().collect();
    assert_eq!(ids.len(), 100);
    // The same again, at once: nothing more.
    let racing = names.iter().take(20).map(|name| gateway.record_evidence(drill(name)));
    assert!(join_all(racing).await.into_iter().all(|id| ids.contains(&id)));
    let operator = Operator::sign_up(&gateway).await;
    let mut chain = all(&operator).await;
    chain.reverse();
    assert_eq!(chain.len(), 100);
    // As anybody would who knows how it is hashed.
    let mut previous = "0".repeat(64);
    for (number, record) in (1..).zip(&chain) {
        let text = record["record"].as_str().unwrap();
        assert_eq!(record["number"], number);
        assert_eq!(record["previous_hash"], previous.as_str());
        previous = sha256(&format!("{previous}{text}"));
        assert_eq!(record["hash"], previous.as_str());
        let stated: Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            (&stated["id"], &stated["summary"], &stated["subject"]),
            (&record["id"], &record["summary"], &record["subject"])
        );
    }
    let check = operator.get(&format!("{EVIDENCE}/verify")).await.expect(200);
    assert_eq!(
        (check.at("/chain_ok"), check.int("/count"), check.int("/checked")),
        (&json!(true), 100, 100)
    );
    assert_eq!(check.str("/head_hash"), previous);
    assert!(check.at("/first_broken").is_null() && check.at("/next_cursor").is_null());
}

#[tokio::test]
async fn a_long_chain_is_verified_in_parts_while_it_grows() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let check = operator.get(&format!("{EVIDENCE}/verify")).await.expect(200);
    assert_eq!((check.at("/chain_ok"), check.int("/count")), (&json!(true), 0));
    assert!(check.at("/head_hash").is_null());
    for month in 0..3 {
        for number in 0..4 {
            let name = format!("drl_{month}_{number}");
            gateway.record_evidence(drill(&name)).await;
        }
        gateway.advance(DAY * 65);
    }
    let operator = Operator::sign_up(&gateway).await;
    let (mut path, mut walked, mut parts) = (format!("{EVIDENCE}/verify?limit=5"), 0, 0);
    loop {
        let check = operator.get(&path).await.expect(200);
        assert_eq!(check.at("/chain_ok"), &json!(true), "{}", check.text);
        walked += check.int("/checked");
        parts += 1;
        let Some(cursor) = check.at("/next_cursor").as_str().map(str::to_owned) else {
            assert_eq!(check.int("/count"), 14);
            break;
        };
        if parts < 3 {
            let name = format!("drl_more_{parts}");
            gateway.record_evidence(drill(&name)).await;
        }
        path = format!("{EVIDENCE}/verify?limit=5&cursor={cursor}");
    }
    assert_eq!((walked, parts), (14, 3));
    let since = gateway.now().minus(DAY * 100);
    let late = operator.get(&format!("{EVIDENCE}?since={since}")).await.expect(200);
    assert_eq!(late.data().len(), 6);
    assert!(late.data().iter().all(|it| it["created_at"].as_str() >= Some(&*since.to_string())));
    let every = all(&operator).await;
    let numbers: Vec<i64> = every.iter().map(|it| it["number"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=14).rev().collect::<Vec<_>>());
    let none = operator.get(&format!("{EVIDENCE}?kind=load_test")).await.expect(200);
    assert!(none.data().is_empty());
    let odd = operator.get(&format!("{EVIDENCE}/verify?cursor=odd")).await.expect(400);
    odd.problem("invalid_cursor");
    operator.get(&format!("{EVIDENCE}/verify?limit=0")).await.expect(422);
    operator.get(&format!("{EVIDENCE}?kind=odd")).await.expect(422);
}

/// A copy of an item in which an attribute is another.
fn with(item: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut changed = item.clone();
    changed[name] = value.into();
    changed
}

/// Where the chain is broken first.
async fn first_broken(gateway: &Gateway, operator: &Client) -> Value {
    // Each walk has its price.
    gateway.advance(Duration::from_secs(1));
    let check = operator.get(&format!("{EVIDENCE}/verify")).await.expect(200);
    assert_eq!(*check.at("/chain_ok"), json!(check.at("/first_broken").is_null()));
    check.at("/first_broken").clone()
}

#[tokio::test]
async fn a_tampered_evidence_record_is_located() {
    let gateway = Gateway::start().await;
    recorded(&gateway, 12).await;
    let operator = Operator::sign_up(&gateway).await;
    assert!(first_broken(&gateway, &operator).await.is_null());
    let mut items = gateway.items_of("evidence", "").await;
    items.sort_by_key(|item| item["SK"].as_str().unwrap().to_owned());
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    let id = |item: &Value| {
        let record: Value = serde_json::from_str(&text(item, "record")).unwrap();
        record["id"].clone()
    };
    for index in [0, 5, 11] {
        let (item, number) = (&items[index], index + 1);
        // One byte of what was measured, one of a hash; and no text at all.
        let record = text(item, "record").replace("\"recovery_ms\":1200", "\"recovery_ms\":1201");
        gateway.put_item(&with(item, "record", record)).await;
        let expected = json!({"number": number, "id": id(item), "fault": "changed"});
        assert_eq!(first_broken(&gateway, &operator).await, expected);
        for name in ["hash", "previous_hash"] {
            let hash = text(item, name);
            let last = if hash.ends_with('0') { "1" } else { "0" };
            let hash = format!("{}{last}", &hash[..63]);
            gateway.put_item(&with(item, name, hash)).await;
            assert_eq!(first_broken(&gateway, &operator).await, expected, "{name}");
        }
        gateway.put_item(&with(item, "record", 7)).await;
        let nameless = json!({"number": number, "id": null, "fault": "changed"});
        assert_eq!(first_broken(&gateway, &operator).await, nameless);
        assert_eq!(all(&operator).await.len(), 11, "what cannot be read is not shown");
        gateway.delete_item(item).await;
        let missing = json!({"number": number, "id": null, "fault": "missing"});
        assert_eq!(first_broken(&gateway, &operator).await, missing);
        gateway.put_item(item).await;
        assert!(first_broken(&gateway, &operator).await.is_null());
        // A copy beside it.
        let copy = with(item, "SK", format!("{}a", text(item, "SK")));
        gateway.put_item(&copy).await;
        let unexpected = json!({"number": number + 1, "id": id(item), "fault": "unexpected"});
        assert_eq!(first_broken(&gateway, &operator).await, unexpected);
        gateway.delete_item(&copy).await;
    }
    // One that nobody appended, though it is hashed as it should be.
    let last = &items[11];
    let previous = text(last, "hash");
    let record = text(last, "record").replace("\"number\":12", "\"number\":13");
    let hash = sha256(&format!("{previous}{record}"));
    let more = with(last, "SK", "000000000013");
    let more = with(&with(&more, "previous_hash", previous), "hash", hash);
    let more = with(&more, "record", record);
    gateway.put_item(&more).await;
    let unexpected = json!({"number": 13, "id": id(last), "fault": "unexpected"});
    assert_eq!(first_broken(&gateway, &operator).await, unexpected);
    gateway.delete_item(&more).await;
    assert!(first_broken(&gateway, &operator).await.is_null());
}

#[tokio::test]
async fn a_store_reads_only_its_own_and_the_platforms_evidence() {
    let gateway = Gateway::start().await;
    let (one, two) = (Merchant::sign_up(&gateway).await, Merchant::sign_up(&gateway).await);
    let (mine, theirs) = (one.open_store().await, two.open_store().await);
    let of = |store: &str, name: &str| Evidence {
        kind: "replay",
        store: Some(store.to_owned()),
        ..drill(name)
    };
    let shared = gateway.record_evidence(drill("drl_shared")).await;
    let own = gateway.record_evidence(of(&mine.id, "rpl_1")).await;
    let foreign = gateway.record_evidence(of(&theirs.id, "rpl_2")).await;
    let seen = |list: Vec<Value>| -> BTreeSet<String> {
        list.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let names =
        |ids: &[&String]| -> BTreeSet<String> { ids.iter().map(ToString::to_string).collect() };
    let owner = one.at(&mine);
    assert_eq!(seen(all(&owner).await), names(&[&shared, &own]));
    assert_eq!(seen(all(&one).await), names(&[&shared, &own]), "the only store need not be named");
    let operator = Operator::sign_up(&gateway).await;
    assert_eq!(seen(all(&operator).await), names(&[&shared, &own, &foreign]));
    assert_eq!(seen(all(&operator.at(&mine)).await), names(&[&shared, &own, &foreign]));
    for (id, status) in [(&shared, 200), (&own, 200), (&foreign, 404)] {
        owner.get(&format!("{EVIDENCE}/{id}")).await.expect(status);
        let shown = operator.get(&format!("{EVIDENCE}/{id}")).await.expect(200);
        assert_eq!((shown.str("/id"), shown.int("/version")), (id.clone(), 1));
    }
    let check = owner.get(&format!("{EVIDENCE}/verify")).await.expect(200);
    assert_eq!((check.at("/chain_ok"), check.int("/count")), (&json!(true), 3));
    for path in [EVIDENCE.to_owned(), format!("{EVIDENCE}/verify")] {
        one.at(&theirs).get(&path).await.expect(404).problem("store_not_found");
        gateway.get(&path).await.expect(401);
    }
    let stranger = Merchant::sign_up(&gateway).await;
    stranger.get(EVIDENCE).await.expect(400).problem("store_required");
}
