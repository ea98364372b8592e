//! Rows of megabytes: they are rejected while they are read, and the rows around them are done.

use super::*;

/// Rows of 20 MB are sent in parts.
const LARGE: usize = 20_000_000;
/// How long an import of such a file may take, of a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

async fn read(market: &Market, input: Value, file: &[u8]) -> (Reply, Vec<(i64, String, String)>) {
    let id = asked(&market.owner, input).await;
    begin(&market.owner, &id, file, 4 << 20).await;
    let done = ended(&market.owner, &id, PATIENCE).await;
    let found = findings(&market.owner, &done).await;
    (done, found)
}

fn at(row: i64, code: &str) -> (i64, String, String) {
    (row, String::new(), code.to_owned())
}

#[tokio::test]
async fn a_row_of_twenty_megabytes_is_rejected_and_its_neighbours_are_imported() {
    let market = Market::open().await;
    let file = format!("Handle,Price,Title\na,1,A\nb,1,{}\nc,1,C\n", "B".repeat(LARGE));
    let (done, found) = read(&market, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/created")), ("partial", 2));
    assert_eq!(found, [at(3, "row_too_large")]);
    assert!(product(&market.owner, "c").await.is_some());
}

#[tokio::test]
async fn a_row_of_twenty_million_cells_is_rejected_and_its_neighbours_are_imported() {
    let market = Market::open().await;
    let file = format!("Handle,Price,Title\na,1,A\nb,1,B{}\nc,1,C\n", ",".repeat(LARGE));
    let (done, found) = read(&market, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/created")), ("partial", 2));
    assert_eq!(found, [at(3, "too_many_cells")]);
}

#[tokio::test]
async fn a_file_of_one_row_of_commas_has_too_many_columns() {
    let market = Market::open().await;
    let file = ",".repeat(LARGE);
    let (done, found) = read(&market, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!(done.str("/status"), "failed");
    assert_eq!(found, [at(1, "too_many_columns")]);
}

#[tokio::test]
async fn a_line_of_twenty_megabytes_is_rejected_and_its_neighbours_are_imported() {
    let market = Market::open().await;
    let line = |email: &str| json!({"email": email}).to_string();
    let large = format!("{{\"email\": \"{}\"}}", "b".repeat(LARGE));
    let file = format!("{}\n{large}\n{}\n", line("a@example.com"), line("c@example.com"));
    let input = json!({"kind": "customers", "format": "jsonl"});
    let (done, found) = read(&market, input, file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), done.int("/progress/created")), ("partial", 2));
    assert_eq!(found, [at(2, "row_too_large")]);
}
