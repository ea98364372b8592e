//! The queues: their depth, as SQS reports it, and how overdue their work is, by our own due marks
//! (docs/decisions.md §17.2).

use core_types::event::STREAM_GRACE;
use futures_util::future::{try_join, try_join_all};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use services::queue::{Depth, Queue, QueueName};
use table::outbox::DueKind;

/// The queue between the schedule and the workers that query payment providers.
pub const DUE: QueueName = QueueName("DUE_QUEUE_URL");

/// A queue of the platform.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeQueue {
    /// The name, as paths use it.
    pub name: &'static str,
    /// The name of the environment variable that has its URL.
    pub queue: QueueName,
    /// The due marks of its work: the oldest one that has passed tells how overdue the queue is.
    pub carries: &'static [DueKind],
}

/// Every queue, in document order. Deliveries to slow receivers have the same due marks as others.
pub const QUEUES: &[RuntimeQueue] = &[
    RuntimeQueue {
        name: "webhooks",
        queue: delivery::delivery::QUEUE,
        carries: &[DueKind::Delivery],
    },
    RuntimeQueue {
        name: "slow-webhooks",
        queue: delivery::delivery::SLOW_QUEUE,
        carries: &[DueKind::Delivery],
    },
    RuntimeQueue { name: "mail", queue: core_types::mail::QUEUE, carries: &[DueKind::Mail] },
    RuntimeQueue {
        name: "due",
        queue: DUE,
        carries: &[DueKind::Order, DueKind::Payment, DueKind::Purchase],
    },
    RuntimeQueue { name: "runner", queue: delivery::run::QUEUE, carries: &[DueKind::Run] },
];

/// A queue with its backlog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueState {
    /// The name, as paths use it.
    pub name: &'static str,
    /// The numbers of messages, approximately.
    #[serde(flatten)]
    pub depth: Depth,
    /// The number of dead letters, approximately: messages that were received five times without success.
    pub dead_letters: u64,
    /// The time for which the oldest work of this queue has been overdue, in seconds; `null` when nothing is
    /// overdue. It is not the age of a message in the queue.
    pub oldest_age_seconds: Option<u64>,
}

/// The depth of a queue, as a sample stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueDepth {
    /// The name, as paths use it.
    pub name: String,
    /// The number of messages: waiting, in flight and delayed together.
    pub messages: u64,
    /// The number of dead letters.
    pub dead_letters: u64,
}

impl RuntimeQueue {
    /// The queue of this name.
    ///
    /// # Errors
    /// `not_found`.
    pub fn named(name: &str) -> Result<Self, Problem> {
        let found = QUEUES.iter().find(|queue| queue.name == name);
        found.copied().ok_or_else(|| Code::NotFound.into())
    }

    /// Its dead-letter queue.
    ///
    /// # Errors
    /// `not_found` if it has none; 503.
    pub async fn dead_letters(self, services: &Services) -> Result<Queue, Problem> {
        let (_, dead) = services.queue(self.queue).state().await?;
        dead.ok_or_else(|| Code::NotFound.into())
    }

    /// Reads its depth and its number of dead letters.
    ///
    /// # Errors
    /// 503.
    pub async fn depth(self, services: &Services) -> Result<(Depth, u64), Problem> {
        let (depth, dead) = services.queue(self.queue).state().await?;
        let dead_letters = match dead {
            Some(dead) => dead.depth().await?.total(),
            None => 0,
        };
        Ok((depth, dead_letters))
    }

    /// Reads its current state.
    ///
    /// # Errors
    /// 503.
    pub async fn state(self, services: &Services) -> Result<QueueState, Problem> {
        let now = services.clock.now();
        let marks = try_join_all(self.carries.iter().map(|due| due.first(&services.table)));
        let ((depth, dead_letters), marks) = try_join(self.depth(services), marks).await?;
        let oldest = marks.into_iter().flatten().min().filter(|at| *at <= now);
        let oldest_age_seconds = oldest.map(|at| at.until(now).as_secs());
        Ok(QueueState { name: self.name, depth, dead_letters, oldest_age_seconds })
    }
}

/// Reads the current state of every queue, concurrently.
///
/// # Errors
/// 503.
pub async fn all(services: &Services) -> Result<Vec<QueueState>, Problem> {
    try_join_all(QUEUES.iter().map(|queue| queue.state(services))).await
}

/// For how long the oldest unpublished event has waited, in seconds; 0 if there is none.
///
/// # Errors
/// 503.
pub async fn outbox_lag(services: &Services, now: Timestamp) -> Result<u64, Problem> {
    let mark = DueKind::Event.first(&services.table).await?;
    Ok(mark.map_or(0, |at| at.minus(STREAM_GRACE).until(now).as_secs()))
}
