//! Placing an order: who orders, what is wrong with a cart, drafts, numbers; and its timeline.

use support::{
    Client, Market, Providers, Reply, STRIPE_KEY_ID, STRIPE_SECRET, Shopper, Value, WEBHOOK_SECRET,
    address, cart, inr, json, unique,
};

fn field_errors(reply: &Reply) -> Vec<(String, String)> {
    let mut found = reply.field_errors();
    found.sort();
    found
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(at, code)| ((*at).to_owned(), (*code).to_owned())).collect()
}

/// The types of a timeline's events, newest first.
async fn timeline(client: &Client, path: &str) -> Vec<String> {
    let reply = client.get(&format!("{path}/events")).await.expect(200);
    let mut times: Vec<_> = reply.data().iter().map(|event| event["created_at"].as_str()).collect();
    times.reverse();
    assert!(times.is_sorted(), "newest first: {times:?}");
    reply.data().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_shoppers_cart_reports_all_field_errors_together() {
    let market = Market::open().await;
    let unknown = format!("var_{}", "0".repeat(32));
    let book = market.stock(100, 5).await;
    let mut input = json!({
        "items": [
            {"variant_id": book, "quantity": 999}, {"variant_id": book, "quantity": 1},
            {"variant_id": unknown, "quantity": 1},
        ],
        "email": "a@example.com",
        "customer": {"email": "b@example.com"},
        "expected_total": {"amount": 100, "currency": "EUR"},
        "shipping_rate_id": format!("shr_{}", "0".repeat(32)),
        "gift_card_codes": ["0000000000000000"],
        "payment": {"provider": "manual", "capture_method": "automatic"},
    });
    let of_cart = [
        ("/customer", "mutually_exclusive"),
        ("/expected_total/currency", "currency_mismatch"),
        ("/gift_card_codes/0", "unknown_gift_card"),
        ("/items/0/quantity", "out_of_range"),
        ("/items/2/variant_id", "unknown_variant"),
        ("/payment/capture_method", "not_supported"),
        ("/shipping_rate_id", "unknown_shipping_rate"),
    ];
    let rejected = market.try_order(input.clone()).await.expect(422);
    let mut all = of_cart.to_vec();
    all.insert(5, ("/shipping_address", "required"));
    let mut all = pairs(&all);
    all.sort();
    assert_eq!(field_errors(&rejected.problem("validation_failed")), all);
    // A dry run need not know where it goes.
    input["dry_run"] = true.into();
    let rejected = market.try_order(input).await.expect(422);
    assert_eq!(field_errors(&rejected), pairs(&of_cart));
    assert_eq!(market.levels(&book).await, [5, 0, 0, 5]);
}

#[tokio::test]
async fn a_cart_with_too_many_lines_reports_its_other_errors() {
    let market = Market::open().await;
    let unknown = |n: usize| json!({"variant_id": format!("var_{n:032x}"), "quantity": 1});
    let input = json!({
        "items": (0..41).map(unknown).collect::<Vec<_>>(), "shipping_rate_id": format!("shr_{}", "0".repeat(32)),
    });
    let rejected = market.try_order(input).await.expect(422);
    let found = rejected.field_errors();
    let is = |code: &str| found.iter().filter(|(_, found)| found == code).count();
    assert_eq!((is("too_many"), is("unknown_variant"), is("required")), (1, 40, 1));
    let rejected = market.try_order(json!({"items": []})).await.expect(422);
    assert_eq!(field_errors(&rejected), pairs(&[("/email", "required"), ("/items", "empty_cart")]));
}

#[tokio::test]
async fn a_merchants_cart_reports_all_field_errors_together() {
    let market = Market::open().await;
    let mut input = json!({
        "items": [{"variant_id": format!("var_{}", "0".repeat(32)), "quantity": 1}],
        "customer_id": format!("cus_{}", "0".repeat(32)),
        "expected_total": {"amount": 100, "currency": "EUR"},
        "shipping_rate_id": format!("shr_{}", "0".repeat(32)),
        "gift_card_codes": ["0000000000000000"],
        "draft": true,
        "mark_paid": {},
    });
    for dry_run in [true, false] {
        input["dry_run"] = dry_run.into();
        let input = market.owner.post("/v1/orders").key(&unique("made")).json(input.clone());
        assert_eq!(
            field_errors(&input.await.expect(422)),
            pairs(&[
                ("/customer_id", "unknown_customer"),
                ("/draft", "mutually_exclusive"),
                ("/expected_total/currency", "currency_mismatch"),
                ("/gift_card_codes/0", "unknown_gift_card"),
                ("/items/0/variant_id", "unknown_variant"),
                ("/shipping_rate_id", "unknown_shipping_rate"),
            ])
        );
    }
}

#[tokio::test]
async fn a_guest_order_requires_an_email_and_a_customers_does_not() {
    let market = Market::proven().await;
    let book = market.stock(100, 9).await;
    let request = |customer: Value| {
        let items = json!([{"variant_id": book, "quantity": 1}]);
        json!({"items": items, "customer": customer, "shipping_address": address()})
    };
    let guest = json!({
        "email": "ann@example.com", "first_name": "Ann", "last_name": "Li", "phone": "+4930123456",
    });
    let placed = market.order(request(guest)).await;
    let contact = json!({
        "first_name": "Ann", "last_name": "Li", "phone": "+4930123456", "phone_e164": "+4930123456",
    });
    assert_eq!(placed.reply.str("/order/email"), "ann@example.com");
    assert_eq!(*placed.reply.at("/order/contact"), contact);
    let shown = market.show(&placed.id).await;
    assert_eq!((shown.str("/email"), shown.at("/contact")), ("ann@example.com".into(), &contact));
    market.gateway.mailbox("ann@example.com").nth(1).await;
    let bare = market.order(request(json!({"email": "ann@example.com"}))).await;
    assert_eq!(*bare.reply.at("/order/contact"), json!(null));
    let rejected = market.try_order(request(json!({"first_name": "Ann"}))).await.expect(422);
    assert_eq!(field_errors(&rejected), pairs(&[("/customer/email", "required")]));

    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let order = |input: Value| shopper.post(&market.orders_path()).key(&unique("own")).json(input);
    let mut own = cart(&[(&book, 1)]);
    own.as_object_mut().unwrap().remove("email");
    assert_eq!(order(own).await.expect(201).str("/order/email"), shopper.email);
    let elsewhere = order(request(json!({"email": "gift@example.com"}))).await.expect(201);
    assert_eq!(elsewhere.str("/order/email"), "gift@example.com");
    let theirs = shopper.get("/v1/storefront/customer/orders").await.expect(200);
    assert_eq!(theirs.data().len(), 2, "who confirms is not who orders");

    // The merchant's: a customer's own address, or whom they name.
    let make = |fields: Value| {
        let mut input = json!({"items": [{"variant_id": book, "quantity": 1}]});
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        market.owner.post("/v1/orders").key(&unique("made")).json(input)
    };
    let made = make(json!({"customer_id": shopper.id})).await.expect(201);
    assert_eq!(made.str("/email"), shopper.email);
    let named = json!({"email": "tel@example.com", "first_name": "Tel"});
    let made = make(json!({"customer_id": shopper.id, "customer": named})).await.expect(201);
    assert_eq!(made.str("/email"), "tel@example.com");
    assert_eq!(made.str("/contact/first_name"), "Tel");
}

#[tokio::test]
async fn an_order_is_found_by_its_number() {
    let market = Market::open().await;
    let book = market.stock(100, 100).await;
    let first = market.order(cart(&[(&book, 1)])).await;
    market.act(&first.id, "cancel", json!({})).await.expect(200);
    for _ in 0..59 {
        market.order(cart(&[(&book, 1)])).await;
    }
    let find = |query: &str| {
        let path = format!("/v1/orders?limit=1&{query}");
        let input = market.owner.get(&path);
        async move {
            let reply = input.await.expect(200);
            assert!(reply.trips() <= 4, "{} trips", reply.trips());
            let id = |order: &Value| order["id"].as_str().unwrap().to_owned();
            reply.data().iter().map(id).collect::<Vec<_>>()
        }
    };
    let one = std::slice::from_ref(&first.id);
    assert_eq!(find("number=1001").await, one);
    assert_eq!(find("number=%231001").await, one);
    assert_eq!(find("number=1001&status=cancelled").await, one);
    assert_eq!(find("status=cancelled").await, one, "what is rare is looked for");
    for none in ["number=1001&status=open", "number=9999", "number=A1001", "number=x"] {
        assert!(find(none).await.is_empty(), "{none}");
    }
    // Orders keep their numbers when the prefix changes, whatever it ends in.
    let store = format!("/v1/stores/{}", market.store.id);
    market.owner.patch(&store).json(json!({"order_prefix": "B2-1"})).await.expect(200);
    let renamed = market.order(cart(&[(&book, 1)])).await;
    assert_eq!(renamed.reply.str("/order/number"), "B2-11061");
    let renamed = std::slice::from_ref(&renamed.id);
    assert_eq!(find("number=1061").await, renamed);
    assert_eq!(find("number=B2-11061").await, renamed);
    assert_eq!(find("number=%231001").await, one);
}

#[tokio::test]
async fn a_fulfilment_requires_a_location_of_the_store() {
    let market = Market::open().await;
    let service = market.product(100, None).await;
    let stranger = Market::open().await;
    let foreign = stranger.owner.get("/v1/inventory/locations").await.expect(200);
    let foreign = foreign.str("/data/0/id");
    let own = market.owner.get("/v1/inventory/locations").await.expect(200).str("/data/0/id");
    let placed = market.paid(&service, 2).await;
    for location in [foreign.as_str(), "loc_00000000000000000000000000000000"] {
        let input = json!({"location_id": location});
        let rejected = market.act(&placed.id, "fulfill", input).await.expect(422);
        assert_eq!(field_errors(&rejected), pairs(&[("/location_id", "unknown_location")]));
    }
    let twice = json!({"order_item_id": placed.line(0), "quantity": 1});
    let input = json!({"location_id": foreign, "items": [twice, twice]});
    let rejected = market.act(&placed.id, "fulfill", input).await.expect(422);
    let both = [("/items/1/order_item_id", "duplicate"), ("/location_id", "unknown_location")];
    assert_eq!(field_errors(&rejected), pairs(&both));
    let done = market.act(&placed.id, "fulfill", json!({"location_id": own})).await.expect(201);
    assert_eq!(done.str("/fulfillment/location_id"), own);
}

#[tokio::test]
async fn a_draft_order_is_hidden_from_its_customer_until_confirmed() {
    let market = Market::open().await;
    let book = market.stock(100, 5).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let input = json!({
        "items": [{"variant_id": book, "quantity": 1}], "customer_id": shopper.id, "draft": true,
    });
    let draft = market.owner.post("/v1/orders").key(&unique("made")).json(input).await.expect(201);
    let id = draft.str("/id");
    let page = format!("{}/{id}", market.orders_path());
    let pay = format!("/v1/storefront/{}/payments/manual/order", market.store.subdomain);
    let begin = || shopper.post(&pay).json(json!({"order_id": id}));
    let own = format!("/v1/storefront/customer/orders/{id}");
    for path in [&page, &own] {
        shopper.get(path).await.expect(404).problem("not_found");
    }
    shopper.post(&format!("{page}/cancel")).json(json!({})).await.expect(404);
    begin().await.expect(404).problem("not_found");
    market.act(&id, "confirm", json!({})).await.expect(200);
    for path in [&page, &own] {
        assert_eq!(shopper.get(path).await.expect(200).str("/status"), "open");
    }
    begin().await.expect(201);
}

#[tokio::test]
async fn a_draft_order_covered_by_gift_cards_is_paid_on_confirmation() {
    let market = Market::open().await;
    let book = market.stock(100, 5).await;
    let (card, code) = market.gift_card(300).await;
    let input = json!({
        "items": [{"variant_id": book, "quantity": 2}], "gift_card_codes": [code], "draft": true,
    });
    let draft = market.owner.post("/v1/orders").key(&unique("made")).json(input).await.expect(201);
    assert!(market.gateway.events("order.paid").await.is_empty());
    assert_eq!(market.balance(&card).await, 100);
    let done = market.act(&draft.str("/id"), "confirm", json!({})).await.expect(200);
    assert_eq!(
        (done.str("/status"), done.str("/financial_status")),
        ("open".into(), "paid".into())
    );
    assert_eq!(market.levels(&book).await, [3, 0, 2, 5]);
    for name in ["order.confirmed", "order.paid"] {
        let told = market.gateway.events(name).await;
        assert_eq!(told.len(), 1, "{name}");
        assert_eq!(told[0]["data"]["financial_status"], "paid");
    }
    // One that has yet to be paid is confirmed, and no more.
    let placed = market.order(cart(&[(&book, 1)])).await;
    market.act(&placed.id, "confirm", json!({})).await.expect(200);
    assert_eq!(market.gateway.events("order.paid").await.len(), 1);
}

#[tokio::test]
async fn an_orders_timeline_includes_the_events_of_its_parts() {
    let (market, app) = Market::with_app(&["read_orders", "read_payments"]).await;
    let book = market.stock(100, 5).await;
    let (placed, other) = (market.order(cart(&[(&book, 2)])).await, market.paid(&book, 1).await);
    let begin = format!("/v1/storefront/{}/payments/manual/order", market.store.subdomain);
    let input = market.gateway.client().post(&begin).json(json!({"order_id": placed.id}));
    let payment = input.header("x-service-order-token", &placed.token).await.expect(201);
    let payment = payment.str("/payment_id");
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let sent = market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let sent = sent.str("/fulfillment/id");
    let path = format!("/v1/orders/{}", placed.id);
    let arrived = format!("{path}/fulfillments/{sent}/deliver");
    market.owner.post(&arrived).json(json!({})).await.expect(200);
    let back = market.act(&placed.id, "refund", json!({"amount": inr(50)})).await.expect(201);

    let mut all = timeline(&market.owner, &path).await;
    assert_eq!(all.last().unwrap(), "order.created");
    all.sort();
    let whole = [
        "fulfillment.created",
        "fulfillment.delivered",
        "order.created",
        "order.fulfilled",
        "order.paid",
        "order.refunded",
        // Whoever pays manually has longer.
        "order.updated",
        "payment.captured",
        "payment.created",
        "payment.refunded",
        "refund.created",
        "refund.succeeded",
    ];
    assert_eq!(all, whole);
    let shown = market.owner.get(&format!("{path}/events?limit=100")).await.expect(200);
    assert!(shown.trips() <= 4, "{} trips", shown.trips());
    let of = |kind: &str| {
        let of_kind = |event: &&Value| event["type"] == kind;
        shown.data().iter().find(of_kind).unwrap()["entity"]["id"].clone()
    };
    assert_eq!(of("fulfillment.delivered"), sent);
    assert_eq!(of("refund.created"), back.str("/refund/id"));
    assert_eq!(of("payment.created"), payment);

    // An app sees what it could subscribe to.
    let mut seen = timeline(&app, &path).await;
    seen.sort();
    let may = |name: &&str| name.starts_with("order.") || name.starts_with("payment.");
    assert_eq!(seen, whole.into_iter().filter(may).collect::<Vec<_>>());

    // A payment's own timeline is what its order's says about it.
    let own = timeline(&market.owner, &format!("/v1/payments/{payment}")).await;
    assert_eq!(own, ["payment.refunded", "payment.captured", "payment.created"]);
    let of_other = timeline(&market.owner, &format!("/v1/orders/{}", other.id)).await;
    assert!(of_other.iter().all(|name| !name.starts_with("refund.")));
    let page = market.owner.get(&format!("{path}/events?limit=4")).await.expect(200);
    let next = page.str("/page/next_cursor");
    let rest = format!("{path}/events?limit=100&cursor={next}");
    let rest = market.owner.get(&rest).await.expect(200);
    assert_eq!(page.data().len() + rest.data().len(), whole.len());
}

#[tokio::test]
async fn an_order_may_choose_its_capture_method() {
    let providers = Providers::start().await;
    let base_urls = providers.base_urls();
    let market = Market::open_with(|options| options.embedded.payment_base_urls = base_urls).await;
    let book = market.stock(1_000, 9).await;
    let account = json!({"capture_method": "automatic", "credentials": {
        "publishable_key": STRIPE_KEY_ID, "secret_key": STRIPE_SECRET,
        "webhook_secret": WEBHOOK_SECRET,
    }});
    market.owner.put("/v1/payments/providers/stripe").json(account).await.expect(200);
    let begin = format!("/v1/storefront/{}/payments/stripe/order", market.store.subdomain);
    let wishes = [
        (json!({"provider": "stripe", "capture_method": "manual"}), "manual"),
        (json!({"provider": "stripe"}), "automatic"),
        // Said of another provider, it says nothing about this one.
        (json!({"provider": "manual", "capture_method": "manual"}), "automatic"),
    ];
    for (payment, expected) in wishes {
        let mut input = cart(&[(&book, 1)]);
        input["payment"] = payment.clone();
        let placed = market.order(input).await;
        let shown = market.show(&placed.id).await;
        assert_eq!(shown.at("/capture_method"), &payment["capture_method"]);
        let begun = || {
            let input = market.gateway.client().post(&begin).json(json!({"order_id": placed.id}));
            input.header("x-service-order-token", &placed.token)
        };
        let opened = begun().await.expect(201);
        assert_eq!(begun().await.expect(201).text, opened.text, "it is opened once");
        let path = format!("/v1/payments/{}", opened.str("/payment_id"));
        let kept = market.owner.get(&path).await.expect(200);
        assert_eq!(kept.str("/capture_method"), expected);
        let call = providers.calls("/v1/payment_intents").pop().unwrap();
        assert!(call.body.contains(&format!("capture_method={expected}")), "{}", call.body);
        if expected == "manual" {
            providers.pay_stripe(&opened.str("/provider_order_id"));
            let sync = market.owner.post(&format!("{path}/sync")).key(&unique("sync"));
            sync.json(json!({})).await.expect(200);
            let held = market.show(&placed.id).await;
            assert_eq!(held.str("/financial_status"), "authorized");
        }
    }
    let placed = market.order(cart(&[(&book, 1)])).await;
    let input = json!({"order_id": placed.id, "save_method": true});
    let input = market.gateway.client().post(&begin).json(input);
    let rejected = input.header("x-service-order-token", &placed.token).await.expect(422);
    assert_eq!(field_errors(&rejected), pairs(&[("/save_method", "not_supported")]));
}

#[tokio::test]
async fn a_merchants_order_accepts_discount_codes_and_an_optional_shipping_rate() {
    let market = Market::open().await;
    let book = market.stock(10_000, 10).await;
    let zones = format!("/v1/stores/{}/shipping-zones", market.store.id);
    let rate = json!({"name": "Standard", "kind": "flat", "price": inr(500)});
    let zone = json!({"name": "India", "countries": ["IN"], "rates": [rate]});
    let zone = market.owner.post(&zones).json(zone).await.expect(201);
    let input = json!({
        "title": "Once", "code": "ONCE", "kind": "fixed", "value": {"amount": inr(1_000)},
        "usage_limit": 1,
    });
    market.owner.post("/v1/discounts").json(input).await.expect(201);
    let place = |fields: Value| {
        let mut input = cart(&[(&book, 1)]);
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        market.owner.post("/v1/orders").key(&unique("order")).json(input)
    };
    let both = json!({"shipping_rate_id": zone.at("/rates/0/id"), "discount_codes": ["once"]});
    let dry = json!({"dry_run": true, "discount_codes": ["ONCE"]});
    let quote = place(dry.clone()).await.expect(200);
    assert_eq!(*quote.at("/totals/total"), inr(9_000));
    let placed = place(both.clone()).await.expect(201);
    assert_eq!(*placed.at("/totals/total"), inr(9_500));
    assert_eq!(placed.str("/discounts/0/code"), "ONCE");
    for rejected in [place(both).await, place(dry).await] {
        let found = rejected.expect(422).field_errors();
        assert_eq!(found, [("/discount_codes/0".into(), "discount_used_up".into())]);
    }
    let abroad = json!({"line1": "1 Rue de Rivoli", "city": "Paris", "postal_code": "75001", "country": "FR"});
    let open = place(json!({"shipping_address": abroad})).await.expect(201);
    assert_eq!(*open.at("/shipping_line"), Value::Null);
}
