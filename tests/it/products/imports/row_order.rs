//! Rows of one key: they are done one after the other, in the file's order.

use futures_util::future::join_all;

use super::*;

/// Keys of one file, each of which has three rows.
const KEYS: usize = 40;

fn request(kind: &str, on_existing: &str) -> Value {
    json!({"kind": kind, "on_existing": on_existing})
}

/// Customers of one address that is spelt in three ways.
fn customers() -> String {
    let mut file = "Email,First Name\n".to_owned();
    for key in 0..KEYS {
        let _ = write!(
            file,
            "ann-{key}@example.com,First\nAnn-{key}@Example.com,Second\nANN-{key}@EXAMPLE.COM,Third\n"
        );
    }
    file
}

/// Products of one handle, with a product of another between them.
fn products() -> String {
    let mut file = "Handle,Title,Variant Price\n".to_owned();
    for key in 0..KEYS {
        let _ = write!(
            file,
            "p-{key},First,1\nother-{key},Other,1\np-{key},Second,1\nelse-{key},Else,1\np-{key},Third,1\n"
        );
    }
    file
}

/// The names of all customers, or the titles of all products that have three rows.
async fn names(market: &Market, kind: &str) -> Vec<String> {
    let (path, member) = match kind {
        "customers" => ("/v1/customers", "name"),
        _ => ("/v1/products", "title"),
    };
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = market.owner.get(&format!("{path}?limit=100{cursor}")).await.expect(200);
        names.extend(page.data().iter().map(|it| it[member].as_str().unwrap().to_owned()));
        match page.at("/page/next_cursor").as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    names.retain(|name| !["Other", "Else"].contains(&name.as_str()));
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skip_keeps_the_first_row_of_a_key_and_update_the_last() {
    for (kind, file) in [("customers", customers()), ("products", products())] {
        for (on_existing, expected) in [("skip", "First"), ("update", "Third")] {
            let market = Market::open().await;
            let done = import(&market.owner, request(kind, on_existing), file.as_bytes()).await;
            assert_eq!(done.str("/status"), "succeeded", "{}", done.text);
            let names = names(&market, kind).await;
            assert_eq!(names.len(), KEYS);
            let wrong = names.iter().filter(|name| *name != expected).count();
            assert_eq!(wrong, 0, "{kind} {on_existing}: {wrong} of {KEYS}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_existing_fail_reports_later_rows_of_a_key() {
    for (kind, file, step) in [("customers", customers(), 1), ("products", products(), 2)] {
        let market = Market::open().await;
        let dry = json!({"kind": kind, "on_existing": "fail", "dry_run": true});
        let id = asked(&market.owner, dry).await;
        begin(&market.owner, &id, file.as_bytes(), 1 << 20).await;
        let checked = ended(&market.owner, &id, SOON).await;
        let told = findings(&market.owner, &checked).await;
        let start = format!("{IMPORTS}/{id}/start");
        market.owner.post(&start).json(json!({})).await.expect(202);
        let done = ended(&market.owner, &id, SOON).await;
        let found = findings(&market.owner, &done).await;
        assert_eq!(told, found, "{kind}");
        let rows: Vec<i64> = found.iter().map(|(row, ..)| *row).collect();
        let period = step * 2 + 1;
        let keys = 0..i64::try_from(KEYS).unwrap();
        let later = keys.flat_map(|key| [2 + key * period + step, 2 + key * period + 2 * step]);
        assert_eq!(rows, later.collect::<Vec<_>>(), "{kind}");
        assert!(names(&market, kind).await.iter().all(|name| name == "First"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_imported_product_keeps_a_duplicate_sku() {
    let market = Market::open().await;
    let mut file = "Handle,Title,Variant SKU,Variant Price\n".to_owned();
    for key in 0..KEYS {
        let _ = write!(file, "a-{key},A,sku-{key},1\nb-{key},B,SKU-{key},1\n");
    }
    // What is wrong by itself takes nothing from who comes after it.
    file.push_str("c,,sku-c,1\nd,D,,1\nc,C again,sku-c,1\n");
    for on_existing in ["fail", "skip", "update"] {
        let market_of_dry = Market::open().await;
        let dry = json!({"kind": "products", "on_existing": on_existing, "dry_run": true});
        let checked = import(&market_of_dry.owner, dry, file.as_bytes()).await;
        let told = findings(&market_of_dry.owner, &checked).await;
        let market = Market::open().await;
        let done = import(&market.owner, request("products", on_existing), file.as_bytes()).await;
        let found = findings(&market.owner, &done).await;
        assert_eq!(told, found, "{on_existing}");
        let rows: Vec<i64> = found.iter().map(|(row, ..)| *row).collect();
        let last = 2 + 2 * i64::try_from(KEYS).unwrap();
        let expected = (0..i64::try_from(KEYS).unwrap()).map(|key| 3 + key * 2).chain([last]);
        assert_eq!(rows, expected.collect::<Vec<_>>(), "{on_existing}");
        assert!(product(&market.owner, "c").await.is_some());
    }
    drop(market);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imported_handles_are_generated_in_file_order() {
    let mut file = "Handle,Title,Variant Price\n".to_owned();
    for key in 0..KEYS {
        let _ = write!(file, ",Mug {key},1\nmug-{key},Named,1\n");
    }
    let market = Market::open().await;
    let dry = json!({"kind": "products", "dry_run": true});
    let id = asked(&market.owner, dry).await;
    begin(&market.owner, &id, file.as_bytes(), 1 << 20).await;
    let told = findings(&market.owner, &ended(&market.owner, &id, SOON).await).await;
    market.owner.post(&format!("{IMPORTS}/{id}/start")).json(json!({})).await.expect(202);
    let found = findings(&market.owner, &ended(&market.owner, &id, SOON).await).await;
    assert_eq!(told, found);
    let rows: Vec<i64> = found.iter().map(|(row, ..)| *row).collect();
    let expected = (0..i64::try_from(KEYS).unwrap()).map(|key| 3 + key * 2);
    assert_eq!(rows, expected.collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_import_workers_never_overwrite_later_rows() {
    let market = Market::open().await;
    let mut file = "Email,First Name\n".to_owned();
    for name in ["First", "Second", "Third", "Fourth"] {
        for key in 0..KEYS {
            let _ = writeln!(file, "ann-{key}@example.com,{name}");
        }
    }
    let id = asked(&market.owner, request("customers", "update")).await;
    begin(&market.owner, &id, file.as_bytes(), 1 << 20).await;
    // Beside the system's own worker: each of them begins where the import is at that moment.
    let (process, import) = (&market.gateway.process(), &id);
    let workers = (0..12_u64).map(|number| async move {
        tokio::time::sleep(Duration::from_millis(number * 40)).await;
        let _ = process.step_import(import).await;
    });
    join_all(workers).await;
    let path = format!("{IMPORTS}/{id}");
    let done = eventually(Duration::from_mins(2), || async {
        market.gateway.sweep().await;
        let shown = market.owner.get(&path).await.expect(200);
        (shown.str("/status") != "running").then_some(shown)
    })
    .await;
    assert_eq!(done.str("/status"), "succeeded", "{}", done.text);
    let names = names(&market, "customers").await;
    assert_eq!(names.len(), KEYS);
    assert!(names.iter().all(|name| name == "Fourth"), "{names:?}");
}
