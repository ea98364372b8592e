//! Files of an export, imported into another store: what comes out of that one is the same.

use super::*;

/// Imports a file; returns the import.
async fn import(market: &Market, kind: &str, format: &str, file: &str) -> Reply {
    let owner = &market.owner;
    let input = json!({"kind": kind, "format": format});
    let id = owner.post("/v1/imports").json(input).await.expect(201).str("/id");
    let one = format!("/v1/imports/{id}");
    owner.put(&format!("{one}/parts/1")).body(file.to_owned()).await.expect(200);
    owner.post(&format!("{one}/start")).json(json!({})).await.expect(202);
    eventually(Duration::from_mins(1), || async {
        let shown = owner.get(&one).await.expect(200);
        (shown.str("/status") != "running").then_some(shown)
    })
    .await
}

async fn exported(market: &Market, kind: &str, format: &str) -> String {
    let done = export(&market.owner, json!({"kind": kind, "format": format})).await;
    file(market, &done).await
}

/// The rows, or the lines, without the members that are of one store.
fn comparable(format: &str, file: &str) -> Vec<Value> {
    const OWN: [&str; 15] = [
        "id",
        "store_id",
        "product_id",
        "item_id",
        "location_id",
        "created_at",
        "updated_at",
        "published_at",
        "version",
        "Customer ID",
        "Item ID",
        "Location ID",
        "Created At",
        "media_id",
        "category_id",
    ];
    fn without(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let kept = members.into_iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
                Value::Object(kept.map(|(name, value)| (name, without(value))).collect())
            }
            Value::Array(all) => all.into_iter().map(without).collect(),
            value => value,
        }
    }
    let all = match format {
        "csv" => rows(file),
        _ => file.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    };
    let mut all: Vec<Value> = all.into_iter().map(without).collect();
    all.sort_by_key(ToString::to_string);
    all
}

/// Exports from one store, imports into another, and exports from that one.
async fn goes_round(from: &Market, to: &Market, kind: &str, format: &str) {
    let before = exported(from, kind, format).await;
    let done = import(to, kind, format, &before).await;
    assert_eq!(done.str("/status"), "succeeded", "{kind} {format}: {}", done.text);
    assert_eq!(done.int("/progress/failed"), 0);
    if format == "jsonl" {
        assert_eq!(done.int("/findings_count"), 0, "{kind}: {}", done.text);
    }
    let after = exported(to, kind, format).await;
    assert_eq!(comparable(format, &after), comparable(format, &before), "{kind} {format}");
}

/// A store with products of all kinds, their stock at two places, and customers.
async fn stocked() -> Market {
    let market = Market::open().await;
    let owner = &market.owner;
    let depot = json!({"name": "Depot", "address": {"country": "IN"}});
    let depot = owner.post("/v1/inventory/locations").json(depot).await.expect(201).str("/id");
    let tee = json!({
        "title": "Tee", "handle": "tee", "status": "active", "vendor": "Loom", "tags": ["a", "=b"],
        "description": "<p>Soft.</p>", "metadata": {"care": "cold"}, "tax_class": "clothing",
        "seo": {"title": "A tee"},
        "images": [{"url": "https://images.example.com/1.png", "alt": "Front"}, {"url": "https://images.example.com/2.png"}],
        "options": [{"name": "Size", "values": ["S", "M", "L"]}],
        "variants": [
            {"sku": "'T-S", "price": inr(99_950), "options": ["S"], "weight_grams": 180,
             "barcode": "0036", "hs_code": "010121", "country_of_origin": "IN", "taxable": false, "metadata": {"shelf": "A"},
             "inventory": {"policy": "deny", "levels": [{"quantity": 3}, {"location_id": depot, "quantity": 4}]}},
            {"price": inr(5), "compare_at": inr(10), "options": ["M"], "requires_shipping": false,
             "image_url": "https://images.example.com/2.png",
             "inventory": {"levels": [{"quantity": 7}]}},
            {"price": inr(7), "options": ["L"], "discontinued": true,
             "inventory": {"levels": [{"quantity": 9}]}},
        ],
    });
    owner.post("/v1/products").json(tee).await.expect(201);
    let plain = json!({"title": "Plain", "variants": [{"price": inr(1)}]});
    owner.post("/v1/products").json(plain).await.expect(201);
    let place = |line: &str, code: &str| {
        json!({
            "first_name": "Ada", "last_name": "B", "line1": line, "line2": "Flat 2", "city": "Bengaluru",
            "region": "KA", "postal_code": code, "country": "IN", "phone": "+91 80 5550 1234",
        })
    };
    for (email, addresses) in [
        (
            "ada@example.com",
            vec![
                place("1 MG Road", "560001"),
                place("2 Park Lane", "560002"),
                place("3 Hill", "560003"),
            ],
        ),
        ("bob@example.com", vec![]),
        ("cy@example.com", vec![place("'4 Side Street", "560004")]),
    ] {
        let body = json!({
            "email": email, "name": "Ada B", "phone": "+91 80 5550 1234", "accepts_marketing": true,
            "marketing_source": "counter", "tags": ["vip"], "groups": ["trade"], "note": "-", "tax_exempt": true,
            "address": addresses.first(), "addresses": addresses.get(1..).unwrap_or_default(),
        });
        owner.post("/v1/customers").json(body).await.expect(201);
    }
    let disabled = json!({"email": "dan@example.com", "status": "disabled"});
    owner.post("/v1/customers").json(disabled).await.expect(201);
    market
}

#[tokio::test]
async fn products_survive_csv_and_jsonl_round_trips() {
    let from = stocked().await;
    for format in ["csv", "jsonl"] {
        let to = Market::open().await;
        goes_round(&from, &to, "products", format).await;
    }
}

#[tokio::test]
async fn a_products_category_is_found_by_its_names_in_another_store() {
    let from = Market::open().await;
    let add = async |market: &Market, name: &str, parent: Value| {
        let input = json!({"name": name, "parent_id": parent});
        let made = market.owner.post("/v1/products/categories").json(input).await.expect(201);
        made.at("/id").clone()
    };
    let home = add(&from, "Home", Value::Null).await;
    let kitchen = add(&from, "Kitchen", home).await;
    let input = json!({"title": "Mug", "category_id": kitchen, "variants": [{"price": inr(500)}]});
    from.owner.post("/v1/products").json(input).await.expect(201);
    let file = exported(&from, "products", "jsonl").await;
    // A store that has one of the two, and one that has none.
    for has_home in [true, false] {
        let to = Market::open().await;
        if has_home {
            add(&to, "Home", Value::Null).await;
        }
        import(&to, "products", "jsonl", &file).await;
        let products = to.owner.get("/v1/products").await.expect(200);
        let category = products.data()[0]["category_id"].as_str().unwrap();
        let all = to.owner.get("/v1/products/categories").await.expect(200);
        let named = |id: &str| all.data().iter().find(|one| one["id"] == id).unwrap().clone();
        let own = named(category);
        assert_eq!(own["name"], "Kitchen");
        assert_eq!(named(own["parent_id"].as_str().unwrap())["name"], "Home");
        assert_eq!(all.data().len(), 2);
    }
}

#[tokio::test]
async fn customer_addresses_survive_csv_and_jsonl_round_trips() {
    let from = stocked().await;
    for format in ["csv", "jsonl"] {
        let to = Market::open().await;
        goes_round(&from, &to, "customers", format).await;
        let disabled = to.owner.get("/v1/customers?email=dan@example.com").await.expect(200);
        assert_eq!(disabled.data()[0]["status"], "disabled");
    }
}

#[tokio::test]
async fn stock_round_trips_match_locations_by_name() {
    let from = stocked().await;
    let products = exported(&from, "products", "jsonl").await;
    for format in ["csv", "jsonl"] {
        let to = Market::open().await;
        let depot = json!({"name": "Depot", "address": {"country": "IN"}});
        to.owner.post("/v1/inventory/locations").json(depot).await.expect(201);
        import(&to, "products", "jsonl", &products).await;
        goes_round(&from, &to, "inventory", format).await;
    }
}

#[tokio::test]
async fn exported_orders_show_gift_card_payments() {
    let market = Market::open().await;
    let (_, code) = market.gift_card(1_500).await;
    let variant = market.stock(2_000, 5).await;
    let mut input = cart(&[(&variant, 1)]);
    input["shipping_address"] = address();
    input["gift_card_codes"] = json!([code]);
    let placed = market.try_order(input).await.expect(201);
    let order = placed.str("/order/id");
    let all = rows(&exported(&market, "orders", "csv").await);
    let row = all.iter().find(|row| row["Id"] == order).unwrap();
    assert_eq!(row["Gift Card Amount"], "15.00");
    let last = row["Gift Card"].as_str().unwrap();
    assert!(last.len() >= 4 && code.ends_with(last), "{last}");
    assert_eq!(row["Outstanding Balance"], "5.00");
}

#[tokio::test]
async fn exported_orders_have_no_tax_of_units_cancelled_unpaid() {
    let market = Market::open().await;
    let variant = market.stock(10_000, 5).await;
    let path = format!("/v1/stores/{}/tax-rates", market.store.id);
    let gst = json!({"name": "GST", "country": "IN", "percent": "18"});
    market.owner.post(&path).json(gst).await.expect(201);
    let mut input = cart(&[(&variant, 3)]);
    input["shipping_address"] = address();
    let placed = market.order(input).await;
    market.act(&placed.id, "confirm", json!({})).await.expect(200);
    let line =
        |quantity: i64| json!({"items": [{"order_item_id": placed.line(0), "quantity": quantity}]});
    market.act(&placed.id, "lines/cancel", line(1)).await.expect(200);
    market.act(&placed.id, "mark-paid", json!({})).await.expect(200);
    market.act(&placed.id, "refund", line(2)).await.expect(201);
    let all = rows(&exported(&market, "orders", "csv").await);
    for (column, value) in [
        ("Subtotal", "200.00"),
        ("Taxes", "36.00"),
        ("Tax 1 Value", "36.00"),
        ("Total", "236.00"),
        ("Refunded Amount", "236.00"),
        ("Refunded Tax", "36.00"),
        ("Lineitem quantity", "2"),
        ("Lineitem total", "236.00"),
    ] {
        assert_eq!(all[0][column], value, "{column}");
    }
}

#[tokio::test]
async fn exported_orders_have_both_tax_numbers() {
    let market = Market::open().await;
    let own = json!({"tax_number": "29AAGCB7383J1Z4"});
    market.owner.patch(&format!("/v1/stores/{}", market.store.id)).json(own).await.expect(200);
    let variant = market.stock(2_000, 5).await;
    let mut input = cart(&[(&variant, 1)]);
    input["tax_number"] = json!("29ABCDE1234F1Z5");
    let order = market.order(input).await.id;
    let all = rows(&exported(&market, "orders", "csv").await);
    let row = all.iter().find(|row| row["Id"] == order).unwrap();
    assert_eq!(
        (&row["Tax Number"], &row["Store Tax Number"]),
        (&json!("29ABCDE1234F1Z5"), &json!("29AAGCB7383J1Z4"))
    );
}

#[tokio::test]
async fn exported_orders_have_the_tax_of_whole_refunds() {
    let market = Market::open().await;
    let variant = market.stock(10_000, 5).await;
    let path = format!("/v1/stores/{}/tax-rates", market.store.id);
    let gst = json!({"name": "GST", "country": "IN", "percent": "18"});
    market.owner.post(&path).json(gst).await.expect(201);
    for ending in ["refund", "cancel"] {
        let mut input = cart(&[(&variant, 1)]);
        input["shipping_address"] = address();
        let order = market.order(input).await.id;
        market.act(&order, "mark-paid", json!({})).await.expect(200);
        let ended = market.act(&order, ending, json!({})).await;
        assert!([200, 201].contains(&ended.status), "{ending}");
        let all = rows(&exported(&market, "orders", "csv").await);
        let row = all.iter().find(|row| row["Id"] == order).unwrap();
        let refunded = (&row["Refunded Amount"], &row["Refunded Tax"]);
        assert_eq!(refunded, (&json!("118.00"), &row["Taxes"]), "{ending}");
        assert_eq!(row["Taxes"], "18.00");
    }
}
