//! Dispatch of events: table stream and one-minute schedule → deliveries and mails on their queues
//! (docs/architecture.md §5).
//!
//! The stream is the fast path; the sweep alone must suffice (docs/platform.md §2). Both call the same
//! functions, each of which can be repeated at any point:
//!
//! - *Crash before the event is marked as published*: it is still pending, with any part of its
//!   deliveries and messages. The stream brings it again, or its due mark after a minute. Existing
//!   deliveries are left unchanged, and missing ones are created.
//! - *A mail that follows from an event*: it is written in the transaction that ends the event's pending
//!   state. Before that it is composed again; after that it exists once.
//! - *A message that is not sent*: a batch in the table names its delivery, and the sweep queues it.
//! - *The same record twice, or stream and sweep at once*: the deliveries exist and the event is no
//!   longer pending, so marking it is rejected, which is success.
//! - *A message twice*: the worker recognizes or claims the attempt, and records it once.
//! - *A permanent error* (`Problem::is_permanent`): its cause is given up at the first attempt. Events
//!   become `failed`; other due work loses its mark. Neither a record nor a message is repeated for it.
//!
//! Each minute it also checks the state of the platform ([`run_watch`]).
//!
//! Work that calls payment providers goes to workers through a queue ([`work`]), and this function is the
//! worker as well: a run of the schedule waits for no provider.

mod alerts;
mod cart_mails;
mod category_drains;
mod create;
mod delivery_batches;
mod facets;
mod jobs;
mod order_mails;
mod outcome;
mod pending_events;
mod publish;
mod related_products;
mod sweep;

use std::collections::HashMap;

use aws_lambda_events::event::dynamodb::{Event as StreamEvent, EventRecord};
use catalogue::facets::FacetWalk;
use catalogue::inventory::Level;
use catalogue::product::{self, ProductSummary};
use core_types::event::EventGroup;
use core_types::id::{MailId, ProductId, StoreId};
use core_types::key;
use core_types::mail;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use services::Services;
use table::item;
use table::item::{Item, Key};

use facets::ChangedFacets;
use outcome::GroupOutcome;
use related_products::ChangedProducts;

pub use jobs::{JobReport, QUEUE, work};
pub use publish::publish;
pub use reliability::watch::Watched;
pub use sweep::{SweepReport, sweep, sweep_kinds};

/// The number of records processed concurrently.
const PARALLEL: usize = 8;

/// The response to the stream: the records to be sent again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchResponse {
    /// The failed records; empty when all succeeded.
    pub batch_item_failures: Vec<FailedRecord>,
}

/// A record to be sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedRecord {
    /// The sequence number of the record.
    pub item_identifier: String,
}

/// Handles an invocation: a batch of the table's stream, due work from the queue, or the schedule.
///
/// # Errors
/// When a batch cannot be parsed; it is sent again, and the sweep does its work meanwhile.
pub async fn handle(services: &Services, payload: Value) -> Result<Value, lambda_runtime::Error> {
    let source = payload.pointer("/Records/0/eventSource").and_then(Value::as_str);
    if source == Some("aws:dynamodb") {
        let event: StreamEvent = serde_json::from_value(payload)?;
        return Ok(serde_json::to_value(Box::pin(handle_stream(services, event)).await)?);
    }
    if source == Some("aws:sqs") {
        let (answer, worked) = Box::pin(work(services, serde_json::from_value(payload)?)).await;
        tracing::info!(?worked, "due work processed");
        return Ok(serde_json::to_value(answer)?);
    }
    // Before the sweep processes late work, so that its lateness is seen.
    run_watch(services).await;
    let report = Box::pin(sweep(services)).await;
    report.log();
    Ok(serde_json::to_value(report)?)
}

/// Checks the state of the platform, and opens and resolves incidents. Alarms read the line that it logs.
pub async fn run_watch(services: &Services) -> Watched {
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
        "platform checked"
    );
    watched
}

/// A stream record that needs processing.
enum StreamWork {
    Events(Box<EventGroup>),
    Mail(MailId),
    /// Stock that ran out or is available again.
    Stock(Box<Level>),
    /// A product whose summary was written or deleted.
    Product(StoreId, ProductId),
    /// The next step of a walk over a store's products.
    Walk(StoreId),
}

/// Handles a batch of the table's stream. New events are published, new mails are queued, product summaries are updated
/// when stock runs out or is available again, and facet indexes follow the products. Then the related products of stores
/// with changed products are rebuilt.
pub async fn handle_stream(services: &Services, event: StreamEvent) -> BatchResponse {
    let (mut groups, mut mails, mut levels) = (Vec::new(), Vec::new(), Vec::new());
    let mut facets = ChangedFacets::default();
    let mut failed = Vec::new();
    let mut sequences: HashMap<Key, String> = HashMap::new();
    for record in event.records {
        let sequence = record.change.sequence_number.clone().unwrap_or_default();
        match stream_work(services, record) {
            Ok(Some(StreamWork::Events(group))) => {
                sequences.insert(group.key(), sequence);
                groups.push(*group);
            }
            Ok(Some(StreamWork::Mail(id))) => mails.push((id, sequence)),
            Ok(Some(StreamWork::Stock(level))) => levels.push((*level, sequence)),
            Ok(Some(StreamWork::Product(store, product))) => {
                facets.note(store, product, sequence);
            }
            Ok(Some(StreamWork::Walk(store))) => facets.walk(store, sequence),
            Ok(None) => {}
            // The sweep finds it by its due mark, and gives it up.
            Err(problem) if problem.is_permanent() => {
                tracing::error!(
                    cause = %problem, sequence,
                    "stream record unreadable; left to the sweep"
                );
            }
            Err(problem) => failed.push((sequence, problem)),
        }
    }
    let (published, queued, restocked, indexed) = tokio::join!(
        publish_groups(services, groups),
        queue_mails(services, mails),
        restock(services, levels),
        facets.apply(services),
    );
    // A permanent failure is not repeated: all records behind it would wait.
    let (permanent, transient): (Vec<_>, Vec<_>) = queued
        .into_iter()
        .chain(restocked)
        .chain(indexed)
        .partition(|(_, problem)| problem.is_permanent());
    for (sequence, problem) in permanent {
        tracing::error!(
            cause = %problem, sequence,
            "stream record rejected permanently; left to the sweep"
        );
    }
    failed.extend(transient);
    let mut changed = ChangedProducts::default();
    for GroupOutcome { group, done, failure } in published {
        for event in &done {
            changed.note(event);
        }
        // A failure of the canary store's events is left to the sweep, so that a drill blocks no shard.
        failed.extend(
            failure
                .filter(|_| !group.is_canarys())
                .map(|problem| (sequences.remove(&group.key()).unwrap_or_default(), problem)),
        );
    }
    changed.rebuild(services).await;
    let batch_item_failures = failed.into_iter().map(|(sequence, problem)| {
        tracing::warn!(
            cause = %problem, sequence,
            "stream record failed transiently; the stream delivers it again"
        );
        FailedRecord { item_identifier: sequence }
    });
    BatchResponse { batch_item_failures: batch_item_failures.collect() }
}

/// Classifies a record; none when nothing needs to be done for it.
fn stream_work(services: &Services, record: EventRecord) -> Result<Option<StreamWork>, Problem> {
    if record.event_name == "REMOVE" {
        let head = serde_dynamo::from_item(record.change.old_image);
        return Ok(head.ok().and_then(|head: ItemHead| head.product()));
    }
    let image = record.change.new_image;
    let Ok(head) = serde_dynamo::from_item::<_, ItemHead>(image.clone()) else { return Ok(None) };
    if let Some(product) = head.product() {
        return Ok(Some(product));
    }
    if head.entity == FacetWalk::KIND {
        let walk: FacetWalk = item::parse(image.into())?;
        return Ok(Some(StreamWork::Walk(walk.store_id)));
    }
    if head.entity == Level::KIND {
        let level: Level = item::parse(image.into())?;
        let before = item::parse(record.change.old_image.into()).ok();
        return Ok(
            crosses_zero(before.as_ref(), &level).then(|| StreamWork::Stock(Box::new(level)))
        );
    }
    if record.event_name != "INSERT" {
        return Ok(None);
    }
    match head.entity.as_str() {
        EventGroup::KIND => {
            let group: EventGroup = item::parse(image.into())?;
            let is_pending = group.pending().next().is_some();
            Ok(is_pending.then(|| StreamWork::Events(Box::new(group))))
        }
        mail::Mail::KIND => {
            let mail: mail::Mail = item::parse(image.into())?;
            // A mail that waits for its day is found by the sweep.
            let is_ready =
                mail.state == mail::MailState::Pending && !mail.waits(services.clock.now());
            Ok(is_ready.then_some(StreamWork::Mail(mail.id)))
        }
        _ => Ok(None),
    }
}

async fn publish_groups(services: &Services, groups: Vec<EventGroup>) -> Vec<GroupOutcome> {
    match publish::still_pending(services, groups.clone()).await {
        Ok(pending) => publish::publish_all(services, pending).await,
        Err(problem) => {
            let failed =
                |group| GroupOutcome { group, done: vec![], failure: Some(problem.clone()) };
            groups.into_iter().map(failed).collect()
        }
    }
}

/// Queues mails. Returns the records of those that failed.
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

/// Updates the summaries of products whose stock ran out or is available again. Returns the records of
/// those that failed.
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

/// Whether a stock level has run out or is available again, compared to the level before, if there was
/// one.
fn crosses_zero(before: Option<&Level>, level: &Level) -> bool {
    before.is_some_and(|before| before.available > 0) != (level.available > 0)
}

/// Attributes that every item of the table has.
#[derive(Deserialize)]
struct ItemHead {
    entity: String,
    #[serde(rename = "PK")]
    partition: String,
}

impl ItemHead {
    /// The product of a summary.
    fn product(&self) -> Option<StreamWork> {
        let named = (self.entity == ProductSummary::KIND).then(|| key::summary_of(&self.partition));
        named.flatten().map(|(store, product)| StreamWork::Product(store, product))
    }
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
