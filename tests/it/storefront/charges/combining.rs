//! Free shipping of some rates, discounts that do not combine, and limits that a person has once.

use support::{Market, Reply, Shopper, Value, cart, eventually, inr, json, unique};

use super::{DISCOUNTS, discount, field_error, used, with};

/// A store that sends for 99.00, overnight for 499.00, and free from 300.00 on; the rates' ids.
async fn shop() -> (Market, [String; 3]) {
    let market = Market::open().await;
    let zone = json!({"name": "India", "countries": ["IN"], "rates": [
        {"name": "Standard", "kind": "flat", "price": inr(9_900)},
        {"name": "Overnight", "kind": "flat", "price": inr(49_900)},
        {"name": "Free over", "kind": "flat", "price": inr(5_000), "free_over": inr(30_000)},
    ]});
    let path = format!("/v1/stores/{}/shipping-zones", market.store.id);
    let zone = market.owner.post(&path).json(zone).await.expect(201);
    let ids = [0, 1, 2].map(|n| zone.str(&format!("/rates/{n}/id")));
    (market, ids)
}

async fn order(market: &Market, book: &str, units: i64, rate: &str, codes: &[&str]) -> Reply {
    let fields = json!({"shipping_rate_id": rate, "discount_codes": codes});
    market.try_order(with(cart(&[(book, units)]), fields)).await
}

/// The kinds of an order's discounts with the amount of each.
fn discounts(reply: &Reply) -> Vec<(String, i64)> {
    let all = reply.at("/order/discounts").as_array().unwrap().iter();
    let shown = |one: &Value| {
        (one["kind"].as_str().unwrap().to_owned(), one["amount"]["amount"].as_i64().unwrap())
    };
    all.map(shown).collect()
}

fn own(kind: &str, amount: i64) -> (String, i64) {
    (kind.to_owned(), amount)
}

#[tokio::test]
async fn a_free_shipping_code_is_accepted_where_shipping_is_free() {
    let (market, [_, _, free_over]) = shop().await;
    let book = market.stock(10_000, 50).await;
    let id = discount(&market, json!({"code": "SHIP", "kind": "free_shipping"})).await;
    let placed = order(&market, &book, 3, &free_over, &["ship"]).await.expect(201);
    assert_eq!(discounts(&placed), [own("free_shipping", 0)]);
    assert_eq!(placed.int("/order/totals/total/amount"), 30_000);
    assert_eq!(used(&market, &id).await, 1);
    let placed = order(&market, &book, 1, &free_over, &["ship"]).await.expect(201);
    assert_eq!(discounts(&placed), [own("free_shipping", 5_000)]);
    // A store without zones ships for nothing.
    let plain = Market::open().await;
    let pen = plain.stock(1_000, 5).await;
    discount(&plain, json!({"code": "SHIP", "kind": "free_shipping"})).await;
    let input = with(cart(&[(&pen, 1)]), json!({"discount_codes": ["SHIP"]}));
    let placed = plain.try_order(input).await.expect(201);
    assert_eq!(discounts(&placed), [own("free_shipping", 0)]);
    // Other discounts that take nothing off are still rejected.
    let gift = json!({"code": "TINY", "value": {"basis_points": 1}});
    discount(&plain, gift).await;
    let dust = plain.stock(10, 5).await;
    let input = with(cart(&[(&dust, 1)]), json!({"discount_codes": ["TINY"]}));
    let rejected = plain.try_order(input).await.expect(422);
    assert_eq!(field_error(&rejected).1, "discount_not_applicable");
}

#[tokio::test]
async fn a_free_shipping_discount_is_limited_to_its_shipping_rates() {
    let (market, [standard, overnight, _]) = shop().await;
    let book = market.stock(10_000, 50).await;
    let most =
        json!({"code": "CHEAP", "kind": "free_shipping", "value": {"max_amount": inr(9_900)}});
    let made = discount(&market, most).await;
    let shown = market.owner.get(&format!("{DISCOUNTS}/{made}")).await.expect(200);
    assert_eq!(*shown.at("/value/max_amount"), inr(9_900));
    let named = json!({"shipping_rate_ids": [standard]});
    discount(&market, json!({"code": "NAMED", "kind": "free_shipping", "value": named})).await;
    for code in ["CHEAP", "NAMED"] {
        let placed = order(&market, &book, 1, &standard, &[code]).await.expect(201);
        assert_eq!(discounts(&placed), [own("free_shipping", 9_900)], "{code}");
        let rejected = order(&market, &book, 1, &overnight, &[code]).await.expect(422);
        let expected = ("/discount_codes/0".into(), "discount_not_for_shipping_rate".into());
        assert_eq!(field_error(&rejected), expected, "{code}");
    }
    // An automatic one is passed over.
    let automatic = json!({"kind": "free_shipping", "value": {"max_amount": inr(10_000)}});
    discount(&market, automatic).await;
    assert_eq!(discounts(&order(&market, &book, 1, &overnight, &[]).await.expect(201)), []);
    let placed = order(&market, &book, 1, &standard, &[]).await.expect(201);
    assert_eq!(discounts(&placed), [own("free_shipping", 9_900)]);
    for (value, at, code) in [
        (
            json!({"max_amount": {"amount": 1, "currency": "USD"}}),
            "/value/max_amount/currency",
            "currency_mismatch",
        ),
        (json!({"shipping_rate_ids": []}), "/value/shipping_rate_ids", "too_few"),
        (
            json!({"shipping_rate_ids": [format!("shr_{}", "0".repeat(32))]}),
            "/value/shipping_rate_ids/0",
            "unknown_shipping_rate",
        ),
        (json!({"basis_points": 5}), "/value/basis_points", "not_applicable"),
    ] {
        let input = json!({"title": "X", "kind": "free_shipping", "value": value});
        let rejected = market.owner.post(DISCOUNTS).json(input).await.expect(422);
        assert_eq!(field_error(&rejected), (at.to_owned(), code.to_owned()));
    }
    let input = json!({"title": "X", "kind": "percentage", "value": {"basis_points": 5, "max_amount": inr(1)}});
    let rejected = market.owner.post(DISCOUNTS).json(input).await.expect(422);
    assert_eq!(field_error(&rejected), ("/value/max_amount".into(), "not_applicable".into()));
}

#[tokio::test]
async fn a_code_and_an_automatic_discount_combine_if_each_allows_the_other() {
    let (market, [standard, ..]) = shop().await;
    let book = market.stock(10_000, 50).await;
    // The automatic ones: a tenth of the order, and free shipping, which saves more.
    let tenth = discount(&market, json!({"value": {"basis_points": 1_000}})).await;
    let ship = discount(&market, json!({"kind": "free_shipping"})).await;
    let alone = json!({
        "order_discounts": false, "product_discounts": false, "shipping_discounts": false,
    });
    let fixed = |code: &str, combines: Value| json!({"code": code, "kind": "fixed", "value": {"amount": inr(2_000)}, "combines_with": combines});
    discount(&market, fixed("ALONE", alone.clone())).await;
    discount(&market, fixed("ORDERS", json!({"shipping_discounts": false}))).await;
    discount(&market, fixed("ALL", json!({}))).await;
    let with_code = |code: &str| {
        let (market, book, standard, code) = (&market, &book, &standard, code.to_owned());
        async move { discounts(&order(market, book, 1, standard, &[&code]).await.expect(201)) }
    };
    assert_eq!(with_code("ALONE").await, [own("fixed", 2_000)]);
    assert_eq!(with_code("ORDERS").await, [own("fixed", 2_000), own("percentage", 800)]);
    assert_eq!(with_code("ALL").await, [own("fixed", 2_000), own("free_shipping", 9_900)]);
    // Both must allow it.
    let path = format!("{DISCOUNTS}/{ship}");
    let changed = market.owner.patch(&path).json(json!({"combines_with": alone})).await.expect(200);
    assert_eq!(
        (changed.str("/class"), changed.at("/combines_with").clone()),
        ("shipping".into(), alone)
    );
    assert_eq!(with_code("ALL").await, [own("fixed", 2_000), own("percentage", 800)]);
    let path = format!("{DISCOUNTS}/{tenth}");
    let order_only = json!({"order_discounts": false});
    let changed =
        market.owner.patch(&path).json(json!({"combines_with": order_only})).await.expect(200);
    assert_eq!(changed.str("/class"), "order");
    assert_eq!(*changed.at("/combines_with/product_discounts"), json!(true));
    assert_eq!(with_code("ALL").await, [own("fixed", 2_000)]);
    let cleared = market.owner.patch(&path).json(json!({"combines_with": null})).await.expect(200);
    assert_eq!(*cleared.at("/combines_with/order_discounts"), json!(true));
    // Without a code, the best of them applies.
    assert_eq!(
        discounts(&order(&market, &book, 1, &standard, &[]).await.expect(201)),
        [own("free_shipping", 9_900)]
    );
}

#[tokio::test]
async fn an_account_and_guest_orders_of_its_address_share_a_discount_limit() {
    let market = Market::open().await;
    let book = market.stock(1_000, 500).await;
    let once = |code: &str| json!({"code": code, "value": {"basis_points": 1_000}, "per_customer_limit": 1});
    let (first, second) = (once("FIRST"), once("SECOND"));
    let first = discount(&market, first).await;
    discount(&market, second).await;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let signed_in = |code: &str, email: Option<&str>| {
        let mut input = with(cart(&[(&book, 1)]), json!({"discount_codes": [code]}));
        match email {
            Some(email) => input["email"] = json!(email),
            None => drop(input.as_object_mut().unwrap().remove("email")),
        }
        shopper.post(&market.orders_path()).key(&unique("o")).json(input)
    };
    let guest = |code: &str, email: &str| {
        market
            .try_order(with(cart(&[(&book, 1)]), json!({"discount_codes": [code], "email": email})))
    };
    let reason = |reply: Reply| field_error(&reply.expect(422)).1;
    let placed = signed_in("FIRST", None).await.expect(201);
    assert_eq!(
        reason(guest("FIRST", &shopper.email.to_uppercase()).await),
        "discount_used_by_customer"
    );
    assert_eq!(
        reason(signed_in("FIRST", Some("new@example.com")).await),
        "discount_used_by_customer"
    );
    // An address that the account has typed and not proven is not its own.
    guest("FIRST", "new@example.com").await.expect(201);
    // The other way round, and what is called off is given back to both.
    let by_guest = guest("SECOND", &shopper.email).await.expect(201);
    assert_eq!(reason(signed_in("SECOND", None).await), "discount_used_by_customer");
    market.act(&by_guest.str("/order/id"), "cancel", json!({})).await.expect(200);
    signed_in("SECOND", None).await.expect(201);
    assert_eq!(reason(guest("SECOND", &shopper.email).await), "discount_used_by_customer");
    market.act(&placed.str("/order/id"), "cancel", json!({})).await.expect(200);
    guest("FIRST", &shopper.email).await.expect(201);
    assert_eq!(used(&market, &first).await, 2);
}

#[tokio::test]
async fn a_guests_discount_use_counts_for_the_later_account() {
    let market = Market::open().await;
    let book = market.stock(1_000, 500).await;
    let input = json!({"code": "ONCE", "value": {"basis_points": 1_000}, "per_customer_limit": 1});
    discount(&market, input).await;
    let email = format!("{}@example.com", unique("later"));
    let fields = json!({"discount_codes": ["ONCE"], "email": email});
    let guest = market.order(with(cart(&[(&book, 1)]), fields.clone())).await;
    let shopper = Shopper::register_as(&market.gateway, &market.store, &email).await;
    let again = || {
        let input = with(cart(&[(&book, 1)]), fields.clone());
        shopper.post(&market.orders_path()).key(&unique("o")).json(input)
    };
    assert_eq!(field_error(&again().await.expect(422)).1, "discount_used_by_customer");
    // The order is moved to the account, with its use.
    market.gateway.advance(std::time::Duration::from_secs(61));
    market.gateway.sweep().await;
    let left =
        || async { market.gateway.items_of("guest_orders", "STO#").await.is_empty().then_some(()) };
    eventually(std::time::Duration::from_secs(30), left).await;
    market.gateway.quiet().await;
    let moved = market.show(&guest.id).await;
    assert_eq!(moved.str("/customer_id"), shopper.id);
    assert_eq!(field_error(&again().await.expect(422)).1, "discount_used_by_customer");
    market.act(&guest.id, "cancel", json!({})).await.expect(200);
    again().await.expect(201);
}
