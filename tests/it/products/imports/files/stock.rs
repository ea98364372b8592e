//! Shopify's files of stock.

use super::*;

const INVENTORY_2023: &str = include_str!("shopify-inventory-2023.csv");

#[tokio::test]
async fn shopifys_inventory_files_match_variants_by_product_and_options() {
    let market = Market::open().await;
    let owner = &market.owner;
    read(&market, "products", PRODUCTS_2023).await;
    let home = owner.get("/v1/inventory/locations").await.expect(200).data()[0].clone();
    let home = home["name"].as_str().unwrap();
    let shirt = product(owner, "linen-shirt").await.unwrap();
    let scarf = product(owner, "wool-scarf").await.unwrap();
    let level = |product: &Reply, number: usize| product.str(&format!("/variants/{number}/id"));
    let (done, found, _) = read(&market, "inventory", &INVENTORY_2023.replace("@HOME", home)).await;
    assert_eq!(done.str("/status"), "succeeded", "{found:?}");
    assert_eq!(found, [at(3, "Available", "negative_quantity")]);
    assert_eq!(market.levels(&level(&shirt, 0)).await[0], 11);
    // Its SKU was another variant's too: the file names its options.
    assert_eq!(market.levels(&level(&shirt, 1)).await[0], 0);
    assert_eq!(market.levels(&level(&scarf, 0)).await[0], 7, "not stocked: nothing is set");
    let (done, found, _) = read(&market, "inventory", &INVENTORY.replace("@HOME", home)).await;
    assert_eq!(done.str("/status"), "partial", "{found:?}");
    assert_eq!(found, [at(4, "Handle", "unknown_item")]);
    assert_eq!(market.levels(&level(&shirt, 0)).await[0], 8);
    assert_eq!(market.levels(&level(&scarf, 0)).await[0], 6);
}

#[tokio::test]
async fn each_location_column_sets_the_stock_of_that_location() {
    let market = Market::open().await;
    let owner = &market.owner;
    read(&market, "products", PRODUCTS_2023).await;
    let locations = "/v1/inventory/locations";
    let home = owner.get(locations).await.expect(200).data()[0].clone();
    let annexe = json!({"name": "ANNEXE", "address": {"country": "IN"}});
    let annexe = owner.post(locations).json(annexe).await.expect(201).str("/id");
    let available = async |product: &Reply, number: usize| {
        let variant = product.str(&format!("/variants/{number}/id"));
        let path = format!("/v1/inventory/levels?item_ids={variant}");
        let levels = owner.get(&path).await.expect(200);
        [home["id"].as_str().unwrap(), annexe.as_str()].map(|location| {
            let level = levels.data().iter().find(|level| level["location_id"] == location);
            level.map(|level| level["quantities"]["available"].as_i64().unwrap())
        })
    };
    let shirt = product(owner, "linen-shirt").await.unwrap();
    let scarf = product(owner, "wool-scarf").await.unwrap();
    let name = home["name"].as_str().unwrap();
    let file = BY_LOCATION.replace("@HOME", name);
    let expected = [
        at(1, "Gone away", "unknown_location"),
        at(3, name, "negative_quantity"),
        at(5, "Handle", "unknown_item"),
    ];
    let dry = json!({"kind": "inventory", "dry_run": true});
    let checked = import(owner, dry, file.as_bytes()).await;
    let mut told = findings(owner, &checked).await;
    told.retain(|(.., code)| code != "ignored_column");
    told.sort();
    assert_eq!(told, expected);
    let (done, mut found, ignored) = read(&market, "inventory", &file).await;
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(done.str("/status"), "partial");
    assert_eq!((done.int("/progress/updated"), done.int("/progress/failed")), (4, 2));
    assert_eq!(ignored, ["Option2 Name", "Option3 Name"]);
    assert_eq!(available(&shirt, 0).await, [Some(12), Some(3)]);
    assert_eq!(available(&shirt, 1).await, [Some(0), None], "not stocked: nothing is set");
    assert_eq!(available(&scarf, 0).await, [Some(7), Some(4)]);
    let shirt = product(owner, "linen-shirt").await.unwrap();
    assert_eq!(
        (shirt.str("/variants/0/hs_code"), shirt.at("/variants/1/hs_code")),
        ("620520".into(), &Value::Null)
    );
    assert_eq!(shirt.str("/variants/0/country_of_origin"), "PT");
    // Without any location of the store, nothing can be read.
    let (done, found, _) =
        read(&market, "inventory", &BY_LOCATION.replace("Annexe", "@HOME")).await;
    let unknown = ["@HOME", "Gone away"].map(|name| at(1, name, "unknown_location"));
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("failed", (0, 0)));
    assert_eq!(found, unknown);
}

#[tokio::test]
async fn an_inventory_file_imports_tariff_codes_and_countries_of_origin() {
    let shop =
        Shop::with_published_app(&["write_imports", "write_inventory", "read_products"]).await;
    let owner = &shop.owner();
    let variant = |size: &str| {
        json!({"options": [size], "price": inr(5), "inventory": {"levels": [{"quantity": 1}]},
            "hs_code": "610910", "country_of_origin": "IN"})
    };
    let tee = json!({
        "title": "Tee", "handle": "tee", "options": [{"name": "Size", "values": ["S", "M"]}],
        "variants": [variant("S"), variant("M")],
    });
    owner.post("/v1/products").json(tee).await.expect(201);
    let file = |code: &str| {
        format!("Handle,Option1 Value,HS Code,COO,Available\ntee,S,{code},pt,3\ntee,M,12,,4\n")
    };
    let dry = json!({"kind": "inventory", "dry_run": true});
    let checked = import(owner, dry, file("6109.90").as_bytes()).await;
    let expected = [at(3, "HS Code", "invalid_hs_code")];
    assert_eq!(findings(owner, &checked).await, expected);
    let done = import(owner, json!({"kind": "inventory"}), file("6109.90").as_bytes()).await;
    assert_eq!(findings(owner, &done).await, expected);
    assert_eq!((done.str("/status").as_str(), done.int("/progress/updated")), ("succeeded", 2));
    let customs = |product: &Reply| {
        let of = |number: usize, member: &str| product.str(&format!("/variants/{number}/{member}"));
        [0, 1].map(|number| [of(number, "hs_code"), of(number, "country_of_origin")])
    };
    let known = product(owner, "tee").await.unwrap();
    assert_eq!(customs(&known), [["610990", "PT"], ["610910", "IN"]]);
    assert_eq!(known.int("/variants/0/version"), 2);
    assert_eq!(known.int("/variants/1/version"), 1);
    // The same file changes nothing, and an app without the scope of products changes no product.
    import(owner, json!({"kind": "inventory"}), file("6109.90").as_bytes()).await;
    let app = shop.app_client().await;
    let done = import(&app, json!({"kind": "inventory"}), file("6204.11").as_bytes()).await;
    let found = findings(owner, &done).await;
    for column in ["HS Code", "COO"] {
        assert!(found.contains(&at(2, column, "insufficient_scope")), "{found:?}");
    }
    assert_eq!((done.str("/status").as_str(), done.int("/progress/updated")), ("succeeded", 2));
    assert_eq!(product(owner, "tee").await.unwrap().int("/version"), known.int("/version"));
}
