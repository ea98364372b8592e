//! Refunds and cancelling: money, stock and promises go back, once, whatever gets in the way.

mod unfinished;

use support::{
    Market, Placed, Providers, Reply, STRIPE_KEY_ID, STRIPE_SECRET, Shopper, Trouble, Value,
    WEBHOOK_SECRET, cart, inr, json, race,
};

fn counts(reply: &Reply, pointer: &str) -> usize {
    reply.at(pointer).as_array().unwrap().len()
}

#[tokio::test]
async fn refunds_are_made_by_lines_or_by_amount() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.paid(&book, 4).await;
    let some = json!({"items": [{"order_item_id": placed.line(0), "quantity": 2}]});
    market.act(&placed.id, "fulfill", some).await.expect(201);
    let line = |quantity: i64, restock: &str| {
        json!({"items": [{
            "order_item_id": placed.line(0), "quantity": quantity, "restock_type": restock,
        }], "reason": "defective"})
    };
    let mut dry = line(1, "return");
    dry["dry_run"] = json!(true);
    let said = market.act(&placed.id, "refund", dry).await.expect(200);
    assert_eq!((said.int("/amount/amount"), said.int("/refundable/amount")), (1_000, 4_000));
    let path = format!("/v1/orders/{}/refund/calculate", placed.id);
    let same = market.owner.post(&path).json(line(1, "return")).await.expect(200);
    assert_eq!(same.json, said.json);
    let refunded = market.act(&placed.id, "refund", line(1, "return")).await.expect(201);
    assert_eq!(refunded.str("/refund/status"), "succeeded");
    assert_eq!(refunded.str("/order/financial_status"), "partially_refunded");
    assert_eq!(market.levels(&book).await, [7, 0, 2, 9]);
    market.act(&placed.id, "refund", line(1, "cancel")).await.expect(201);
    assert_eq!(market.levels(&book).await, [8, 0, 1, 9]);
    let rejected = market.act(&placed.id, "refund", line(2, "cancel")).await.expect(409);
    rejected.problem("quantity_exceeds_remaining");
    let rejected =
        market.act(&placed.id, "refund", json!({"amount": inr(2_001)})).await.expect(409);
    let rejected = rejected.problem("refund_exceeds_captured");
    assert_eq!(*rejected.at("/refundable"), inr(2_000));
    let both = json!({"amount": inr(1), "items": []});
    market.act(&placed.id, "refund", both).await.expect(422);
    let rest = market.act(&placed.id, "refund", json!({})).await.expect(201);
    assert_eq!(*rest.at("/order/refunded_total"), inr(4_000));
    assert_eq!(rest.str("/order/financial_status"), "refunded");
    let rejected = market.act(&placed.id, "refund", json!({})).await.expect(409);
    rejected.problem("nothing_to_refund");
    let list = format!("/v1/orders/{}/refunds", placed.id);
    let refunds = market.owner.get(&list).await.expect(200);
    let amounts: Vec<_> =
        refunds.data().iter().map(|one| one["amount"]["amount"].clone()).collect();
    assert_eq!(amounts, [json!(1_000), json!(1_000), json!(2_000)]);
    let one = format!("{list}/{}", rest.str("/refund/id"));
    assert_eq!(market.owner.get(&one).await.expect(200).str("/reason"), "other");
    assert_eq!(market.gateway.events("refund.succeeded").await.len(), 3);
    market.audit(&book).await;
}

#[tokio::test]
async fn an_unpaid_order_cannot_be_refunded() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.order(cart(&[(&book, 1)])).await;
    let rejected = market.act(&placed.id, "refund", json!({})).await.expect(409);
    rejected.problem("payment_not_captured");
    market.act(&placed.id, "cancel", json!({})).await.expect(200);
    let rejected = market.act(&placed.id, "refund", json!({})).await.expect(409);
    rejected.problem("payment_not_captured");
}

#[tokio::test]
async fn a_refund_credits_gift_cards_first() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let (card, code) = market.gift_card(300).await;
    let mut input = cart(&[(&book, 1)]);
    input["gift_card_codes"] = json!([code]);
    let placed = market.order(input).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let some = market.act(&placed.id, "refund", json!({"amount": inr(400)})).await.expect(201);
    let parts: Vec<_> = some.at("/refund/transactions").as_array().unwrap().clone();
    assert_eq!(parts[0]["gift_card_id"], json!(card));
    assert_eq!((&parts[0]["amount"], &parts[1]["amount"]), (&inr(300), &inr(100)));
    assert_eq!(market.balance(&card).await, 300);
}

#[tokio::test]
async fn total_spent_follows_payments_and_refunds() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let spent = || async {
        let path = format!("/v1/customers?email={}", shopper.email);
        let found = market.owner.get(&path).await.expect(200);
        let of = |name: &str| found.data()[0].pointer(name).unwrap().as_i64().unwrap();
        (of("/orders_count"), of("/total_spent/amount"))
    };
    let input = shopper.post(&market.orders_path()).key("mine").json(cart(&[(&book, 2)]));
    let placed = Placed::of(input.await.expect(201));
    assert_eq!(spent().await, (1, 0));
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    assert_eq!(spent().await, (1, 2_000));
    market.act(&placed.id, "refund", json!({"amount": inr(500)})).await.expect(201);
    assert_eq!(spent().await, (1, 1_500));
}

/// A store whose shoppers pay through a provider, which takes the money when the merchant says so.
async fn with_provider() -> (Market, Providers) {
    let providers = Providers::start().await;
    let base_urls = providers.base_urls();
    let market = Market::open_with(|options| options.embedded.payment_base_urls = base_urls).await;
    connect(&market).await;
    (market, providers)
}

async fn connect(market: &Market) {
    let fields = json!({
        "credentials": {
            "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
            "webhook_secret": WEBHOOK_SECRET,
        },
        "capture_method": "manual",
    });
    market.owner.put("/v1/payments/providers/stripe").json(fields).await.expect(200);
}

/// An order whose shopper has begun to pay, and the provider's intent.
async fn begun(market: &Market, variant: &str) -> (Placed, String) {
    let placed = market.order(cart(&[(variant, 1)])).await;
    let path = format!("/v1/storefront/{}/payments/stripe/order", market.store.subdomain);
    let input = market.gateway.client().post(&path).json(json!({"order_id": placed.id}));
    let begun = input.header("x-service-order-token", &placed.token).await.expect(201);
    (placed, begun.str("/provider_order_id"))
}

/// The shopper comes back from the provider.
async fn verify(market: &Market, placed: &Placed, intent: &str) {
    let path = format!("/v1/storefront/{}/payments/stripe/verify", market.store.subdomain);
    let fields = json!({"order_id": placed.id, "payment_intent": intent});
    market.gateway.client().post(&path).json(fields).await.expect(200);
}

/// An order whose money the provider has promised.
async fn promised(market: &Market, providers: &Providers, variant: &str) -> Placed {
    let (placed, intent) = begun(market, variant).await;
    providers.pay_stripe(&intent);
    verify(market, &placed, &intent).await;
    placed
}

#[tokio::test]
async fn cancelling_voids_an_authorization_and_refunds_a_capture() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = promised(&market, &providers, &book).await;
    assert_eq!(market.show(&placed.id).await.str("/financial_status"), "authorized");
    assert_eq!(market.levels(&book).await, [9, 0, 1, 10]);
    let done = market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(
        (done.str("/status"), done.str("/financial_status")),
        ("cancelled".into(), "voided".into())
    );
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
    let placed = promised(&market, &providers, &book).await;
    let taken = market.act(&placed.id, "capture", json!({})).await.expect(200);
    assert_eq!(taken.str("/financial_status"), "paid");
    let done = market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(done.str("/financial_status"), "refunded");
    assert_eq!(done.str("/refund/status"), "succeeded");
    assert_eq!(providers.refunds().len(), 1);
    assert_eq!(market.gateway.events("order.authorized").await.len(), 2);
    assert_eq!(market.gateway.events("order.paid").await.len(), 1);
}

#[tokio::test]
async fn a_rejected_refund_is_released_and_a_delayed_one_is_resumed() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = promised(&market, &providers, &book).await;
    market.act(&placed.id, "capture", json!({})).await.expect(200);
    providers.next([Trouble::Reject(400, "charge_disputed")]);
    let rejected = market.act(&placed.id, "refund", json!({})).await.expect(502);
    let rejected = rejected.problem("provider_error");
    assert_eq!(*rejected.at("/failure_code"), json!("charge_disputed"));
    let shown = market.show(&placed.id).await;
    assert_eq!(*shown.at("/refundable"), inr(1_000));
    assert_eq!(*shown.at("/refunds/0/status"), json!("failed"));
    assert_eq!(shown.str("/financial_status"), "paid");
    let path = format!("/v1/orders/{}/refund", placed.id);
    let again = || market.owner.post(&path).key("again").json(json!({}));
    providers.next([Trouble::DoneButLate]);
    again().await.expect(504).problem("provider_timeout");
    let other = market.act(&placed.id, "refund", json!({})).await.expect(409);
    other.problem("nothing_to_refund");
    let done = again().await.expect(201);
    assert_eq!(done.str("/refund/status"), "succeeded");
    assert_eq!(providers.refunds().len(), 1, "it was done once");
    for (event, count) in [
        ("refund.created", 2),
        ("refund.failed", 1),
        ("refund.succeeded", 1),
        ("order.refunded", 1),
    ] {
        assert_eq!(market.gateway.events(event).await.len(), count, "{event}");
    }
}

#[tokio::test]
async fn cancelling_an_order_releases_stock_and_refunds_payments() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let (card, code) = market.gift_card(300).await;
    let mut input = cart(&[(&book, 2)]);
    input["gift_card_codes"] = json!([code]);
    let paid = market.order(input).await;
    market.act(&paid.id, "mark-paid", json!({})).await.expect(200);
    let done = market.act(&paid.id, "cancel", json!({"reason": "sold out"})).await.expect(200);
    assert_eq!(
        (done.str("/status"), done.str("/cancel_reason")),
        ("cancelled".into(), "sold out".into())
    );
    assert_eq!(done.str("/financial_status"), "refunded");
    assert_eq!(*done.at("/refund/amount"), inr(2_000));
    assert_eq!((market.levels(&book).await, market.balance(&card).await), ([10, 0, 0, 10], 300));
    let kept = market.paid(&book, 1).await;
    let input = json!({"refund": "none", "restock": false});
    let done = market.act(&kept.id, "cancel", input).await.expect(200);
    assert_eq!((done.str("/financial_status"), done.at("/refund")), ("paid".into(), &json!(null)));
    assert_eq!(market.levels(&book).await, [9, 0, 0, 9], "written off");
    let levels =
        market.owner.get(&format!("/v1/inventory/levels?item_ids={book}")).await.expect(200);
    let level = format!("/v1/inventory/levels/{book}/{}", levels.str("/data/0/location_id"));
    let ledger = market.owner.get(&format!("{level}/ledger")).await.expect(200);
    let kinds: Vec<_> = ledger.data().iter().map(|row| row["kind"].clone()).collect();
    assert!(kinds.contains(&json!("written_off")) && !kinds.contains(&json!("fulfilled")));
    market.act(&kept.id, "refund", json!({})).await.expect(201);
    let sent = market.paid(&book, 1).await;
    market.act(&sent.id, "fulfill", json!({})).await.expect(201);
    let rejected = market.act(&sent.id, "cancel", json!({})).await.expect(409);
    rejected.problem("already_fulfilled");
    market.act(&paid.id, "cancel", json!({})).await.expect(409).problem("invalid_state_transition");
    assert_eq!(market.gateway.events("order.cancelled").await.len(), 2);
    market.audit(&book).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_parallel_refunds_never_refund_more_than_was_captured() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let (card, code) = market.gift_card(300).await;
    let mut input = cart(&[(&book, 1)]);
    input["gift_card_codes"] = json!([code]);
    let placed = market.order(input).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let answers = race(50, || market.act(&placed.id, "refund", json!({"amount": inr(130)}))).await;
    let done = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(done, 7, "7 × 130 is what fits into 1,000");
    for answer in answers.into_iter().filter(|answer| answer.status != 201) {
        answer.expect(409).problem("refund_exceeds_captured");
    }
    let shown = market.show(&placed.id).await;
    assert_eq!(*shown.at("/refunded_total"), inr(910));
    assert_eq!(counts(&shown, "/refunds"), 7);
    assert_eq!(market.balance(&card).await, 300);
    let payments = market.gateway.items_of("payment", "STO#").await;
    assert_eq!(payments[0]["refunded"]["amount"], json!(610));
    assert_eq!(market.gateway.events("refund.succeeded").await.len(), 7);
}

/// An order of one unit that was paid through the provider.
async fn captured(market: &Market, providers: &Providers, variant: &str) -> Placed {
    let placed = promised(market, providers, variant).await;
    market.act(&placed.id, "capture", json!({})).await.expect(200);
    placed
}

#[tokio::test]
async fn returned_units_require_a_known_location() {
    let market = Market::open().await;
    let (book, pen) = (market.stock(1_000, 10).await, market.stock(500, 10).await);
    let input = json!({"name": "Back room", "address": {"country": "IN"}});
    let room =
        market.owner.post("/v1/inventory/locations").json(input).await.expect(201).str("/id");
    let placed = market.order(cart(&[(&book, 1), (&pen, 1)])).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let back = |location: &str| {
        let line = |place| {
            json!({
                "order_item_id": placed.line(place), "quantity": 1, "restock_type": "return",
                "location_id": location,
            })
        };
        json!({"items": [line(0), line(1)]})
    };
    let nowhere = format!("loc_{}", "0".repeat(32));
    let rejected = market.act(&placed.id, "refund", back(&nowhere)).await.expect(422);
    let field_errors =
        [0, 1].map(|n| (format!("/items/{n}/location_id"), "unknown_location".into()));
    assert_eq!(rejected.field_errors(), field_errors);
    // Also for units whose stock is not counted.
    let variant = json!({"price": inr(100), "inventory": {"tracked": false}});
    let input = json!({"title": "Voucher", "status": "active", "variants": [variant]});
    let made = market.owner.post("/v1/products").json(input).await.expect(201);
    let uncounted = market.order(cart(&[(&made.str("/variants/0/id"), 2)])).await;
    market.act(&uncounted.id, "mark-paid", json!({})).await.expect(200);
    market.act(&uncounted.id, "fulfill", json!({})).await.expect(201);
    let line = |location: &str| {
        let line = json!({
            "order_item_id": uncounted.line(0), "quantity": 1, "restock_type": "return",
            "location_id": location,
        });
        json!({"items": [line]})
    };
    for action in ["lines/return", "refund", "refund/calculate"] {
        let rejected = market.act(&uncounted.id, action, line(&nowhere)).await.expect(422);
        let field_error = [("/items/0/location_id".into(), "unknown_location".into())];
        assert_eq!(rejected.field_errors(), field_error, "{action}");
    }
    market.act(&uncounted.id, "lines/return", line(&room)).await.expect(200);
    market.act(&uncounted.id, "refund", line(&room)).await.expect(201);
    market.act(&placed.id, "refund", back(&room)).await.expect(201);
    for variant in [&book, &pen] {
        assert_eq!(market.levels(variant).await, [10, 0, 0, 10]);
        market.audit(variant).await;
    }
}

#[tokio::test]
async fn a_retried_cancellation_with_its_version_is_completed() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = captured(&market, &providers, &book).await;
    let version = market.show(&placed.id).await.etag();
    let path = format!("/v1/orders/{}/cancel", placed.id);
    let cancel = || market.owner.post(&path).key("cancel").if_match(&version).json(json!({}));
    providers.next([Trouble::DoneButLate]);
    cancel().await.expect(504).problem("provider_timeout");
    let done = cancel().await.expect(200);
    assert_eq!(
        (done.str("/status"), done.str("/refund/status")),
        ("cancelled".into(), "succeeded".into())
    );
    assert_eq!(providers.refunds().len(), 1);
    let stale = market.owner.post(&path).key("other").if_match(&version).json(json!({}));
    stale.await.expect(412).problem("precondition_failed");
}

#[tokio::test]
async fn an_idempotency_key_is_scoped_to_the_route() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = captured(&market, &providers, &book).await;
    let request = |action: &str, fields: Value| {
        let path = format!("/v1/orders/{}/{action}", placed.id);
        market.owner.post(&path).key("one").json(fields)
    };
    providers.next([Trouble::DoneButLate]);
    request("refund", json!({"amount": inr(400)})).await.expect(504).problem("provider_timeout");
    let done = request("cancel", json!({})).await.expect(200);
    assert_eq!((done.str("/status"), done.int("/refund/amount/amount")), ("cancelled".into(), 600));
    let first = request("refund", json!({"amount": inr(400)})).await.expect(201);
    assert_eq!(first.int("/refund/amount/amount"), 400);
    assert_eq!(providers.refunds().len(), 2);
}

#[tokio::test]
async fn a_refund_without_a_connected_provider_reserves_nothing() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    let placed = captured(&market, &providers, &book).await;
    let line = json!({"order_item_id": placed.line(0), "quantity": 1, "restock_type": "cancel"});
    let refund = |key: &str| {
        let path = format!("/v1/orders/{}/refund", placed.id);
        market.owner.post(&path).key(key).json(json!({"items": [line.clone()]}))
    };
    market.lose_account("stripe").await;
    refund("before").await.expect(409).problem("provider_not_connected");
    let shown = market.show(&placed.id).await;
    assert_eq!(shown.str("/financial_status"), "paid");
    assert_eq!(counts(&shown, "/refunds"), 0);
    assert_eq!(market.levels(&book).await, [9, 0, 1, 10]);
    connect(&market).await;
    // Reserved, and then disconnected: the same request finishes it once it can.
    providers.next([Trouble::DoneButLate]);
    refund("after").await.expect(504);
    let rejected = market.owner.delete("/v1/payments/providers/stripe").await.expect(409);
    rejected.problem("provider_in_use");
    market.lose_account("stripe").await;
    refund("after").await.expect(502).problem("provider_error");
    connect(&market).await;
    refund("after").await.expect(201);
    assert_eq!(providers.refunds().len(), 1);
    assert_eq!(market.levels(&book).await, [10, 0, 0, 10]);
}

#[tokio::test]
async fn lines_of_a_rejected_refund_are_refunded_again_and_restocked_once() {
    let (market, providers) = with_provider().await;
    let book = market.stock(1_000, 10).await;
    for restock in ["cancel", "return"] {
        let placed = captured(&market, &providers, &book).await;
        if restock == "return" {
            market.act(&placed.id, "fulfill", json!({})).await.expect(201);
        }
        let line = json!({"order_item_id": placed.line(0), "quantity": 1, "restock_type": restock});
        let fields = json!({"items": [line]});
        for _ in 0..2 {
            providers.next([Trouble::Reject(402, "charge_disputed")]);
            market.act(&placed.id, "refund", fields.clone()).await.expect(502);
            assert_eq!(market.levels(&book).await, [10, 0, 0, 10], "{restock}");
        }
        let done = market.act(&placed.id, "refund", fields.clone()).await.expect(201);
        assert_eq!(done.str("/order/financial_status"), "refunded");
        assert_eq!(market.levels(&book).await, [10, 0, 0, 10], "{restock}");
        let again = market.act(&placed.id, "refund", fields).await.expect(409);
        again.problem("quantity_exceeds_remaining");
    }
    assert_eq!(providers.refunds().len(), 2);
    market.audit(&book).await;
}

#[tokio::test]
async fn an_empty_list_of_lines_refunds_nothing() {
    let market = Market::open().await;
    let book = market.stock(1_000, 10).await;
    let placed = market.paid(&book, 1).await;
    for action in ["refund", "refund/calculate"] {
        let rejected = market.act(&placed.id, action, json!({"items": []})).await.expect(422);
        assert_eq!(rejected.field_errors(), [("/items".into(), "too_few".into())], "{action}");
    }
    let all = market.act(&placed.id, "refund", json!({})).await.expect(201);
    assert_eq!(*all.at("/order/refunded_total"), inr(1_000));
}
