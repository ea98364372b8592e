//! Lines that no location holds all of: taken from several, and followed through an order's life.

use std::time::Duration;

use support::{Market, Placed, Reply, Value, address, cart, inr, json, race, unique};

const LOCATIONS: &str = "/v1/inventory/locations";

/// A market with locations in this order of priority.
struct Chain {
    market: Market,
    places: Vec<String>,
}

impl Chain {
    async fn of(count: usize) -> Self {
        let market = Market::open().await;
        let first = market.owner.get(LOCATIONS).await.expect(200);
        let mut places = vec![first.data()[0]["id"].as_str().unwrap().to_owned()];
        for priority in 1..count {
            let input = json!({
                "name": format!("Place {priority}"), "address": {"country": "IN"},
                "priority": priority,
            });
            places.push(market.owner.post(LOCATIONS).json(input).await.expect(201).str("/id"));
        }
        Self { market, places }
    }

    /// A variant of which there is so much at each place.
    async fn stock(&self, quantities: &[i64]) -> String {
        let level = |(place, quantity)| json!({"location_id": place, "quantity": quantity});
        let levels: Vec<Value> = self.places.iter().zip(quantities).map(level).collect();
        self.market.product(1_000, Some(json!({"tracked": true, "levels": levels}))).await
    }

    /// Available, reserved and committed at each place.
    async fn at(&self, variant: &str) -> Vec<[i64; 3]> {
        let path = format!("/v1/inventory/levels?item_ids={variant}");
        let levels = self.market.owner.get(&path).await.expect(200);
        let of = |place: &String| {
            let found = levels.data().iter().find(|one| one["location_id"] == json!(place));
            let count = |name: &str| {
                found.as_ref().map_or(0, |one| one["quantities"][name].as_i64().unwrap())
            };
            ["available", "reserved", "committed"].map(count)
        };
        self.places.iter().map(of).collect()
    }

    /// What a line says of where it is taken from: the place's number, and so many yet to leave.
    fn allocated(&self, order: &Reply, line: usize) -> Vec<(usize, i64)> {
        let all = order.at(&format!("/items/{line}/allocations")).as_array().unwrap().clone();
        let number =
            |one: &Value| self.places.iter().position(|id| one["location_id"] == json!(id));
        all.iter().map(|one| (number(one).unwrap(), one["remaining"].as_i64().unwrap())).collect()
    }
}

fn units(placed: &Placed, quantity: i64) -> Value {
    json!({"items": [{"order_item_id": placed.line(0), "quantity": quantity}]})
}

#[tokio::test]
async fn a_line_is_allocated_to_several_locations() {
    let chain = Chain::of(2).await;
    let market = &chain.market;
    let book = chain.stock(&[2, 2]).await;
    let mut dry = cart(&[(&book, 3)]);
    dry["dry_run"] = json!(true);
    let said = market.try_order(dry.clone()).await.expect(200);
    assert_eq!(*said.at("/availability/0/available"), json!(true));
    dry["items"][0]["quantity"] = json!(5);
    let said = market.try_order(dry).await.expect(200);
    assert_eq!(*said.at("/availability/0/available"), json!(false));
    let rejected = market.try_order(cart(&[(&book, 5)])).await.expect(409);
    rejected.problem("insufficient_stock");
    let placed = market.order(cart(&[(&book, 3)])).await;
    assert_eq!(chain.at(&book).await, [[0, 2, 0], [1, 1, 0]]);
    let order = market.show(&placed.id).await;
    assert_eq!(chain.allocated(&order, 0), [(0, 2), (1, 1)]);
    assert_eq!(*order.at("/items/0/location_id"), json!(chain.places[0]));
    // Where it comes from is the merchant's business.
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.act(&placed.id, "fulfill", units(&placed, 1)).await.expect(201);
    let seen = market.look(&placed).await.expect(200);
    for text in [&placed.reply.text, &seen.text] {
        assert!(!text.contains("location") && !text.contains("allocation"), "{text}");
    }
    assert_eq!(chain.at(&book).await, [[0, 0, 1], [1, 0, 1]]);
    market.audit(&book).await;
}

#[tokio::test]
async fn a_line_is_fulfilled_and_returned_at_its_locations() {
    let chain = Chain::of(2).await;
    let market = &chain.market;
    let book = chain.stock(&[2, 2]).await;
    let placed = market.paid(&book, 4).await;
    assert_eq!(chain.at(&book).await, [[0, 0, 2], [0, 0, 2]]);
    let from = |place: usize, quantity: i64| {
        let mut input = units(&placed, quantity);
        input["location_id"] = json!(chain.places[place]);
        input
    };
    let rejected = market.act(&placed.id, "fulfill", from(1, 3)).await.expect(409);
    let rejected = rejected.problem("insufficient_committed");
    assert_eq!(*rejected.at("/items/0/remaining_there"), json!(2));
    let second = market.act(&placed.id, "fulfill", from(1, 1)).await.expect(201);
    assert_eq!(chain.at(&book).await, [[0, 0, 2], [0, 0, 1]]);
    // All that is at a place, and then all that is left, wherever it is.
    let here = json!({"location_id": chain.places[0]});
    let first = market.act(&placed.id, "fulfill", here).await.expect(201);
    assert_eq!(first.int("/fulfillment/items/0/quantity"), 2);
    let path = format!("fulfillments/{}/cancel", first.str("/fulfillment/id"));
    market.act(&placed.id, &path, json!({})).await.expect(200);
    assert_eq!(chain.at(&book).await, [[0, 0, 2], [0, 0, 1]]);
    let rest = market.act(&placed.id, "fulfill", json!({})).await.expect(201);
    let parts = rest.at("/fulfillment/allocations").as_array().unwrap();
    let parts: Vec<_> = parts.iter().map(|one| one["quantity"].clone()).collect();
    assert_eq!(parts, [json!(2), json!(1)]);
    assert_eq!(chain.at(&book).await, [[0, 0, 0], [0, 0, 0]]);
    let path = format!("fulfillments/{}/cancel", second.str("/fulfillment/id"));
    market.act(&placed.id, &path, json!({})).await.expect(200);
    assert_eq!(chain.at(&book).await, [[0, 0, 0], [0, 0, 1]]);
    // Three have left: two from the first place, one from the second.
    let back = market.act(&placed.id, "lines/return", units(&placed, 3)).await.expect(200);
    let at = back.at("/lines/0/restocked_at").as_array().unwrap().clone();
    let at: Vec<_> =
        at.iter().map(|one| (one["location_id"].clone(), one["quantity"].clone())).collect();
    let expected = [(json!(chain.places[0]), json!(2)), (json!(chain.places[1]), json!(1))];
    assert_eq!(at, expected);
    assert_eq!(chain.at(&book).await, [[2, 0, 0], [1, 0, 1]]);
    market.act(&placed.id, "lines/cancel", json!({})).await.expect(200);
    assert_eq!(chain.at(&book).await, [[2, 0, 0], [2, 0, 0]]);
    market.audit(&book).await;
}

#[tokio::test]
async fn cancelled_units_return_to_every_location() {
    let chain = Chain::of(3).await;
    let market = &chain.market;
    let book = chain.stock(&[1, 2, 3]).await;
    let all = [[1, 0, 0], [2, 0, 0], [3, 0, 0]];
    // The fewest places, and of those the first: the third alone, then the first with the third.
    let whole = market.order(cart(&[(&book, 3)])).await;
    assert_eq!(chain.allocated(&market.show(&whole.id).await, 0), [(2, 3)]);
    market.act(&whole.id, "cancel", json!({})).await.expect(200);
    assert_eq!(chain.at(&book).await, all);
    let pair = market.order(cart(&[(&book, 4)])).await;
    assert_eq!(chain.allocated(&market.show(&pair.id).await, 0), [(0, 1), (2, 3)]);
    market.gateway.advance(Duration::from_mins(31));
    market.gateway.sweep().await;
    assert_eq!(market.show(&pair.id).await.str("/status"), "expired");
    assert_eq!(chain.at(&book).await, all);
    // Of what is paid, the last place is freed first; a refund frees the rest.
    let paid = market.paid(&book, 6).await;
    market.act(&paid.id, "lines/cancel", units(&paid, 2)).await.expect(200);
    assert_eq!(chain.at(&book).await, [[0, 0, 1], [0, 0, 2], [2, 0, 1]]);
    market.act(&paid.id, "fulfill", units(&paid, 2)).await.expect(201);
    assert_eq!(chain.at(&book).await, [[0, 0, 0], [0, 0, 1], [2, 0, 1]]);
    let line = |restock_type: &str, quantity: i64| {
        let mut input = units(&paid, quantity);
        input["items"][0]["restock_type"] = json!(restock_type);
        input
    };
    // Two were cancelled without their money, which comes first; two more have not left.
    let refund = market.act(&paid.id, "refund", line("cancel", 4)).await.expect(201);
    assert_eq!(refund.int("/refund/lines/0/restocked"), 2);
    assert_eq!(refund.at("/refund/lines/0/restocked_at").as_array().unwrap().len(), 2);
    assert_eq!(chain.at(&book).await, [[0, 0, 0], [1, 0, 0], [3, 0, 0]]);
    let plan = market.act(&paid.id, "refund/calculate", line("return", 2)).await.expect(200);
    assert_eq!(plan.at("/lines/0/restocked_at").as_array().unwrap().len(), 2);
    let refund = market.act(&paid.id, "refund", line("return", 2)).await.expect(201);
    assert_eq!(*refund.at("/order/refundable"), inr(0));
    assert_eq!(chain.at(&book).await, all);
    market.audit(&book).await;
}

#[tokio::test]
async fn an_order_stored_without_allocations_is_readable() {
    let chain = Chain::of(2).await;
    let market = &chain.market;
    let book = chain.stock(&[2, 2]).await;
    let placed = market.paid(&book, 2).await;
    // As orders were written before lines had several locations.
    let stored = market.gateway.item("order", &placed.id).await;
    let mut items = stored["items"].clone();
    let line = items[0].as_object_mut().unwrap();
    for name in ["allocations", "waived", "discarded"] {
        line.remove(name).unwrap();
    }
    market.gateway.change_item(&stored, json!({"items": items})).await;
    let order = market.show(&placed.id).await;
    assert_eq!(chain.allocated(&order, 0), [(0, 2)]);
    market.act(&placed.id, "fulfill", units(&placed, 1)).await.expect(201);
    market.act(&placed.id, "lines/cancel", json!({})).await.expect(200);
    market.act(&placed.id, "lines/return", units(&placed, 1)).await.expect(200);
    assert_eq!(chain.at(&book).await, [[2, 0, 0], [2, 0, 0]]);
    market.audit(&book).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_orders_never_oversell_a_location() {
    let chain = Chain::of(3).await;
    let market = &chain.market;
    let book = chain.stock(&[7, 7, 7]).await;
    let answers = race(40, || async { market.try_order(cart(&[(&book, 2)])).await }).await;
    let placed = answers.iter().filter(|answer| answer.status == 201).count();
    for answer in answers.into_iter().filter(|answer| answer.status != 201) {
        answer.expect(409).problem("insufficient_stock");
    }
    assert_eq!(placed, 10, "the pair that is left of three sevens is sold too");
    assert_eq!(market.levels(&book).await, [1, 20, 0, 21]);
    market.audit(&book).await;
}

/// An order's stock is at 40 places at most, so that whatever moves it is one transaction.
#[tokio::test]
async fn an_order_is_allocated_to_at_most_40_stock_levels() {
    let chain = Chain::of(2).await;
    let market = &chain.market;
    let level = |place: usize| json!({"location_id": chain.places[place], "quantity": 1});
    let mut ids = Vec::new();
    for _ in 0..2 {
        let names: Vec<String> = (0..20).map(|number| format!("No. {number}")).collect();
        let variant = |name: &String| {
            json!({
                "options": [name], "price": inr(100),
                "inventory": {"tracked": true, "levels": [level(0), level(1)]},
            })
        };
        let input = json!({
            "title": unique("Thing"), "status": "active",
            "options": [{"name": "Number", "values": names}],
            "variants": names.iter().map(variant).collect::<Vec<_>>(),
        });
        let product = market.owner.post("/v1/products").json(input).await.expect(201);
        ids.extend((0..20).map(|number| product.str(&format!("/variants/{number}/id"))));
    }
    let with = |count: usize, doubled: usize| {
        let line = |(place, id): (usize, &String)| json!({"variant_id": id, "quantity": if place < doubled { 2 } else { 1 }});
        json!({
            "email": "shopper@example.com", "shipping_address": address(),
            "items": ids.iter().take(count).enumerate().map(line).collect::<Vec<_>>(),
        })
    };
    let rejected = market.try_order(with(40, 1)).await.expect(409);
    let rejected = rejected.problem("insufficient_stock");
    assert_eq!(*rejected.at("/items/0/pointer"), json!("/items/0"));
    market.try_order(with(20, 20)).await.expect(201);
    let (_, code) = market.gift_card(50).await;
    let mut input = with(40, 0);
    input["items"].as_array_mut().unwrap().drain(..20);
    input["items"][0]["quantity"] = json!(2);
    input["gift_card_codes"] = json!([code]);
    let placed = market.order(input).await;
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    let done = market.act(&placed.id, "cancel", json!({})).await.expect(200);
    assert_eq!(done.str("/financial_status"), "refunded");
}
