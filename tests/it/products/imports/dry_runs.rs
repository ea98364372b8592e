//! Dry runs: what a file would come to, finding by finding, and nothing written.

use std::collections::BTreeSet;

use super::*;

/// What a record cannot do without: an error there is the record's.
const NEEDED: [(&str, &str); 5] = [
    ("Title", "required"),
    ("Title", "too_long"),
    ("Handle", "invalid_handle"),
    ("Handle", "handle_taken"),
    ("Option1 Value", "too_short"),
];

/// A thousand rows that are wrong in twenty ways, each of which is one finding, and the findings.
fn invalid_file() -> (String, Vec<(i64, String, String)>) {
    let columns = "Handle,Title,Vendor,Type,Tags,Status,Option1 Name,Option1 Value,Variant SKU,\
                   Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,\
                   Variant Inventory Policy,Variant Price,Variant Compare At Price,\
                   Variant Requires Shipping,Variant Barcode,Image Src,SEO Title,Variant Tax Code";
    let names: Vec<&str> = columns.split(',').map(str::trim).collect();
    let long = |count: usize| "x".repeat(count);
    let kinds: Vec<(&str, String, &str)> = vec![
        ("Title", String::new(), "required"),
        ("Title", long(256), "too_long"),
        ("Handle", "No Handle!".into(), "invalid_handle"),
        ("Handle", "taken".into(), "handle_taken"),
        ("Vendor", long(101), "too_long"),
        ("Type", long(101), "too_long"),
        ("Tags", long(41), "too_long"),
        ("Status", "sold".into(), "invalid_choice"),
        ("Option1 Value", String::new(), "too_short"),
        ("Variant SKU", long(101), "invalid_sku"),
        ("Variant SKU", "TAKEN".into(), "sku_taken"),
        ("Variant Grams", "heavy".into(), "invalid_number"),
        ("Variant Grams", "-1".into(), "out_of_range"),
        ("Variant Inventory Qty", "few".into(), "invalid_number"),
        ("Variant Inventory Policy", "maybe".into(), "invalid_choice"),
        ("Variant Price", "1.999".into(), "invalid_price"),
        ("Variant Compare At Price", "much".into(), "invalid_price"),
        ("Variant Requires Shipping", "perhaps".into(), "invalid_boolean"),
        ("Variant Barcode", long(65), "too_long"),
        ("Image Src", "not a url".into(), "invalid_url"),
        ("SEO Title", long(201), "too_long"),
        ("Variant Tax Code", "Not A Class".into(), "invalid_tax_class"),
    ];
    let (mut file, mut expected) = (format!("{}\n", names.join(",")), Vec::new());
    for number in 0..1_000_usize {
        let (column, value, code) = &kinds[number % kinds.len()];
        let cell = |name: &&str| -> String {
            if name == column {
                return value.clone();
            }
            match *name {
                "Handle" => format!("row-{number}"),
                "Title" => format!("Row {number}"),
                "Option1 Name" => "Size".into(),
                "Option1 Value" => "M".into(),
                "Variant SKU" => format!("SKU-{number}"),
                "Variant Price" => "10.00".into(),
                "Variant Inventory Tracker" => "shopify".into(),
                _ => String::new(),
            }
        };
        let row: Vec<String> = names.iter().map(cell).collect();
        file.push_str(&row.join(","));
        file.push('\n');
        let row = i64::try_from(number).unwrap() + 2;
        expected.push((row, (*column).to_owned(), (*code).to_owned()));
    }
    (file, expected)
}

#[tokio::test]
async fn a_dry_run_reports_a_thousand_findings_and_writes_nothing() {
    let market = Market::open().await;
    let owner = &market.owner;
    let taken = json!({"title": "Taken", "handle": "taken", "variants": [{"price": inr(1), "sku": "taken"}]});
    owner.post("/v1/products").json(taken).await.expect(201);
    let (file, mut expected) = invalid_file();
    // The store counts its imports; nothing else of it changes.
    let items = async || {
        let mut items = market.gateway.items("STO#").await;
        let is_index = |item: &Value| item["PK"].as_str().is_some_and(|key| key.ends_with("#FCT"));
        items.retain(|item| item["entity"] != "unfinished_transfers" && !is_index(item));
        items
    };
    let before = items().await;
    let done = import(owner, json!({"kind": "products", "dry_run": true}), file.as_bytes()).await;
    assert_eq!(done.str("/status"), "checked");
    let is_needed = |(_, column, code): &&(i64, String, String)| {
        NEEDED.contains(&(column.as_str(), code.as_str()))
    };
    let failed = i64::try_from(expected.iter().filter(is_needed).count()).unwrap();
    let counts = (done.int("/progress/failed"), done.int("/progress/created"));
    assert_eq!(counts, (failed, 1_000 - failed));
    assert_eq!(done.int("/warnings_count"), 1_000 - failed);
    let mut found = findings(owner, &done).await;
    found.sort();
    expected.sort();
    let kinds: BTreeSet<(&str, &str)> =
        expected.iter().map(|(_, column, code)| (column.as_str(), code.as_str())).collect();
    assert!(kinds.len() >= 20, "{kinds:?}");
    for (one, other) in found.iter().zip(&expected) {
        assert_eq!(one, other);
    }
    assert_eq!(found.len(), 1_000);
    assert_eq!(done.int("/findings_count"), 1_000);
    assert_eq!(items().await, before);
}

#[tokio::test]
async fn dry_runs_find_duplicate_keys_within_a_file() {
    let market = Market::open().await;
    let owner = &market.owner;
    let mut file = "Handle,Title,Variant SKU,Variant Price\n".to_owned();
    for number in 0..300 {
        let _ = writeln!(file, "p-{number},Product {number},S-{number},1");
    }
    file.push_str("p-7,Twin,S-301,1\nq,Twin,s-9,1\n");
    let input = json!({"kind": "products", "dry_run": true});
    let id = asked(owner, input).await;
    begin(owner, &id, file.as_bytes(), 2_000).await;
    let checked = ended(owner, &id, SOON).await;
    let of = |reply: &Reply| (reply.int("/progress/created"), reply.int("/progress/failed"));
    assert_eq!((checked.str("/status").as_str(), of(&checked)), ("checked", (301, 1)));
    let expected = [
        (302, "Handle".to_owned(), "handle_taken".to_owned()),
        (303, "Variant SKU".to_owned(), "sku_taken".to_owned()),
    ];
    assert_eq!(findings(owner, &checked).await, expected);
    let count = || async { market.gateway.items_of("product", "STO#").await.len() };
    assert_eq!(count().await, 0);
    owner.post(&format!("{IMPORTS}/{id}/start")).json(json!({})).await.expect(202);
    let done = ended(owner, &id, SOON).await;
    assert_eq!((done.str("/status").as_str(), of(&done)), ("partial", of(&checked)));
    assert_eq!(findings(owner, &done).await, expected);
    assert_eq!(count().await, 301);
}
