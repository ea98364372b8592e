//! From what happened to who is told: table stream and one-minute schedule → deliveries and mails
//! on their queues (docs/architecture.md §5).
//!
//! The stream is the fast path; the sweep alone must be enough (docs/platform.md §2). Both end in
//! the same functions, and each of those can be repeated at any point:
//!
//! - *Crash before the fan-out is written*: the event is still pending. The stream brings it
//!   again, or after a minute its due mark does.
//! - *Crash after it, before the queue*: every delivery is in the table with a due mark a minute
//!   ahead; the sweep queues it.
//! - *The same record twice, or stream and sweep at once*: the event is no longer pending, so the
//!   transaction is refused, and that is success.
//! - *A message twice*: the worker claims each attempt once.
//!
//! What asks payment providers goes to workers through a queue ([`work`]), and this function is the
//! worker as well: a run of the schedule waits for no provider.

mod category_drains;
mod jobs;
mod pending_events;
mod publish;
mod related_products;
mod sweep;

use aws_lambda_events::event::dynamodb::{Event as StreamEvent, EventRecord};
use futures_util::StreamExt;
use gateway::app::App;
use gateway::item::Item;
use gateway::problem::Problem;
use ground::event::{Event, OutboxState};
use ground::mail;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use related_products::ChangedProducts;

pub use jobs::{JobReport, QUEUE, work};
pub use publish::publish;
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
pub async fn handle(app: &App, payload: Value) -> Result<Value, lambda_runtime::Error> {
    let source = payload.pointer("/Records/0/eventSource").and_then(Value::as_str);
    if source == Some("aws:dynamodb") {
        let event: StreamEvent = serde_json::from_value(payload)?;
        return Ok(serde_json::to_value(handle_stream(app, event).await)?);
    }
    if source == Some("aws:sqs") {
        let (answer, worked) = Box::pin(work(app, serde_json::from_value(payload)?)).await;
        tracing::info!(?worked, "worked");
        return Ok(serde_json::to_value(answer)?);
    }
    let report = sweep(app).await;
    tracing::info!(?report, "swept");
    Ok(serde_json::to_value(report)?)
}

/// A batch of the table's stream: new events are published, new mails queued; then the related
/// products of the stores whose products changed are rebuilt.
pub async fn handle_stream(app: &App, event: StreamEvent) -> BatchResponse {
    let outcomes = futures_util::stream::iter(event.records)
        .map(|record| async move {
            let outcome = take(app, &record).await;
            (record.change.sequence_number.unwrap_or_default(), outcome)
        })
        .buffered(PARALLEL)
        .collect::<Vec<_>>()
        .await;
    let (mut changed, mut failed) = (ChangedProducts::default(), Vec::new());
    for (sequence, outcome) in outcomes {
        match outcome {
            Ok(published) => published.iter().for_each(|event| changed.note(event)),
            Err(problem) => {
                tracing::warn!(cause = %problem, sequence, "record not taken");
                failed.push(FailedRecord { item_identifier: sequence });
            }
        }
    }
    changed.rebuild(app).await;
    BatchResponse { batch_item_failures: failed }
}

/// One record; answers with the event that is published now. What is not new, or needs
/// nothing done, is passed over.
async fn take(app: &App, record: &EventRecord) -> Result<Option<Event>, Problem> {
    if record.event_name != "INSERT" {
        return Ok(None);
    }
    let image = record.change.new_image.clone();
    let Ok(head) = serde_dynamo::from_item::<_, ItemHead>(image.clone()) else { return Ok(None) };
    match head.entity.as_str() {
        Event::KIND => {
            let event: Event = serde_dynamo::from_item(image).map_err(Problem::internal)?;
            if event.state != OutboxState::Pending {
                return Ok(None);
            }
            publish(app, &event).await.map(|()| Some(event))
        }
        mail::Mail::KIND => {
            let mail: mail::Mail = serde_dynamo::from_item(image).map_err(Problem::internal)?;
            // One that waits for its day is found by the sweep.
            if mail.state == mail::MailState::Pending && !mail.waits(app.clock.now()) {
                let message = mail::MailMessage { mail_id: mail.id };
                app.queue(mail::QUEUE).send(&[(message, std::time::Duration::ZERO)]).await?;
            }
            Ok(None)
        }
        _ => Ok(None),
    }
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
