//! The queues: how deep they are, as SQS says it, and how late what they carry is, as our own due marks say
//! it (docs/decisions.md §17.2).

use core_types::event::STREAM_GRACE;
use futures_util::future::{try_join, try_join_all};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use services::queue::{Depth, Queue, QueueName};
use table::outbox::Due;

/// The queue between the schedule and the workers that ask payment providers.
pub const DUE: QueueName = QueueName("DUE_QUEUE_URL");

/// A queue of the platform.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeQueue {
    /// What paths call it.
    pub name: &'static str,
    /// Where it is.
    pub queue: QueueName,
    /// The due marks of what it carries: the oldest of them that has passed says how late it is.
    pub carries: &'static [Due],
}

/// Every queue, in document order. Slow receivers' deliveries are marked as the others' are.
pub const QUEUES: &[RuntimeQueue] = &[
    RuntimeQueue { name: "webhooks", queue: delivery::delivery::QUEUE, carries: &[Due::Delivery] },
    RuntimeQueue {
        name: "slow-webhooks",
        queue: delivery::delivery::SLOW_QUEUE,
        carries: &[Due::Delivery],
    },
    RuntimeQueue { name: "mail", queue: core_types::mail::QUEUE, carries: &[Due::Mail] },
    RuntimeQueue { name: "due", queue: DUE, carries: &[Due::Order, Due::Payment, Due::Purchase] },
    RuntimeQueue { name: "runner", queue: delivery::run::QUEUE, carries: &[Due::Run] },
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
    /// For how long the oldest work that this queue carries has been overdue, in seconds; `null` when nothing
    /// is overdue. It is not the age of a message in the queue.
    pub oldest_age_seconds: Option<u64>,
}

/// How deep a queue is: what a minute's look remembers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueDepth {
    /// Its name in paths.
    pub name: String,
    /// Messages waiting, in flight and delayed together.
    pub messages: u64,
    /// Dead letters.
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

    /// Where its hopeless messages end.
    ///
    /// # Errors
    /// `not_found` where they end nowhere; 503.
    pub async fn dead_letters(self, services: &Services) -> Result<Queue, Problem> {
        let (_, dead) = services.queue(self.queue).state().await?;
        dead.ok_or_else(|| Code::NotFound.into())
    }

    /// Its depth, and how many dead letters it has left.
    ///
    /// # Errors
    /// 503.
    pub async fn depth(self, services: &Services) -> Result<(Depth, u64), Problem> {
        let (depth, dead) = services.queue(self.queue).state().await?;
        let dead_letters = match dead {
            Some(dead) => dead.depth().await?.all(),
            None => 0,
        };
        Ok((depth, dead_letters))
    }

    /// As it is now.
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

/// Every queue as it is now, side by side.
///
/// # Errors
/// 503.
pub async fn all(services: &Services) -> Result<Vec<QueueState>, Problem> {
    try_join_all(QUEUES.iter().map(|queue| queue.state(services))).await
}

/// For how long the oldest event that nobody has handed on has waited, in seconds; 0 when none waits.
///
/// # Errors
/// 503.
pub async fn outbox_lag(services: &Services, now: Timestamp) -> Result<u64, Problem> {
    let mark = Due::Event.first(&services.table).await?;
    Ok(mark.map_or(0, |at| at.minus(STREAM_GRACE).until(now).as_secs()))
}
