//! Exports: products, orders, customers and movements in a file.

mod queue;
mod round_trips;

use std::fmt::Write as _;
use std::time::Duration;

use futures_util::future::{join, join_all};
use support::{
    Client, Market, Reply, Shopper, Value, address, cart, eventually, inr, json, unique,
};

const EXPORTS: &str = "/v1/exports";

/// An export that has come to its end.
async fn export(client: &Client, input: Value) -> Reply {
    let id = client.post(EXPORTS).json(input).await.expect(202).str("/id");
    let path = format!("{EXPORTS}/{id}");
    eventually(Duration::from_secs(30), || async {
        let shown = client.get(&path).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(shown)
    })
    .await
}

/// The path of a link.
fn path_of(url: &str) -> String {
    url.split_once("/v1/").map(|(_, rest)| format!("/v1/{rest}")).unwrap()
}

/// What is in the file, fetched by nobody in particular.
async fn file(market: &Market, export: &Reply) -> String {
    let mut file = String::new();
    for part in export.at("/parts").as_array().unwrap() {
        let path = path_of(part["url"].as_str().unwrap());
        let fetched = market.gateway.client().get(&path).await.expect(200);
        let length = u64::try_from(fetched.text.len()).unwrap();
        assert_eq!(part["bytes"].as_u64(), Some(length));
        file.push_str(&fetched.text);
    }
    file
}

/// Rows by the names of their columns.
fn rows(file: &str) -> Vec<Value> {
    let mut reader = csv::Reader::from_reader(file.as_bytes());
    reader
        .deserialize::<std::collections::BTreeMap<String, String>>()
        .map(|row| json!(row.unwrap()))
        .collect()
}

#[tokio::test]
async fn exported_products_contain_no_formulas_and_reimport_unchanged() {
    let market = Market::open().await;
    let owner = &market.owner;
    let input = json!({
        "title": "=cmd|' /C calc'!A0", "handle": "tee", "status": "active", "vendor": "\u{ff1d}Loom",
        "tags": ["a", "b"], "images": [{"url": "https://images.example.com/1.png", "alt": "@x"}],
        "options": [{"name": "Size", "values": ["S", "-M"]}],
        "variants": [
            {"sku": "T-S", "price": inr(99_950), "options": ["S"], "weight_grams": 180,
             "inventory": {"levels": [{"quantity": 3}]}},
            {"sku": "T-M", "price": inr(5), "compare_at": inr(10), "options": ["-M"]},
        ],
    });
    owner.post("/v1/products").json(input).await.expect(201);
    owner.post("/v1/products").json(json!({"title": "Plain"})).await.expect(201);
    let done = export(owner, json!({"kind": "products"})).await;
    assert_eq!((done.int("/done"), done.int("/rows")), (2, 3));
    let text = file(&market, &done).await;
    let all = rows(&text);
    assert_eq!(all.len(), 3);
    // No cell is a formula.
    for row in &all {
        for (column, cell) in row.as_object().unwrap() {
            let cell = cell.as_str().unwrap();
            assert!(!cell.starts_with(['=', '+', '-', '@', '\u{ff1d}', '\n']), "{column}: {cell}");
        }
    }
    let tee = all.iter().find(|row| row["Handle"] == "tee").unwrap();
    assert_eq!(tee["Title"], "'=cmd|' /C calc'!A0");
    assert_eq!((&tee["Variant Price"], &tee["Variant Grams"]), (&json!("999.50"), &json!("180")));
    // Another store reads it again, word for word.
    let other = Market::open().await;
    let id = other
        .owner
        .post("/v1/imports")
        .json(json!({"kind": "products"}))
        .await
        .expect(201)
        .str("/id");
    let one = format!("/v1/imports/{id}");
    other.owner.put(&format!("{one}/parts/1")).body(text.clone()).await.expect(200);
    other.owner.post(&format!("{one}/start")).json(json!({})).await.expect(202);
    eventually(Duration::from_secs(30), || async {
        let shown = other.owner.get(&one).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(())
    })
    .await;
    let again = export(&other.owner, json!({"kind": "products"})).await;
    let mut again = rows(&file(&other, &again).await);
    let mut all = all;
    let by_handle = |row: &Value| format!("{}{}", row["Handle"], row["Option1 Value"]);
    again.sort_by_key(by_handle);
    all.sort_by_key(by_handle);
    assert_eq!(again, all);
}

#[tokio::test]
async fn exports_contain_the_fields_of_orders_customers_and_movements() {
    let market = Market::open().await;
    let owner = &market.owner;
    let shopper = Shopper::register(&market.gateway, &market.store).await;
    let (first, second) = (market.stock(1_000, 10).await, market.stock(2_500, 10).await);
    let mut input = cart(&[(&first, 2), (&second, 1)]);
    input["shipping_address"] = address();
    input["items"][1]["properties"] = json!({"Engraving": "=Ann"});
    let placed =
        shopper.post(&market.orders_path()).key(&unique("o")).json(input).await.expect(201);
    let done = export(owner, json!({"kind": "orders"})).await;
    assert_eq!((done.int("/done"), done.int("/rows")), (1, 2));
    let all = rows(&file(&market, &done).await);
    assert_eq!(all[0]["Name"], placed.str("/order/number"));
    assert_eq!(all[0]["Total"], "45.00");
    assert_eq!((&all[1]["Total"], &all[1]["Lineitem price"]), (&json!(""), &json!("25.00")));
    assert_eq!(all[0]["Lineitem quantity"], "2");
    let properties = (&all[0]["Lineitem properties"], &all[1]["Lineitem properties"]);
    assert_eq!(properties, (&json!(""), &json!(r#"{"Engraving":"=Ann"}"#)));
    let lines = export(owner, json!({"kind": "orders", "format": "jsonl"})).await;
    let line: Value = serde_json::from_str(file(&market, &lines).await.trim()).unwrap();
    let order = placed.str("/order/id");
    let shown = owner.get(&format!("/v1/orders/{order}")).await.expect(200);
    for (member, value) in line.as_object().unwrap() {
        assert_eq!(shown.at(&format!("/{member}")), value, "{member}");
    }
    let people = rows(&file(&market, &export(owner, json!({"kind": "customers"})).await).await);
    assert_eq!(people[0]["Email"], shopper.email);
    let moved = export(owner, json!({"kind": "movements"})).await;
    let moved = rows(&file(&market, &moved).await);
    let mut reserved: Vec<&str> = moved
        .iter()
        .filter(|row| row["Order ID"] == order)
        .map(|row| row["Reserved"].as_str().unwrap())
        .collect();
    reserved.sort_unstable();
    assert_eq!(reserved, ["1", "2"]);
    // A range that nothing was made in.
    let input = json!({"kind": "orders", "until": "2001-01-01T00:00:00Z"});
    assert_eq!(export(owner, input).await.int("/rows"), 0);
    let input =
        json!({"kind": "orders", "since": "2002-01-01T00:00:00Z", "until": "2001-01-01T00:00:00Z"});
    let rejected = owner.post(EXPORTS).json(input).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/until".to_owned(), "invalid_range".to_owned())]);
}

#[tokio::test]
async fn an_export_link_is_signed_for_one_part_and_expires() {
    let market = Market::open().await;
    let owner = &market.owner;
    market.stock(1_000, 1).await;
    let done = export(owner, json!({"kind": "products"})).await;
    let link = path_of(&done.str("/parts/0/url"));
    let nobody = market.gateway.client();
    let fetched = nobody.get(&link).await.expect(200);
    assert!(fetched.header("content-disposition").unwrap().contains("products-"));
    assert_eq!(fetched.header("cache-control"), Some("private, no-store"));
    for other in [
        link.replace("/parts/1", "/parts/2"),
        format!("{link}x"),
        link.replace("expires=", "expires=1"),
    ] {
        nobody.get(&other).await.expect(400).problem("invalid_or_expired_token");
    }
    nobody.get(&format!("{EXPORTS}/{}/parts/1", done.str("/id"))).await.expect(422);
    market.gateway.advance(Duration::from_mins(15));
    nobody.get(&link).await.expect(400).problem("invalid_or_expired_token");
    let again = owner.get(&format!("{EXPORTS}/{}", done.str("/id"))).await.expect(200);
    nobody.get(&path_of(&again.str("/parts/0/url"))).await.expect(200);
    owner.post(&format!("{EXPORTS}/{}/cancel", done.str("/id"))).json(json!({})).await.expect(409);
    let listed = owner.get(&format!("{EXPORTS}?kind=products&status=succeeded")).await.expect(200);
    assert_eq!(listed.data().len(), 1);
    assert_eq!(listed.data()[0]["parts"][0]["url"], json!(null));
}

#[tokio::test]
async fn an_app_needs_the_read_scope_of_an_exports_kind() {
    let (market, app) = Market::with_app(&["write_exports", "read_products"]).await;
    let rejected = app.post(EXPORTS).json(json!({"kind": "customers"})).await.expect(403);
    assert_eq!(rejected.str("/required_scope"), "read_customers");
    export(&app, json!({"kind": "products"})).await;
    let people = export(&market.owner, json!({"kind": "customers"})).await;
    app.get(&format!("{EXPORTS}/{}", people.str("/id"))).await.expect(404);
}

#[tokio::test]
async fn a_queued_export_is_cancelled() {
    let market = Market::open_with(|options| options.has_runner = false).await;
    let waiting = market.owner.post(EXPORTS).json(json!({"kind": "products"})).await.expect(202);
    let path = format!("{EXPORTS}/{}/cancel", waiting.str("/id"));
    let cancelled = market.owner.post(&path).json(json!({})).await.expect(200);
    assert_eq!(cancelled.str("/status"), "cancelled");
    assert_eq!(*cancelled.at("/allowed_actions"), json!([]));
    market.owner.post(&path).json(json!({})).await.expect(409).problem("invalid_state_transition");
    assert_eq!(market.gateway.events("export.finished").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_of_a_deleted_export_leave_no_file_chunks() {
    let market = Market::open().await;
    let owner = &market.owner;
    let process = market.gateway.process();
    let mut people = "Email,Note\n".to_owned();
    for number in 0..250 {
        let _ = writeln!(people, "person-{number}@example.com,{}", "x".repeat(1_800));
    }
    let id =
        owner.post("/v1/imports").json(json!({"kind": "customers"})).await.expect(201).str("/id");
    let one = format!("/v1/imports/{id}");
    owner.put(&format!("{one}/parts/1")).body(people).await.expect(200);
    owner.post(&format!("{one}/start")).json(json!({})).await.expect(202);
    eventually(Duration::from_secs(30), || async {
        (owner.get(&one).await.expect(200).str("/status") == "succeeded").then_some(())
    })
    .await;
    for moment in 0..30_u64 {
        let input = json!({"kind": "customers", "format": "jsonl"});
        let id = owner.post(EXPORTS).json(input).await.expect(202).str("/id");
        let (process, export) = (&process, &id);
        let steps = [0_u64, 1, 2].map(|late| async move {
            tokio::time::sleep(Duration::from_millis(late * 3)).await;
            let _ = process.step_export(export).await;
        });
        let forgotten = async {
            tokio::time::sleep(Duration::from_millis(moment)).await;
            let _ = process.forget_files(&market.store.id).await;
        };
        join(join_all(steps), forgotten).await;
        let is_there = !market.gateway.items(&format!("EXP#{id}")).await.is_empty();
        let chunks = market.gateway.items(&format!("FIL#{id}")).await.len();
        // What is forgotten has no chunks; what somebody else was faster with is forgotten by the next.
        assert!(is_there || chunks == 0, "{moment}: {chunks} chunks that nobody owns");
    }
}
