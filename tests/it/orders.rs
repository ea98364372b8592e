//! Orders: made, listed, changed, fulfilled, held, confirmed, closed. Refunds are in `refunds`.

mod address_changes;
mod allocations;
mod drafts;
mod filters;
mod lines;
mod links;
mod mails;
mod payment_windows;
mod pickups;
mod placing;
mod properties;
mod refunds;
mod unsold_units;
mod unusable_gift_cards;

use support::{Market, Merchant, Placed, Reply, Value, cart, inr, json, race, unique};

fn counts(reply: &Reply, pointer: &str) -> usize {
    reply.at(pointer).as_array().unwrap().len()
}

/// The names of a list's objects, at a field.
fn names(reply: &Reply, field: &str) -> Vec<String> {
    reply.data().iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_merchant_creates_draft_and_paid_orders() {
    let market = Market::open().await;
    let book = market.stock(100, 10).await;
    let make = |fields: Value| {
        let mut input = json!({"items": [{"variant_id": book, "quantity": 1}]});
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        market.owner.post("/v1/orders").key(&unique("made")).json(input)
    };
    let open = make(json!({"source": "phone", "tags": ["vip"]})).await.expect(201);
    assert_eq!((open.str("/status"), open.str("/source")), ("open".into(), "phone".into()));
    assert_eq!(*open.at("/expires_at"), json!(null), "a merchant's order waits");
    let draft = make(json!({"draft": true})).await.expect(201);
    assert_eq!(draft.str("/status"), "draft");
    assert_eq!(market.levels(&book).await, [8, 2, 0, 10]);
    let paid = make(json!({"mark_paid": {"method": "cash"}})).await.expect(201);
    assert_eq!(paid.str("/financial_status"), "paid");
    assert_eq!(counts(&paid, "/payments"), 1);
    assert_eq!(*paid.at("/version"), json!(1));
    assert_eq!(market.levels(&book).await, [7, 2, 1, 10]);
    let done = market.act(&draft.str("/id"), "mark-paid", json!({})).await.expect(200);
    assert_eq!(
        (done.str("/status"), done.str("/financial_status")),
        ("open".into(), "paid".into())
    );
    assert_eq!(market.levels(&book).await, [7, 1, 2, 10]);
    make(json!({"draft": true, "mark_paid": {}})).await.expect(422);
    make(json!({"customer_id": format!("cus_{}", "0".repeat(32))})).await.expect(422);
    let said = make(json!({"dry_run": true})).await.expect(200);
    assert_eq!(said.int("/totals/total/amount"), 100);
    let input = json!({"items": [{"variant_id": book, "quantity": 1}]});
    let keyless = market.owner.post("/v1/orders").json(input).await.expect(400);
    keyless.problem("idempotency_key_required");
    assert_eq!(market.gateway.events("order.created").await.len(), 3);
    assert_eq!(market.gateway.events("order.paid").await.len(), 2);
    assert_eq!(market.gateway.events("payment.captured").await.len(), 2);
    market.audit(&book).await;
}

#[tokio::test]
async fn orders_are_filtered_and_listed_newest_first() {
    let market = Market::open().await;
    let book = market.stock(100, 10).await;
    let first = market.order(cart(&[(&book, 1)])).await;
    let second = market.paid(&book, 1).await;
    let third = market.paid(&book, 1).await;
    market.act(&third.id, "fulfill", json!({})).await.expect(201);
    let list = |query: &str| {
        let path = format!("/v1/orders?{query}");
        let input = market.owner.get(&path);
        async move { names(&input.await.expect(200), "id") }
    };
    let ids = [&first.id, &second.id, &third.id].map(String::clone);
    assert_eq!(list("").await, [ids[2].clone(), ids[1].clone(), ids[0].clone()]);
    assert_eq!(list("financial_status=pending").await, [ids[0].clone()]);
    assert_eq!(list("fulfillment_status=fulfilled").await, [ids[2].clone()]);
    let number = market.show(&second.id).await.str("/number").replace('#', "");
    assert_eq!(list(&format!("number={number}")).await, [ids[1].clone()]);
    assert_eq!(list(&format!("number=%23{number}")).await, [ids[1].clone()]);
    assert_eq!(list("status=cancelled").await, Vec::<String>::new());
    let now = market.gateway.now();
    assert_eq!(list(&format!("updated_since={now}")).await, Vec::<String>::new());
    market.owner.get("/v1/orders?status=odd").await.expect(422);
    let page = market.owner.get("/v1/orders?limit=2").await.expect(200);
    let next = page.str("/page/next_cursor");
    let rest = market.owner.get(&format!("/v1/orders?limit=2&cursor={next}")).await.expect(200);
    assert_eq!(names(&rest, "id"), [ids[0].clone()]);
}

#[tokio::test]
async fn an_orders_address_is_editable_until_it_is_fulfilled() {
    let market = Market::open().await;
    let book = market.stock(100, 10).await;
    let placed = market.paid(&book, 1).await;
    let path = format!("/v1/orders/{}", placed.id);
    let before = market.show(&placed.id).await;
    let input = json!({"note": "ring twice", "tags": ["vip"], "email": "other@example.com"});
    let changed = market.owner.patch(&path).json(input.clone()).if_match(&before.etag()).await;
    let changed = changed.expect(200);
    assert_eq!(changed.str("/note"), "ring twice");
    let stale =
        market.owner.patch(&path).json(json!({"note": null})).if_match(&before.etag()).await;
    stale.expect(412).problem("precondition_failed");
    let same = market.owner.patch(&path).json(input).await.expect(200);
    assert_eq!(same.etag(), changed.etag(), "what changes nothing is no new version");
    let mut elsewhere = support::address();
    elsewhere["city"] = "Pune".into();
    let moved = json!({"shipping_address": elsewhere});
    market.owner.patch(&path).json(moved).await.expect(200);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let late = json!({"shipping_address": support::address()});
    let rejected = market.owner.patch(&path).json(late).await.expect(409);
    assert!(rejected.problem("invalid_state_transition").at("/allowed_actions").is_array());
    assert_eq!(market.gateway.events("order.updated").await.len(), 2);
}

#[tokio::test]
async fn an_order_is_fulfilled_in_parts_with_tracking() {
    let market = Market::proven().await;
    let (book, pen) = (market.stock(100, 10).await, market.stock(50, 10).await);
    let placed = market.order(cart(&[(&book, 3), (&pen, 1)])).await;
    let rejected = market.act(&placed.id, "fulfill", json!({})).await.expect(409);
    rejected.problem("order_not_fulfillable");
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let some =
        |quantity: i64| json!({"items": [{"order_item_id": placed.line(0), "quantity": quantity}]});
    let rejected = market.act(&placed.id, "fulfill", some(4)).await.expect(409);
    let rejected = rejected.problem("quantity_exceeds_remaining");
    assert_eq!(*rejected.at("/items/0/remaining"), json!(3));
    let mut input = some(2);
    input["notify_customer"] = json!(true);
    input["tracking"] =
        json!({"number": "AB1", "company": "Post", "url": "https://post.example/AB1"});
    let first = market.act(&placed.id, "fulfill", input).await.expect(201);
    assert_eq!(first.str("/order/fulfillment_status"), "partially_fulfilled");
    assert_eq!(first.str("/fulfillment/tracking/number"), "AB1");
    let mail = market.gateway.mailbox("shopper@example.com").nth(2).await;
    assert!(mail.text.contains("Number: AB1"), "{}", mail.text);
    assert_eq!(market.levels(&book).await, [7, 0, 1, 8]);
    let carried =
        json!({"tracking": {"company": "DHL", "number": "JD 01"}, "notify_customer": true});
    let rest = market.act(&placed.id, "fulfill", carried).await.expect(201);
    assert_eq!(rest.str("/order/fulfillment_status"), "fulfilled");
    assert_eq!(counts(&rest, "/fulfillment/items"), 2);
    let mail = market.gateway.mailbox("shopper@example.com").nth(3).await.text;
    assert!(
        mail.contains("https://www.dhl.com/") && mail.contains("tracking-id=JD%2001"),
        "{mail}"
    );
    let rejected = market.act(&placed.id, "fulfill", json!({})).await.expect(409);
    rejected.problem("nothing_to_fulfill");
    let path = format!("/v1/orders/{}/fulfillments", placed.id);
    let of = |reply: &Reply| format!("{path}/{}", reply.str("/fulfillment/id"));
    assert_eq!(market.owner.get(&path).await.expect(200).data().len(), 2);
    let change = json!({"tracking": {"number": "AB2", "url": null}});
    let followed = market.owner.patch(&of(&first)).json(change).await.expect(200);
    assert_eq!(*followed.at("/tracking"), json!({"number": "AB2", "company": "Post", "url": null}));
    let deliver = format!("{}/deliver", of(&first));
    let arrived = market.owner.post(&deliver).json(json!({})).await.expect(200);
    assert_eq!(arrived.str("/status"), "delivered");
    let cancel =
        |reply: &Reply| market.owner.post(&format!("{}/cancel", of(reply))).json(json!({}));
    cancel(&first).await.expect(409).problem("invalid_state_transition");
    let back = cancel(&rest).await.expect(200);
    assert_eq!(back.str("/status"), "cancelled");
    assert_eq!(market.levels(&book).await, [7, 0, 1, 8]);
    assert_eq!(market.levels(&pen).await, [9, 0, 1, 10]);
    let shown = market.show(&placed.id).await;
    assert_eq!(shown.str("/fulfillment_status"), "partially_fulfilled");
    assert_eq!(counts(&shown, "/fulfillments"), 2);
    let seen = market.look(&placed).await.expect(200);
    assert_eq!(*seen.at("/fulfillments/0/tracking/number"), json!("AB2"));
    market.audit(&book).await;
    market.audit(&pen).await;
    for (event, count) in [
        ("fulfillment.created", 2),
        ("fulfillment.updated", 1),
        ("fulfillment.delivered", 1),
        ("fulfillment.cancelled", 1),
        ("order.partially_fulfilled", 1),
        ("order.fulfilled", 1),
    ] {
        assert_eq!(market.gateway.events(event).await.len(), count, "{event}");
    }
}

#[tokio::test]
async fn an_order_moves_through_its_statuses() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.order(cart(&[(&book, 1)])).await;
    let confirmed = market.act(&placed.id, "confirm", json!({})).await.expect(200);
    assert_eq!(confirmed.str("/financial_status"), "pending");
    assert_eq!(*confirmed.at("/expires_at"), json!(null));
    assert_eq!(market.levels(&book).await, [9, 0, 1, 10]);
    market.act(&placed.id, "confirm", json!({})).await.expect(409);
    market.act(&placed.id, "hold", json!({})).await.expect(200);
    let rejected = market.act(&placed.id, "fulfill", json!({})).await.expect(409);
    assert_eq!(*rejected.problem("order_not_fulfillable").at("/on_hold"), json!(true));
    market.act(&placed.id, "hold", json!({})).await.expect(409);
    market.act(&placed.id, "release", json!({})).await.expect(200);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    // Cash on delivery: it left before it was paid.
    let paid = market.act(&placed.id, "mark-paid", json!({"method": "cash"})).await.expect(200);
    assert_eq!(paid.str("/financial_status"), "paid");
    market.act(&placed.id, "mark-paid", json!({})).await.expect(409).problem("order_already_paid");
    market.act(&placed.id, "close", json!({})).await.expect(200);
    let rejected = market.act(&placed.id, "close", json!({})).await.expect(409);
    assert_eq!(
        *rejected.problem("invalid_state_transition").at("/allowed_actions"),
        json!(["update", "refund", "return_lines", "reopen"])
    );
    market.act(&placed.id, "reopen", json!({})).await.expect(200);
    market.act(&placed.id, "capture", json!({})).await.expect(409).problem("not_capturable");
    let timeline = market.owner.get(&format!("/v1/orders/{}/events", placed.id)).await.expect(200);
    let mut types = names(&timeline, "type");
    types.retain(|name| name.starts_with("order."));
    assert_eq!(
        types,
        [
            "order.reopened",
            "order.closed",
            "order.paid",
            "order.fulfilled",
            "order.released",
            "order.held",
            "order.confirmed",
            "order.created",
        ]
    );
}

#[tokio::test]
async fn another_stores_order_is_answered_like_an_unknown_one() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.paid(&book, 1).await;
    let parcel = market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let parcel = parcel.str("/fulfillment/id");
    let stranger = Merchant::sign_up(&market.gateway).await;
    let stranger = stranger.at(&stranger.open_store().await);
    let before = market.gateway.count().await;
    let unknown = format!("ord_{}", "0".repeat(32));
    let body = |reply: Reply| {
        let mut json = reply.expect(404).problem("not_found").json;
        json.as_object_mut().unwrap().retain(|name, _| name != "request_id" && name != "instance");
        json
    };
    let of = |id: &str| {
        [
            ("GET", format!("/v1/orders/{id}")),
            ("PATCH", format!("/v1/orders/{id}")),
            ("POST", format!("/v1/orders/{id}/fulfill")),
            ("GET", format!("/v1/orders/{id}/fulfillments")),
            ("POST", format!("/v1/orders/{id}/fulfillments/{parcel}/cancel")),
            ("POST", format!("/v1/orders/{id}/fulfillments/{parcel}/deliver")),
            ("POST", format!("/v1/orders/{id}/refund")),
            ("POST", format!("/v1/orders/{id}/refund/calculate")),
            ("GET", format!("/v1/orders/{id}/refunds")),
            ("POST", format!("/v1/orders/{id}/cancel")),
            ("POST", format!("/v1/orders/{id}/lines/cancel")),
            ("POST", format!("/v1/orders/{id}/close")),
            ("POST", format!("/v1/orders/{id}/reopen")),
            ("POST", format!("/v1/orders/{id}/capture")),
            ("POST", format!("/v1/orders/{id}/mark-paid")),
            ("POST", format!("/v1/orders/{id}/confirm")),
            ("POST", format!("/v1/orders/{id}/hold")),
            ("POST", format!("/v1/orders/{id}/release")),
            ("GET", format!("/v1/orders/{id}/events")),
        ]
    };
    for ((method, foreign), (_, none)) in of(&placed.id).into_iter().zip(of(&unknown)) {
        let request = |path: &str| {
            let input = match method {
                "GET" => return stranger.get(path),
                "PATCH" => stranger.patch(path),
                _ => stranger.post(path),
            };
            input.key(&unique("stranger")).json(json!({}))
        };
        assert_eq!(body(request(&foreign).await), body(request(&none).await), "{method} {foreign}");
    }
    assert_eq!(market.gateway.count().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_parallel_fulfilments_create_one() {
    let (market, app) = Market::with_app(&["write_fulfillments"]).await;
    let book = market.stock(1_000, 10).await;
    let placed = market.paid(&book, 3).await;
    // A budget holds 100 writes: half the requests are the owner's, half an app's, all at once.
    market.gateway.advance(std::time::Duration::from_secs(20));
    let turn = std::cell::Cell::new(0);
    let answers = race(200, || {
        let who = if turn.replace(turn.get() + 1) % 2 == 0 { &market.owner } else { &app };
        let path = format!("/v1/orders/{}/fulfill", placed.id);
        let input = who.post(&path).key(&unique("fulfill")).json(json!({}));
        async move { input.await }
    })
    .await;
    let done = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!((answers.len(), done), (200, 1));
    for answer in answers.into_iter().filter(|answer| answer.status != 201) {
        answer.expect(409).problem("nothing_to_fulfill");
    }
    assert_eq!(market.levels(&book).await, [7, 0, 0, 7]);
    assert_eq!(market.gateway.events("fulfillment.created").await.len(), 1);
}

/// A small generator of its own: the same sequence in every run (Numerical Recipes' constants).
struct Dice(u32);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(self.0 >> 16).unwrap() % sides
    }
}

#[tokio::test]
async fn no_sequence_of_operations_unbalances_stock_or_money() {
    let market = Market::open().await;
    let variants = [market.stock(999, 40).await, market.stock(1, 40).await];
    let mut dice = Dice(20_260_101);
    let mut orders: Vec<Placed> = Vec::new();
    for step in 0..150 {
        market.gateway.advance(std::time::Duration::from_secs(20));
        if orders.is_empty() || dice.roll(5) == 0 {
            let variant = &variants[dice.roll(2)];
            let quantity = i64::try_from(dice.roll(4)).unwrap() + 1;
            let reply = market.try_order(cart(&[(variant, quantity)])).await;
            if reply.status == 201 {
                orders.push(Placed::of(reply));
            }
            continue;
        }
        let order = &orders[dice.roll(orders.len())];
        let quantity = i64::try_from(dice.roll(3)).unwrap() + 1;
        let restock = ["no_restock", "cancel", "return"][dice.roll(3)];
        let line = json!({"order_item_id": order.line(0), "quantity": quantity});
        let mut back = line.clone();
        back["restock_type"] = restock.into();
        let (action, fields) = match dice.roll(8) {
            0 | 1 => ("mark-paid", json!({})),
            2 => ("fulfill", json!({"items": [line]})),
            3 => ("fulfill", json!({})),
            4 => ("refund", json!({"items": [back]})),
            5 => ("refund", json!({"amount": inr(quantity * 300)})),
            6 => ("cancel", json!({"restock": quantity != 1})),
            _ => ("confirm", json!({})),
        };
        let reply = market.act(&order.id, action, fields).await;
        assert!([200, 201, 409].contains(&reply.status), "{step}: {} {}", reply.asked, reply.text);
        if step % 25 == 24 {
            market.gateway.sweep().await;
        }
    }
    for variant in &variants {
        market.levels(variant).await;
        market.audit(variant).await;
    }
    for order in &orders {
        let shown = market.show(&order.id).await;
        assert!(shown.int("/refunded_total/amount") <= shown.int("/captured_total/amount"));
        let sum: i64 = shown
            .at("/items")
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["total"]["amount"].as_i64().unwrap())
            .sum();
        assert_eq!(sum, shown.int("/totals/subtotal/amount"));
    }
}

#[tokio::test]
async fn a_store_with_open_orders_is_not_deleted() {
    let market = Market::open().await;
    let book = market.stock(100, 10).await;
    let placed = market.paid(&book, 1).await;
    let path = format!("/v1/stores/{}", market.store.id);
    let delete = || {
        let confirm = json!({"confirm": market.store.subdomain});
        market.owner.delete(&path).json(confirm)
    };
    let rejected = delete().await.expect(409).problem("open_orders");
    assert_eq!(rejected.int("/open_orders"), 1);
    market.act(&placed.id, "cancel", json!({"reason": "customer_request"})).await.expect(200);
    delete().await.expect(202);
}
