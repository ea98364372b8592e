//! Long work, step by step (docs/architecture.md §5): each message of the queue is one bounded step, which
//! sends the message for the next.
//!
//! What a step has come to is written into the work's item at its end, under the item's version:
//!
//! - *A crash before that*: the step is taken again, by the queue or by the sweep, and what it made is
//!   found, because ids follow from what they stand for.
//! - *A crash after it, or a lost message*: the item is due, and the sweep sends the message.
//! - *A message twice*: at once, one of the two writes, and the other stops there and sends nothing; later,
//!   the next step is not ready, or is taken as it would have been anyway.
//!
//! - *An error that would be the same again* (`Problem::is_permanent`): the work ends as failed at the first
//!   try, and its message with it ([`given_up`]); nothing waits for it any more.
//!
//! Who asked for the work may have lost what it takes: that is asked again before each of its pages
//! (`platform::authority`), and the work ends as cancelled.
//!
//! A message that cannot be read names no work, and nothing waits for it: it is reported as failed and ends in
//! the dead-letter queue, for somebody to look at.

mod drills;
mod given_up;
mod load_tests;
mod replay;
mod shop;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use delivery::run::RunMessage;
use primitives::problem::{Code, Problem};
use sales::workflows::join_orders;
use services::Services;

/// Handles a batch of the queue; answers with the messages to be received again.
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
        tracing::debug!(?used, "step");
        if let Err(problem) = outcome {
            let id = message.message_id.unwrap_or_default();
            tracing::warn!(cause = %problem, message = id, "step not taken");
            response.add_failure(id);
        }
    }
    response
}

fn read(message: &SqsMessage) -> Result<RunMessage, Problem> {
    let body = message.body.as_deref().unwrap_or_default();
    serde_json::from_str(body).map_err(|error| Problem::internal(format!("message: {error}")))
}

/// Takes the next step of some work, if there is one to take.
///
/// # Errors
/// 503 when the table cannot be reached: the message is received again.
pub async fn take(services: &Services, step: RunMessage) -> Result<(), Problem> {
    let outcome = match &step {
        RunMessage::Replay { id } => replay::step(services, id).await,
        RunMessage::Drill { id } => drills::step(services, id).await,
        RunMessage::LoadTest { id } => load_tests::step(services, id).await,
        RunMessage::Import { id } => transfers::import::step(services, id).await,
        RunMessage::Export { id } => transfers::export::step(services, id).await,
        RunMessage::Redaction { id } => {
            privacy::redaction::step(services, id, transfers::people::forget).await
        }
        RunMessage::Merge { .. } => privacy::merge::step(services, &step.key()).await,
        RunMessage::GuestOrders { store_id, customer_id, guest } => {
            join_orders::step(services, store_id, customer_id, guest).await
        }
    };
    let next = match outcome {
        Ok(next) => next,
        // Somebody else has taken it, or has ended the work.
        Err(problem) if problem.code == Code::VersionConflict => return Ok(()),
        Err(problem) if problem.is_permanent() => {
            return given_up::give_up(services, &step, &problem).await;
        }
        Err(problem) => return Err(problem),
    };
    if let Some(at) = next {
        step.send(services, services.clock.now().until(at)).await;
    }
    Ok(())
}
