//! Imports: products, customers and stock out of a file.

mod dry_runs;
mod faithful;
mod files;
mod images;
mod interrupted_steps;
mod item_limits;
mod killed_process;
mod many_variants;
mod oversized;
mod phones;
mod row_order;
mod uploads;

use std::fmt::Write;
use std::time::Duration;

use support::{Client, Market, Reply, Shop, Value, eventually, inr, json, unique};

const IMPORTS: &str = "/v1/imports";

/// How long an import of some hundred rows may take, on a busy machine.
const SOON: Duration = Duration::from_secs(90);

/// An import that is asked for.
async fn asked(client: &Client, input: Value) -> String {
    client.post(IMPORTS).json(input).await.expect(201).str("/id")
}

/// Uploads a file in parts of so many bytes, and starts its import.
async fn begin(client: &Client, id: &str, file: &[u8], part: usize) {
    for (number, bytes) in (1..).zip(file.chunks(part)) {
        let path = format!("{IMPORTS}/{id}/parts/{number}");
        client.put(&path).header("content-type", "text/csv").body(bytes).await.expect(200);
    }
    client.post(&format!("{IMPORTS}/{id}/start")).json(json!({})).await.expect(202);
}

/// The import, once it is no longer under way.
async fn ended(client: &Client, id: &str, within: Duration) -> Reply {
    let path = format!("{IMPORTS}/{id}");
    eventually(within, || async {
        let shown = client.get(&path).await.expect(200);
        (shown.str("/status") != "running").then_some(shown)
    })
    .await
}

/// An import of a file from its beginning to its end.
async fn import(client: &Client, input: Value, file: &[u8]) -> Reply {
    let id = asked(client, input).await;
    begin(client, &id, file, 1 << 20).await;
    ended(client, &id, SOON).await
}

/// All findings: row, column, code.
async fn findings(client: &Client, import: &Reply) -> Vec<(i64, String, String)> {
    let path = format!("{IMPORTS}/{}/findings?limit=100", import.str("/id"));
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}{cursor}")).await.expect(200);
        all.extend(page.data().iter().map(|found| {
            let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
            (found["row"].as_i64().unwrap(), text("column"), text("code"))
        }));
        match page.at("/page/next_cursor").as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

/// A product of this handle; none when there is none.
async fn product(client: &Client, handle: &str) -> Option<Reply> {
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("/v1/products?limit=100{cursor}")).await.expect(200);
        if let Some(found) = page.data().iter().find(|it| it["handle"] == handle) {
            let id = found["id"].as_str()?;
            return Some(client.get(&format!("/v1/products/{id}")).await.expect(200));
        }
        cursor = format!("&cursor={}", page.at("/page/next_cursor").as_str()?);
    }
}

/// What Shopify writes of two products, one of them with options and images.
const SHOPIFY: &str = "\u{feff}\
Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Taxable,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,Status
tee,\"Tee, plain\",\"<p>Soft.<script>x()</script></p>\",Loom,Shirts,\"cotton, summer\",TRUE,Size,S,Color,Red,TEE-S-R,180,shopify,5,deny,999.50,1299.00,TRUE,TRUE,4006381333931,https://images.example.com/2.png,2,Back,FALSE,A tee,active
tee,,,,,,,,M,,Red,TEE-M-R,190.0,shopify,7,continue,999.50,,TRUE,TRUE,,https://images.example.com/1.png,1,Front,,,
tee,,,,,,,,,,,,,,,,,,,,,https://images.example.com/3.png,3,,,,
voucher,Voucher,,,,,,Title,Default Title,,,,,,,,500,,FALSE,,,,,,,,draft
";

#[tokio::test]
async fn products_are_imported_from_shopifys_columns() {
    let market = Market::open().await;
    let done = import(&market.owner, json!({"kind": "products"}), SHOPIFY.as_bytes()).await;
    assert_eq!(done.str("/status"), "succeeded", "{}", done.text);
    assert_eq!((done.int("/progress/created"), done.int("/progress/done")), (2, 2));
    assert_eq!(*done.at("/ignored_columns"), json!([]));
    let tee = product(&market.owner, "tee").await.unwrap();
    assert_eq!(tee.str("/title"), "Tee, plain");
    assert_eq!(tee.str("/description"), "<p>Soft.</p>");
    assert_eq!(*tee.at("/tags"), json!(["cotton", "summer"]));
    assert_eq!((tee.str("/status").as_str(), tee.str("/seo/title").as_str()), ("active", "A tee"));
    let options = json!([
        {"name": "Size", "values": ["S", "M"]}, {"name": "Color", "values": ["Red"]},
    ]);
    assert_eq!(*tee.at("/options"), options);
    let variant = |number: usize, name: &str| tee.at(&format!("/variants/{number}/{name}")).clone();
    assert_eq!(variant(0, "price"), inr(99_950));
    assert_eq!(variant(0, "compare_at"), inr(129_900));
    assert_eq!((variant(1, "weight_grams"), variant(1, "sku")), (json!(190), json!("TEE-M-R")));
    assert_eq!(variant(1, "inventory"), json!({"tracked": true, "policy": "continue"}));
    let alts: Vec<&Value> = (0..3).map(|number| tee.at(&format!("/images/{number}/alt"))).collect();
    assert_eq!(alts, [&json!("Front"), &json!("Back"), &json!("")]);
    assert_eq!(market.levels(&tee.str("/variants/1/id")).await, [7, 0, 0, 7]);
    let voucher = product(&market.owner, "voucher").await.unwrap();
    assert_eq!(*voucher.at("/options"), json!([]));
    assert_eq!(*voucher.at("/variants/0/inventory/tracked"), json!(false));
    // Each was announced, in the name of who started it.
    let events = market.gateway.events("product.created").await;
    assert_eq!(events.len(), 2);
    assert_eq!(market.gateway.events("import.finished").await.len(), 1);
}

#[tokio::test]
async fn on_existing_decides_whether_an_import_fails_skips_or_updates() {
    let market = Market::open().await;
    let owner = &market.owner;
    let first = import(owner, json!({"kind": "products"}), SHOPIFY.as_bytes()).await;
    assert_eq!(first.str("/status"), "succeeded");
    let again = import(owner, json!({"kind": "products"}), SHOPIFY.as_bytes()).await;
    assert_eq!(again.str("/status"), "failed");
    let taken = |row: i64| (row, "Handle".to_owned(), "handle_taken".to_owned());
    assert_eq!(findings(owner, &again).await, [taken(2), taken(5)]);
    let skip = json!({"kind": "products", "on_existing": "skip"});
    let skipped = import(owner, skip, SHOPIFY.as_bytes()).await;
    assert_eq!(
        (skipped.str("/status").as_str(), skipped.int("/progress/skipped")),
        ("succeeded", 2)
    );
    let before = product(owner, "tee").await.unwrap();
    let changed = SHOPIFY
        .replace("Tee, plain", "Tee")
        .replace("TEE-M-R,190.0,shopify,7,continue,999.50", "TEE-M-R,200,shopify,99,deny,1099")
        .replace("voucher,Voucher", "coupon,Coupon");
    let large = "tee,,,,,,,,L,,Red,TEE-L-R,,shopify,3,,1199,,TRUE,,,,,,,,\ncoupon,";
    let changed = changed.replace("coupon,", large);
    let update = json!({"kind": "products", "on_existing": "update"});
    let updated = import(owner, update.clone(), changed.as_bytes()).await;
    assert_eq!(updated.str("/status"), "succeeded", "{:?}", findings(owner, &updated).await);
    assert_eq!((updated.int("/progress/updated"), updated.int("/progress/created")), (1, 1));
    let after = product(owner, "tee").await.unwrap();
    assert_eq!((after.str("/title"), after.str("/id")), ("Tee".into(), before.str("/id")));
    assert_eq!(*after.at("/variants/1/price"), inr(109_900));
    assert_eq!(after.str("/variants/1/id"), before.str("/variants/1/id"));
    assert_eq!(after.str("/variants/2/sku"), "TEE-L-R");
    // Stock is not a product's to say twice; a new variant's first is.
    assert_eq!(market.levels(&after.str("/variants/1/id")).await[0], 7);
    assert_eq!(market.levels(&after.str("/variants/2/id")).await[0], 3);
    let same = import(owner, update, changed.as_bytes()).await;
    assert_eq!(same.int("/progress/updated"), 2);
    let unchanged = product(owner, "tee").await.unwrap();
    assert_eq!(unchanged.int("/version"), after.int("/version"));
}

#[tokio::test]
async fn a_customer_import_creates_and_updates_customers() {
    let market = Market::open().await;
    let owner = &market.owner;
    let file = "First Name,Last Name,Email,Accepts Email Marketing,Default Address Address1,\
                Default Address City,Default Address Province Code,Default Address Country Code,\
                Default Address Zip,Phone,Tags,Note,Tax Exempt\n\
                Asha,Rao,asha@example.com,yes,1 MG Road,Bengaluru,KA,IN,560001,'+91 80 5550 1234,\
                \"vip, trade\",Mornings,no\n\
                ,,ben@example.com,no,,,,,,,,,yes\n\
                Cara,,cara@,yes,1 Main St,Springfield,,US,,,,,maybe\n";
    let done = import(owner, json!({"kind": "customers"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/created")), ("partial", 2));
    let found = findings(owner, &done).await;
    let expected = [
        (4, "Tax Exempt", "invalid_boolean"),
        (4, "Email", "invalid_email"),
        (4, "Default Address Province Code", "required"),
        (4, "Default Address Zip", "required"),
    ];
    for (row, column, code) in expected {
        let known = |it: &&(i64, String, String)| it.0 == row && it.2 == code;
        let it = found.iter().find(known);
        assert!(it.is_some(), "{column} {code} in {found:?}");
    }
    let listed = owner.get("/v1/customers?email=asha@example.com").await.expect(200);
    let asha = &listed.data()[0];
    assert_eq!(asha["name"], "Asha Rao");
    assert_eq!(asha["phone"], "+91 80 5550 1234");
    assert_eq!(asha["tags"], json!(["vip", "trade"]));
    assert_eq!(asha["marketing_consent"]["source"], "import");
    let prefix = format!("STO#{}#CUS#{}", market.store.id, asha["id"].as_str().unwrap());
    let items = market.gateway.items(&prefix).await;
    assert_eq!(items.len(), 2, "the account and its address");
    let file = file.replace("Mornings", "Evenings");
    let input = json!({"kind": "customers", "on_existing": "update"});
    let again = import(owner, input, file.as_bytes()).await;
    assert_eq!((again.int("/progress/updated"), again.int("/progress/created")), (2, 0));
    let listed = owner.get("/v1/customers?email=asha@example.com").await.expect(200);
    assert_eq!(listed.data()[0]["note"], "Evenings");
}

#[tokio::test]
async fn an_inventory_import_applies_the_last_row_of_a_level() {
    let market = Market::open().await;
    let owner = &market.owner;
    import(owner, json!({"kind": "products"}), SHOPIFY.as_bytes()).await;
    let tee = product(owner, "tee").await.unwrap();
    let home = owner.get("/v1/inventory/locations").await.expect(200).data()[0].clone();
    let name = home["name"].as_str().unwrap();
    let depot = json!({"name": "Depot", "address": {"country": "IN"}});
    owner.post("/v1/inventory/locations").json(depot).await.expect(201);
    let mut file = format!("SKU,Location,Available\nTEE-S-R,{name},40\nnone,{name},1\n");
    let _ = write!(
        file,
        "TEE-M-R,nowhere,1\ntee-s-r,,41\nTEE-M-R,,-1\n,,5\nTEE-M-R,,x\nTEE-M-R,,\nTEE-S-R,depot,9\n"
    );
    let done = import(owner, json!({"kind": "inventory"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/updated")), ("partial", 4));
    let found = findings(owner, &done).await;
    for (row, column, code) in [
        (3, "SKU", "unknown_item"),
        (4, "Location", "unknown_location"),
        (6, "Available", "negative_quantity"),
        (7, "SKU", "required"),
        (8, "Available", "invalid_number"),
        (9, "Available", "required"),
    ] {
        let expected = (row, column.to_owned(), code.to_owned());
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    assert_eq!(market.levels(&tee.str("/variants/0/id")).await[0], 41 + 9);
    assert_eq!(market.levels(&tee.str("/variants/1/id")).await[0], 0);
    market.audit(&tee.str("/variants/0/id")).await;
}

#[tokio::test]
async fn a_jsonl_import_reads_lines_across_part_boundaries() {
    let market = Market::open().await;
    let owner = &market.owner;
    let line = |number: usize| {
        let price = json!({"amount": 500 + number, "currency": "INR"});
        json!({"title": format!("Line {number} \u{1f375}"), "handle": format!("line-{number}"), "variants": [{"price": price}]})
    };
    let lines: Vec<String> = (1..=250).map(|number| line(number).to_string()).collect();
    let mut file = lines.join("\n");
    file.push('\n');
    file.push_str("\n{\"title\": 5, \"colour\": 1}\n[1]\n{\"title\":\n");
    let id = asked(owner, json!({"kind": "products", "format": "jsonl"})).await;
    begin(owner, &id, file.as_bytes(), 1_001).await;
    let done = ended(owner, &id, SOON).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/created")), ("partial", 250));
    let found = findings(owner, &done).await;
    let at = |row, column: &str, code: &str| (row, column.to_owned(), code.to_owned());
    for expected in [
        at(252, "/title", "invalid_type"),
        at(252, "/colour", "unknown_field"),
        at(253, "", "invalid_json"),
        at(254, "", "invalid_json"),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    assert_eq!(done.int("/progress/failed"), 3);
    let last = product(owner, "line-250").await.unwrap();
    assert_eq!(last.str("/title"), "Line 250 \u{1f375}");
}

#[tokio::test]
async fn a_file_without_required_columns_fails_at_its_first_row() {
    let market = Market::open().await;
    let owner = &market.owner;
    for (kind, file, column, code) in [
        ("products", "Handle,Price\na,1\n", "Title", "missing_column"),
        ("customers", "Name\nA\n", "Email", "missing_column"),
        ("inventory", "SKU\nA\n", "Available", "missing_column"),
        ("products", "\n", "", "empty_file"),
    ] {
        let done = import(owner, json!({"kind": kind}), file.as_bytes()).await;
        assert_eq!(done.str("/status"), "failed", "{file}");
        assert_eq!(findings(owner, &done).await, [(1, column.to_owned(), code.to_owned())]);
    }
    // What is between cells is what the first row has most of.
    let done = import(owner, json!({"kind": "products"}), b"Title;Price\n\"A;b\";12.5\n").await;
    assert_eq!(done.str("/status"), "succeeded", "{:?}", findings(owner, &done).await);
}

#[tokio::test]
async fn import_uploads_enforce_part_limits_and_the_import_status() {
    let market = Market::open().await;
    let owner = &market.owner;
    let id = asked(owner, json!({"kind": "products"})).await;
    let one = format!("{IMPORTS}/{id}");
    let start = format!("{one}/start");
    owner.post(&start).json(json!({})).await.expect(409).problem("parts_missing");
    owner.put(&format!("{one}/parts/2")).body("A").await.expect(200);
    owner.post(&start).json(json!({})).await.expect(409).problem("parts_missing");
    owner.put(&format!("{one}/parts/51")).body("A").await.expect(404);
    owner.put(&format!("{one}/parts/1")).body("").await.expect(422);
    let kind = owner.put(&format!("{one}/parts/1")).header("content-type", "text/html");
    kind.body("A").await.expect(415).problem("unsupported_media_type");
    for number in 3..=14 {
        let part = vec![b'x'; 4 << 20];
        let reply = owner.put(&format!("{one}/parts/{number}")).body(part).await;
        if number == 14 {
            assert_eq!(reply.expect(200).at("/parts").as_array().unwrap().len(), 13);
        } else {
            reply.expect(200);
        }
    }
    let last = owner.put(&format!("{one}/parts/15")).body(vec![b'x'; 4 << 20]).await;
    last.expect(409).problem("import_too_large");
    owner.post(&format!("{one}/cancel")).json(json!({})).await.expect(200);
    owner.post(&format!("{one}/cancel")).json(json!({})).await.expect(409);
    owner.put(&format!("{one}/parts/1")).body("A").await.expect(409);
    let left = market.gateway.items(&format!("FIL#{id}")).await;
    assert!(left.is_empty(), "{} chunks", left.len());
    let listed = owner.get(&format!("{IMPORTS}?status=cancelled&kind=products")).await.expect(200);
    assert_eq!(listed.data().len(), 1);
}

#[tokio::test]
async fn an_app_needs_the_write_scope_of_an_imports_kind() {
    let (market, app) = Market::with_app(&["write_imports", "write_customers"]).await;
    app.post(IMPORTS).json(json!({"kind": "customers"})).await.expect(201);
    let rejected = app.post(IMPORTS).json(json!({"kind": "products"})).await.expect(403);
    assert_eq!(rejected.str("/required_scope"), "write_products");
    let id = asked(&market.owner, json!({"kind": "products"})).await;
    app.get(&format!("{IMPORTS}/{id}")).await.expect(404);
    assert_eq!(app.get(IMPORTS).await.expect(200).data().len(), 1);
    assert!(unique("x") != id);
}
