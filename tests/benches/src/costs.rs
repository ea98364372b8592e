//! Prices of operations, and the tables of docs/costs.md. All amounts are integers, and exact until they are
//! formatted.

pub mod operations;
pub mod prices;

use std::fmt::Write as _;

use operations::{
    CHECKOUT, DELIVERY, EVENTS, FULFIL, KEPT_LIST, LIST, MARK_PAID, Operation, PAGE, REFUND,
    SIGN_IN, SWEEP,
};
use prices::{DOLLAR, Listed, Price, TRACED_OF};

/// Bytes that a run writes to the log: its own line, the platform's three, and the API's.
const LOG_BYTES: u64 = 1_300;
/// Minutes of a month of thirty days.
const MINUTES: u64 = 30 * 24 * 60;
/// Requests in a month to an empty queue: five pollers that wait 20 seconds each.
const IDLE_POLLS: u64 = 5 * 3 * MINUTES;
/// Queues that a function listens to.
const QUEUES: u64 = 4;
/// Secrets of the template.
const SECRETS: u64 = 9;
/// Metrics that the template's alarms watch.
const ALARMED: u64 = 29;
/// Write units a second of one partition.
const PARTITION_WRITES: u64 = 1_000;
/// Read units a second of one partition.
const PARTITION_READS: u64 = 3_000;
/// The default concurrency of functions in an account.
const CONCURRENCY: u64 = 1_000;
/// The concurrency of the webhook function.
const WEBHOOK_CONCURRENCY: u64 = 100;

/// A part of an amount: its name and its price.
pub type Part = (&'static str, Price);

impl Operation {
    /// The costs of `times` operations, by their parts.
    pub fn parts(&self, times: u64) -> [Part; 6] {
        let runs = times.div_ceil(self.runs.shared_by);
        let asked = times * self.api_requests;
        let megabyte_millis = runs * self.runs.megabytes * self.runs.millis;
        let of = |listed: Listed, count: u64| listed.price * count;
        let table =
            of(prices::READ, times * self.reads) / 10 + of(prices::WRITE, times * self.writes) / 10;
        let function = of(prices::INVOCATION, runs)
            + prices::GIGABYTE_SECOND.price / 1_024 * megabyte_millis / 1_000;
        [
            ("table", table),
            ("functions", function),
            ("API", of(prices::API_REQUEST, asked)),
            ("queues", of(prices::QUEUE_REQUEST, times * self.queue_requests)),
            (
                "logs and traces",
                of(prices::LOGGED, runs * LOG_BYTES) + of(prices::TRACE, runs.div_ceil(TRACED_OF)),
            ),
            ("transfer", of(prices::SENT, times * self.bytes)),
        ]
    }
}

/// The sum of several operations, by their parts.
fn sum(counted: &[(Operation, u64)]) -> Vec<Part> {
    let mut sums: Vec<Part> = Vec::new();
    for (operation, times) in counted {
        for (name, price) in operation.parts(*times) {
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += price,
                None => sums.push((name, price)),
            }
        }
    }
    sums
}

/// Formats dollars and cents; tenths of a cent below ten cents.
fn dollars(price: Price) -> String {
    let mills = price.div_ceil(DOLLAR / 1_000);
    if mills < 100 {
        return format!("$0.{mills:03}");
    }
    let cents = (mills + 5) / 10;
    format!("${}.{:02}", cents / 100, cents % 100)
}

fn tenths(units: u64) -> String {
    if units.is_multiple_of(10) {
        (units / 10).to_string()
    } else {
        format!("{}.{}", units / 10, units % 10)
    }
}

/// Replaces the tables of a document between `<!-- name -->` and `<!-- end -->` with computed ones.
///
/// # Errors
/// The document has no place for a table.
pub fn renewed(document: &str) -> Result<String, String> {
    let mut text = document.to_owned();
    for (name, table) in [
        ("prices", price_list()),
        ("operations", operation_list()),
        ("views", views()),
        ("orders", orders()),
        ("shop", shop()),
        ("limits", limits()),
    ] {
        let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
        let from = text.find(&begin).ok_or_else(|| format!("no {begin}"))? + begin.len();
        let rest = text.get(from..).unwrap_or_default();
        let to = from + rest.find(end).ok_or_else(|| format!("no end of {name}"))?;
        text.replace_range(from..to, &table);
    }
    Ok(text)
}

fn price_list() -> String {
    let mut table = "| | for each | price |\n|---|---|---|\n".to_owned();
    for Listed { name, unit, said, .. } in prices::ALL {
        let _ = writeln!(table, "| {name} | {unit} | {said} |");
    }
    table
}

fn operation_list() -> String {
    let mut table = "| operation | read units | write units | function | queue requests | \
                     a million of them |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for operation in operations::ALL {
        let Operation { name, reads, writes, runs, queue_requests, .. } = operation;
        let shared = match runs.shared_by {
            1 => String::new(),
            many => format!(", shared by {many}"),
        };
        let price: Price = operation.parts(1_000_000).iter().map(|(_, price)| price).sum();
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} MB, {} ms{shared} | {queue_requests} | {} |",
            tenths(reads),
            tenths(writes),
            runs.megabytes,
            runs.millis,
            dollars(price),
        );
    }
    table
}

/// Formats a table with a column for each sum and a row for each part.
fn columns(heads: &[&str], sums: &[Vec<Part>]) -> String {
    let mut table = format!("| | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    let row = |name: &str, prices: &[Price]| {
        let cells: Vec<String> = prices.iter().map(|price| dollars(*price)).collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    };
    let first = sums.first().map(Vec::as_slice).unwrap_or_default();
    for (name, _) in first {
        let price = |sum: &Vec<Part>| {
            sum.iter().filter(|(known, _)| known == name).map(|(_, price)| price).sum()
        };
        table.push_str(&row(name, &sums.iter().map(price).collect::<Vec<_>>()));
    }
    let total = |sum: &Vec<Part>| sum.iter().map(|(_, price)| price).sum();
    table.push_str(&row("**together**", &sums.iter().map(total).collect::<Vec<_>>()));
    table
}

/// A million list views: with none, nine of ten, and 99 of 100 of them from the response cache.
fn views() -> String {
    const VIEWS: u64 = 1_000_000;
    let cached = |cached: u64| sum(&[(LIST, VIEWS - cached), (KEPT_LIST, cached)]);
    let heads = ["all from the table", "9 of 10 cached", "99 of 100 cached"];
    columns(&heads, &[cached(0), cached(VIEWS / 10 * 9), cached(VIEWS / 100 * 99)])
}

/// Orders that are placed, paid and fulfilled, with their events, which three subscribers receive.
fn order_path(orders: u64) -> [(Operation, u64); 5] {
    const TRANSACTIONS: u64 = 3;
    const TOLD: u64 = 5;
    const SUBSCRIBERS: u64 = 3;
    [
        (CHECKOUT, orders),
        (MARK_PAID, orders),
        (FULFIL, orders),
        (EVENTS, orders * TRANSACTIONS),
        (DELIVERY, orders * TOLD * SUBSCRIBERS),
    ]
}

fn orders() -> String {
    let path = order_path(1_000);
    let (alone, told) = path.split_at(3);
    columns(&["orders", "events and deliveries", "both"], &[sum(alone), sum(told), sum(&path)])
}

/// A month of a shop with 300 orders, and the fixed costs of a deployment.
fn shop() -> String {
    let mut used = vec![(LIST, 10_000), (KEPT_LIST, 20_000), (PAGE, 60_000)];
    used.extend(order_path(300));
    used.extend([(REFUND, 10), (SIGN_IN, 400)]);
    let mut standing = sum(&[(SWEEP, MINUTES)]);
    for (name, price) in [
        ("queues", prices::QUEUE_REQUEST.price * IDLE_POLLS * QUEUES),
        ("secrets", prices::SECRET.price * SECRETS),
        ("alarms", prices::ALARM.price * ALARMED),
        ("metric and dashboard", prices::METRIC.price + prices::DASHBOARD.price),
        ("storage, 1 GB", prices::STORED.price),
    ] {
        match standing.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += price,
            None => standing.push((name, price)),
        }
    }
    columns(&["the deployment, at rest", "the shop's requests"], &[standing, sum(&used)])
}

fn limits() -> String {
    let mut table =
        "| operation | its busiest partition gets | so many a second before it throttles | \
                     so many a second of 1,000 functions |\n|---|---|---|---|\n"
            .to_owned();
    for operation in [LIST, PAGE, CHECKOUT, MARK_PAID, SIGN_IN, DELIVERY] {
        let Operation { name, hottest_reads, hottest_writes, runs, .. } = operation;
        let of = |units: u64, most: u64| (most * 10).checked_div(units).unwrap_or(u64::MAX);
        let most = of(hottest_reads, PARTITION_READS).min(of(hottest_writes, PARTITION_WRITES));
        let functions = if name == DELIVERY.name { WEBHOOK_CONCURRENCY } else { CONCURRENCY };
        let at_once = functions * runs.shared_by * 1_000 / runs.millis;
        let said = if functions == CONCURRENCY { "" } else { " (of 100)" };
        let _ = writeln!(
            table,
            "| {name} | {} read, {} write units | {most} | {at_once}{said} |",
            tenths(hottest_reads),
            tenths(hottest_writes),
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo run -p benches --bin costs` updates the document.
    #[test]
    fn the_document_has_the_computed_tables() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/costs.md");
        let document = std::fs::read_to_string(path).unwrap();
        assert_eq!(renewed(&document).unwrap(), document);
    }

    #[test]
    fn amounts_are_those_of_the_price_list() {
        let only = |operation: Operation, part: &str| {
            let parts = operation.parts(1_000_000);
            parts.into_iter().find(|(name, _)| *name == part).unwrap().1
        };
        let free = Operation { reads: 0, writes: 0, ..LIST };
        assert_eq!(only(Operation { reads: 80, ..free }, "table"), DOLLAR);
        assert_eq!(only(Operation { writes: 16, ..free }, "table"), DOLLAR);
        assert_eq!(only(free, "API"), DOLLAR);
        assert_eq!(only(Operation { queue_requests: 5, ..free }, "queues"), 2 * DOLLAR);
        let runs = operations::Run { megabytes: 1_024, millis: 1_000, shared_by: 1_000_000 };
        let once = Operation { runs, ..free };
        let gigabyte_second = prices::GIGABYTE_SECOND.price / 1_024 * 1_024;
        assert_eq!(only(once, "functions"), gigabyte_second + prices::INVOCATION.price);
    }

    #[test]
    fn amounts_are_written_as_money() {
        for (price, text) in [
            (DOLLAR, "$1.00"),
            (DOLLAR / 1_000, "$0.001"),
            (DOLLAR * 1_234 / 100, "$12.34"),
            (DOLLAR / 8, "$0.13"),
            (0, "$0.000"),
        ] {
            assert_eq!(dollars(price), text);
        }
    }
}
