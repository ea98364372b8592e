//! Due work that asks others: orders that were not paid in time, payments with something left to
//! do. Their providers may be slow, so one run of the schedule does none of it: it hands the work
//! out, in batches, through a queue, and as many workers as there is work process it.
//!
//! - *A batch twice* (a message is delivered again, or the next run finds the same marks): each
//!   piece is judged as the table has it, and written under its version. Who comes second finds
//!   nothing due.
//! - *A crash of the run, or a lost message*: what was not handed out, or not done, is still due,
//!   and the next run finds it.
//! - *A piece that fails* moves its own mark on, and keeps no other of its batch from its turn. The
//!   message is done with: what is left is due in the table.
//! - *Workers that fall behind*: while enough waits in the queue, a run hands out nothing more.

use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::{StreamExt, TryStreamExt};
use gateway::app::App;
use gateway::item::Key;
use gateway::outbox::{Due, SHARDS};
use gateway::problem::Problem;
use gateway::queue::QueueName;
use sales::order::Order;
use sales::payment::{Payment, ProviderDeadline};
use sales::workflows::{expire_order, process_payment};
use serde::{Deserialize, Serialize};

use crate::PARALLEL;
use crate::sweep::{Tally, load, unless_lost};

/// Pieces of work in one batch: what a worker gets done well within its time, also when a provider
/// does not answer.
const BATCH: usize = 20;
/// Pieces of a batch that are worked on at once.
const AT_ONCE: usize = 10;
/// Work of one kind and shard that one run hands out: 16 times as much of a kind. What is beyond it
/// is younger, and the next run's.
const PER_SHARD: usize = 2_000;
/// Due work that asks others, on its way to the workers.
pub const QUEUE: QueueName = QueueName("DUE_QUEUE_URL");
/// Batches that may wait in the queue before a run hands out more. What waits there would be handed
/// out again.
const ENOUGH: u64 = 250;

/// A kind of work that is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Orders whose time has come.
    Orders,
    /// Payments with something left to do.
    Payments,
}

impl Kind {
    /// The kind of what is due, if it is handed out.
    pub(crate) const fn of(due: Due) -> Option<Self> {
        match due {
            Due::Order => Some(Self::Orders),
            Due::Payment => Some(Self::Payments),
            _ => None,
        }
    }

    const fn due(self) -> Due {
        match self {
            Self::Orders => Due::Order,
            Self::Payments => Due::Payment,
        }
    }
}

/// A batch of due work: where it lies, and no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    kind: Kind,
    /// Partition and sort keys.
    keys: Vec<(String, String)>,
}

/// What workers have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Worked {
    /// Orders that came to their end, or whose payments were closed after it.
    pub orders: usize,
    /// Payments whose refund was asked for again, or whose money was sent back.
    pub payments: usize,
    /// Pieces of work that failed; they stay due.
    pub failures: usize,
}

impl Worked {
    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            orders: self.orders.saturating_add(other.orders),
            payments: self.payments.saturating_add(other.payments),
            failures: self.failures.saturating_add(other.failures),
        }
    }
}

/// Hands out what is due of a kind; how many pieces. Of what cannot be listed or sent nothing is
/// lost: it stays due.
pub(crate) async fn hand_out(app: &App, kind: Kind) -> Result<usize, Problem> {
    let behind = app.queue(QUEUE).depth().await.map(|depth| depth.waiting);
    if behind.is_ok_and(|waiting| waiting >= ENOUGH) {
        tracing::warn!(?kind, "the workers are behind: nothing is handed out");
        return Ok(0);
    }
    let now = app.clock.now();
    let shards = futures_util::stream::iter(SHARDS.chars());
    let listed: Vec<Vec<Key>> = shards
        .map(|shard| async move { app.table.keys(&kind.due().query(shard, now), PER_SHARD).await })
        .buffer_unordered(PARALLEL)
        .try_collect()
        .await?;
    let keys: Vec<(String, String)> =
        listed.into_iter().flatten().map(|key| (key.pk, key.sk)).collect();
    let batch = |keys: &[(String, String)]| (Batch { kind, keys: keys.to_vec() }, Duration::ZERO);
    let batches: Vec<_> = keys.chunks(BATCH).map(batch).collect();
    app.queue(QUEUE).send(&batches).await?;
    Ok(keys.len())
}

/// Works on batches of the queue; answers with the messages to be received again, and with what was
/// done.
pub async fn work(app: &App, event: SqsEvent) -> (SqsBatchResponse, Worked) {
    let (mut response, mut worked) = (SqsBatchResponse::default(), Worked::default());
    for message in event.records {
        let outcome = match read(&message) {
            Ok(batch) => Box::pin(process(app, &batch)).await,
            Err(problem) => Err(problem),
        };
        match outcome {
            Ok(done) => worked = worked.and(done),
            Err(problem) => {
                let id = message.message_id.unwrap_or_default();
                tracing::warn!(cause = %problem, message = id, "batch not processed");
                response.add_failure(id);
            }
        }
    }
    (response, worked)
}

fn read(message: &SqsMessage) -> Result<Batch, Problem> {
    let body = message.body.as_deref().unwrap_or_default();
    serde_json::from_str(body).map_err(|error| Problem::internal(format!("batch: {error}")))
}

/// Processes every piece of a batch that is still due.
///
/// # Errors
/// 503: none of it could be read.
async fn process(app: &App, batch: &Batch) -> Result<Worked, Problem> {
    let keys: Vec<Key> = batch.keys.iter().map(|(pk, sk)| Key::new(pk, sk)).collect();
    let deadline = &ProviderDeadline::since(app.clock.now());
    let mut tally = Tally::default();
    // Boxed: what asks a provider is deep, and held by the whole function.
    let outcomes: Vec<Result<bool, Problem>> = match batch.kind {
        Kind::Orders => {
            let orders = load::<Order>(app, &keys, &mut tally).await?;
            let each = |order: Order| {
                Box::pin(async move { expire_order::process(app, &order, deadline).await })
            };
            futures_util::stream::iter(orders).map(each).buffer_unordered(AT_ONCE).collect().await
        }
        Kind::Payments => {
            let payments = load::<Payment>(app, &keys, &mut tally).await?;
            let each = |payment: Payment| {
                Box::pin(async move { process_payment::process(app, &payment, deadline).await })
            };
            let payments = futures_util::stream::iter(payments).map(each);
            payments.buffer_unordered(AT_ONCE).collect().await
        }
    };
    for outcome in outcomes {
        tally.count(unless_lost(outcome));
    }
    let (orders, payments) = match batch.kind {
        Kind::Orders => (tally.done, 0),
        Kind::Payments => (0, tally.done),
    };
    Ok(Worked { orders, payments, failures: tally.failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_work_and_no_more() {
        let keys = vec![("STO#s#ORD#o".to_owned(), "A".to_owned())];
        let batch = Batch { kind: Kind::Orders, keys };
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
        let batch = Batch { kind: Kind::Payments, keys: vec![key; BATCH] };
        assert!(BATCH <= 100 && serde_json::to_string(&batch).unwrap().len() < 25_000);
    }
}
