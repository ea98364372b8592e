//! The poller of the table's stream.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use emulators::{Embedded, StreamRecords, Unhandled};
use gateway::app::App;
use serde_json::{Value, json};
use services::Services;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::contain::{REST, contain};
use crate::backpressure::{Relay, STREAM_WORKERS, Since};
use crate::filters::Filters;

/// Records in a batch of the stream, as in the event source mapping.
const STREAM_BATCH: usize = 100;
/// The longest wait for a write of this process before the stream is read again. Writes of other processes,
/// over loopback, are found this late.
const STREAM_ASLEEP: Duration = Duration::from_millis(500);
/// Attempts of a stream batch before it is left to the sweep.
const STREAM_TRIES: u32 = 3;

/// A record of the stream.
struct Read {
    record: Value,
    since: Instant,
    /// Until the dispatcher has handled it.
    _unhandled: Unhandled,
}

/// Gives the table's stream to the dispatcher: records of one partition in order, others concurrently.
pub(super) async fn poll(
    embedded: Arc<Embedded>,
    dispatcher: App,
    filters: Filters,
    relay: Arc<Relay>,
) {
    let writes = embedded.emulators().writes();
    let mut working = JoinSet::new();
    let workers: Vec<_> = (0..STREAM_WORKERS)
        .map(|place| {
            let (worker, records) = mpsc::channel(STREAM_BATCH);
            let since = relay.events_since(place);
            working.spawn(work_in_order(dispatcher.clone(), records, since));
            worker
        })
        .collect();
    let may_be_news = |change: &str, kind: &str| filters.may_take(change, kind);
    loop {
        match embedded.stream_records(STREAM_BATCH, may_be_news).await {
            Ok(read) if read.records.is_empty() => {
                // A write between the read and this wait is not missed: it has left a permit.
                let _ = tokio::time::timeout(STREAM_ASLEEP, writes.notified()).await;
            }
            Ok(StreamRecords { records, unhandled }) => {
                let since = Instant::now();
                for record in records.into_iter().filter(|record| filters.takes(record)) {
                    let Some(worker) = workers.get(worker_of(&record)) else {
                        return;
                    };
                    let read = Read { record, since, _unhandled: unhandled.clone() };
                    // Waits while the channel is full.
                    if worker.send(read).await.is_err() {
                        return tracing::error!("shard of the stream ended");
                    }
                }
            }
            Err(cause) => {
                tracing::error!(%cause, "stream could not be read");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// The index of a record's worker, which is the same for all records of a partition.
fn worker_of(record: &Value) -> usize {
    let mut hasher = DefaultHasher::new();
    record.pointer("/dynamodb/Keys/PK/S").and_then(Value::as_str).hash(&mut hasher);
    let workers = u64::try_from(STREAM_WORKERS).unwrap_or(1);
    usize::try_from(hasher.finish().rem_euclid(workers)).unwrap_or(0)
}

/// Hands records on, the first as long as it takes before the next.
async fn work_in_order(dispatcher: App, mut next: mpsc::Receiver<Read>, since: Since) {
    let mut batch = Vec::new();
    while next.recv_many(&mut batch, STREAM_BATCH).await > 0 {
        since.set(batch.first().map(|read| read.since));
        hand_on(&dispatcher, batch.iter_mut().map(|read| read.record.take()).collect()).await;
        batch.clear();
        since.set(None);
    }
}

/// Gives records to the dispatcher, and retries from the first that failed, as Lambda does.
async fn hand_on(services: &Services, mut records: Vec<Value>) {
    for _ in 0..STREAM_TRIES {
        let event = match serde_json::from_value(json!({ "Records": &records })) {
            Ok(event) => event,
            Err(cause) => return tracing::error!(%cause, "stream record malformed"),
        };
        let dispatcher = services.clone();
        let answer = contain(async move {
            serde_json::to_value(dispatcher::handle_stream(&dispatcher, event).await)
        });
        // Without a response, the whole batch has failed.
        let failed = match answer.await {
            Some(Ok(answer)) => Some(failures(&answer)),
            Some(Err(_)) | None => None,
        };
        let number = |record: &Value| {
            record.pointer("/dynamodb/SequenceNumber").and_then(Value::as_str).map(str::to_owned)
        };
        let first = records.iter().position(|record| {
            failed.as_ref().is_none_or(|f| number(record).is_some_and(|n| f.contains(&n)))
        });
        match first {
            Some(first) => records = records.split_off(first),
            None => return,
        }
        tokio::time::sleep(REST).await;
    }
    tracing::warn!(count = records.len(), "stream records dropped; left to the sweep");
}

/// The identifiers in a partial batch response.
fn failures(answer: &Value) -> Vec<String> {
    let failures = answer.get("batchItemFailures").and_then(Value::as_array);
    let identifier = |failure: &Value| failure.get("itemIdentifier")?.as_str().map(str::to_owned);
    failures.into_iter().flatten().filter_map(identifier).collect()
}
