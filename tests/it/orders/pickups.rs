//! The locations that goods are taken from: a pickup's own, and for what is not there yet, all that have some.

use support::{Market, Reply, Value, address, cart, inr, json, unique};

const LOCATIONS: &str = "/v1/inventory/locations";

/// A market with a main location, and a counter that fulfils no online orders; the rates for sending, for a
/// pickup at the main location and for one at the counter.
struct Town {
    market: Market,
    main: String,
    counter: String,
    sent: String,
    at_main: String,
    at_counter: String,
}

impl Town {
    async fn open() -> Self {
        let market = Market::open().await;
        let first = market.owner.get(LOCATIONS).await.expect(200);
        let main = first.data()[0]["id"].as_str().unwrap().to_owned();
        let input = json!({
            "name": "Counter", "address": {"country": "IN"}, "fulfills_online_orders": false,
        });
        let counter = market.owner.post(LOCATIONS).json(input).await.expect(201).str("/id");
        let pickup = |name: &str, at: &str| json!({"name": name, "kind": "pickup", "price": inr(0), "location_id": at});
        let zone = json!({"name": "India", "countries": ["IN"], "rates": [
            {"name": "Standard", "kind": "flat", "price": inr(9_900)},
            pickup("Main", &main), pickup("Counter", &counter),
        ]});
        let path = format!("/v1/stores/{}/shipping-zones", market.store.id);
        let zone = market.owner.post(&path).json(zone).await.expect(201);
        let [sent, at_main, at_counter] = [0, 1, 2].map(|n| zone.str(&format!("/rates/{n}/id")));
        Self { market, main, counter, sent, at_main, at_counter }
    }

    /// A variant with so many at the main location and at the counter.
    async fn stock(&self, main: i64, counter: i64, policy: &str) -> String {
        let levels = json!([
            {"location_id": self.main, "quantity": main},
            {"location_id": self.counter, "quantity": counter},
        ]);
        let inventory = json!({"tracked": true, "policy": policy, "levels": levels});
        self.market.product(1_000, Some(inventory)).await
    }

    /// The names of the rates that are offered for a cart.
    async fn offered(&self, lines: &[(&str, i64)]) -> Vec<String> {
        let path = format!("/v1/storefront/{}/shipping-rates", self.market.store.subdomain);
        let input = json!({"items": cart(lines)["items"], "shipping_address": {"country": "IN"}});
        let offered = self.market.gateway.client().post(&path).json(input).await.expect(200);
        let mut names: Vec<String> =
            offered.data().iter().map(|rate| rate["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    async fn order(&self, lines: &[(&str, i64)], rate: &str) -> Reply {
        let mut input = cart(lines);
        input["shipping_rate_id"] = json!(rate);
        self.market.try_order(input).await
    }

    /// Available and reserved at a location.
    async fn at(&self, variant: &str, location: &str) -> (i64, i64) {
        let path = format!("/v1/inventory/levels?item_ids={variant}");
        let levels = self.market.owner.get(&path).await.expect(200);
        let mut all = levels.data().iter();
        let found = all.find(|one| one["location_id"] == json!(location));
        let count = |name: &str| found.map_or(0, |one| one["quantities"][name].as_i64().unwrap());
        (count("available"), count("reserved"))
    }
}

#[tokio::test]
async fn a_pickup_takes_the_stock_of_its_location() {
    let town = Town::open().await;
    let book = town.stock(5, 3, "deny").await;
    town.order(&[(&book, 2)], &town.at_counter).await.expect(201);
    assert_eq!(
        (town.at(&book, &town.main).await, town.at(&book, &town.counter).await),
        ((5, 0), (1, 2))
    );
    town.order(&[(&book, 2)], &town.at_main).await.expect(201);
    town.order(&[(&book, 1)], &town.sent).await.expect(201);
    assert_eq!(
        (town.at(&book, &town.main).await, town.at(&book, &town.counter).await),
        ((2, 3), (1, 2))
    );
    // Two are left at the main location, and one at the counter.
    for (rate, units) in [(&town.at_counter, 2), (&town.at_main, 3)] {
        let rejected = town.order(&[(&book, units)], rate).await.expect(422);
        let expected = ("/shipping_rate_id".to_owned(), "shipping_rate_unavailable".to_owned());
        assert_eq!(rejected.field_errors(), [expected]);
    }
    let mut dry = cart(&[(&book, 2)]);
    dry["shipping_rate_id"] = json!(town.at_counter);
    dry["dry_run"] = json!(true);
    town.market.try_order(dry).await.expect(422);
    town.market.audit(&book).await;
}

#[tokio::test]
async fn a_pickup_is_offered_only_where_all_items_are_in_stock() {
    let town = Town::open().await;
    let both = town.stock(5, 3, "deny").await;
    let here = town.stock(4, 0, "continue").await;
    let digital = town.market.product(500, None).await;
    assert_eq!(town.offered(&[(&both, 3)]).await, ["Counter", "Main", "Standard"]);
    assert_eq!(town.offered(&[(&both, 4)]).await, ["Main", "Standard"]);
    assert_eq!(town.offered(&[(&both, 1), (&here, 1)]).await, ["Main", "Standard"]);
    assert_eq!(town.offered(&[(&both, 6)]).await, ["Standard"]);
    assert_eq!(town.offered(&[(&here, 9)]).await, ["Standard"], "what is sold beyond its stock");
    assert_eq!(town.offered(&[(&digital, 9)]).await, ["Counter", "Main", "Standard"]);
}

#[tokio::test]
async fn an_inactive_location_offers_no_pickup() {
    let town = Town::open().await;
    let book = town.stock(5, 3, "deny").await;
    let path = format!("{LOCATIONS}/{}/deactivate", town.counter);
    let input = json!({"move_stock_to": town.main});
    town.market.owner.post(&path).json(input).await.expect(200);
    assert_eq!(town.offered(&[(&book, 1)]).await, ["Main", "Standard"]);
    town.order(&[(&book, 1)], &town.at_counter).await.expect(422);
}

/// Two locations with three and four units of what is sold beyond its stock.
async fn market_short_of_two() -> (Market, [Value; 2], String) {
    let market = Market::open().await;
    let first = market.owner.get(LOCATIONS).await.expect(200).data()[0]["id"].clone();
    let input = json!({"name": "Annex", "address": {"country": "IN"}, "priority": 1});
    let annex = market.owner.post(LOCATIONS).json(input).await.expect(201).at("/id").clone();
    let levels = json!([
        {"location_id": first, "quantity": 3}, {"location_id": annex, "quantity": 4},
    ]);
    let inventory = json!({"tracked": true, "policy": "continue", "levels": levels});
    let book = market.product(1_000, Some(inventory)).await;
    (market, [first, annex], book)
}

/// The available, the committed and the physical units of an item at a location.
async fn counts(market: &Market, item: &str, location: &Value) -> [i64; 3] {
    let levels = market.owner.get(&format!("/v1/inventory/levels?item_ids={item}")).await;
    let levels = levels.expect(200);
    let level = levels.data().iter().find(|one| one["location_id"] == *location).unwrap();
    ["available", "committed", "on_hand"].map(|name| level["quantities"][name].as_i64().unwrap())
}

#[tokio::test]
async fn backordered_units_are_fulfilled_last_and_cancelled_first() {
    let (market, [first, annex], book) = market_short_of_two().await;
    let placed = market.order(cart(&[(&book, 9)])).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    assert_eq!(counts(&market, &book, &first).await, [-2, 5, 3]);
    // What is there leaves, and two units are owed.
    let seven = json!({"items": [{"order_item_id": placed.line(0), "quantity": 7}]});
    market.act(&placed.id, "fulfill", seven).await.expect(201);
    assert_eq!(counts(&market, &book, &first).await, [-2, 2, 0]);
    assert_eq!(counts(&market, &book, &annex).await, [0, 0, 0]);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    assert_eq!(counts(&market, &book, &first).await, [-2, 0, -2]);
    market.audit(&book).await;

    let (market, [first, annex], book) = market_short_of_two().await;
    let placed = market.order(cart(&[(&book, 9)])).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let two = json!({"items": [{"order_item_id": placed.line(0), "quantity": 2}]});
    market.act(&placed.id, "lines/cancel", two).await.expect(200);
    assert_eq!(counts(&market, &book, &first).await, [0, 3, 3]);
    assert_eq!(counts(&market, &book, &annex).await, [0, 4, 4]);
    market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    assert_eq!(counts(&market, &book, &first).await, [0, 0, 0]);
    market.audit(&book).await;
}

#[tokio::test]
async fn a_backorder_allocates_available_stock_first() {
    let (market, [first, annex], book) = market_short_of_two().await;
    let placed = market.order(cart(&[(&book, 9)])).await;
    let at = |levels: &Reply, location: &Value| {
        let level = levels.data().iter().find(|one| one["location_id"] == *location).cloned();
        let count = |name: &str| level.as_ref().unwrap()["quantities"][name].as_i64().unwrap();
        [count("available"), count("reserved")]
    };
    let path = format!("/v1/inventory/levels?item_ids={book}");
    let levels = market.owner.get(&path).await.expect(200);
    // Seven are there, and two are owed.
    assert_eq!((at(&levels, &first), at(&levels, &annex)), ([-2, 5], [0, 4]));
    let order = market.show(&placed.id).await;
    let quantities: Vec<i64> = order
        .at("/items/0/allocations")
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["quantity"].as_i64().unwrap())
        .collect();
    assert_eq!(quantities, [5, 4]);
    assert_eq!(order.int("/items/0/backordered"), 2);
    market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(market.levels(&book).await, [7, 0, 0, 7]);
    let mut input = cart(&[(&book, 1)]);
    input["items"] = json!([
        {"variant_id": book, "quantity": 5, "properties": {"Engraving": "Ann"}},
        {"variant_id": book, "quantity": 4},
    ]);
    input["shipping_address"] = address();
    let placed = market.owner.post("/v1/orders").key(&unique("made")).json(input).await.expect(201);
    let levels = market.owner.get(&path).await.expect(200);
    assert_eq!((at(&levels, &first), at(&levels, &annex)), ([0, 3], [-2, 6]));
    market.act(&placed.str("/id"), "mark-paid", json!({})).await.expect(200);
    market.audit(&book).await;
}
