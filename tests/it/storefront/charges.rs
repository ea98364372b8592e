//! Checkouts with shipping, tax and discounts.

mod codes;
mod combining;
mod taxes;
mod whole_refunds;

use support::{Market, Reply, Value, address, cart, inr, json, unique};

const DISCOUNTS: &str = "/v1/discounts";

/// A store that sends within India and levies 18 %; the id of its flat rate of 99.00.
async fn shop() -> (Market, String) {
    let market = Market::open().await;
    let store = format!("/v1/stores/{}", market.store.id);
    let zone = json!({
        "name": "India", "countries": ["IN"],
        "rates": [
            {"name": "Express", "kind": "flat", "price": inr(29_900), "min_days": 1, "max_days": 1},
            {"name": "Standard", "kind": "flat", "price": inr(9_900), "min_days": 2, "max_days": 5},
            {"name": "PeekedMessage", "kind": "by_weight", "price": inr(2_000), "max": 100},
            {"name": "At the shop", "kind": "pickup", "price": inr(0)},
        ],
    });
    let zone = market.owner.post(&format!("{store}/shipping-zones")).json(zone).await.expect(201);
    let gst = json!({"name": "GST", "country": "IN", "basis_points": 1_800, "on_shipping": true});
    market.owner.post(&format!("{store}/tax-rates")).json(gst).await.expect(201);
    let rate = zone.str("/rates/1/id");
    (market, rate)
}

async fn discount(market: &Market, fields: Value) -> String {
    let mut input = json!({"title": unique("Discount"), "kind": "percentage"});
    for (name, value) in fields.as_object().unwrap() {
        input[name] = value.clone();
    }
    market.owner.post(DISCOUNTS).json(input).await.expect(201).str("/id")
}

async fn used(market: &Market, discount: &str) -> i64 {
    market.owner.get(&format!("{DISCOUNTS}/{discount}")).await.expect(200).int("/used")
}

fn with(mut cart: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { return cart };
    for (name, value) in fields {
        cart[name] = value;
    }
    cart
}

fn field_error(reply: &Reply) -> (String, String) {
    reply.field_errors().into_iter().next().unwrap()
}

#[tokio::test]
async fn refunds_add_up_to_an_order_total_with_tax_and_shipping() {
    let (market, rate) = shop().await;
    let (book, pen) = (market.stock(64_950, 10).await, market.stock(2_005, 10).await);
    let id = discount(&market, json!({"code": "TENTH", "value": {"basis_points": 1_000}})).await;
    let input = cart(&[(&book, 2), (&pen, 1)]);
    let input = with(input, json!({"shipping_rate_id": rate, "discount_codes": ["tenth"]}));
    let dry = market.try_order(with(input.clone(), json!({"dry_run": true}))).await.expect(200);
    let placed = market.order(input).await;
    let order = placed.reply.at("/order");
    assert_eq!(order["totals"], *dry.at("/totals"));
    assert_eq!(order["discounts"], *dry.at("/discounts"));
    // A tenth of 1,319.05 is 131.905, half up 131.91: 129.90 of the books', 2.01 of the pen's.
    let line = |n: usize| {
        let amount = |name: &str| order["items"][n][name]["amount"].as_i64().unwrap();
        ["subtotal", "discount", "tax", "total"].map(amount)
    };
    assert_eq!(line(0), [129_900, 12_990, 21_044, 137_954]);
    assert_eq!(line(1), [2_005, 201, 325, 2_129]);
    let shipping = &order["shipping_line"];
    assert_eq!(shipping["shipping_rate_id"], rate);
    assert_eq!(
        (shipping["price"]["amount"].as_i64(), shipping["tax"]["amount"].as_i64()),
        (Some(9_900), Some(1_782))
    );
    assert_eq!(
        order["totals"],
        json!({
            "subtotal": inr(131_905), "discount": inr(13_191), "shipping": inr(9_900),
            "tax": inr(23_151), "tax_included": false, "rounding": null, "total": inr(151_765),
            "gift_cards": inr(0), "due": inr(151_765),
            "tax_lines": [{
                "tax_rate_id": order["totals"]["tax_lines"][0]["tax_rate_id"], "name": "GST",
                "percent": "18", "basis_points": 1_800, "taxable": inr(128_614), "amount": inr(23_151),
            }],
        })
    );
    assert_eq!(order["discounts"][0]["code"], "TENTH");
    assert_eq!(used(&market, &id).await, 1);
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let refund = |fields: Value| {
        let (market, id) = (&market, placed.id.clone());
        async move { market.act(&id, "refund", fields).await.expect(201) }
    };
    let one = json!({"order_item_id": placed.line(0), "quantity": 1, "restock_type": "no_restock"});
    let back = refund(json!({"items": [one]})).await;
    assert_eq!(back.int("/refund/amount/amount"), 68_977);
    let back = refund(json!({"shipping": {"amount": inr(1_000)}})).await;
    assert_eq!(back.int("/refund/amount/amount"), 1_000);
    let back = refund(json!({"shipping": {"full": true}})).await;
    assert_eq!(back.int("/refund/amount/amount"), 9_900 + 1_782 - 1_000);
    let rest = [(0, 1), (1, 1)].map(|(n, quantity)| {
        json!({"order_item_id": placed.line(n), "quantity": quantity, "restock_type": "no_restock"})
    });
    let back = refund(json!({"items": rest})).await;
    assert_eq!(back.str("/order/financial_status"), "refunded");
    assert_eq!(*market.show(&placed.id).await.at("/refunded_total"), inr(151_765));
}

#[tokio::test]
async fn tax_is_extracted_from_tax_inclusive_prices() {
    let (market, rate) = shop().await;
    let settings = format!("/v1/stores/{}/settings", market.store.id);
    let input = json!({"taxes": {"prices_include_tax": true}});
    market.owner.patch(&settings).json(input).await.expect(200);
    let book = market.stock(11_800, 10).await;
    let input = with(cart(&[(&book, 1)]), json!({"shipping_rate_id": rate}));
    let order = market.order(input).await.reply;
    assert_eq!(order.int("/order/totals/total/amount"), 11_800 + 9_900);
    assert_eq!(order.int("/order/items/0/tax/amount"), 1_800);
    assert_eq!(order.int("/order/shipping_line/tax/amount"), 1_510);
    assert_eq!(*order.at("/order/totals/tax_included"), json!(true));
}

#[tokio::test]
async fn tax_depends_on_tax_class_and_billing_country() {
    let (market, _) = shop().await;
    let store = format!("/v1/stores/{}", market.store.id);
    let books = json!({"name": "Books", "country": "IN", "tax_class": "books", "basis_points": 0});
    market.owner.post(&format!("{store}/tax-rates")).json(books).await.expect(201);
    let file = json!({
        "title": unique("E-Book"), "status": "active", "tax_class": "books",
        "variants": [{"price": inr(10_000), "requires_shipping": false}],
    });
    let made = market.owner.post("/v1/products").json(file).key(&unique("p")).await.expect(201);
    assert_eq!(made.str("/tax_class"), "books");
    let variant = made.str("/variants/0/id");
    let total =
        |cart: Value| async { market.order(cart).await.reply.int("/order/totals/tax/amount") };
    let digital = || {
        let mut cart = cart(&[(&variant, 1)]);
        cart.as_object_mut().unwrap().remove("shipping_address");
        cart
    };
    assert_eq!(total(digital()).await, 0);
    let product = format!("/v1/products/{}", made.str("/id"));
    market.owner.patch(&product).json(json!({"tax_class": null})).await.expect(200);
    // Nothing is sent: it is taxed at home, or where the bill goes.
    assert_eq!(total(digital()).await, 1_800);
    let abroad = json!({"line1": "1 Rue de Rivoli", "city": "Paris", "postal_code": "75001", "country": "FR"});
    assert_eq!(total(with(digital(), json!({"billing_address": abroad}))).await, 0);
}

#[tokio::test]
async fn shipping_rates_list_cheapest_first_and_are_revalidated_at_checkout() {
    let (market, rate) = shop().await;
    let book = market.stock(50_000, 10).await;
    let path = format!("/v1/storefront/{}/shipping-rates", market.store.subdomain);
    let items = json!([{"variant_id": book, "quantity": 1}]);
    let input = json!({"items": items, "shipping_address": {"country": "IN", "region": "KA", "postal_code": "560001"}});
    let client = market.gateway.client();
    let offered = client.post(&path).json(input).await.expect(200);
    let names: Vec<_> = offered.data().iter().map(|rate| rate["name"].clone()).collect();
    assert_eq!(names, ["At the shop", "PeekedMessage", "Standard", "Express"]);
    assert_eq!(offered.int("/data/2/min_days"), 2);
    let letter = offered.str("/data/1/id");
    let pickup = offered.str("/data/0/id");
    let input = json!({"items": items, "shipping_address": {"country": "FR"}});
    client.post(&path).json(input).await.expect(422).problem("no_shipping_to_address");
    let full = json!({"items": items, "shipping_address": address()});
    client.post(&path).json(full).await.expect(200);
    let wrong = json!({"items": items, "shipping_address": {"country": "IN", "region": "Bavaria"}});
    let wrong = client.post(&path).json(wrong).await.expect(422);
    assert_eq!(field_error(&wrong), ("/shipping_address/region".into(), "invalid_region".into()));

    let rejected = |fields: Value| {
        let input = with(cart(&[(&book, 1)]), fields);
        let market = &market;
        async move { field_error(&market.try_order(input).await.expect(422)) }
    };
    let at_rate = |code: &str| ("/shipping_rate_id".to_owned(), code.to_owned());
    assert_eq!(rejected(json!({})).await, at_rate("required"));
    let unknown = format!("shr_{}", "0".repeat(32));
    assert_eq!(
        rejected(json!({"shipping_rate_id": unknown})).await,
        at_rate("unknown_shipping_rate")
    );
    let abroad = json!({"line1": "1 Rue de Rivoli", "city": "Paris", "postal_code": "75001", "country": "FR"});
    let nowhere =
        rejected(json!({"shipping_rate_id": rate, "shipping_address": abroad.clone()})).await;
    assert_eq!(nowhere, ("/shipping_address".into(), "no_shipping_to_address".into()));
    market.order(with(cart(&[(&book, 1)]), json!({"shipping_rate_id": letter}))).await;
    let mut fetched = with(cart(&[(&book, 1)]), json!({"shipping_rate_id": pickup}));
    fetched.as_object_mut().unwrap().remove("shipping_address");
    let fetched = market.order(fetched).await;
    assert_eq!(fetched.reply.str("/order/shipping_line/kind"), "pickup");
    // Wherever who fetches it lives, it is handed over at home.
    let afar = json!({"shipping_rate_id": pickup, "shipping_address": abroad});
    let fetched = market.order(with(cart(&[(&book, 1)]), afar)).await;
    assert_eq!(fetched.reply.int("/order/totals/tax/amount"), 9_000);
    // The merchant may leave it open how it is sent.
    let input = with(cart(&[(&book, 1)]), json!({"note": "by hand"}));
    let placed = market.owner.post("/v1/orders").key(&unique("o")).json(input).await.expect(201);
    assert_eq!(*placed.at("/shipping_line"), Value::Null);
}

#[tokio::test]
async fn weight_based_rates_depend_on_the_parcel_weight() {
    let (market, _) = shop().await;
    let heavy = json!({
        "title": unique("Anvil"), "status": "active",
        "variants": [{"price": inr(10_000), "weight_grams": 60}],
    });
    let made = market.owner.post("/v1/products").json(heavy).key(&unique("p")).await.expect(201);
    let variant = made.str("/variants/0/id");
    let path = format!("/v1/storefront/{}/shipping-rates", market.store.subdomain);
    for (quantity, letters) in [(1, 1), (2, 0)] {
        let input = json!({
            "items": [{"variant_id": variant, "quantity": quantity}],
            "shipping_address": {"country": "IN"},
        });
        let offered = market.gateway.client().post(&path).json(input).await.expect(200);
        let found = offered.data().iter().filter(|rate| rate["name"] == "PeekedMessage").count();
        assert_eq!(found, letters, "{quantity}");
    }
}

#[tokio::test]
async fn the_best_automatic_discount_applies_after_a_code() {
    let (market, rate) = shop().await;
    let (book, pen) = (market.stock(10_000, 50).await, market.stock(1_000, 50).await);
    discount(&market, json!({"value": {"basis_points": 500}})).await;
    discount(&market, json!({"kind": "free_shipping", "minimum": {"subtotal": inr(15_000)}})).await;
    let bundle = json!({"buy_quantity": 2, "get_quantity": 1});
    discount(&market, json!({"kind": "buy_x_get_y", "value": bundle, "minimum": {"quantity": 6}}))
        .await;
    discount(&market, json!({"code": "LESS", "kind": "fixed", "value": {"amount": inr(2_000)}}))
        .await;
    let discounts = |lines: Vec<(&str, i64)>, codes: Value| {
        let input = with(cart(&lines), json!({"shipping_rate_id": rate, "discount_codes": codes}));
        let market = &market;
        async move {
            let reply = market.order(input).await.reply;
            let found = reply.at("/order/discounts").as_array().unwrap().clone();
            let shown = |one: &Value| {
                (
                    one["kind"].as_str().unwrap().to_owned(),
                    one["amount"]["amount"].as_i64().unwrap(),
                )
            };
            found.iter().map(shown).collect::<Vec<_>>()
        }
    };
    let own = |kind: &str, amount: i64| (kind.to_owned(), amount);
    assert_eq!(discounts(vec![(&book, 1)], json!([])).await, [own("percentage", 500)]);
    assert_eq!(discounts(vec![(&book, 2)], json!([])).await, [own("free_shipping", 9_900)]);
    assert_eq!(discounts(vec![(&book, 6)], json!([])).await, [own("buy_x_get_y", 20_000)]);
    // Five per cent of what the code leaves of 110.00 is 4.50.
    assert_eq!(
        discounts(vec![(&book, 1), (&pen, 1)], json!(["less"])).await,
        [own("fixed", 2_000), own("percentage", 450)]
    );
}

#[tokio::test]
async fn discounts_apply_to_manual_and_automated_collections() {
    let market = Market::open().await;
    let make = |title: &str, tags: Value| {
        let input = json!({
            "title": title, "status": "active", "tags": tags, "variants": [{"price": inr(1_000)}],
        });
        let asked = market.owner.post("/v1/products").key(&unique("p")).json(input);
        async move { asked.await.expect(201) }
    };
    let (listed, tagged, other) = (
        make("Listed", json!([])).await,
        make("Tagged", json!(["sale"])).await,
        make("Other", json!([])).await,
    );
    let collections = "/v1/products/collections";
    let manual = json!({"title": "Manual", "kind": "manual", "product_ids": [listed.str("/id")]});
    let manual = market.owner.post(collections).json(manual).await.expect(201).str("/id");
    let rules = json!([{"field": "tag", "relation": "equals", "value": "sale"}]);
    let automated = json!({"title": "Sale", "kind": "automated", "rules": rules});
    let automated = market.owner.post(collections).json(automated).await.expect(201).str("/id");
    let targets = json!({"collection_ids": [manual, automated]});
    discount(&market, json!({"value": {"basis_points": 5_000}, "applies_to": targets})).await;
    let variants = [&listed, &tagged, &other].map(|product| product.str("/variants/0/id"));
    let lines: Vec<(&str, i64)> = variants.iter().map(|variant| (variant.as_str(), 1)).collect();
    let order = market.order(cart(&lines)).await.reply;
    let off = [0, 1, 2].map(|n| order.int(&format!("/order/items/{n}/discount/amount")));
    assert_eq!(off, [500, 500, 0]);
    // The merchant's orders are priced alike.
    let placed = market.owner.post("/v1/orders").key(&unique("o")).json(cart(&lines)).await;
    assert_eq!(placed.expect(201).int("/totals/discount/amount"), 1_000);
}

#[tokio::test]
async fn shipping_tax_and_discount_cost_known_capacity_units() {
    let (market, rate) = shop().await;
    let input = json!({"code": "TENTH", "value": {"basis_points": 1_000}, "usage_limit": 50});
    discount(&market, input).await;
    let plain = Market::open().await;
    let mut costs = Vec::new();
    for (market, fields) in [
        (&plain, json!({})),
        (&market, json!({"shipping_rate_id": rate, "discount_codes": ["TENTH"]})),
    ] {
        let (book, pen) = (market.stock(64_950, 100).await, market.stock(2_000, 100).await);
        let request = || with(cart(&[(&book, 1), (&pen, 1)]), fields.clone());
        market.order(request()).await;
        for _ in 0..8 {
            let order = market.order(request()).await;
            costs.push((order.reply.tenths(), order.reply.trips()));
        }
    }
    // Read at half the price: rates, tax rates and discount. Written: the discount's use.
    let (plain, priced) = costs.split_at(8);
    assert_eq!((plain, priced), ([(280, 3); 8].as_slice(), [(315, 5); 8].as_slice()));
    let path = format!("STO#{}#ORD#", market.store.id);
    for order in market.gateway.stored(&path).await {
        assert!(
            order.bytes < 1_000,
            "an order of two lines has room in its kilobyte: {}",
            order.bytes
        );
    }
}
