//! Shipping zones and tax rates, as their merchant keeps them.

use support::{Market, Shop, Value, inr, json, race, unique};

fn flat(name: &str, amount: i64) -> Value {
    json!({"name": name, "kind": "flat", "price": inr(amount)})
}

fn zones(market: &Market) -> String {
    format!("/v1/stores/{}/shipping-zones", market.store.id)
}

fn rates(market: &Market) -> String {
    format!("/v1/stores/{}/tax-rates", market.store.id)
}

#[tokio::test]
async fn a_merchant_manages_a_shipping_zone_with_its_rates() {
    let market = Market::open().await;
    let (owner, path) = (&market.owner, zones(&market));
    let input = json!({
        "name": "South", "countries": ["IN"], "regions": ["Karnataka", "TN"],
        "rates": [flat("Standard", 9_900), {
            "name": "Heavy", "kind": "by_weight", "price": inr(19_900), "min": 1_000, "max": 5_000,
            "free_over": inr(200_000), "min_days": 2, "max_days": 5,
        }],
    });
    let made = owner.post(&path).json(input).await.expect(201);
    assert_eq!(*made.at("/regions"), json!(["KA", "TN"]));
    assert_eq!(made.int("/version"), 1);
    let (id, kept) = (made.str("/id"), made.at("/rates/1").clone());
    let one = format!("{path}/{id}");
    let input = json!({"name": "South India", "rates": [kept, flat("Express", 29_900)]});
    let changed = owner.patch(&one).json(input).await.expect(200);
    assert_eq!(changed.int("/version"), 2);
    assert_eq!(changed.str("/rates/0/id"), made.str("/rates/1/id"), "a rate keeps its id");
    assert_ne!(changed.str("/rates/1/id"), made.str("/rates/0/id"));
    let same = owner.patch(&one).json(json!({"name": "South India"})).await.expect(200);
    assert_eq!(same.int("/version"), 2);
    let stale = owner.patch(&one).if_match("\"1\"").json(json!({"name": "Other"}));
    stale.await.expect(412).problem("precondition_failed");
    assert_eq!(owner.get(&path).await.expect(200).data().len(), 1);
    assert_eq!(owner.get(&one).await.expect(200).str("/name"), "South India");
    owner.delete(&one).await.expect(204);
    owner.get(&one).await.expect(404);
    owner.delete(&one).await.expect(404);
    for (name, count) in [("created", 1), ("updated", 1), ("deleted", 1)] {
        let events = market.gateway.events(&format!("shipping_zone.{name}")).await;
        assert_eq!(events.len(), count, "{name}");
    }
}

#[tokio::test]
async fn all_field_errors_of_a_shipping_zone_are_reported_at_once() {
    let market = Market::open().await;
    let nowhere = format!("loc_{}", "0".repeat(32));
    let input = json!({
        "name": "X", "countries": ["IN", "DE"], "regions": ["KA"],
        "rates": [
            {"name": "A", "kind": "flat", "price": {"amount": 1, "currency": "USD"}, "min": 1},
            {"name": "B", "kind": "by_weight", "price": inr(1), "min": 5, "max": 4},
            {"name": "C", "kind": "flat", "price": inr(1), "min_days": 5, "max_days": 4},
            {"name": "D", "kind": "flat", "price": inr(1), "location_id": nowhere},
        ],
    });
    let rejected = market.owner.post(&zones(&market)).json(input).await.expect(422);
    let mut found = rejected.field_errors();
    found.sort();
    let found: Vec<_> = found.iter().map(|(at, code)| (at.as_str(), code.as_str())).collect();
    assert_eq!(
        found,
        [
            ("/rates/0/min", "not_applicable"),
            ("/rates/0/price/currency", "currency_mismatch"),
            ("/rates/1/max", "invalid_range"),
            ("/rates/2/max_days", "invalid_range"),
            ("/rates/3/location_id", "not_applicable"),
            ("/rates/3/location_id", "unknown_location"),
            ("/regions", "not_applicable"),
        ]
    );
    let input = json!({"name": "X", "countries": ["IN"], "regions": ["Bavaria"]});
    let rejected = market.owner.post(&zones(&market)).json(input).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/regions/0".into(), "invalid_region".into())]);
    assert!(market.gateway.events("shipping_zone.created").await.is_empty());
}

#[tokio::test]
async fn parallel_requests_never_create_overlapping_shipping_zones() {
    let market = Market::open().await;
    let (owner, path) = (&market.owner, zones(&market));
    let answers = race(10, || async {
        let input = json!({"name": unique("zone"), "countries": ["IN", "NP"]});
        owner.post(&path).json(input).await
    })
    .await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    let rejected = answers.iter().filter(|answer| answer.json["code"] == "zone_overlap").count();
    assert_eq!((made, rejected), (1, 9));
    let input = json!({"name": "Goa", "countries": ["IN"], "postal_prefixes": ["403"]});
    owner.post(&path).json(input).await.expect(201);
}

/// A blank at the end of a postal prefix ends a part of the code: `NG1 ` is not `NG10`.
#[tokio::test]
async fn a_trailing_space_in_a_postal_prefix_ends_the_code_part() {
    let market = Market::open().await;
    let prefixes = json!(["NG1 ", "ng2"]);
    let zone = json!({
        "name": "Nottingham", "countries": ["GB"], "postal_prefixes": prefixes,
        "rates": [flat("Courier", 500)],
    });
    let zone = market.owner.post(&zones(&market)).json(zone).await.expect(201);
    assert_eq!(*zone.at("/postal_prefixes"), json!(["NG1 ", "NG2"]));
    let book = market.stock(1_000, 5).await;
    let path = format!("/v1/storefront/{}/shipping-rates", market.store.subdomain);
    for (code, offered) in
        [("NG1 1AA", true), ("ng11aa", true), ("NG10 1AA", false), ("NG20 8AA", true)]
    {
        let to = json!({"country": "GB", "postal_code": code});
        let cart = json!({"items": [{"variant_id": book, "quantity": 1}], "shipping_address": to});
        let reply = market.gateway.client().post(&path).json(cart).await;
        assert_eq!(reply.status == 200, offered, "{code}: {}", reply.json);
    }
    let vat = |prefix: &str| {
        let codes = json!({"prefix": prefix});
        json!({"name": "VAT", "country": "GB", "postal_codes": codes, "percent": "20"})
    };
    let made = market.owner.post(&rates(&market)).json(vat("NG1 ")).await.expect(201);
    assert_eq!(made.str("/postal_codes/prefix"), "NG1 ");
    let wrong = market.owner.post(&rates(&market)).json(vat(" - ")).await.expect(422);
    let error = ("/postal_codes/prefix".into(), "invalid_postal_code".into());
    assert_eq!(wrong.field_errors(), [error]);
}

/// The sign of the country before a prefix, or before the ends of a range, makes no other place of it.
#[tokio::test]
async fn postal_prefixes_with_and_without_the_country_are_equal() {
    let market = Market::open().await;
    let owner = &market.owner;
    let zone = |country: &str, prefix: &str| {
        let name = unique("zone");
        json!({"name": name, "countries": [country], "postal_prefixes": [prefix]})
    };
    for (country, first, others, further) in [
        ("LV", "LV-10", ["10", "lv10", "LV 10"], "101"),
        ("DE", "10", ["D-10", "DE-10", "１０"], "D-101"),
    ] {
        owner.post(&zones(&market)).json(zone(country, first)).await.expect(201);
        for prefix in others {
            let same = owner.post(&zones(&market)).json(zone(country, prefix)).await.expect(409);
            same.problem("zone_overlap");
        }
        owner.post(&zones(&market)).json(zone(country, further)).await.expect(201);
    }
    let rate = |codes: Value| json!({"name": "VAT", "country": "LV", "percent": "21", "postal_codes": codes});
    let both = json!([{"prefix": "10"}, {"prefix": "LV-10"}]);
    let ranges = json!([{"from": "LV-1001", "to": "LV-1099"}, {"from": "1001", "to": "lv1099"}]);
    for codes in [both, ranges] {
        owner.post(&rates(&market)).json(rate(codes[0].clone())).await.expect(201);
        let same = owner.post(&rates(&market)).json(rate(codes[1].clone())).await.expect(409);
        same.problem("tax_rate_exists");
    }
    // A zone has it once.
    let riga = json!({"name": "Riga", "countries": ["EE"], "postal_prefixes": ["EE-10", "10"]});
    let riga = owner.post(&zones(&market)).json(riga).await.expect(201);
    assert_eq!(*riga.at("/postal_prefixes"), json!(["10"]));
}

#[tokio::test]
async fn regions_are_stored_in_latin_letters_and_accepted_in_either_script() {
    let market = Market::open().await;
    let owner = &market.owner;
    let kowloon = |region: &str| json!({"name": "K", "countries": ["HK"], "regions": [region], "rates": [flat("Van", 500)]});
    let zone = owner.post(&zones(&market)).json(kowloon("九龍")).await.expect(201);
    assert_eq!(*zone.at("/regions"), json!(["Kowloon"]));
    let same = owner.post(&zones(&market)).json(kowloon("KL")).await.expect(409);
    same.problem("zone_overlap");
    let book = market.stock(1_000, 5).await;
    let path = format!("/v1/storefront/{}/shipping-rates", market.store.subdomain);
    for (region, offered) in [("Kowloon", true), ("九龍", true), ("New Territories", false)] {
        let to = json!({"country": "HK", "region": region});
        let cart = json!({"items": [{"variant_id": book, "quantity": 1}], "shipping_address": to});
        let reply = market.gateway.client().post(&path).json(cart).await;
        assert_eq!(reply.status == 200, offered, "{region}: {}", reply.json);
    }
    let wrong = json!({"name": "X", "countries": ["ES"], "regions": ["Girrona"]});
    let wrong = owner.post(&zones(&market)).json(wrong).await.expect(422);
    let detail = wrong.str("/errors/0/detail");
    assert_eq!(detail, "Must be a region of ES; the nearest is GI (Girona).");
}

#[tokio::test]
async fn a_merchant_manages_tax_rates_by_country() {
    let market = Market::open().await;
    let (owner, path) = (&market.owner, rates(&market));
    let gst = json!({"name": "GST", "country": "IN", "basis_points": 1_800, "on_shipping": true});
    let gst = owner.post(&path).json(gst).await.expect(201);
    let books = json!({"name": "Books", "country": "IN", "tax_class": "books", "basis_points": 0});
    owner.post(&path).json(books).await.expect(201);
    let vat = json!({"name": "MwSt", "country": "DE", "basis_points": 1_900});
    let vat = owner.post(&path).json(vat).await.expect(201);
    assert_eq!(owner.get(&path).await.expect(200).data().len(), 3);
    let german = owner.get(&format!("{path}?country=DE")).await.expect(200);
    assert_eq!(german.data().len(), 1);
    let one = format!("{path}/{}", gst.str("/id"));
    let input = json!({"region": "Karnataka", "basis_points": 900});
    let changed = owner.patch(&one).json(input).await.expect(200);
    assert_eq!((changed.str("/region"), changed.int("/basis_points")), ("KA".into(), 900));
    let wrong = owner.patch(&one).json(json!({"region": "Bavaria"})).await.expect(422);
    assert_eq!(wrong.field_errors(), [("/region".into(), "invalid_region".into())]);
    owner.patch(&one).json(json!({"country": "DE"})).await.expect(422);
    let german = format!("{path}/{}", vat.str("/id"));
    owner.delete(&german).await.expect(204);
    owner.get(&german).await.expect(404);
    assert_eq!(owner.get(&one).await.expect(200).int("/version"), 2);
    assert_eq!(market.gateway.events("tax_rate.created").await.len(), 3);
    assert_eq!(market.gateway.events("tax_rate.deleted").await.len(), 1);
}

#[tokio::test]
async fn shipping_and_tax_routes_require_their_own_scopes() {
    let shop = Shop::with_published_app(&["read_shipping", "write_taxes"]).await;
    let app = shop.app_client().await;
    let path = |what: &str| format!("/v1/stores/{}/{what}", shop.store.id);
    app.get(&path("shipping-zones")).await.expect(200);
    let zone = json!({"name": "India", "countries": ["IN"]});
    app.post(&path("shipping-zones")).json(zone).await.expect(403).problem("insufficient_scope");
    let rate = json!({"name": "GST", "country": "IN", "basis_points": 1_800});
    app.post(&path("tax-rates")).json(rate).await.expect(201);
    assert_eq!(app.get(&path("tax-rates")).await.expect(200).data().len(), 1);
}
