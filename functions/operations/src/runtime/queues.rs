//! The queues and their dead letters, as SQS reports them. For operators only: messages concern all stores.

use axum::extract::State;
use callers::Operator;
use gateway::app::App;
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, Path, Query};
use primitives::clock::Timestamp;
use primitives::fields::{Int, Text, Written};
use primitives::input::request;
use primitives::problem::Problem;
use reliability::queues::{self, QueueState, RuntimeQueue};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use services::queue::PeekedMessage;

/// The default number of dead letters that are listed.
const LISTED: i64 = 20;
/// The default number of dead letters that are moved, and of those that become visible in a second.
const MOVED: i64 = 100;
const RATE: i64 = 10;
/// The characters that are returned of a message that is not JSON.
const SHOWN: usize = 1_024;

/// The queues with their backlog.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueuesView {
    /// Every queue.
    queues: Vec<QueueState>,
    /// When the numbers were read.
    measured_at: Timestamp,
}

/// A queue with its backlog.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueueView {
    #[serde(flatten)]
    queue: QueueState,
    /// When the numbers were read.
    measured_at: Timestamp,
}

/// `GET /v1/operations/runtime/queues` (`listQueues`): List queues and their backlog.
///
/// Each queue has its number of messages, its number of dead letters, and for how long the oldest work that
/// it carries is overdue. SQS reports the numbers approximately.
pub(crate) async fn list(_: Operator, State(app): State<App>) -> Result<Json<QueuesView>, Problem> {
    let queues = queues::all(&app).await?;
    Ok(Json::new(&QueuesView { queues, measured_at: app.clock.now() }))
}

/// `GET /v1/operations/runtime/queues/{name}` (`getQueue`): Get a queue and its backlog.
///
/// The queue has its number of messages, its number of dead letters, and for how long the oldest work that it
/// carries is overdue. The names are those of `GET /v1/operations/runtime/queues`.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    _: Operator,
    State(app): State<App>,
    Path(name): Path<Text<1, 40>>,
) -> Result<Json<QueueView>, Problem> {
    let queue = RuntimeQueue::named(name.as_str())?.state(&app).await?;
    Ok(Json::new(&QueueView { queue, measured_at: app.clock.now() }))
}

/// The length of the list.
#[request]
#[derive(Debug)]
pub(crate) struct DeadLettersQuery {
    /// The maximum number of dead letters to return: 1 to 100, by default 20.
    limit: Option<Written<Int<1, 100>>>,
}

/// Dead letters of a queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeadLetterList {
    /// The name of the queue that they were sent to.
    queue: &'static str,
    /// The approximate number of dead letters.
    total: u64,
    /// Some of them, in no particular order.
    dead_letters: Vec<DeadLetterView>,
}

core_types::view! {
    /// A message that was received five times and never deleted.
    DeadLetterView of message: PeekedMessage {
        /// The id of the message in SQS.
        message_id: String = message.id.clone(),
        /// The message, which names the work by its ids. If it is not JSON, its first 1,024 characters.
        body: Value = body_of(&message.body),
        /// When it was sent.
        sent_at: Option<Timestamp>,
        /// When it was first received.
        first_received_at: Option<Timestamp>,
        /// The number of times it was received, including this request.
        receive_count: u64,
    }
}

fn body_of(body: &str) -> Value {
    let text = || body.chars().take(SHOWN).collect::<String>().into();
    serde_json::from_str(body).unwrap_or_else(|_| text())
}

/// `GET /v1/operations/runtime/queues/{name}/dlq` (`listDeadLetters`): List dead letters of a queue.
///
/// The response has up to `limit` dead letters in no particular order, and their approximate total. Listing
/// receives each message and returns it to the queue, which raises its `receive_count`.
///
/// # Errors
/// `not_found`.
pub(crate) async fn dead_letters(
    _: Operator,
    State(app): State<App>,
    Path(name): Path<Text<1, 40>>,
    Query(query): Query<DeadLettersQuery>,
) -> Result<Json<DeadLetterList>, Problem> {
    let queue = RuntimeQueue::named(name.as_str())?;
    let dead = queue.dead_letters(&app).await?;
    let total = dead.depth().await?.total();
    let limit = query.limit.map_or(LISTED, |Written(Int(limit))| limit);
    let limit = usize::try_from(limit).unwrap_or(0).min(usize::try_from(total).unwrap_or(0));
    let messages = dead.peek(limit).await?;
    let dead_letters = messages.iter().map(DeadLetterView::from).collect();
    Ok(Json::new(&DeadLetterList { queue: queue.name, total, dead_letters }))
}

/// The number and the rate of dead letters to redrive.
#[request]
#[derive(Debug)]
pub(crate) struct RedriveRequest {
    /// The maximum number of dead letters to move: 1 to 900, by default 100.
    max: Option<Int<1, 900>>,
    /// The number of messages that become visible in a second: 1 to 100, by default 10.
    rate: Option<Int<1, 100>>,
}

/// The result of a redrive.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RedrivenMessages")]
pub(crate) struct Redriven {
    /// The name of the queue that they were moved to.
    queue: &'static str,
    /// The number of moved messages.
    moved: usize,
    /// The number of messages that become visible in a second.
    rate_per_second: i64,
    /// When the last of them becomes visible.
    done_at: Timestamp,
    /// The approximate number of dead letters that are left.
    remaining: u64,
}

/// `POST /v1/operations/runtime/queues/{name}/dlq/redrive` (`redriveDeadLetters`):
/// Redrive dead letters of a queue.
///
/// The request moves up to `max` dead letters back to their queue, delayed so that they are received at
/// `rate`. They have been moved when it answers. The work of a message is done once, however often the
/// message is received. A message that fails again becomes a dead letter again.
///
/// # Errors
/// `not_found`.
pub(crate) async fn redrive(
    _: Operator,
    State(app): State<App>,
    Path(name): Path<Text<1, 40>>,
    Body(input): Body<RedriveRequest>,
) -> Result<Accepted<Redriven>, Problem> {
    let queue = RuntimeQueue::named(name.as_str())?;
    let dead = queue.dead_letters(&app).await?;
    let limit = input.max.map_or(MOVED, |max| max.0);
    let rate_per_second = input.rate.map_or(RATE, |rate| rate.0);
    let (limit, rate) =
        (usize::try_from(limit).unwrap_or(0), usize::try_from(rate_per_second).unwrap_or(1));
    let there = dead.depth().await?.waiting;
    // Receiving more messages than the queue has would wait for them.
    let limit = limit.min(usize::try_from(there).unwrap_or(0));
    let moved = dead.move_to(&app.queue(queue.queue), limit, rate).await?;
    let seconds = moved.saturating_sub(1).checked_div(rate).unwrap_or(0);
    let last = std::time::Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let left = u64::try_from(moved).map_or(0, |moved| there.saturating_sub(moved));
    Ok(Accepted::new(&Redriven {
        queue: queue.name,
        moved,
        rate_per_second,
        done_at: app.clock.now().plus(last),
        remaining: left,
    }))
}
