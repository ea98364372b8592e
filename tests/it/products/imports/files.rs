//! Files of other shop systems, as these write them: everything that can be imported is, and each cell that
//! was not taken as it is has a finding. The files have the columns of real ones, and invented contents.

use super::*;

const PRODUCTS_2021: &str = include_str!("files/shopify-products-2021.csv");
const PRODUCTS_2023: &str = include_str!("files/shopify-products-2023.csv");
const PRODUCTS_2025: &str = include_str!("files/shopify-products-2025.csv");
const METAFIELDS: &str = include_str!("files/shopify-products-metafields.csv");
const CUSTOMERS_2021: &str = include_str!("files/shopify-customers-2021.csv");
const CUSTOMERS: &str = include_str!("files/shopify-customers.csv");
const INVENTORY_2023: &str = include_str!("files/shopify-inventory-2023.csv");
const INVENTORY: &str = include_str!("files/shopify-inventory.csv");
const BY_LOCATION: &str = include_str!("files/shopify-inventory-by-location.csv");
const ORDERS: &str = include_str!("files/shopify-orders.csv");
const WOOCOMMERCE: &str = include_str!("files/woocommerce-products.csv");

const SALES: &str = include_str!("files/woocommerce-sales.csv");

/// Imports a file; returns the import, its findings without those of ignored columns, and the ignored ones.
async fn read(
    market: &Market,
    kind: &str,
    file: &str,
) -> (Reply, Vec<(i64, String, String)>, Vec<String>) {
    let done = import(&market.owner, json!({"kind": kind}), file.as_bytes()).await;
    let (ignored, found): (Vec<_>, Vec<_>) = findings(&market.owner, &done)
        .await
        .into_iter()
        .partition(|(.., code)| code == "ignored_column");
    let ignored = ignored.into_iter().map(|(_, column, _)| column).collect();
    (done, found, ignored)
}

fn at(row: i64, column: &str, code: &str) -> (i64, String, String) {
    (row, column.to_owned(), code.to_owned())
}

/// The products, or the created objects of another kind, and how many failed.
fn counts(done: &Reply) -> (i64, i64) {
    (done.int("/progress/created"), done.int("/progress/failed"))
}

/// The variants' values of a member.
fn each<'a>(product: &'a Reply, member: &str) -> Vec<&'a Value> {
    let variants = product.at("/variants").as_array().unwrap();
    variants.iter().map(|variant| variant.pointer(member).unwrap()).collect()
}

#[tokio::test]
async fn shopifys_product_file_of_2021_is_imported() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", PRODUCTS_2021).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (3, 0)), "{found:?}");
    let expected = [
        at(3, "Variant Barcode", "rounded_number"),
        at(3, "Variant Inventory Qty", "negative_quantity"),
        at(4, "Variant SKU", "sku_taken"),
        at(5, "Gift Card", "gift_card_not_supported"),
    ];
    assert_eq!(found, expected);
    assert!(ignored.contains(&"Cost per item".to_owned()), "{ignored:?}");
    assert_eq!(done.int("/warnings_count"), done.int("/findings_count"));
    let stool = product(&market.owner, "oak-stool").await.unwrap();
    assert_eq!(stool.str("/status"), "active");
    assert_eq!(each(&stool, "/weight_grams"), [&json!(3_629), &json!(4_536)]);
    assert_eq!(each(&stool, "/barcode"), [&json!("036000291452"), &Value::Null]);
    assert_eq!(market.levels(&stool.str("/variants/1/id")).await[0], 0);
    // What is not published, and what is no goods, is not on sale; what is not taxed stays so.
    let catalogue = product(&market.owner, "catalogue").await.unwrap();
    assert_eq!(catalogue.str("/status"), "draft");
    assert_eq!(each(&catalogue, "/taxable"), [&json!(false)]);
    assert_eq!(each(&catalogue, "/sku"), [&Value::Null]);
    assert_eq!(each(&stool, "/taxable"), [&json!(true), &json!(true)]);
    let voucher = product(&market.owner, "voucher").await.unwrap();
    assert_eq!(voucher.str("/status"), "draft");
}

#[tokio::test]
async fn shopifys_product_file_of_2023_is_imported() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", PRODUCTS_2023).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (2, 0)), "{found:?}");
    let mut expected = vec![
        at(2, "Tags", "too_long"),
        at(2, "Variant Tax Code", "invalid_tax_class"),
        at(3, "Variant SKU", "duplicate_sku"),
        at(4, "Option2 Value", "too_long"),
        at(5, "Included / International", "market_not_supported"),
    ];
    let mut found = found;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    for column in ["Product Category", "Price / International", "Compare At Price / International"]
    {
        assert!(ignored.contains(&column.to_owned()), "{column} in {ignored:?}");
    }
    let shirt = product(&market.owner, "linen-shirt").await.unwrap();
    assert_eq!(*shirt.at("/tags"), json!(["linen", "summer"]));
    assert_eq!(each(&shirt, "/sku"), [&json!("LIN-S"), &Value::Null, &json!("LIN-M-B")]);
    let blue = shirt.str("/variants/2/options/1");
    assert!(blue.chars().count() <= 60 && blue.starts_with("A blue that was mixed"), "{blue}");
    assert_eq!(*shirt.at("/options/1/values"), json!(["Natural", blue]));
}

#[tokio::test]
async fn shopifys_product_file_since_2025_is_imported() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", PRODUCTS_2025).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (3, 0)), "{found:?}");
    let expected = [at(4, "Status", "status_not_supported"), at(5, "Price", "required")];
    assert_eq!(found, expected);
    assert!(ignored.contains(&"Unit price total measure".to_owned()), "{ignored:?}");
    let oil = product(&market.owner, "olive-oil").await.unwrap();
    assert_eq!(oil.str("/status"), "active");
    assert_eq!(each(&oil, "/taxable"), [&json!(false), &json!(false)]);
    assert_eq!(each(&oil, "/price"), [&inr(1_290), &inr(2_250)]);
    for handle in ["press-tour", "harvest-box"] {
        let hidden = product(&market.owner, handle).await.unwrap();
        assert_eq!(hidden.str("/status"), "draft", "{handle}");
    }
}

#[tokio::test]
async fn metafield_columns_are_ignored_and_spreadsheet_notations_parsed() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", METAFIELDS).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (1, 0)), "{found:?}");
    assert_eq!(found, [at(2, "Image Src", "invalid_url")]);
    let care = "Care (product.metafields.custom.care)".to_owned();
    assert!(ignored.contains(&care), "{ignored:?}");
    let bowl = product(&market.owner, "clay-bowl").await.unwrap();
    assert_eq!(
        (each(&bowl, "/sku"), each(&bowl, "/price")),
        (vec![&json!("00451")], vec![&inr(1_950)])
    );
    assert_eq!(*bowl.at("/images"), json!([]));
}

#[tokio::test]
async fn shopifys_customers_are_imported_without_incomplete_addresses() {
    let market = Market::open().await;
    let owner = &market.owner;
    let (done, found, _) = read(&market, "customers", CUSTOMERS_2021).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (3, 0)), "{found:?}");
    for expected in [
        at(3, "Address1", "required"),
        at(3, "Zip", "required"),
        at(3, "Province Code", "required"),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    // Without an address they are known by their number.
    assert_eq!(found.iter().filter(|(row, ..)| *row == 4).count(), 0);
    let (done, found, _) = read(&market, "customers", CUSTOMERS).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (2, 0)), "{found:?}");
    assert_eq!(found, [at(3, "Phone", "invalid_phone")]);
    let mut people = Vec::new();
    for email in ["maya", "noor", "jonas", "darcy"] {
        let path = format!("/v1/customers?email={email}@example.com");
        people.push(owner.get(&path).await.expect(200).data()[0].clone());
    }
    assert_eq!(people[0]["phone"], "+1 416 555 0123");
    assert_eq!(
        (&people[0]["tax_exempt"], &people[0]["accepts_marketing"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(people[3]["name"], "D'Arcy 't Hooft");
    let mut places = Vec::new();
    for person in &people {
        let prefix = format!("STO#{}#CUS#{}", market.store.id, person["id"].as_str().unwrap());
        let items = market.gateway.items_of("address", &prefix).await;
        places.push(items.first().map(|item| item["place"]["postal_code"].clone()));
    }
    assert_eq!(places, [Some(json!("M5C 1N7")), None, Some(json!("10115")), None]);
}

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
async fn each_column_of_a_location_becomes_stock_of_that_location() {
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
    assert_eq!(ignored, ["Option2 Name", "Option3 Name", "HS Code", "COO"]);
    assert_eq!(available(&shirt, 0).await, [Some(12), Some(3)]);
    assert_eq!(available(&shirt, 1).await, [Some(0), None], "not stocked: nothing is set");
    assert_eq!(available(&scarf, 0).await, [Some(7), Some(4)]);
    // Without any location of the store, nothing can be read.
    let (done, found, _) =
        read(&market, "inventory", &BY_LOCATION.replace("Annexe", "@HOME")).await;
    let unknown = ["@HOME", "Gone away"].map(|name| at(1, name, "unknown_location"));
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("failed", (0, 0)));
    assert_eq!(found, unknown);
}

#[tokio::test]
async fn files_of_another_kind_are_rejected_at_their_first_row() {
    let market = Market::open().await;
    for (kind, file) in [
        ("products", ORDERS),
        ("customers", ORDERS),
        ("inventory", ORDERS),
        ("products", CUSTOMERS),
        ("products", INVENTORY),
        ("products", BY_LOCATION),
        ("customers", PRODUCTS_2025),
        ("inventory", WOOCOMMERCE),
    ] {
        let (done, found, _) = read(&market, kind, file).await;
        assert_eq!((done.str("/status").as_str(), counts(&done)), ("failed", (0, 0)), "{kind}");
        assert_eq!(found, [at(1, "", "unknown_layout")], "{kind}");
    }
}

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
async fn an_attribute_that_is_no_metadata_costs_itself() {
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
async fn a_dry_run_has_the_findings_of_the_import() {
    for (kind, file) in [
        ("products", PRODUCTS_2021),
        ("products", PRODUCTS_2023),
        ("products", WOOCOMMERCE),
        ("customers", CUSTOMERS_2021),
    ] {
        let market = Market::open().await;
        let dry = json!({"kind": kind, "dry_run": true});
        let id = asked(&market.owner, dry).await;
        begin(&market.owner, &id, file.as_bytes(), 1 << 20).await;
        let checked = ended(&market.owner, &id, SOON).await;
        let told = findings(&market.owner, &checked).await;
        market.owner.post(&format!("{IMPORTS}/{id}/start")).json(json!({})).await.expect(202);
        let done = ended(&market.owner, &id, SOON).await;
        assert_eq!(findings(&market.owner, &done).await, told, "{kind}");
        assert_eq!(counts(&done), counts(&checked));
    }
}

#[tokio::test]
async fn an_update_import_keeps_fields_missing_from_the_file() {
    let market = Market::open().await;
    let owner = &market.owner;
    let made = json!({
        "title": "Book", "handle": "book", "status": "active",
        "variants": [{"price": inr(900), "taxable": false, "requires_shipping": false}],
    });
    owner.post("/v1/products").json(made).await.expect(201);
    let update = json!({"kind": "products", "on_existing": "update"});
    // Neither a price nor a flag is in the first file, and the price of the second cannot be read.
    for (file, title) in [
        ("Handle,Title,Tags\nbook,A book,new\n", "A book"),
        ("Handle,Title,Variant Price,Variant Taxable\nbook,The book,much,\n", "The book"),
    ] {
        let done = import(owner, update.clone(), file.as_bytes()).await;
        assert_eq!(done.str("/status"), "succeeded", "{:?}", findings(owner, &done).await);
        let book = product(owner, "book").await.unwrap();
        assert_eq!((book.str("/title").as_str(), book.str("/status").as_str()), (title, "active"));
        assert_eq!(*book.at("/variants/0/price"), inr(900));
        for flag in ["taxable", "requires_shipping"] {
            assert_eq!(*book.at(&format!("/variants/0/{flag}")), json!(false), "{flag}");
        }
    }
    // A new product without a price is not on sale.
    let file = "Handle,Title,Status,Tags\nnew,New,active,x\n";
    let done = import(owner, update, file.as_bytes()).await;
    assert_eq!(findings(owner, &done).await, [at(1, "Variant Price", "missing_column")]);
    assert_eq!(product(owner, "new").await.unwrap().str("/status"), "draft");
}

#[tokio::test]
async fn finding_severity_shows_whether_the_record_was_imported() {
    let market = Market::open().await;
    let file =
        "Handle,Title,Variant Price,Variant Grams,Mood\na,A,1,heavy,\nb,,1,,\n,,,,\n\nc,C,1,1,\n";
    let done = import(&market.owner, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("partial", (2, 1)));
    assert_eq!((done.int("/findings_count"), done.int("/warnings_count")), (3, 2));
    let path = format!("{IMPORTS}/{}/findings", done.str("/id"));
    let found = market.owner.get(&path).await.expect(200);
    let found: Vec<(i64, &str, &str)> = found
        .data()
        .iter()
        .map(|it| {
            (
                it["row"].as_i64().unwrap(),
                it["code"].as_str().unwrap(),
                it["severity"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        (1, "ignored_column", "warning"),
        (2, "invalid_number", "warning"),
        (3, "required", "error"),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn an_unclosed_quote_is_an_import_error() {
    let market = Market::open().await;
    let file = "Email,Note\na@example.com,x\nb@example.com,\"12 inch\nc@example.com,y\n";
    let done = import(&market.owner, json!({"kind": "customers"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("partial", (1, 1)));
    assert_eq!(findings(&market.owner, &done).await, [at(3, "", "unclosed_quote")]);
}
