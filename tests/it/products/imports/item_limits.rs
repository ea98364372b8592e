//! Files with more findings, columns and names than items of the table hold: each import ends.

use super::*;

/// What an import of a file came to: it has ended, and the next one is not kept from starting.
async fn outcome(market: &Market, input: Value, file: &[u8]) -> Reply {
    let done = import(&market.owner, input, file).await;
    let next = import(&market.owner, json!({"kind": "customers"}), b"Email\n").await;
    assert_eq!(next.str("/status"), "succeeded");
    done
}

#[tokio::test]
async fn an_import_with_thousands_of_unknown_fields_ends() {
    let market = Market::open().await;
    let member = |number: usize| format!("\"an_unknown_member_{number}\": 1");
    let members: Vec<String> = (0..40).map(member).collect();
    let line = format!("{{{}}}\n", members.join(","));
    let file = line.repeat(97 * 1024 / line.len() + 1);
    let rows = i64::try_from(file.lines().count()).unwrap();
    let input = json!({"kind": "products", "format": "jsonl"});
    let done = outcome(&market, input, file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/failed")), ("failed", rows));
    // Each is counted, and each is named.
    let found = findings(&market.owner, &done).await;
    let unknown = found.iter().filter(|(.., code)| code == "unknown_field").count();
    assert_eq!(i64::try_from(unknown).unwrap(), rows * 40);
    assert_eq!(done.int("/findings_count"), i64::try_from(found.len()).unwrap());
}

#[tokio::test]
async fn a_line_stores_at_most_a_hundred_findings() {
    let market = Market::open().await;
    let member = |number: usize| format!("\"{}{number}\": 1", "x".repeat(2_000));
    let members: Vec<String> = (0..300).map(member).collect();
    let file = format!("{{{}}}\n", members.join(","));
    let input = json!({"kind": "products", "format": "jsonl"});
    let done = outcome(&market, input, file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/failed")), ("failed", 1));
    let found = findings(&market.owner, &done).await;
    assert_eq!(found.len(), 100);
    assert!(done.int("/findings_count") >= 100);
    let longest = found.iter().map(|(_, column, _)| column.chars().count()).max();
    assert_eq!(longest, Some(200), "names are cut");
}

#[tokio::test]
async fn a_file_of_twelve_thousand_columns_is_rejected_at_its_first_row() {
    let market = Market::open().await;
    let columns: Vec<String> =
        (0..12_000).map(|number| format!("An unread column {number}")).collect();
    let file = format!("Title,Price,{}\nMug,1\n", columns.join(","));
    assert!(file.len() > 250_000);
    let done = outcome(&market, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!(done.str("/status"), "failed");
    let expected = [(1, String::new(), "too_many_columns".to_owned())];
    assert_eq!(findings(&market.owner, &done).await, expected);
}

#[tokio::test]
async fn ignored_column_names_are_truncated_and_counted() {
    let market = Market::open().await;
    let long = |number: usize| format!("{number} {}", "\u{1f375}".repeat(400));
    let columns: Vec<String> = (0..498).map(long).collect();
    let file = format!("Title,Price,{}\nMug,1\n", columns.join(","));
    let done = outcome(&market, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!(done.str("/status"), "succeeded", "{:?}", findings(&market.owner, &done).await);
    assert_eq!(done.int("/ignored_columns_count"), 498);
    let ignored = done.at("/ignored_columns").as_array().unwrap().clone();
    assert_eq!(ignored.len(), 100);
    assert!(ignored.iter().all(|name| name.as_str().unwrap().chars().count() <= 100));
}

#[tokio::test]
async fn a_reimport_of_an_export_with_existing_products_ends() {
    let market = Market::open().await;
    let owner = &market.owner;
    let mut file = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n".to_owned();
    for number in 0..217 {
        let _ = writeln!(file, "p-{number},Product {number},Size,S,S-{number}-S,1");
        for size in ["M", "L", "XL"] {
            let _ = writeln!(file, "p-{number},,,{size},S-{number}-{size},1");
        }
    }
    let made = import(owner, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!(made.int("/progress/created"), 217);
    let input = json!({"kind": "products", "format": "jsonl"});
    let id = owner.post("/v1/exports").json(input.clone()).await.expect(202).str("/id");
    let export = eventually(SOON, || async {
        let shown = owner.get(&format!("/v1/exports/{id}")).await.expect(200);
        (shown.str("/status") == "succeeded").then_some(shown)
    })
    .await;
    let mut lines = String::new();
    for part in export.at("/parts").as_array().unwrap() {
        let url = part["url"].as_str().unwrap();
        let path = &url[url.find("/v1/").unwrap()..];
        lines.push_str(&market.gateway.get(path).await.expect(200).text);
    }
    assert_eq!(lines.lines().count(), 217);
    let done = outcome(&market, input, lines.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/failed")), ("failed", 217));
    assert!(!findings(owner, &done).await.is_empty());
}

#[tokio::test]
async fn an_import_with_thousands_of_invalid_variants_ends() {
    let market = Market::open().await;
    let mut file =
        "Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Grams\n".to_owned();
    for product in 0..100 {
        for variant in 0..60 {
            let _ = writeln!(file, "p-{product},P,Size,{variant},much,heavy");
        }
    }
    let done = outcome(&market, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/created")), ("succeeded", 100));
    // All are counted; of each product a hundred are named.
    assert_eq!(done.int("/findings_count"), 100 * 60 * 2);
    assert_eq!(done.int("/warnings_count"), 100 * 60 * 2);
    assert_eq!(findings(&market.owner, &done).await.len(), 10_000);
}
