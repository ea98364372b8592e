//! The sweep of the batches of deliveries: what has not ended, and has no due mark yet, gets one.

use std::time::Duration;

use core_types::key;
use delivery::delivery::{BATCH_SHARDS, BatchPositions, BatchRow, Delivery, DeliveryBatch};
use futures_util::stream::{self, StreamExt};
use primitives::problem::Problem;
use services::Services;
use table::Batch;
use table::item::Key;
use tokio::time::Instant;

use crate::PARALLEL;
use crate::sweep::{Tally, requeue};

/// The number of batches of a shard whose deliveries are loaded together.
const TOGETHER: usize = 25;
/// The number of deliveries that one strongly consistent read loads.
const READ_AT_ONCE: usize = 100;
/// The time for which one sweep begins to load batches; the next continues.
const TIME: Duration = Duration::from_secs(20);

/// Loads the deliveries of each batch that the sweep has not passed and whose messages should have been
/// processed.
pub(crate) async fn sweep_batches(services: &Services) -> Tally {
    let mut tally = Tally::default();
    let outcome = pass(services, &mut tally).await;
    tally.count(&"batches of deliveries", outcome.map(|()| false));
    tally
}

async fn pass(services: &Services, tally: &mut Tally) -> Result<(), Problem> {
    let begun = BatchPositions::load(services).await?;
    let until = Instant::now().checked_add(TIME);
    let shards: Vec<_> = stream::iter(BATCH_SHARDS.chars())
        .map(|shard| {
            let place = begun.place(shard).map(str::to_owned);
            async move { (shard, sweep_shard(services, shard, place, until).await) }
        })
        .buffer_unordered(PARALLEL)
        .collect()
        .await;
    let mut reached = Vec::new();
    for (shard, (place, of_shard)) in shards {
        tally.add(of_shard);
        reached.extend(place.map(|place| (shard, place)));
    }
    if reached.is_empty() {
        return Ok(());
    }
    begun.reaching(reached).save(services).await
}

/// Sweeps one shard from a place on. Returns the last place it has passed, if it has passed any.
async fn sweep_shard(
    services: &Services,
    shard: char,
    begun: Option<String>,
    until: Option<Instant>,
) -> (Option<String>, Tally) {
    let (mut tally, mut reached) = (Tally::default(), None);
    let due_by = DeliveryBatch::due_by(services.clock.now());
    while until.is_none_or(|until| Instant::now() < until) {
        let place = reached.as_deref().or(begun.as_deref());
        let rows = match DeliveryBatch::after(services, shard, place, due_by, TOGETHER).await {
            Ok(rows) => rows,
            Err(problem) => {
                tally.count(&shard, Err(problem));
                break;
            }
        };
        let Some(last) = rows.last().map(|row| row.place.clone()) else { break };
        let is_last = rows.len() < TOGETHER;
        if let Err(problem) = sweep_rows(services, rows, &mut tally).await {
            tally.count(&shard, Err(problem));
            break;
        }
        reached = Some(last);
        if is_last {
            break;
        }
    }
    (reached, tally)
}

/// Queues the deliveries of some batches that have not ended and have no due mark.
///
/// # Errors
/// 503 when any of them may still have none.
async fn sweep_rows(
    services: &Services,
    rows: Vec<BatchRow>,
    tally: &mut Tally,
) -> Result<(), Problem> {
    let mut keys: Vec<Key> = Vec::new();
    for row in rows {
        match row.batch {
            Ok(batch) => keys.extend(batch.deliveries.iter().map(key::delivery)),
            Err(problem) => {
                tracing::error!(cause = %problem, place = row.place, "work given up: batch unreadable");
            }
        }
    }
    let mut unmarked = Vec::new();
    let mut found = services.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    let (known, unknown): (Vec<Key>, Vec<Key>) = keys.into_iter().partition(|key| found.has(key));
    take_unmarked(services, &mut found, &known, &mut unmarked, tally).await;
    // Few are: those that were deleted.
    for chunk in unknown.chunks(READ_AT_ONCE) {
        let mut found = services.table.get_many(&chunk.iter().collect::<Vec<_>>()).await?;
        take_unmarked(services, &mut found, chunk, &mut unmarked, tally).await;
    }
    requeue(services, unmarked, tally).await.map_or(Ok(()), Err)
}

/// Takes the deliveries that only their batch brings back. One that cannot be parsed is counted and skipped.
async fn take_unmarked(
    services: &Services,
    found: &mut Batch,
    keys: &[Key],
    unmarked: &mut Vec<Delivery>,
    tally: &mut Tally,
) {
    for key in keys {
        match found.take::<Delivery>(key) {
            Ok(delivery) => unmarked.extend(delivery.filter(Delivery::is_unmarked)),
            Err(problem) => tally.record(services, key, Err(problem)).await,
        }
    }
}
