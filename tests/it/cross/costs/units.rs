//! What each write unit of an order is: by item and by index, for an order of two lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use support::{Market, Reply, Stored, cart, json};
use table::item::Index;

use super::quiet_market_with;

/// The document that has the tables.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/costs.md");

/// A write of an item: what it takes in the table, and the rows of indexes that it changes.
#[derive(Debug, Default)]
struct Written {
    table: u32,
    rows: Vec<String>,
    units: u32,
}

fn kilobytes(item: &Stored) -> u32 {
    u32::try_from(item.bytes.div_ceil(1_024).max(1)).unwrap()
}

/// A row that is put or removed is written once, one whose key changes twice. The keys of a row that stays cost
/// nothing.
fn rows(before: Option<&Stored>, after: &Stored) -> Vec<(&'static str, u32)> {
    let changed = |index: Index| {
        let (pk, sk) = index.key_names();
        let key = |item: &Stored| Some((item.get(pk)?.to_owned(), item.get(sk)?.to_owned()));
        let (old, new) = (before.and_then(key), key(after));
        let writes = match (old, new) {
            (Some(old), Some(new)) if old == new => u32::from(!index.is_keys_only()),
            (old, new) => u32::from(old.is_some()) + u32::from(new.is_some()),
        };
        let size = if index.is_keys_only() { 1 } else { kilobytes(after) };
        (writes > 0).then_some((index.name(), writes * size))
    };
    Index::ALL.into_iter().filter_map(changed).collect()
}

/// What a request wrote, by the kinds of items, in the order of their names.
async fn written(market: &Market, before: &[Stored]) -> BTreeMap<String, Written> {
    let key = |item: &Stored| (item.text("PK"), item.text("SK"));
    let mut found: BTreeMap<String, Written> = BTreeMap::new();
    for after in market.gateway.stored("").await {
        let old = before.iter().find(|item| key(item) == key(&after));
        if old == Some(&after) || after.text("PK").starts_with("RLB#") {
            continue;
        }
        let kind = after.text("entity");
        // The counter is no part of the transaction.
        let once = if kind == "counter" { 1 } else { 2 };
        let table = once * old.map_or(0, kilobytes).max(kilobytes(&after));
        let rows = rows(old, &after);
        let each = found.entry(kind).or_default();
        each.table += table;
        each.units += table + rows.iter().map(|(_, units)| units).sum::<u32>();
        let of_indexes = rows.into_iter().map(|(name, units)| format!("{name} {units}"));
        each.rows.extend(of_indexes);
    }
    found
}

/// A line of the table for each kind of item, and one for what was read.
fn lines(operation: &str, written: &BTreeMap<String, Written>, reply: &Reply) -> String {
    let mut text = String::new();
    for (kind, Written { table, rows, units }) in written {
        let kind = kind.replace('_', " ");
        let rows = rows.join(", ");
        let _ = writeln!(text, "| {operation} | {kind} | {table} | {rows} | {units} |");
    }
    let units: u32 = written.values().map(|each| each.units).sum();
    let read = reply.tenths() - units * 10;
    let tenths = |of: u32| match of % 10 {
        0 => (of / 10).to_string(),
        rest => format!("{}.{rest}", of / 10),
    };
    let _ = writeln!(text, "| {operation} | *reads* | | | {} |", tenths(read));
    let total = tenths(reply.tenths());
    let _ = writeln!(text, "| **{operation}** | | | | **{total}** |");
    text
}

#[tokio::test]
async fn the_document_says_what_each_unit_of_an_order_of_two_lines_is() {
    let market = quiet_market_with(|options| options.has_stream = false).await;
    let (book, pen) = (market.stock(100, 9).await, market.stock(50, 9).await);
    let input = || cart(&[(&book, 1), (&pen, 1)]);
    market.order(input()).await;
    let mut table =
        "| operation | item | table | rows of indexes | units |\n|---|---|---|---|---|\n"
            .to_owned();
    let before = market.gateway.stored("").await;
    let placed = market.order(input()).await;
    let found = written(&market, &before).await;
    table.push_str(&lines("checkout", &found, &placed.reply));
    let silently = json!({"notify_customer": false});
    for (name, action, input) in
        [("mark paid", "mark-paid", json!({})), ("fulfil", "fulfill", silently)]
    {
        let before = market.gateway.stored("").await;
        let done = market.act(&placed.id, action, input).await;
        assert!(done.status < 300, "{}", done.text);
        let found = written(&market, &before).await;
        table.push_str(&lines(name, &found, &done));
    }
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    assert!(document.contains(&table), "docs/costs.md §7 has another table than\n{table}");
}
