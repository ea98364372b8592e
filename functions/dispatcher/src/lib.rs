//! From what happened to who is told: table stream and one-minute schedule → deliveries and mails
//! on their queues (docs/architecture.md §5).
//!
//! The stream is the fast path; the sweep alone must be enough (docs/platform.md §2). Both end in
//! the same functions, and each of those can be repeated at any point:
//!
//! - *Crash before the event is marked as published*: it is still pending, whatever of its deliveries
//!   and their messages there is by then. The stream brings it again, or after a minute its due mark
//!   does; what has been made is left as it is, and what is missing is made.
//! - *A mail that follows from an event*: it is written in the transaction in which the event is pending
//!   no longer; before that it is composed again, after it there is one.
//! - *A message that is not sent*: its delivery is in the table with a due mark; the sweep queues it.
//! - *The same record twice, or stream and sweep at once*: the deliveries are there, and the event is no
//!   longer pending, so its mark is rejected, and that is success.
//! - *A message twice*: the worker claims each attempt once.
//! - *An error that would be the same again* (`Problem::is_permanent`): what it happened to is given up at the
//!   first try, events as `failed`, and other due work by losing its mark. No record and no message is brought
//!   again for it.
//!
//! Each minute it also looks how the platform is doing ([`look`]).
//!
//! What asks payment providers goes to workers through a queue ([`work`]), and this function is the
//! worker as well: a run of the schedule waits for no provider.

mod category_drains;
mod jobs;
mod order_mails;
mod outcome;
mod pending_events;
mod publish;
mod related_products;
mod sweep;

use std::collections::HashMap;

use aws_lambda_events::event::dynamodb::{Event as StreamEvent, EventRecord};
use catalogue::inventory::Level;
use catalogue::product;
use core_types::event::EventGroup;
use core_types::id::MailId;
use core_types::mail;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use services::Services;
use table::item;
use table::item::{Item, Key};

use outcome::Outcome;
use related_products::ChangedProducts;

pub use jobs::{JobReport, QUEUE, work};
pub use publish::publish;
pub use reliability::watch::Watched;
pub use sweep::{SweepReport, sweep};

/// Records worked on at once.
const PARALLEL: usize = 8;

/// What the stream is answered: the records to be sent again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchResponse {
    /// Empty when all is done.
    pub batch_item_failures: Vec<FailedRecord>,
}

/// A record to be sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedRecord {
    /// Its sequence number.
    pub item_identifier: String,
}

/// Whatever the function is invoked with: a batch of the table's stream, due work from the queue, or
/// the schedule.
///
/// # Errors
/// When a batch is not one; it is sent again, and the sweep does its work meanwhile.
pub async fn handle(services: &Services, payload: Value) -> Result<Value, lambda_runtime::Error> {
    let source = payload.pointer("/Records/0/eventSource").and_then(Value::as_str);
    if source == Some("aws:dynamodb") {
        let event: StreamEvent = serde_json::from_value(payload)?;
        return Ok(serde_json::to_value(Box::pin(handle_stream(services, event)).await)?);
    }
    if source == Some("aws:sqs") {
        let (answer, worked) = Box::pin(work(services, serde_json::from_value(payload)?)).await;
        tracing::info!(?worked, "worked");
        return Ok(serde_json::to_value(answer)?);
    }
    // Before what is late is brought up: that it was late is what is looked for.
    look(services).await;
    let report = Box::pin(sweep(services)).await;
    report.log();
    Ok(serde_json::to_value(report)?)
}

/// Looks how the platform is doing, and opens and resolves incidents. The line that it logs is what the
/// alarms read.
pub async fn look(services: &Services) -> Watched {
    let watching: BoxFuture<'_, Watched> = Box::pin(reliability::watch::watch(services));
    let watched = watching.await;
    tracing::info!(
        outbox_lag_seconds = watched.outbox_lag_seconds,
        dead_letters = watched.dead_letters,
        code_replays = watched.code_replays,
        delivery_success_percent = watched.delivery_success_percent,
        opened = watched.opened,
        resolved = watched.resolved,
        failures = watched.failures,
        "watched"
    );
    watched
}

/// What the stream brings that is to be handed on.
enum News {
    Events(Box<EventGroup>),
    Mail(MailId),
    /// Stock that ran out or comes back.
    Stock(Box<Level>),
}

/// A batch of the table's stream: new events are published, new mails queued, cards told of stock
/// that ran out or comes back; then the related products of the stores whose products changed are
/// rebuilt.
pub async fn handle_stream(services: &Services, event: StreamEvent) -> BatchResponse {
    let (mut groups, mut mails, mut levels) = (Vec::new(), Vec::new(), Vec::new());
    let mut failed = Vec::new();
    let mut sequences: HashMap<Key, String> = HashMap::new();
    for record in event.records {
        let sequence = record.change.sequence_number.clone().unwrap_or_default();
        match news(services, record) {
            Ok(Some(News::Events(group))) => {
                sequences.insert(group.key(), sequence);
                groups.push(*group);
            }
            Ok(Some(News::Mail(id))) => mails.push((id, sequence)),
            Ok(Some(News::Stock(level))) => levels.push((*level, sequence)),
            Ok(None) => {}
            // The sweep meets it by its due mark, and gives it up.
            Err(problem) if problem.is_permanent() => {
                tracing::error!(cause = %problem, sequence, "a record cannot be read");
            }
            Err(problem) => failed.push((sequence, problem)),
        }
    }
    let (published, queued, told) = tokio::join!(
        publish_news(services, groups),
        queue_mails(services, mails),
        restock(services, levels)
    );
    // What can never be done is not brought again: whatever stands behind it would wait.
    let (hopeless, passing): (Vec<_>, Vec<_>) =
        queued.into_iter().chain(told).partition(|(_, problem)| problem.is_permanent());
    for (sequence, problem) in hopeless {
        tracing::error!(cause = %problem, sequence, "record given up");
    }
    failed.extend(passing);
    let mut changed = ChangedProducts::default();
    for Outcome { group, done, failure } in published {
        for event in &done {
            changed.note(event);
        }
        // What fails of the canary's is left to the sweep: no shard is held up by a drill.
        failed.extend(
            failure
                .filter(|_| !group.is_canarys())
                .map(|problem| (sequences.remove(&group.key()).unwrap_or_default(), problem)),
        );
    }
    changed.rebuild(services).await;
    let batch_item_failures = failed.into_iter().map(|(sequence, problem)| {
        tracing::warn!(cause = %problem, sequence, "record not taken");
        FailedRecord { item_identifier: sequence }
    });
    BatchResponse { batch_item_failures: batch_item_failures.collect() }
}

/// What a record is news of. What is not new, or needs nothing done, is passed over.
fn news(services: &Services, record: EventRecord) -> Result<Option<News>, Problem> {
    let image = record.change.new_image;
    let Ok(head) = serde_dynamo::from_item::<_, ItemHead>(image.clone()) else { return Ok(None) };
    if head.entity == Level::KIND {
        let level: Level = item::parse(image.into())?;
        let before = item::parse(record.change.old_image.into()).ok();
        return Ok(crosses_zero(before.as_ref(), &level).then(|| News::Stock(Box::new(level))));
    }
    if record.event_name != "INSERT" {
        return Ok(None);
    }
    match head.entity.as_str() {
        EventGroup::KIND => {
            let group: EventGroup = item::parse(image.into())?;
            let is_pending = group.pending().next().is_some();
            Ok(is_pending.then(|| News::Events(Box::new(group))))
        }
        mail::Mail::KIND => {
            let mail: mail::Mail = item::parse(image.into())?;
            // One that waits for its day is found by the sweep.
            let is_ready =
                mail.state == mail::MailState::Pending && !mail.waits(services.clock.now());
            Ok(is_ready.then_some(News::Mail(mail.id)))
        }
        _ => Ok(None),
    }
}

async fn publish_news(services: &Services, groups: Vec<EventGroup>) -> Vec<Outcome> {
    match publish::still_pending(services, groups.clone()).await {
        Ok(pending) => publish::publish_all(services, pending).await,
        Err(problem) => {
            let failed = |group| Outcome { group, done: vec![], failure: Some(problem.clone()) };
            groups.into_iter().map(failed).collect()
        }
    }
}

/// Queues mails; answers with those that are not.
async fn queue_mails(services: &Services, mails: Vec<(MailId, String)>) -> Vec<(String, Problem)> {
    let queue = services.queue(mail::QUEUE);
    let outcomes = futures_util::stream::iter(mails)
        .map(|(mail_id, sequence)| {
            let queue = &queue;
            async move {
                let message = (mail::MailMessage { mail_id }, std::time::Duration::ZERO);
                queue.send(&[message]).await.err().map(|problem| (sequence, problem))
            }
        })
        .buffered(PARALLEL)
        .collect::<Vec<_>>()
        .await;
    outcomes.into_iter().flatten().collect()
}

/// Tells the cards of products whose stock ran out or comes back; answers with the records of those
/// that are not told.
async fn restock(services: &Services, levels: Vec<(Level, String)>) -> Vec<(String, Problem)> {
    let outcomes = futures_util::stream::iter(levels)
        .map(|(level, sequence)| async move {
            product::restock(services, &level).await.err().map(|problem| (sequence, problem))
        })
        .buffered(PARALLEL)
        .collect::<Vec<_>>()
        .await;
    outcomes.into_iter().flatten().collect()
}

/// Whether a stock level, as it was if it was there, has run out or comes back.
fn crosses_zero(before: Option<&Level>, level: &Level) -> bool {
    before.is_some_and(|before| before.available > 0) != (level.available > 0)
}

/// What every item of the table has.
#[derive(Deserialize)]
struct ItemHead {
    entity: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_the_stream_is_spelt_exactly() {
        let failed = FailedRecord { item_identifier: "7".into() };
        let answer = BatchResponse { batch_item_failures: vec![failed] };
        let text = serde_json::to_string(&answer).unwrap();
        assert_eq!(text, r#"{"batchItemFailures":[{"itemIdentifier":"7"}]}"#);
    }
}
