//! The queues, as SQS tells of them, and what ended in their dead-letter queues. Operators' alone: messages
//! are of all stores.

use axum::extract::State;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::Problem;
use gateway::queue::Letter;
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, Int, Path, Query, Text, Written, request};
use platform::caller::Operator;
use reliability::queues::{self, QueueState, RuntimeQueue};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Dead letters that are listed, unless others are asked for.
const LISTED: i64 = 20;
/// Dead letters that are moved, and how many a second come up, unless others are asked for.
const MOVED: i64 = 100;
const RATE: i64 = 10;
/// What is shown of a message that is no JSON.
const SHOWN: usize = 1_024;

/// Every queue as it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueuesView {
    /// In the order in which the documentation names them.
    queues: Vec<QueueState>,
    /// When they were asked.
    measured_at: Timestamp,
}

/// A queue as it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueueView {
    #[serde(flatten)]
    queue: QueueState,
    /// When it was asked.
    measured_at: Timestamp,
}

/// `GET /v1/operations/runtime/queues` (`listQueues`): List queues and their backlog.
///
/// Shows every queue as it is now: how deep it is, how many of its messages are dead letters, and for how
/// long the oldest work that it carries has been overdue.
pub(crate) async fn list(_: Operator, State(app): State<App>) -> Result<Json<QueuesView>, Problem> {
    let queues = queues::all(&app).await?;
    Ok(Json::new(&QueuesView { queues, measured_at: app.clock.now() }))
}

/// `GET /v1/operations/runtime/queues/{name}` (`getQueue`): Get a queue and its backlog.
///
/// The response has its depth, its dead letters and the age of its oldest work.
///
/// # Errors
/// `not_found`.
pub(crate) async fn show(
    _: Operator,
    State(app): State<App>,
    Path(name): Path<Text<1, 40>>,
) -> Result<Json<QueueView>, Problem> {
    let queue = RuntimeQueue::named(name.as_str())?.state(&app).await?;
    Ok(Json::new(&QueueView { queue, measured_at: app.clock.now() }))
}

/// How many.
#[request]
#[derive(Debug)]
pub(crate) struct DeadLettersQuery {
    /// At most so many; 20 if left out.
    limit: Option<Written<Int<1, 100>>>,
}

/// What ended in a dead-letter queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeadLetterList {
    /// The queue that they were sent to.
    queue: &'static str,
    /// How many there are, approximately.
    total: u64,
    /// Some of them, in no order: SQS has none.
    dead_letters: Vec<DeadLetterView>,
}

ground::view! {
    /// A message that was received five times and never deleted.
    DeadLetterView of letter: Letter {
        /// Its id in SQS.
        message_id: String = letter.id.clone(),
        /// What it says: ids alone. Text where it is no JSON, cut to a kilobyte.
        body: Value = body_of(&letter.body),
        /// When it was sent first.
        sent_at: Option<Timestamp>,
        /// When it was received first.
        first_received_at: Option<Timestamp>,
        /// How often it was received, this look included.
        receive_count: u64,
    }
}

fn body_of(body: &str) -> Value {
    let text = || body.chars().take(SHOWN).collect::<String>().into();
    serde_json::from_str(body).unwrap_or_else(|_| text())
}

/// `GET /v1/operations/runtime/queues/{name}/dlq` (`listDeadLetters`): List dead letters of a queue.
///
/// Each is received and given back, which counts as a receipt of it.
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
    let total = dead.depth().await?.all();
    let limit = query.limit.map_or(LISTED, |Written(Int(limit))| limit);
    let most = usize::try_from(limit).unwrap_or(0).min(usize::try_from(total).unwrap_or(0));
    let letters = dead.look(most).await?;
    let dead_letters = letters.iter().map(DeadLetterView::from).collect();
    Ok(Json::new(&DeadLetterList { queue: queue.name, total, dead_letters }))
}

/// How many dead letters are sent again, and how fast.
#[request]
#[derive(Debug)]
pub(crate) struct RedriveRequest {
    /// At most so many; 100 if left out.
    max: Option<Int<1, 900>>,
    /// How many come up a second; 10 if left out.
    rate: Option<Int<1, 100>>,
}

/// Dead letters on their way again.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RedrivenMessages")]
pub(crate) struct Redriven {
    /// The queue that they were sent to, and are again.
    queue: &'static str,
    /// How many were moved.
    moved: usize,
    /// How many come up a second.
    rate_per_second: i64,
    /// When the last of them comes up.
    done_at: Timestamp,
    /// How many are left, approximately.
    remaining: u64,
}

/// `POST /v1/operations/runtime/queues/{name}/dlq/redrive` (`redriveDeadLetters`):
/// Redrive dead letters of a queue.
///
/// They are on their queue when this answers, each with the delay that keeps the rate. One that is still not
/// understood comes back. What a message stands for is done once, however often it comes.
///
/// # Errors
/// `not_found`.
pub(crate) async fn redrive(
    _: Operator,
    State(app): State<App>,
    Path(name): Path<Text<1, 40>>,
    Body(ask): Body<RedriveRequest>,
) -> Result<Accepted<Redriven>, Problem> {
    let queue = RuntimeQueue::named(name.as_str())?;
    let dead = queue.dead_letters(&app).await?;
    let most = ask.max.map_or(MOVED, |max| max.0);
    let rate_per_second = ask.rate.map_or(RATE, |rate| rate.0);
    let (most, rate) =
        (usize::try_from(most).unwrap_or(0), usize::try_from(rate_per_second).unwrap_or(1));
    let there = dead.depth().await?.waiting;
    // Asking for what is not there would wait for it.
    let most = most.min(usize::try_from(there).unwrap_or(0));
    let moved = dead.move_to(&app.queue(queue.queue), most, rate).await?;
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
