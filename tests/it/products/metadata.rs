//! What apps and merchants keep with things, and finding them by it; which picture shows a variant.

use support::{Market, Shopper, Value, cart, inr, json, unique};

#[tokio::test]
async fn lists_filter_by_a_metadata_entry() {
    let market = Market::open().await;
    let owner = &market.owner;
    let input = json!({
        "title": "Tee", "status": "active", "metadata": {"erp": "7:a"},
        "options": [{"name": "Size", "values": ["S", "M"]}],
        "variants": [
            {"price": inr(1), "options": ["S"], "metadata": {"bin": "A1"}},
            {"price": inr(1), "options": ["M"]},
        ],
    });
    let tee = owner.post("/v1/products").json(input).await.expect(201);
    owner.post("/v1/products").json(json!({"title": "Plain"})).await.expect(201);
    let ids = async |path: &str| -> Vec<String> {
        let found = owner.get(path).await.expect(200);
        found.data().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("/v1/products?metadata=erp:7:a").await, [tee.str("/id")]);
    assert_eq!(ids("/v1/products?metadata=erp:8").await, Vec::<String>::new());
    let variants = format!("/v1/products/{}/variants", tee.str("/id"));
    let first = ids(&format!("{variants}?metadata=bin:A1")).await;
    assert_eq!(first, [tee.str("/variants/0/id")]);
    let second = format!("{variants}/{}", tee.str("/variants/1/id"));
    let changed = json!({"metadata": {"bin": "A1", "row": ""}});
    let changed = owner.patch(&second).json(changed).await.expect(200);
    assert_eq!(*changed.at("/metadata"), json!({"bin": "A1", "row": ""}));
    assert_eq!(ids(&format!("{variants}?metadata=bin:A1")).await.len(), 2);
    assert_eq!(ids(&format!("{variants}?metadata=row:")).await.len(), 1);
    owner.patch(&second).json(json!({"metadata": null})).await.expect(200);
    assert_eq!(ids(&format!("{variants}?metadata=bin:A1")).await.len(), 1);
    let known = json!({"email": format!("{}@example.com", unique("m")), "metadata": {"crm": "9"}});
    let known = owner.post("/v1/customers").json(known).await.expect(201);
    Shopper::register(&market.gateway, &market.store).await;
    assert_eq!(ids("/v1/customers?metadata=crm:9").await, [known.str("/id")]);
    // Fifty entries, and what is wrong with one is named.
    let many: Value = (0..51).map(|n| (format!("k{n}"), json!("v"))).collect();
    let path = format!("/v1/customers/{}", known.str("/id"));
    let field_error = async |metadata: Value| {
        let rejected = owner.patch(&path).json(json!({"metadata": metadata})).await.expect(422);
        (rejected.str("/errors/0/pointer"), rejected.str("/errors/0/code"))
    };
    assert_eq!(field_error(many).await, ("/metadata".into(), "too_many".into()));
    let long = field_error(json!({"a": "x".repeat(501)})).await;
    assert_eq!(long.0, "/metadata/a");
    let unnamed = field_error(json!({"": "x"})).await;
    assert_eq!(unnamed.1, "invalid_name");
    owner.get("/v1/products?metadata=erp").await.expect(422);
    owner.get("/v1/products?metadata=erp:7&q=tee").await.expect(422);
}

#[tokio::test]
async fn orders_and_their_lines_store_metadata() {
    let market = Market::open().await;
    let (book, pen) = (market.stock(1_000, 10).await, market.stock(500, 10).await);
    let mut input = cart(&[(&book, 1), (&pen, 1), (&book, 1)]);
    input["metadata"] = json!({"channel": "kiosk"});
    input["items"][0]["metadata"] = json!({"engraving": "To Ann"});
    let placed = market.order(input.clone()).await;
    // Lines of one variant are one: the other said nothing of its own.
    let shown = market.show(&placed.id).await;
    assert_eq!(*shown.at("/items/0/metadata"), json!({"engraving": "To Ann"}));
    assert_eq!(shown.int("/items/0/quantity"), 2);
    assert_eq!(*shown.at("/metadata"), json!({"channel": "kiosk"}));
    let seen = market.look(&placed).await.expect(200);
    assert_eq!(seen.str("/items/0/metadata/engraving"), "To Ann");
    assert!(!seen.text.contains("kiosk"));
    input["items"][2]["metadata"] = json!({"engraving": "To Bob"});
    let rejected = market.try_order(input).await.expect(422);
    assert_eq!(rejected.str("/errors/0/code"), "metadata_conflict");
    assert_eq!(rejected.str("/errors/0/pointer"), "/items/2/metadata");
    market.order(cart(&[(&pen, 1)])).await;
    let path = format!("/v1/orders/{}", placed.id);
    let lines = json!([{"order_item_id": placed.line(1), "metadata": {"erp": "5"}}]);
    let change = json!({"metadata": null, "items": lines});
    let changed = market.owner.patch(&path).json(change).await.expect(200);
    assert_eq!(
        (changed.at("/metadata"), changed.at("/items/1/metadata")),
        (&json!({}), &json!({"erp": "5"}))
    );
    for (filter, many) in [("engraving:To Ann", 1), ("erp:5", 1), ("channel:kiosk", 0)] {
        let path = format!("/v1/orders?metadata={}", filter.replace(' ', "%20"));
        assert_eq!(market.owner.get(&path).await.expect(200).data().len(), many, "{filter}");
    }
    let unknown =
        json!({"items": [{"order_item_id": format!("itm_{}", "0".repeat(32)), "metadata": {}}]});
    let rejected = market.owner.patch(&path).json(unknown).await.expect(422);
    assert_eq!(rejected.str("/errors/0/pointer"), "/items/0/order_item_id");
}

#[tokio::test]
async fn a_variant_shows_its_assigned_image() {
    let market = Market::open().await;
    let owner = &market.owner;
    let url = |name: &str| format!("https://images.example.com/{name}.png");
    let mut input = json!({
        "title": "Tee", "handle": "tee", "status": "active",
        "images": [{"url": url("front")}, {"url": url("red")}],
        "options": [{"name": "Colour", "values": ["Blue", "Red"]}],
        "variants": [
            {"price": inr(1), "options": ["Blue"]},
            {"price": inr(1), "options": ["Red"], "image_url": url("gone")},
        ],
    });
    let rejected = owner.post("/v1/products").json(input.clone()).await.expect(422);
    assert_eq!(rejected.str("/errors/0/pointer"), "/variants/1/image_url");
    assert_eq!(rejected.str("/errors/0/code"), "unknown_image");
    input["variants"][1]["image_url"] = json!(url("red"));
    let tee = owner.post("/v1/products").json(input).await.expect(201);
    let (blue, red) = (tee.str("/variants/0/id"), tee.str("/variants/1/id"));
    let placed = market.order(cart(&[(&blue, 1), (&red, 1)])).await;
    let shown = market.show(&placed.id).await;
    assert_eq!(shown.str("/items/0/image_url"), url("front"));
    assert_eq!(shown.str("/items/1/image_url"), url("red"));
    let page = format!("/v1/storefront/{}/products/tee", market.store.subdomain);
    let page = market.gateway.get(&page).await.expect(200);
    assert_eq!(page.str("/variants/1/image_url"), url("red"));
    let one = format!("/v1/products/{}", tee.str("/id"));
    let variant = format!("{one}/variants/{blue}");
    owner.patch(&variant).json(json!({"image_url": url("gone")})).await.expect(422);
    let named = json!({"image_url": url("red")});
    assert_eq!(owner.patch(&variant).json(named).await.expect(200).str("/image_url"), url("red"));
    // A picture that goes leaves the variants to the first one.
    let fewer = json!({"images": [{"url": url("front")}]});
    let fewer = owner.patch(&one).json(fewer).await.expect(200);
    assert_eq!(*fewer.at("/variants/1/image_url"), Value::Null);
    let placed = market.order(cart(&[(&red, 1)])).await;
    assert_eq!(market.show(&placed.id).await.str("/items/0/image_url"), url("front"));
}
