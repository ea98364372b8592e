//! Carts on the server: who sees them, what they cost, and what is wrong with them.

mod checkout;
mod owned;
mod reminders;

use std::time::Duration;

use support::{Client, Input, Market, Reply, Shopper, Value, address, inr, json, unique};

const HEADER: &str = "x-service-cart-token";
const DAY: Duration = Duration::from_hours(24);

/// A cart, and how its shopper opens it.
struct Held {
    client: Client,
    path: String,
    id: String,
    token: Option<String>,
}

fn carts(market: &Market) -> String {
    format!("/v1/storefront/{}/carts", market.store.subdomain)
}

fn line(variant: &str, quantity: i64) -> Value {
    json!({"variant_id": variant, "quantity": quantity})
}

impl Held {
    /// A guest's cart, from a network of its own.
    async fn of_guest(market: &Market, fields: Value) -> Self {
        let client = market.gateway.client();
        let reply = client.post(&carts(market)).json(fields).await.expect(201);
        Self::of(client, market, &reply)
    }

    async fn of_customer(market: &Market, shopper: &Shopper, fields: Value) -> Self {
        let reply = shopper.post(&carts(market)).json(fields).await.expect(201);
        Self::of((**shopper).clone(), market, &reply)
    }

    fn of(client: Client, market: &Market, reply: &Reply) -> Self {
        let id = reply.str("/cart/id");
        let token = reply.at("/cart_token").as_str().map(str::to_owned);
        Self { client, path: format!("{}/{id}", carts(market)), id, token }
    }

    fn opened(&self, input: Input) -> Input {
        match &self.token {
            Some(token) => input.header(HEADER, token),
            None => input,
        }
    }

    async fn get(&self) -> Reply {
        self.opened(self.client.get(&self.path)).await
    }

    async fn patch(&self, fields: Value) -> Reply {
        self.opened(self.client.patch(&self.path)).json(fields).await
    }

    async fn add(&self, lines: Value) -> Reply {
        let path = format!("{}/lines", self.path);
        self.opened(self.client.post(&path)).json(json!({"lines": lines})).await
    }

    async fn check_out(&self, fields: Value) -> Reply {
        let path = format!("{}/checkout", self.path);
        self.opened(self.client.post(&path)).key(&unique("cart-checkout-key")).json(fields).await
    }
}

fn codes(cart: &Reply) -> Vec<(String, String)> {
    let faults = cart.at("/faults").as_array().unwrap().iter();
    let text = |fault: &Value, name: &str| fault[name].as_str().unwrap().to_owned();
    faults.map(|fault| (text(fault, "code"), text(fault, "pointer"))).collect()
}

fn can(cart: &Reply, action: &str) -> bool {
    cart.at("/allowed_actions").as_array().unwrap().contains(&json!(action))
}

#[tokio::test]
async fn a_cart_is_opened_by_its_token_alone() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let cart = Held::of_guest(&market, json!({"lines": [line(&book, 2)]})).await;
    let shown = cart.get().await.expect(200);
    assert_eq!(shown.int("/totals/subtotal/amount"), 2_000);
    assert!(!shown.text.contains(cart.token.as_deref().unwrap()), "returned once");
    let stored = market.gateway.item("cart", &cart.id).await;
    assert!(!stored.to_string().contains(cart.token.as_deref().unwrap()));
    let stranger = market.gateway.client();
    stranger.get(&cart.path).await.expect(404).problem("not_found");
    let other = Held::of_guest(&market, json!({})).await;
    let wrong = other.token.as_deref().unwrap();
    stranger.get(&cart.path).header(HEADER, wrong).await.expect(404).problem("not_found");
    for method in ["patch", "delete", "lines", "checkout", "merge"] {
        let input = match method {
            "patch" => stranger.patch(&cart.path).json(json!({"note": "mine"})),
            "delete" => stranger.delete(&cart.path),
            "merge" => {
                let shopper = Shopper::register(&market.gateway, &market.store).await;
                shopper.post(&format!("{}/merge", cart.path)).json(json!({}))
            }
            below => {
                let body = json!({"lines": [line(&book, 1)]});
                let body = if below == "lines" { body } else { json!({}) };
                stranger.post(&format!("{}/{below}", cart.path)).json(body)
            }
        };
        let input = input.key(&unique("a-key-that-nobody-guesses"));
        input.header(HEADER, wrong).await.expect(404).problem("not_found");
    }
    // At another store there is no such cart, whatever the token.
    let elsewhere = market.merchant.open_shop().await;
    let path = format!("/v1/storefront/{}/carts/{}", elsewhere.subdomain, cart.id);
    let token = cart.token.as_deref().unwrap();
    stranger.get(&path).header(HEADER, token).await.expect(404).problem("not_found");
    assert_eq!(cart.get().await.expect(200).int("/version"), 1);
}

/// A carrier's network has more shoppers than points: those who hold a cart go on buying.
#[tokio::test]
async fn a_cart_is_bought_from_a_network_without_points() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let held = Held::of_guest(&market, json!({"lines": [line(&book, 1)]})).await;
    market.gateway.app().clock.stop();
    let search = format!("/v1/storefront/{}/products?q=book", market.store.subdomain);
    let mut left = 200;
    while held.client.get(&search).await.status != 429 {
        left -= 1;
        assert!(left > 0, "the network has a budget");
    }
    held.client.post(&carts(&market)).json(json!({})).await.expect(429);
    held.add(json!([line(&book, 1)])).await.expect(200);
    held.get().await.expect(200);
    // Nobody else's cart is opened, whatever the token is; and not without end.
    let path = format!("{}/{}", carts(&market), held.id);
    let guess = || held.client.get(&path).header(HEADER, &"x".repeat(43));
    let mut statuses = Vec::new();
    for _ in 0..100 {
        statuses.push(guess().await.status);
    }
    assert!(statuses.contains(&404) && statuses.ends_with(&[429]), "{statuses:?}");
    held.client.get(&search).await.expect(429);
}

#[tokio::test]
async fn lines_are_added_changed_and_removed() {
    let market = Market::open().await;
    let (book, pen) = (market.stock(1_000, 9).await, market.stock(50, 9).await);
    let cart = Held::of_guest(&market, json!({})).await;
    let empty = cart.get().await.expect(200);
    assert_eq!((empty.at("/missing"), can(&empty, "checkout")), (&json!(["/lines"]), false));
    let engraved = json!({"variant_id": book, "quantity": 1, "properties": {"Text": "Ann"}});
    let added = cart.add(json!([line(&book, 1), engraved, line(&book, 2)])).await.expect(200);
    let quantities = |cart: &Reply| {
        let lines = cart.at("/lines").as_array().unwrap().iter();
        lines.map(|line| line["quantity"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((quantities(&added), added.int("/totals/subtotal/amount")), (vec![3, 1], 4_000));
    let path = format!("{}/lines/{}", cart.path, added.str("/lines/0/id"));
    let changed = cart.opened(cart.client.patch(&path)).json(json!({"quantity": 5}));
    let changed = changed.await.expect(200);
    assert_eq!(quantities(&changed), [5, 1]);
    assert_eq!(changed.str("/lines/0/id"), added.str("/lines/0/id"));
    let removed = cart.opened(cart.client.delete(&path)).await.expect(200);
    assert_eq!(quantities(&removed), [1]);
    cart.opened(cart.client.delete(&path)).await.expect(404).problem("not_found");
    // The whole set of lines may be sent again and again.
    for _ in 0..2 {
        let set = cart.patch(json!({"lines": [line(&pen, 4)]})).await.expect(200);
        assert_eq!((quantities(&set), set.int("/version")), (vec![4], 5));
    }
    // Added with one key, once.
    let key = unique("a-key-that-nobody-guesses");
    let path = format!("{}/lines", cart.path);
    for _ in 0..2 {
        let again = cart.opened(cart.client.post(&path)).key(&key);
        let again = again.json(json!({"lines": [line(&pen, 1)]})).await.expect(200);
        assert_eq!(quantities(&again), [5]);
    }
    cart.opened(cart.client.delete(&cart.path)).await.expect(204);
    cart.get().await.expect(404);
}

#[tokio::test]
async fn a_cart_beyond_its_limits_names_every_field() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let cart = Held::of_guest(&market, json!({"lines": [line(&book, 2)]})).await;
    let errors = |reply: Reply| reply.expect(422).field_errors();
    let at = |pointer: &str, code: &str| (pointer.to_owned(), code.to_owned());
    let found = errors(cart.add(json!([line(&book, 998)])).await);
    assert_eq!(found, [at("/lines/0/quantity", "out_of_range")]);
    let nothing = format!("var_{}", "0".repeat(32));
    let found = errors(cart.add(json!([line(&book, 1), line(&nothing, 1)])).await);
    assert_eq!(found, [at("/lines/1/variant_id", "unknown_variant")]);
    let many: Vec<Value> = (0..41)
        .map(|n| json!({"variant_id": book, "quantity": 1, "properties": {"n": n.to_string()}}))
        .collect();
    assert_eq!(errors(cart.patch(json!({"lines": many})).await), [at("/lines", "too_many")]);
    let unknown =
        json!({"discount_codes": ["NOPE"], "add_gift_card_codes": ["ABCD-EFGH-JKMN-PQRS"]});
    let found = errors(cart.patch(unknown).await);
    assert_eq!(
        found,
        [
            at("/add_gift_card_codes/0", "unknown_gift_card"),
            at("/discount_codes/0", "unknown_discount_code")
        ]
    );
    assert_eq!(cart.get().await.expect(200).int("/version"), 1);
}

#[tokio::test]
async fn a_change_is_made_to_the_expected_version() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let cart = Held::of_guest(&market, json!({"lines": [line(&book, 2)]})).await;
    let first = cart.get().await.expect(200).etag();
    let note = |text: &str| cart.opened(cart.client.patch(&cart.path)).json(json!({"note": text}));
    let second = note("one").if_match(&first).await.expect(200).etag();
    note("two").if_match(&first).await.expect(412).problem("precondition_failed");
    note("two").if_match(&second).await.expect(200);
}

#[tokio::test]
async fn a_cart_expires_thirty_days_after_its_last_change() {
    let market = Market::open().await;
    let book = market.stock(1_000, 9).await;
    let cart = Held::of_guest(&market, json!({"lines": [line(&book, 2)]})).await;
    market.gateway.advance(DAY * 29);
    cart.patch(json!({"note": "still here"})).await.expect(200);
    market.gateway.advance(DAY * 29);
    cart.get().await.expect(200);
    market.gateway.advance(DAY * 2);
    cart.get().await.expect(404).problem("not_found");
}

#[tokio::test]
async fn faults_say_what_keeps_a_cart_from_its_order() {
    let market = Market::open().await;
    let book = market.stock(1_000, 3).await;
    let cart = Held::of_guest(&market, json!({"lines": [line(&book, 2)]})).await;
    let shown = cart.get().await.expect(200);
    assert_eq!(shown.at("/missing"), &json!(["/email", "/shipping_address"]));
    let ready = json!({"email": "ann@example.com", "shipping_address": address(),
        "contact": {"first_name": "Ann"}});
    let shown = cart.patch(ready).await.expect(200);
    assert_eq!((codes(&shown), can(&shown, "checkout")), (vec![], true));
    // More than there are.
    let short = cart.add(json!([line(&book, 2)])).await.expect(200);
    let fault = |code: &str, pointer: &str| (code.to_owned(), pointer.to_owned());
    assert_eq!(codes(&short), [fault("insufficient_stock", "/lines/0/quantity")]);
    assert!(!can(&short, "checkout"));
    cart.check_out(json!({})).await.expect(409).problem("insufficient_stock");
    cart.patch(json!({"lines": [line(&book, 1)]})).await.expect(200);
    // Another price than the one that was shown.
    let product = market.owner.get("/v1/products").await.expect(200).str("/data/0/id");
    let path = format!("/v1/products/{product}/variants/{book}");
    market.owner.patch(&path).json(json!({"price": inr(1_100)})).await.expect(200);
    let dearer = cart.get().await.expect(200);
    assert_eq!(codes(&dearer), [fault("line_price_changed", "/lines/0/merchandise/price")]);
    assert!(can(&dearer, "checkout"));
    let seen = cart.patch(json!({"note": "all right"})).await.expect(200);
    assert_eq!(codes(&seen).len(), 1, "shown by the change");
    assert_eq!(codes(&cart.get().await.expect(200)), []);
    // A code that asks for more.
    let dear = json!({"title": "Much", "kind": "percentage", "code": "MUCH",
        "value": {"basis_points": 1_000}, "minimum": {"subtotal": inr(1_000_000)}});
    market.owner.post("/v1/discounts").json(dear).await.expect(201);
    let coded = cart.patch(json!({"discount_codes": ["much"]})).await.expect(200);
    assert_eq!(codes(&coded), [fault("discount_minimum_not_met", "/discount_codes/0")]);
    assert!(!can(&coded, "checkout"));
    cart.patch(json!({"discount_codes": []})).await.expect(200);
    // What is not sold any more.
    market
        .owner
        .patch(&format!("/v1/products/{product}"))
        .json(json!({"status": "draft"}))
        .await
        .expect(200);
    let gone = cart.get().await.expect(200);
    assert_eq!(codes(&gone), [fault("unknown_variant", "/lines/0/variant_id")]);
    assert_eq!(gone.at("/lines/0/merchandise"), &Value::Null);
}

#[tokio::test]
async fn reading_a_cart_with_codes_guesses_none() {
    let market = Market::open().await;
    let book = market.stock(1_000, 30).await;
    let off = json!({"title": "Off", "kind": "percentage", "code": "OFF",
        "value": {"basis_points": 1_000}});
    let off = market.owner.post("/v1/discounts").json(off).await.expect(201).str("/id");
    let (_, code) = market.gift_card(300).await;
    let input = json!({"lines": [line(&book, 1)], "discount_codes": ["off"],
        "add_gift_card_codes": [code]});
    let cart = Held::of_guest(&market, input).await;
    let shown = cart.get().await.expect(200);
    assert_eq!((shown.int("/totals/total/amount"), shown.int("/totals/due/amount")), (900, 600));
    assert_eq!(shown.int("/gift_cards/0/amount/amount"), 300);
    let stored = market.gateway.item("cart", &cart.id).await.to_string();
    assert!(!stored.contains(&code) && !shown.text.contains(&code), "the code is not stored");
    market.owner.delete(&format!("/v1/discounts/{off}")).await.expect(204);
    for _ in 0..8 {
        let shown = cart.get().await.expect(200);
        assert_eq!(codes(&shown)[0].0, "unknown_discount_code");
    }
    let card = shown.str("/gift_cards/0/id");
    let without = json!({"remove_gift_card_ids": [card], "discount_codes": []});
    let without = cart.patch(without).await.expect(200);
    assert_eq!(without.int("/totals/due/amount"), 1_000);
}
