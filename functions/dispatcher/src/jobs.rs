//! Jobs that call payment providers: orders whose time to be paid is over, payments with an outstanding
//! call to a provider, and unverified purchases of themes. A provider may be slow, so a run of the
//! schedule makes no call. It sends the keys of due items to a queue, in batches, and as many workers as
//! needed process them.
//!
//! - *A batch twice* (a message is delivered again, or the next run finds the same due marks): each job
//!   is decided on its item in the table, and written under its version. The second finds nothing due.
//! - *A crash of the run, or a lost message*: unsent and unfinished jobs are still due, and the next run
//!   finds them.
//! - *A job that fails* moves its own due mark on, and blocks no other of its batch. The message is
//!   deleted: the job is due in the table.
//! - *A job that can never succeed* loses its due mark, which its item gets again with its next change.
//!   It is logged, and an alarm reads the log.
//! - *Workers that fall behind*: while enough batches wait in the queue, a run sends no more.

use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use primitives::problem::Problem;
use sales::order::Order;
use sales::payment::{Payment, ProviderDeadline};
use sales::workflows::{expire_order, process_payment};
use serde::{Deserialize, Serialize};
use services::Services;
use services::queue::QueueName;
use table::item::{Item, Key};
use table::outbox::{DueKind, DueMark, SHARDS, remove_mark_if_permanent};
use themes::purchase::{ThemePurchase, update};

use crate::PARALLEL;
use crate::sweep::{Tally, load, unless_lost};

/// The number of jobs in one batch: a worker finishes them well within its time, even if a provider does
/// not answer.
const BATCH: usize = 20;
/// The number of jobs of a batch that are processed concurrently.
const AT_ONCE: usize = 10;
/// The most jobs of one kind and shard that one run sends: 16 times as many of a kind. The rest is
/// younger, and left to the next run.
const PER_SHARD: usize = 2_000;
/// The queue between the schedule and the workers.
pub const QUEUE: QueueName = reliability::queues::DUE;
/// The number of waiting batches at which a run sends no more: the waiting jobs would be sent again.
const ENOUGH: u64 = 250;

/// A kind of job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobKind {
    /// Orders whose time to be paid is over.
    Orders,
    /// Payments with an outstanding call to their provider.
    Payments,
    /// Purchases of themes to be verified with their provider.
    Purchases,
}

impl JobKind {
    /// The kind of job for a due mark; none if it does not go through the queue.
    pub(crate) const fn of(due: DueKind) -> Option<Self> {
        match due {
            DueKind::Order => Some(Self::Orders),
            DueKind::Payment => Some(Self::Payments),
            DueKind::Purchase => Some(Self::Purchases),
            _ => None,
        }
    }

    const fn due(self) -> DueKind {
        match self {
            Self::Orders => DueKind::Order,
            Self::Payments => DueKind::Payment,
            Self::Purchases => DueKind::Purchase,
        }
    }
}

/// A batch of due jobs: the keys of their items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobBatch {
    kind: JobKind,
    /// Partition and sort keys.
    keys: Vec<(String, String)>,
}

/// The numbers of jobs that workers have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct JobReport {
    /// Orders that expired, or whose payments were closed after that.
    pub orders: usize,
    /// Payments whose refund was requested again, or that were refunded.
    pub payments: usize,
    /// Purchases of themes that were verified with their provider.
    pub purchases: usize,
    /// Jobs that failed and stay due.
    pub failures: usize,
}

impl JobReport {
    /// The sum of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            orders: self.orders.saturating_add(other.orders),
            payments: self.payments.saturating_add(other.payments),
            purchases: self.purchases.saturating_add(other.purchases),
            failures: self.failures.saturating_add(other.failures),
        }
    }
}

/// Sends the due jobs of a kind to the queue. Returns their number. Jobs that cannot be listed or sent
/// stay due.
pub(crate) async fn enqueue(services: &Services, kind: JobKind) -> Result<usize, Problem> {
    let behind = services.queue(QUEUE).depth().await.map(|depth| depth.waiting);
    if behind.is_ok_and(|waiting| waiting >= ENOUGH) {
        tracing::warn!(?kind, "due work not queued: the queue is behind");
        return Ok(0);
    }
    let now = services.clock.now();
    let shards = futures_util::stream::iter(SHARDS.chars());
    let listed: Vec<Vec<Key>> =
        shards
            .map(|shard| async move {
                services.table.keys(&kind.due().query(shard, now), PER_SHARD).await
            })
            .buffer_unordered(PARALLEL)
            .try_collect()
            .await?;
    let keys: Vec<(String, String)> =
        listed.into_iter().flatten().map(|key| (key.pk, key.sk)).collect();
    let batch =
        |keys: &[(String, String)]| (JobBatch { kind, keys: keys.to_vec() }, Duration::ZERO);
    let batches: Vec<_> = keys.chunks(BATCH).map(batch).collect();
    services.queue(QUEUE).send(&batches).await?;
    Ok(keys.len())
}

/// Processes batches of the queue. Returns the messages to be received again, and the numbers of jobs
/// done.
pub async fn work(services: &Services, event: SqsEvent) -> (SqsBatchResponse, JobReport) {
    let (mut response, mut worked) = (SqsBatchResponse::default(), JobReport::default());
    for message in event.records {
        let outcome = match read(&message) {
            Ok(batch) => Box::pin(process(services, &batch)).await,
            Err(problem) => Err(problem),
        };
        match outcome {
            Ok(done) => worked = worked.and(done),
            Err(problem) => {
                let id = message.message_id.unwrap_or_default();
                tracing::warn!(
                    cause = %problem, message_id = id,
                    "batch of due work failed; its message is received again"
                );
                response.add_failure(id);
            }
        }
    }
    (response, worked)
}

fn read(message: &SqsMessage) -> Result<JobBatch, Problem> {
    let body = message.body.as_deref().unwrap_or_default();
    serde_json::from_str(body).map_err(|error| Problem::internal(format!("batch: {error}")))
}

/// Processes every job of a batch that is still due.
///
/// # Errors
/// 503 when none of them could be read.
async fn process(services: &Services, batch: &JobBatch) -> Result<JobReport, Problem> {
    let keys: Vec<Key> = batch.keys.iter().map(|(pk, sk)| Key::new(pk, sk)).collect();
    let deadline = &ProviderDeadline::of_sweep(services.clock.now());
    let mut tally = Tally::default();
    let outcomes = match batch.kind {
        JobKind::Orders => {
            let orders = load::<Order>(services, &keys, &mut tally).await?;
            at_once(orders, |order| {
                async move { expire_order::process(services, &order, deadline).await }.boxed()
            })
            .await
        }
        JobKind::Payments => {
            let payments = load::<Payment>(services, &keys, &mut tally).await?;
            at_once(payments, |payment| {
                async move { process_payment::process(services, &payment, deadline).await }.boxed()
            })
            .await
        }
        JobKind::Purchases => {
            let purchases = load::<ThemePurchase>(services, &keys, &mut tally).await?;
            at_once(purchases, |purchase| {
                async move { update::process(services, &purchase, deadline).await }.boxed()
            })
            .await
        }
    };
    for (key, version, outcome) in outcomes {
        // A payment has moved its mark on before its work began.
        let mark = DueMark::DueByOrNextVersion(services.clock.now(), version);
        let outcome =
            remove_mark_if_permanent(&services.table, &key, mark, unless_lost(outcome)).await;
        tally.count(&key, outcome);
    }
    let (done, failures) = (tally.done, tally.failed);
    let report = JobReport { failures, ..JobReport::default() };
    Ok(match batch.kind {
        JobKind::Orders => JobReport { orders: done, ..report },
        JobKind::Payments => JobReport { payments: done, ..report },
        JobKind::Purchases => JobReport { purchases: done, ..report },
    })
}

/// Runs these jobs, several concurrently. They are boxed: calls to providers are deep futures, which the
/// whole function would hold.
async fn at_once<'a, T: Item>(
    jobs: Vec<T>,
    job: impl Fn(T) -> BoxFuture<'a, Result<bool, Problem>>,
) -> Vec<(Key, u64, Result<bool, Problem>)> {
    let keyed = |one: T| {
        let (key, version) = (one.key(), one.version());
        job(one).map(move |outcome| (key, version, outcome))
    };
    futures_util::stream::iter(jobs).map(keyed).buffer_unordered(AT_ONCE).collect().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_kind_and_the_keys_of_its_jobs() {
        let keys = vec![("STO#s#ORD#o".to_owned(), "A".to_owned())];
        let batch = JobBatch { kind: JobKind::Orders, keys };
        let text = serde_json::to_string(&batch).unwrap();
        assert_eq!(text, r#"{"kind":"orders","keys":[["STO#s#ORD#o","A"]]}"#);
        let mut message = SqsMessage::default();
        message.body = Some(text);
        assert_eq!(read(&message).unwrap(), batch);
        for body in ["", "{}", r#"{"kind":"stores","keys":[]}"#] {
            message.body = Some(body.to_owned());
            assert!(read(&message).is_err(), "{body}");
        }
    }

    #[test]
    fn a_batch_fits_into_one_read_and_its_message_into_the_queue() {
        // BatchGetItem reads 100 items; SQS takes 256 KiB for ten messages of one call.
        let key = ("S".repeat(120), "S".repeat(60));
        let batch = JobBatch { kind: JobKind::Payments, keys: vec![key; BATCH] };
        assert!(BATCH <= 100 && serde_json::to_string(&batch).unwrap().len() < 25_000);
    }
}
