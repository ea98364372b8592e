//! Gift cards: issuing, spending, and what nobody is told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use support::{Client, Gateway, Market, Merchant, Reply, Store, Value, json, race, unique};

const CARDS: &str = "/v1/products/gift-cards";

static KEY: AtomicU32 = AtomicU32::new(0);

fn key() -> String {
    format!("g{}", KEY.fetch_add(1, Ordering::Relaxed))
}

fn inr(amount: i64) -> Value {
    json!({"amount": amount, "currency": "INR"})
}

async fn store(gateway: &Gateway) -> (Client, Store) {
    let merchant = Merchant::sign_up(gateway).await;
    merchant.prove(gateway).await;
    let store = merchant.open_store().await;
    (merchant.at(&store), store)
}

async fn issue(owner: &Client, fields: Value) -> Reply {
    owner.post(CARDS).json(fields).key(&key()).await
}

/// Adds to a card or takes from it.
async fn change(owner: &Client, card: &str, how: &str, amount: i64) -> Reply {
    let input = json!({"amount": inr(amount), "reason": "counter"});
    owner.post(&format!("{CARDS}/{card}/{how}")).json(input).key(&key()).await
}

#[tokio::test]
async fn a_gift_card_code_is_returned_only_on_issue() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let input = json!({"initial_value": inr(50_000), "note": "Birthday"});
    let card = owner.post(CARDS).json(input.clone()).key("a").await.expect(201);
    let code = card.str("/code");
    assert_eq!(code.len(), 16);
    assert_eq!(card.header("cache-control"), Some("no-store"));
    assert_eq!(*card.at("/balance"), inr(50_000));
    assert!(code.ends_with(&card.str("/last_characters")));
    let again = owner.post(CARDS).json(input.clone()).key("a").await.expect(201);
    assert_eq!(again.text, card.text, "the same key repeats the answer, code and all");
    let path = format!("{CARDS}/{}", card.str("/id"));
    let shown = owner.get(&path).await.expect(200);
    let listed = owner.get(CARDS).await.expect(200);
    assert_eq!(listed.data().len(), 1);
    let stored = Value::from(gateway.items("").await).to_string();
    for text in [&shown.text, &listed.text, &stored] {
        assert!(!text.contains(&code), "the code is in {text}");
    }
    assert_eq!(gateway.events("gift_card.created").await.len(), 1);
    owner.post(CARDS).json(input).await.expect(400).problem("idempotency_key_required");
}

#[tokio::test]
async fn all_field_errors_of_a_gift_card_are_reported_at_once() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let far = gateway.now().plus(Duration::from_hours(24 * 400));
    let bad = issue(
        &owner,
        json!({
            "initial_value": {"amount": 5, "currency": "USD"},
            "expires_on": "2020-01-01",
            "recipient": {"email": "a@example.com", "send_at": far},
        }),
    );
    let bad = bad.await.expect(422);
    let codes: Vec<_> =
        bad.at("/errors").as_array().unwrap().iter().map(|e| e["code"].clone()).collect();
    assert_eq!(codes, ["currency_mismatch", "in_past", "too_late"]);
    issue(&owner, json!({"initial_value": inr(0)})).await.expect(422);
    let nobody = format!("cus_{}", "0".repeat(32));
    let given = issue(&owner, json!({"initial_value": inr(1), "customer_id": nobody})).await;
    assert_eq!(given.expect(422).str("/errors/0/code"), "unknown_customer");
    assert!(owner.get(CARDS).await.expect(200).data().is_empty());
}

#[tokio::test]
async fn gift_card_codes_are_unique_per_store() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let chosen = |code: &str| json!({"initial_value": inr(100), "code": code});
    issue(&owner, chosen("HOLIDAY-2026")).await.expect(201);
    issue(&owner, chosen("holiday 2O26")).await.expect(409).problem("code_taken");
    issue(&owner, chosen("short")).await.expect(422);
    let (other, _) = store(&gateway).await;
    issue(&other, chosen("HOLIDAY2026")).await.expect(201);
}

#[tokio::test]
async fn gift_card_credits_and_debits_write_transactions() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let card = issue(&owner, json!({"initial_value": inr(1_000)})).await.expect(201).str("/id");
    let debited = change(&owner, &card, "debit", 400).await.expect(200);
    assert_eq!(*debited.at("/balance"), inr(600));
    assert_eq!(debited.str("/transaction/kind"), "debited");
    let short = change(&owner, &card, "debit", 601).await.expect(409);
    assert_eq!(*short.at("/balance"), inr(600));
    short.problem("insufficient_balance");
    assert_eq!(*change(&owner, &card, "credit", 50).await.expect(200).at("/balance"), inr(650));
    change(&owner, &card, "credit", 0).await.expect(422);
    let entries = owner.get(&format!("{CARDS}/{card}/transactions")).await.expect(200);
    let kinds: Vec<_> = entries.data().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["credited", "debited", "issued"]);
    for name in ["gift_card.credited", "gift_card.debited"] {
        assert_eq!(gateway.events(name).await.len(), 1, "{name}");
    }
    let keyless = json!({"amount": inr(1), "reason": "r"});
    let keyless = owner.post(&format!("{CARDS}/{card}/debit")).json(keyless).await;
    keyless.expect(400).problem("idempotency_key_required");
}

#[tokio::test]
async fn disabled_and_expired_gift_cards_reject_balance_changes() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    let card = issue(&owner, json!({"initial_value": inr(100)})).await.expect(201).str("/id");
    let path = format!("{CARDS}/{card}");
    owner.post(&format!("{path}/disable")).json(json!({})).await.expect(200);
    for how in ["credit", "debit"] {
        change(&owner, &card, how, 1).await.expect(409).problem("gift_card_disabled");
    }
    let again = owner.post(&format!("{path}/disable")).json(json!({})).await;
    again.expect(409).problem("gift_card_disabled");
    let today: String = gateway.now().to_string().chars().take(10).collect();
    let input = json!({"initial_value": inr(100), "expires_on": today});
    let card = issue(&owner, input).await.expect(201).str("/id");
    change(&owner, &card, "debit", 1).await.expect(200);
    gateway.advance(Duration::from_hours(24));
    let owner = merchant.sign_in_again().await.at(&store);
    change(&owner, &card, "debit", 1).await.expect(409).problem("gift_card_expired");
    let expired = owner.get(&format!("{CARDS}?status=expired")).await.expect(200);
    assert_eq!((expired.data().len(), expired.str("/data/0/id")), (1, card.clone()));
    let later = json!({"expires_on": "2099-12-31"});
    owner.patch(&format!("{CARDS}/{card}")).json(later).await.expect(200);
    change(&owner, &card, "debit", 1).await.expect(200);
}

#[tokio::test]
async fn gift_cards_are_updated_and_filtered() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let coded = json!({"initial_value": inr(1), "code": "AAAABBBBCCCC"});
    let card = issue(&owner, coded).await.expect(201).str("/id");
    let other = json!({"initial_value": inr(1), "code": "AAAABBBBDDDD"});
    issue(&owner, other).await.expect(201);
    let path = format!("{CARDS}/{card}");
    let patch = json!({"expires_on": "2099-12-31", "note": "kept"});
    let changed = owner.patch(&path).json(patch).if_match("\"1\"").await.expect(200);
    assert_eq!((changed.str("/expires_on").as_str(), changed.int("/version")), ("2099-12-31", 2));
    owner.patch(&path).json(json!({"note": null})).if_match("\"1\"").await.expect(412);
    let cleared = owner.patch(&path).json(json!({"expires_on": null})).await.expect(200);
    assert!(cleared.at("/expires_on").is_null());
    let found = owner.get(&format!("{CARDS}?last_characters=cccc")).await.expect(200);
    assert_eq!((found.data().len(), found.str("/data/0/id")), (1, card.clone()));
    owner.post(&format!("{path}/disable")).json(json!({})).await.expect(200);
    let disabled = owner.get(&format!("{CARDS}?status=disabled")).await.expect(200);
    assert_eq!((disabled.data().len(), disabled.str("/data/0/id")), (1, card));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_debits_never_overdraw_a_gift_card() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let card = issue(&owner, json!({"initial_value": inr(1_000)})).await.expect(201).str("/id");
    let answers = race(20, || change(&owner, &card, "debit", 100)).await;
    let taken = answers.iter().filter(|answer| answer.status == 200).count();
    let short = answers.iter().filter(|a| a.json["code"] == "insufficient_balance").count();
    assert_eq!((taken, short), (10, 10));
    let shown = owner.get(&format!("{CARDS}/{card}")).await.expect(200);
    assert_eq!(*shown.at("/balance"), inr(0));
    let entries = owner.get(&format!("{CARDS}/{card}/transactions")).await.expect(200);
    assert_eq!(entries.data().len(), 11);
}

#[tokio::test]
async fn a_gift_card_is_mailed_to_its_recipient_at_send_at() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let (now, later) = (unique("now"), unique("later"));
    let to = |name: &str, send_at: Value| {
        json!({
            "initial_value": inr(129_900),
            "recipient": {
                "email": format!("{name}@example.com"), "message": "Für dich!", "send_at": send_at,
            },
        })
    };
    let first = issue(&owner, to(&now, Value::Null)).await.expect(201);
    let mail = gateway.mailbox(&format!("{now}@example.com"));
    assert_eq!(mail.code().await, first.str("/code"));
    let at = gateway.now().plus(Duration::from_hours(2));
    let second = issue(&owner, to(&later, json!(at))).await.expect(201);
    gateway.sweep().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mail = gateway.mailbox(&format!("{later}@example.com"));
    assert!(mail.mails().is_empty(), "it waits for its time");
    gateway.advance(Duration::from_hours(2));
    gateway.sweep().await;
    assert_eq!(mail.code().await, second.str("/code"));
}

#[tokio::test]
async fn every_line_of_a_gift_card_message_is_indented_in_the_mail() {
    let market = Market::proven().await;
    let to = format!("{}@example.com", unique("friend"));
    let message = "Enjoy!\u{2028}Reply with your code\u{2029}to us\nBye";
    let input = json!({"initial_value": inr(500), "recipient": {"email": to, "message": message}});
    market.owner.post(CARDS).key(&unique("card")).json(input).await.expect(201);
    let mail = market.gateway.mailbox(&to).nth(1).await;
    for line in ["Enjoy!", "Reply with your code", "to us", "Bye"] {
        assert!(mail.text.lines().any(|it| it == format!("    {line}")), "{line}: {}", mail.text);
    }
    assert!(!mail.text.contains(['\u{2028}', '\u{2029}']), "{:?}", mail.text);
}

#[tokio::test]
async fn gift_card_balance_lookups_are_limited_to_five_per_minute() {
    let gateway = Gateway::start().await;
    let (owner, store) = store(&gateway).await;
    owner
        .post(&format!("/v1/stores/{}/activate", store.id))
        .json(support::open_as_is())
        .await
        .expect(200);
    let input = json!({"initial_value": inr(700), "expires_on": "2099-12-31"});
    let card = issue(&owner, input).await.expect(201);
    let path = format!("/v1/storefront/{}/gift-cards/balance", store.subdomain);
    gateway.app().clock.stop();
    let shopper = gateway.client();
    let spaced = card.str("/code").to_lowercase();
    let spaced = format!("{}-{}", &spaced[..8], &spaced[8..]);
    let balance = shopper.post(&path).json(json!({"code": spaced})).await.expect(200);
    let expected = json!({
        "balance": inr(700), "last_characters": card.at("/last_characters"),
        "expires_on": "2099-12-31", "status": "active",
    });
    assert_eq!(balance.json, expected);
    let wrong = json!({"code": "AAAABBBBCCCCDDDD"});
    let guesses = race(30, || {
        let input = shopper.post(&path).json(wrong.clone());
        async move { input.await }
    })
    .await;
    let missed = guesses.iter().filter(|guess| guess.json["code"] == "not_found").count();
    assert_eq!(missed, 4, "one of five was used up before");
    let right = json!({"code": card.str("/code")});
    let rejected = shopper.post(&path).json(right.clone()).await;
    assert!(matches!(rejected.status, 429), "{}", rejected.text);
    assert!(rejected.header("retry-after").is_some());
    gateway.client().post(&path).json(right.clone()).await.expect(200);
    gateway.advance(Duration::from_mins(1));
    shopper.post(&path).json(right).await.expect(200);
}

#[tokio::test]
async fn disabled_and_expired_gift_cards_are_not_mailed() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let now = gateway.app().clock.now();
    let after = |hours| now.plus(Duration::from_hours(hours)).to_string();
    let tomorrow = after(24)[..10].to_owned();
    let late = json!({
        "initial_value": inr(500), "expires_on": tomorrow,
        "recipient": {"email": "late@example.com", "send_at": after(72)},
    });
    let rejected = issue(&owner, late).await.expect(422);
    assert_eq!(rejected.str("/errors/0/pointer"), "/recipient/send_at");
    assert_eq!(rejected.str("/errors/0/code"), "after_expiry");
    let send = async |name: &str| {
        let input = json!({
            "initial_value": inr(500),
            "recipient": {"email": format!("{name}@example.com"), "send_at": after(72)},
        });
        issue(&owner, input).await.expect(201)
    };
    let names = [unique("disabled"), unique("expired"), unique("good")];
    let disabled = send(&names[0]).await.str("/id");
    owner.post(&format!("{CARDS}/{disabled}/disable")).json(json!({})).await.expect(200);
    let expired = send(&names[1]).await.str("/id");
    let input = json!({"expires_on": tomorrow});
    owner.patch(&format!("{CARDS}/{expired}")).json(input).await.expect(200);
    let good = send(&names[2]).await.str("/code");
    gateway.advance(Duration::from_hours(73));
    gateway.sweep().await;
    let mailbox = |name: &String| gateway.mailbox(&format!("{name}@example.com"));
    assert_eq!(mailbox(&names[2]).code().await, good);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(names[..2].iter().all(|name| mailbox(name).mails().is_empty()));
    assert!(gateway.items_of("mail", "MAI#").await.is_empty(), "done with");
}

#[tokio::test]
async fn checkout_limits_guesses_of_gift_card_codes() {
    let gateway = Gateway::start().await;
    let (owner, store) = store(&gateway).await;
    owner
        .post(&format!("/v1/stores/{}/activate", store.id))
        .json(support::open_as_is())
        .await
        .expect(200);
    let input = json!({"title": "Pin", "status": "active", "variants": [{"price": inr(100)}]});
    let product = owner.post("/v1/products").json(input).await.expect(201);
    let variant = product.str("/variants/0/id");
    let code = issue(&owner, json!({"initial_value": inr(1_000)})).await.expect(201).str("/code");
    let path = format!("/v1/storefront/{}/orders", store.subdomain);
    gateway.app().clock.stop();
    let shopper = gateway.client();
    let dry_run = |codes: Value| {
        let input = json!({
            "email": "shopper@example.com", "gift_card_codes": codes, "dry_run": true,
            "items": [{"variant_id": variant, "quantity": 1}],
        });
        let input = shopper.post(&path).json(input).key(&key());
        async move { input.await }
    };
    for _ in 0..3 {
        dry_run(json!([code])).await.expect(200);
    }
    for _ in 0..5 {
        let wrong = dry_run(json!(["AAAABBBBCCCCDDDD"])).await.expect(422);
        assert_eq!(wrong.str("/errors/0/code"), "unknown_gift_card");
    }
    for codes in [json!(["AAAABBBBCCCCDDDD"]), json!([code])] {
        let rejected = dry_run(codes).await.expect(429);
        assert!(rejected.header("retry-after").is_some());
        rejected.problem("too_many_attempts");
    }
    dry_run(json!([])).await.expect(200);
    let balance = format!("/v1/storefront/{}/gift-cards/balance", store.subdomain);
    shopper.post(&balance).json(json!({"code": code})).await.expect(429);
    gateway.advance(Duration::from_mins(1));
    let three = json!(["AAAABBBBCCCCDDDD", "AAAABBBBCCCCDDDE", "AAAABBBBCCCCDDDF"]);
    dry_run(three.clone()).await.expect(422);
    dry_run(three).await.expect(429).problem("too_many_attempts");
}

#[tokio::test]
async fn gift_card_balance_changes_respect_if_match() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let card = issue(&owner, json!({"initial_value": inr(1_000)})).await.expect(201);
    let (id, seen) = (card.str("/id"), card.etag());
    for (how, status) in [("credit", 200), ("credit", 412), ("debit", 412)] {
        let path = format!("{CARDS}/{id}/{how}");
        let input = json!({"amount": inr(100), "reason": "test"});
        owner.post(&path).json(input).key(&key()).if_match(&seen).await.expect(status);
    }
    let shown = owner.get(&format!("{CARDS}/{id}")).await.expect(200);
    assert_eq!(shown.int("/balance/amount"), 1_100);
}

#[tokio::test]
async fn another_stores_gift_card_is_not_found() {
    let gateway = Gateway::start().await;
    let (owner, _) = store(&gateway).await;
    let card = issue(&owner, json!({"initial_value": inr(100)})).await.expect(201).str("/id");
    let (intruder, _) = store(&gateway).await;
    let unknown = format!("gft_{}", "0".repeat(32));
    for card in [&card, &unknown] {
        intruder.get(&format!("{CARDS}/{card}")).await.expect(404).problem("not_found");
        change(&intruder, card, "debit", 1).await.expect(404).problem("not_found");
        let path = format!("{CARDS}/{card}/disable");
        intruder.post(&path).json(json!({})).await.expect(404).problem("not_found");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_orders_never_overspend_a_gift_card() {
    let gateway = Gateway::start().await;
    let (owner, store) = store(&gateway).await;
    owner
        .post(&format!("/v1/stores/{}/activate", store.id))
        .json(support::open_as_is())
        .await
        .expect(200);
    let input = json!({
        "title": "Pin", "status": "active", "variants": [{"price": inr(100)}],
    });
    let product = owner.post("/v1/products").json(input).await.expect(201);
    let variant = product.str("/variants/0/id");
    let card = issue(&owner, json!({"initial_value": inr(1_000)})).await.expect(201);
    let (id, code) = (card.str("/id"), card.str("/code"));
    let path = format!("/v1/storefront/{}/orders", store.subdomain);
    let orders = race(20, || {
        let input = json!({
            "email": "shopper@example.com", "gift_card_codes": [code],
            "items": [{"variant_id": variant, "quantity": 1}],
            "shipping_address": {"line1": "1 MG Road", "city": "Pune", "region": "MH",
                "postal_code": "411001", "country": "IN"},
            "expected_total": inr(100),
        });
        let input = gateway.client().post(&path).json(input).key(&key());
        async move { input.await }
    })
    .await;
    let answers: Vec<_> = orders.iter().map(|order| (order.status, &order.text)).collect();
    assert!(orders.iter().all(|order| order.status < 500), "{answers:?}");
    let balance = async || {
        let shown = owner.get(&format!("{CARDS}/{id}")).await.expect(200);
        shown.int("/balance/amount")
    };
    let entries = async || {
        let path = format!("{CARDS}/{id}/transactions?limit=100");
        owner.get(&path).await.expect(200).data().clone()
    };
    let redeemed = entries().await.iter().filter(|entry| entry["kind"] == "redeemed").count();
    assert_eq!((balance().await, redeemed), (0, 10));
    let paid = orders
        .iter()
        .find(|order| order.status == 201 && order.json["order"]["financial_status"] == "paid");
    let order = paid.expect("an order is paid by the card").str("/order/id");
    let cancel = owner.post(&format!("/v1/orders/{order}/cancel")).json(json!({})).key(&key());
    cancel.await.expect(200);
    assert_eq!((balance().await, entries().await[0]["kind"].clone()), (100, json!("returned")));
}
