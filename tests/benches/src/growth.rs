//! Growth: as many orders as the system takes, round after round.

use benches::AnyError;

use crate::SATURATED;
use crate::system::{Owner, System};
use crate::webhooks::Watched;
use crate::work;

/// The subscribers of each order.
const SUBSCRIBERS: usize = 10;
/// Hundredths of the orders of the first round that the last one places at least: a shared machine's own variation is a
/// fifth.
const LEAST: u64 = 75;
/// Bytes of the file for each delivery, with its share of an order: at most. What is kept of both, with their rows in
/// the indexes, is three kilobytes.
const MOST_BYTES: u64 = 6_000;

/// Places orders until there are so many deliveries, and prints a row for each round.
///
/// # Errors
/// The system has become slower, or its file larger than what it keeps.
pub async fn run(system: &System, deliveries: u64) -> Result<(), AnyError> {
    let mut owner = Owner::sign_in(&system.target, work::MERCHANT, "").await?;
    let checkout = work::checkout(work::stock_up(&mut owner).await?);
    let mut watched = Watched { target: &system.target, owner: &mut owner, checkout: &checkout };
    println!("| deliveries | orders/s | arrival, p50 / p99, ms | file, MB |\n|---|---|---|---|");
    let (mut first, mut made) = (None, 0);
    loop {
        let (orders, late) = watched.saturated(SUBSCRIBERS, SATURATED).await?;
        made += late.count();
        let bytes = system.table_bytes()?;
        println!("| {made} | {} | {} | {} |", orders.rate(), late.latency(), bytes / 1_000_000);
        let first = *first.get_or_insert(orders.rate());
        if made < deliveries {
            continue;
        }
        if orders.rate() * 100 < first * LEAST {
            return Err(format!("{} orders/s, after {first} at first", orders.rate()).into());
        }
        if bytes > made * MOST_BYTES {
            return Err(format!("{bytes} bytes for {made} deliveries").into());
        }
        return Ok(());
    }
}
