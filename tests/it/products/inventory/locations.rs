//! Locations: opened, emptied, closed.

use std::time::Duration;

use support::{Client, Faults, Gateway, Merchant, Process, json, race, unique};

use super::{LEVELS, LOCATIONS, Stock, cart, counts};

#[tokio::test]
async fn a_store_starts_with_one_location_and_adds_more() {
    let stock = Stock::new().await;
    let first = stock.owner.get(LOCATIONS).await.expect(200);
    assert_eq!(first.data().len(), 1, "listed again, it is not made again");
    assert_eq!(first.data()[0]["name"], "Main");
    let input = json!({
        "name": "Second", "address": {
            "line1": "1 Dock Road", "city": "Pune", "region": "Maharashtra",
            "postal_code": "411001", "country": "IN",
        },
        "fulfills_online_orders": false,
    });
    let second = stock.owner.post(LOCATIONS).json(input).key("l").await.expect(201);
    assert_eq!((second.int("/priority"), second.int("/version")), (1, 1));
    assert_eq!(second.str("/address/region"), "MH", "as in any other address");
    let path = format!("{LOCATIONS}/{}", second.str("/id"));
    assert_eq!(stock.owner.get(&path).await.expect(200).json, second.json);
    let patch = json!({"priority": 0, "fulfills_online_orders": true, "name": "Two"});
    let changed = stock.owner.patch(&path).json(patch).if_match("\"1\"").await.expect(200);
    assert_eq!((changed.str("/name").as_str(), changed.int("/version")), ("Two", 2));
    let stale = stock.owner.patch(&path).json(json!({"name": "x"})).if_match("\"1\"").await;
    stale.expect(412).problem("precondition_failed");
    for name in ["location.created", "location.updated"] {
        assert!(!stock.gateway.events(name).await.is_empty(), "{name}");
    }
    let bad = stock.owner.post(LOCATIONS).json(json!({"address": {"country": "XX"}})).await;
    let bad = bad.expect(422);
    assert_eq!(bad.at("/errors").as_array().unwrap().len(), 2, "{}", bad.text);
}

#[tokio::test]
async fn a_location_address_is_validated_by_its_country() {
    let stock = Stock::new().await;
    let made = stock.owner.post(LOCATIONS).json(json!({"name": "A", "address": {"country": "US"}}));
    let path = format!("{LOCATIONS}/{}", made.await.expect(201).str("/id"));
    for (address, field_errors) in [
        (
            json!({"country": "US", "region": "ZZ", "postal_code": "x"}),
            vec![
                ("/address/postal_code", "invalid_postal_code"),
                ("/address/region", "invalid_region"),
            ],
        ),
        (json!({"country": "US", "postal_code": "94105"}), vec![("/address/region", "required")]),
        (
            json!({"country": "GB", "postal_code": "12345"}),
            vec![("/address/postal_code", "invalid_postal_code")],
        ),
    ] {
        let field_errors: Vec<_> =
            field_errors.into_iter().map(|(at, code)| (at.to_owned(), code.to_owned())).collect();
        let input = json!({"name": "B", "address": address});
        let rejected = stock.owner.post(LOCATIONS).json(input.clone()).await.expect(422);
        assert_eq!(rejected.field_errors(), field_errors);
        let rejected = stock.owner.patch(&path).json(input).await.expect(422);
        assert_eq!(rejected.field_errors(), field_errors);
    }
    let right = json!({"address": {"country": "GB", "postal_code": "sw1a 1aa"}});
    let moved = stock.owner.patch(&path).json(right).await.expect(200);
    assert_eq!(moved.str("/address/postal_code"), "SW1A 1AA");
}

#[tokio::test]
async fn listing_locations_does_not_change_the_store() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let owner = merchant.at(&store);
    let path = format!("/v1/stores/{}", store.id);
    let before = owner.get(&path).await.expect(200);
    let first = owner.get(LOCATIONS).await.expect(200);
    assert_eq!(first.data().len(), 1);
    assert_eq!(first.data()[0]["name"], "Main");
    let held = owner.patch(&path).json(json!({"name": "Held"})).if_match(&before.etag());
    held.await.expect(200);
    assert_eq!(gateway.events("location.created").await.len(), 1, "it came with the store");
}

#[tokio::test]
async fn parallel_deactivations_leave_one_active_location() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let only = |id: &str| {
        let input = stock.owner.post(&format!("{LOCATIONS}/{id}/deactivate")).json(json!({}));
        async move { input.await }
    };
    let outcomes = tokio::join!(only(&stock.main), only(&second));
    let mut statuses = [outcomes.0.status, outcomes.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", outcomes.0.text, outcomes.1.text);
    let active = stock.owner.get(&format!("{LOCATIONS}?active=true")).await.expect(200);
    assert_eq!(active.data().len(), 1);
    let inactive = stock.owner.get(&format!("{LOCATIONS}?active=false")).await.expect(200);
    let path = format!("{LOCATIONS}/{}", inactive.data()[0]["id"].as_str().unwrap());
    let again = stock.owner.post(&format!("{path}/deactivate")).json(json!({})).await;
    again.expect(409).problem("invalid_state_transition");
    stock.owner.post(&format!("{path}/activate")).json(json!({})).await.expect(200);
}

#[tokio::test]
async fn deactivating_a_location_moves_its_stock() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let item = stock.item(7).await;
    let held = json!([{
        "item_id": item, "location_id": stock.main, "quantity": 2,
        "from_state": "available", "to_state": "reserved",
    }]);
    stock.change("move", held).await.expect(200);
    let path = format!("{LOCATIONS}/{}/deactivate", stock.main);
    let rejected = stock.owner.post(&path).json(json!({})).await.expect(409);
    rejected.problem("location_has_stock");
    let unknown = format!("loc_{}", "0".repeat(32));
    let input = json!({"move_stock_to": unknown});
    stock.owner.post(&path).json(input).await.expect(422).problem("validation_failed");
    let input = json!({"move_stock_to": second});
    let gone = stock.owner.post(&path).json(input).await.expect(200);
    assert_eq!(*gone.at("/active"), json!(false));
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(0, 0, 0));
    assert_eq!(stock.quantities(&item, &second).await, counts(5, 2, 0));
    stock.verify(&item, &stock.main).await;
    stock.verify(&item, &second).await;
    let late = json!([{"item_id": item, "location_id": stock.main, "delta": 1}]);
    stock.change("adjust", late).await.expect(409).problem("location_inactive");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_location_deactivated_during_checkouts_has_no_reserved_stock() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let (item, checkout) = stock
        .on_sale(json!({
            "tracked": true, "levels": [{"location_id": stock.main, "quantity": 30}],
        }))
        .await;
    let orders = race(20, || async {
        let input = cart(&json!([{"variant_id": item, "quantity": 1}]));
        stock.gateway.client().post(&checkout).json(input).key(&unique("o")).await
    });
    let path = format!("{LOCATIONS}/{}/deactivate", stock.main);
    let closing = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        stock.owner.post(&path).json(json!({"move_stock_to": second})).await
    };
    let (orders, gone) = tokio::join!(orders, closing);
    let placed = orders.iter().filter(|order| order.status == 201).count();
    let placed = i64::try_from(placed).unwrap();
    let of = async |at: &str, what: &str| stock.quantities(&item, at).await[what].as_i64();
    let here = of(&stock.main, "reserved").await.unwrap_or_default();
    let there = of(&second, "reserved").await.unwrap_or_default();
    assert_eq!(here + there, placed);
    let lies = of(&stock.main, "on_hand").await.unwrap()
        + of(&second, "on_hand").await.unwrap_or_default();
    assert_eq!(lies, 30, "no stock is lost");
    let location = stock.owner.get(&format!("{LOCATIONS}/{}", stock.main)).await.expect(200);
    assert_eq!(*location.at("/closing"), json!(false));
    if gone.status == 200 {
        assert_eq!((here, of(&stock.main, "on_hand").await), (0, Some(0)), "{}", gone.text);
    } else {
        gone.expect(409).problem("location_has_stock");
        assert_eq!(*location.at("/active"), json!(true));
    }
    stock.verify(&item, &stock.main).await;
}

#[tokio::test]
async fn a_closing_location_sells_nothing_and_can_be_reactivated() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let (item, checkout) = stock
        .on_sale(json!({
            "tracked": true, "levels": [
                {"location_id": stock.main, "quantity": 5}, {"location_id": second, "quantity": 5},
            ],
        }))
        .await;
    stock.fill(60).await;
    stock.gateway.app().clock.stop();
    let slow = process_that_moves_slowly(&stock.gateway).serve().await;
    let path = format!("{LOCATIONS}/{}", stock.main);
    let deactivate = |owner: &Client| {
        let input = owner.post(&format!("{path}/deactivate"));
        input.json(json!({"move_stock_to": second})).key("leave")
    };
    let late = deactivate(&stock.owner.at_url(&slow.url)).await;
    late.expect(503).problem("location_emptying");
    let closing = stock.owner.get(&path).await.expect(200);
    assert_eq!(*closing.at("/active"), json!(true));
    assert_eq!(*closing.at("/allowed_actions"), json!(["activate", "deactivate"]));
    let late = json!([{"item_id": item, "location_id": stock.main, "delta": 1}]);
    stock.change("adjust", late).await.expect(409).problem("location_inactive");
    let input = cart(&json!([{"variant_id": item, "quantity": 1}]));
    let order = stock.gateway.client().post(&checkout).json(input).key("o").await.expect(201);
    assert_eq!(stock.quantities(&item, &second).await["reserved"], json!(1), "{}", order.text);
    let back = stock.owner.post(&format!("{path}/activate")).json(json!({})).await.expect(200);
    assert_eq!(*back.at("/closing"), json!(false));
    let gone = deactivate(&stock.owner).await.expect(200);
    assert_eq!((gone.at("/active"), gone.at("/closing")), (&json!(false), &json!(false)));
    let levels = stock.owner.get(&format!("{LEVELS}?location_ids={}&limit=100", stock.main)).await;
    let levels = levels.expect(200);
    assert!(levels.data().iter().all(|level| level["quantities"]["on_hand"] == 0));
}

/// A process in which the first transaction that moves stock takes longer than a request may.
fn process_that_moves_slowly(gateway: &Gateway) -> Process {
    let (faults, clock) = (Faults::planned(), gateway.app().clock.clone());
    let mut is_first = true;
    faults.reject(move |_, input| {
        if is_first && input.to_string().contains("#MOV#") {
            is_first = false;
            clock.advance(Duration::from_secs(9));
        }
        false
    });
    gateway.process_over(&faults)
}

#[tokio::test]
async fn a_location_with_reserved_stock_is_not_deactivated() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let (item, checkout) = stock
        .on_sale(json!({
            "tracked": true, "levels": [{"location_id": stock.main, "quantity": 5}],
        }))
        .await;
    let input = cart(&json!([{"variant_id": item, "quantity": 1}]));
    stock.gateway.client().post(&checkout).json(input).key("o").await.expect(201);
    let path = format!("{LOCATIONS}/{}", stock.main);
    let input = json!({"move_stock_to": second});
    let rejected = stock.owner.post(&format!("{path}/deactivate")).json(input).await.expect(409);
    rejected.problem("location_has_stock");
    let stays = stock.owner.get(&path).await.expect(200);
    assert_eq!((stays.at("/active"), stays.at("/closing")), (&json!(true), &json!(false)));
    assert_eq!(stock.quantities(&item, &stock.main).await, counts(4, 1, 0));
}

#[tokio::test]
async fn a_new_variant_rejects_stock_at_an_inactive_location() {
    let stock = Stock::new().await;
    let second = stock.location("Second").await;
    let path = format!("{LOCATIONS}/{second}/deactivate");
    stock.owner.post(&path).json(json!({})).await.expect(200);
    let variant = json!({
        "price": {"amount": 1_000, "currency": "INR"}, "inventory": {
            "tracked": true, "levels": [{"location_id": second, "quantity": 1}],
        },
    });
    let input = json!({"title": "Lamp", "variants": [variant.clone()]});
    let rejected = stock.owner.post("/v1/products").json(input).await.expect(422);
    assert_eq!(rejected.str("/errors/0/pointer"), "/variants/0/inventory/levels/0/location_id");
    assert_eq!(rejected.str("/errors/0/code"), "location_inactive");
    let input = json!({"title": "Lamp", "options": [{"name": "Size", "values": ["S", "M"]}], "variants": [
        {"price": {"amount": 1_000, "currency": "INR"}, "options": ["S"]},
    ]});
    let product = stock.owner.post("/v1/products").json(input).await.expect(201).str("/id");
    let mut variant = variant;
    variant["options"] = json!(["M"]);
    let rejected = stock.owner.post(&format!("/v1/products/{product}/variants")).json(variant);
    let rejected = rejected.await.expect(422);
    assert_eq!(rejected.str("/errors/0/code"), "location_inactive", "{}", rejected.text);
}
