//! WooCommerce's files of products.

use super::*;

const SALES: &str = include_str!("woocommerce-sales.csv");

#[tokio::test]
async fn woocommerces_product_file_is_imported() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", WOOCOMMERCE).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("partial", (5, 2)), "{found:?}");
    assert_eq!(done.int("/progress/updated"), 1, "a variation below other products");
    let expected = [
        at(6, "Sold individually?", "limit_not_supported"),
        at(7, "Type", "product_type_not_supported"),
        at(8, "Visibility in catalog", "visibility_not_supported"),
        at(8, "Tax status", "tax_status_not_supported"),
        at(10, "Parent", "parent_missing"),
        at(11, "", "variations_missing"),
    ];
    assert_eq!(found, expected);
    assert!(!ignored.contains(&"Categories".to_owned()), "{ignored:?}");
    let candle = product(&market.owner, "beeswax-candle").await.unwrap();
    assert_eq!(candle.str("/description"), "<p>Burns for a day.</p>\n<p>Smells of honey.</p>");
    assert_eq!(
        (candle.str("/vendor"), candle.at("/tags")),
        ("Hive".into(), &json!(["wax", "light"]))
    );
    assert_eq!(
        (each(&candle, "/price"), each(&candle, "/compare_at")),
        (vec![&inr(850)], vec![&inr(990)])
    );
    assert_eq!(each(&candle, "/weight_grams"), [&json!(250)]);
    assert_eq!(market.levels(&candle.str("/variants/0/id")).await[0], 12);
    let apron = product(&market.owner, "apron").await.unwrap();
    assert_eq!(
        *apron.at("/options"),
        json!([{"name": "Colour", "values": ["Red", "Blue", "Green"]}])
    );
    assert_eq!(each(&apron, "/weight_grams"), [&json!(300), &json!(350), &json!(300)]);
    assert_eq!(
        each(&apron, "/inventory"),
        [
            &json!({"tracked": true, "policy": "deny"}),
            &json!({"tracked": true, "policy": "continue"}),
            &json!({"tracked": false, "policy": null}),
        ]
    );
    let course = product(&market.owner, "candle-course").await.unwrap();
    assert_eq!(
        (each(&course, "/taxable"), each(&course, "/requires_shipping")),
        (vec![&json!(false)], vec![&json!(false)])
    );
    for handle in ["candle-course", "wicks", "backroom-lamp"] {
        let hidden = product(&market.owner, handle).await.unwrap();
        assert_eq!(hidden.str("/status"), "draft", "{handle}");
    }
}

/// The names of a product's category and of those above it.
async fn category_of(market: &Market, product: &Reply) -> Vec<String> {
    let path = "/v1/products/categories?limit=100";
    let all = market.owner.get(path).await.expect(200);
    let Some(id) = product.at("/category_id").as_str() else { return Vec::new() };
    let found = |id: &str| all.data().iter().find(|it| it["id"] == id).unwrap();
    let own = found(id);
    let above = own["path"].as_array().unwrap().iter().map(|id| found(id.as_str().unwrap()));
    above.chain([own]).map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// The days before, at and after that of the market, in UTC.
fn days(market: &Market) -> [String; 3] {
    let day = Duration::from_hours(24);
    let now = market.gateway.now();
    [now.minus(day), now, now.plus(day)].map(|at| at.to_string()[..10].to_owned())
}

#[tokio::test]
async fn woocommerces_categories_sales_and_attributes_are_imported() {
    let market = Market::open().await;
    let owner = &market.owner;
    let zone = owner.get(&format!("/v1/stores/{}", market.store.id)).await.expect(200);
    assert_eq!(zone.str("/timezone"), "UTC");
    let made = json!({"name": "home"});
    owner.post("/v1/products/categories").json(made).await.expect(201);
    let [yesterday, today, tomorrow] = days(&market);
    let file = SALES.replace("@YESTERDAY", &yesterday);
    let file = file.replace("@TODAY", &today).replace("@TOMORROW", &tomorrow);
    let dry = json!({"kind": "products", "dry_run": true});
    let checked = import(owner, dry, file.as_bytes()).await;
    let mut told = findings(owner, &checked).await;
    told.retain(|(.., code)| code != "ignored_column");
    let none = owner.get("/v1/products/categories").await.expect(200);
    assert_eq!(none.data().len(), 1, "a dry run creates nothing");
    let (done, found, ignored) = read(&market, "products", &file).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (7, 0)), "{found:?}");
    let mut sorted = found.clone();
    sorted.sort();
    let mut expected = vec![
        at(2, "Date sale price ends", "sale_not_supported"),
        at(3, "Categories", "too_many_categories"),
        at(3, "Date sale price starts", "sale_not_supported"),
        at(4, "Date sale price ends", "sale_not_supported"),
        at(5, "Categories", "too_deep"),
        at(6, "Date sale price starts", "invalid_date"),
        at(7, "Categories", "too_many_categories"),
    ];
    expected.sort();
    assert_eq!(sorted, expected);
    told.sort();
    assert_eq!(told, expected);
    assert!(!ignored.contains(&"Attribute 6 name".to_owned()), "{ignored:?}");
    for (handle, price, compare_at, category) in [
        ("mug", 800, Some(1_000), &["home", "Cups, mugs", "Tea & more"][..]),
        ("bowl", 1_000, None, &["home", "Bowls"]),
        ("jug", 1_000, None, &[]),
        ("cup", 800, Some(1_000), &["A", "B", "C", "D", "E", "F"]),
        ("lid", 1_000, None, &["home", "Bowls"]),
        ("tee", 2_400, None, &["Wear"]),
    ] {
        let product = product(owner, handle).await.unwrap();
        assert_eq!(*each(&product, "/price")[0], inr(price), "{handle}");
        assert_eq!(*each(&product, "/compare_at")[0], compare_at.map_or(Value::Null, inr));
        assert_eq!(category_of(&market, &product).await, category, "{handle}");
    }
    assert_eq!(market.gateway.events("category.created").await.len(), 11);
    let mug = product(owner, "mug").await.unwrap();
    assert_eq!(
        *mug.at("/metadata"),
        json!({"Material": "Clay, Glass", "Made in": "Portugal", "Care / use": "By hand"})
    );
    assert_eq!(*mug.at("/tags"), json!(["hot", "a,b"]));
    let tee = product(owner, "tee").await.unwrap();
    assert_eq!(*tee.at("/metadata"), json!({"Material": "Cotton"}));
    assert_eq!(*tee.at("/options"), json!([{"name": "Size", "values": ["S", "M"]}]));
}

#[tokio::test]
async fn an_invalid_attribute_is_a_warning_and_the_product_is_imported() {
    let market = Market::open().await;
    let long = "x".repeat(501);
    let name = "n".repeat(41);
    let file = format!(
        "Type,Name,Regular price,Attribute 1 name,Attribute 1 value(s),Attribute 2 name,\
         Attribute 2 value(s),Attribute 3 name,Attribute 3 value(s)\n\
         simple,Mug,10,Care/use~,{long},{name},Clay,Colour,Blue\n"
    );
    let (done, found, _) = read(&market, "products", &file).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (1, 0)), "{found:?}");
    assert_eq!(
        found,
        [at(2, "Attribute 2 name", "too_long"), at(2, "Attribute 1 value(s)", "too_long")]
    );
    let mug = product(&market.owner, "mug").await.unwrap();
    assert_eq!(*mug.at("/metadata"), json!({"Colour": "Blue"}));
}

#[tokio::test]
async fn a_variation_names_its_product_by_sku_or_by_id() {
    let market = Market::open().await;
    let file = "ID,Type,SKU,Name,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)\n\
                212,variable,HS,Hose,,,Length,\"5, 10, 20\"\n\
                213,variation,HS-5,Hose - 5,5,id:212,Length,5\n\
                214,variation,HS-10,Hose - 10,9,HS,Length,10\n\
                215,simple,CUP,Cup,3,,,\n\
                216,variation,HS-20,Hose - 20,17,id:212,Length,20\n";
    let (done, found, _) = read(&market, "products", file).await;
    assert_eq!((done.str("/status").as_str(), found), ("succeeded", vec![]));
    assert_eq!((counts(&done), done.int("/progress/updated")), ((2, 0), 1));
    let hose = product(&market.owner, "hose").await.unwrap();
    assert_eq!(each(&hose, "/sku"), [&json!("HS-5"), &json!("HS-10"), &json!("HS-20")]);
}
