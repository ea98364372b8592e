//! Long work in steps (docs/architecture.md §5): each message of the queue is one bounded step, which
//! sends the message for the next.
//!
//! The result of a step is written into the work's item at its end, under the item's version:
//!
//! - *A crash before that*: the step is repeated, by the queue or by the sweep, and finds what it
//!   created, because ids are derived.
//! - *A crash after it, or a lost message*: the item is due, and the sweep sends the message.
//! - *A message twice*: at the same moment, one of the two writes, and the other stops and sends nothing;
//!   later, the next step is not ready, or is taken as it would have been anyway.
//!
//! - *A permanent error* (`Problem::is_permanent`): the work ends as failed at the first attempt, and its
//!   message with it ([`failure`]); it blocks nothing any more.
//!
//! The principal of the work may have lost the authority for it. That is checked before each page
//! (`platform::authority`), and the work ends as cancelled.
//!
//! A message that cannot be parsed names no work, and blocks nothing. It is reported as failed, and ends
//! in the dead-letter queue for inspection.

mod drills;
mod failure;
mod load_tests;
mod replay;
mod shop;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use delivery::run::RunMessage;
use primitives::problem::{Code, Problem};
use sales::workflows::{join_orders, remind_of_cart};
use services::Services;

/// Handles a batch of the queue. Returns the messages to be received again.
pub async fn handle(services: &Services, event: SqsEvent) -> SqsBatchResponse {
    let mut response = SqsBatchResponse::default();
    for message in event.records {
        let work = async {
            match read(&message) {
                Ok(step) => Box::pin(take(services, step)).await,
                Err(problem) => Err(problem),
            }
        };
        let (outcome, used) = table::metered(services.clock.now(), work).await;
        tracing::debug!(?used, "steps processed");
        if let Err(problem) = outcome {
            let id = message.message_id.unwrap_or_default();
            tracing::warn!(
                cause = %problem, message_id = id,
                "step of long work failed; its message is received again"
            );
            response.add_failure(id);
        }
    }
    response
}

fn read(message: &SqsMessage) -> Result<RunMessage, Problem> {
    let body = message.body.as_deref().unwrap_or_default();
    serde_json::from_str(body).map_err(|error| Problem::internal(format!("message: {error}")))
}

/// Takes the next step of some work, if it is ready.
///
/// # Errors
/// 503 when the table cannot be reached: the message is received again.
pub async fn take(services: &Services, step: RunMessage) -> Result<(), Problem> {
    let outcome = match &step {
        RunMessage::Replay { id } => replay::step(services, id).await,
        RunMessage::Drill { id } => drills::step(services, id).await,
        RunMessage::LoadTest { id } => load_tests::step(services, id).await,
        RunMessage::Import { id } => Box::pin(transfers::import::step(services, id)).await,
        RunMessage::Export { id } => Box::pin(transfers::export::step(services, id)).await,
        RunMessage::Redaction { id } => {
            privacy::redaction::step(services, id, transfers::people::forget).await
        }
        RunMessage::Merge { .. } => privacy::merge::step(services, &step.key()).await,
        RunMessage::GuestOrders { store_id, customer_id, guest } => {
            join_orders::step(services, store_id, customer_id, guest).await
        }
        RunMessage::Cart { store_id, id } => remind_of_cart::step(services, store_id, id).await,
    };
    let next = match outcome {
        Ok(next) => next,
        // Another worker has taken the step, or the work was ended.
        Err(problem) if problem.code == Code::VersionConflict => return Ok(()),
        Err(problem) if problem.is_permanent() => {
            return failure::fail(services, &step, &problem).await;
        }
        Err(problem) => return Err(problem),
    };
    if let Some(at) = next {
        step.send(services, services.clock.now().until(at)).await;
    }
    Ok(())
}
