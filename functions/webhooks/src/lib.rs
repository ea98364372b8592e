//! Queue → sign → POST, or a message to a queue of the subscriber's → record the attempt (docs/conventions.md §10, docs/architecture.md §5).
//!
//! One message stands for one attempt. It is made in three steps, and a crash after each is
//! harmless:
//!
//! 1. *Claim*: the delivery goes to `delivering` under a lease of a minute, in one conditional
//!    write. Two messages for one attempt, at the same moment or an hour apart: one claims, the
//!    other finds it taken and is done (docs/platform.md §2).
//! 2. *Send*: 5 seconds for everything, or 15 for a slow receiver, no redirects, 16 KiB read
//!    (docs/platform.md §4); to a queue one call without the SDK's retries. A crash here leaves the lease; its due mark brings the delivery back a
//!    minute later, the lost attempt is recorded as `interrupted`, and the next one is made. The
//!    receiver may see the event twice and tells it by its id: at least once.
//! 3. *Record*: the attempt and the delivery's next state are one conditional write of one item, on
//!    the condition that the claim still stands; then the circuit breaker; then the message for the next
//!    attempt. A crash before the message leaves the due mark a minute after its time.
//!
//! A batch's messages are worked on side by side, so that a receiver that hangs costs the others
//! nothing (docs/platform.md §2); what several of them need, as the event that they share, is read
//! once. A dead one costs ten attempts; then its circuit opens, and what
//! comes up for it is put off without being sent.
//!
//! What goes to receivers that are not known to be prompt is begun one after the other within a batch,
//! and recorded so. It takes more writes than others do, and often comes in crowds: fifty subscriptions
//! that one event makes due at once would stand before everybody else at the table.
//!
//! Nobody's receivers hold all workers. There are two queues, each with workers of its own: an
//! attempt on the fast one is cut off after 5 seconds, and what goes to a receiver that takes longer
//! is handed on to the slow one, unclaimed. On each, attempts of one host and of one store are
//! counted while their receiver is not known to answer within a second
//! ([`delivery::delivery::Permits`]); what is one too many is put off without holding anything. A
//! receiver that was prompt and is no longer is counted from then on, a second into its first late
//! attempt.
//!
//! A subscription may want order and a rate. What waits for another delivery about the same entity
//! holds no message: whoever ends that one sends it. What is above the rate is put off to its turn
//! and comes back with its message then: nobody waits in here.
//!
//! An error that would be the same again (`Problem::is_permanent`) ends the delivery as `exhausted`, with
//! `internal_error` for its reason, and its message with it.
//!
//! A message that cannot be read is reported as failed and ends in the dead-letter queue.

mod begin;
mod count;
mod finish;
mod inputs;
mod send;

use std::pin::pin;
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use crypto::seal::SealKey;
use delivery::delivery::{DeliveryMessage, SLOW_QUEUE, Speed, wake_next};
use delivery::subscription::PROMPT;
use futures_util::future::join_all;
use primitives::problem::Problem;
use services::Services;
use tokio::sync::{Mutex, MutexGuard};

use begin::{Begun, Job};
use finish::Report;
use inputs::{Inputs, SharedInputs};
use send::SentAttempt;

/// Handles a batch of the queue; answers with the messages to be received again.
pub async fn handle(services: &Services, event: SqsEvent) -> SqsBatchResponse {
    let groups = event.records.chunks(inputs::AT_ONCE);
    let work = join_all(groups.map(|group| handle_group(services, group)));
    let (outcomes, used) = table::metered(services.clock.now(), work).await;
    tracing::debug!(messages = event.records.len(), ?used, "batch");
    count::write_down(services).await;
    let mut response = SqsBatchResponse::default();
    for (message, outcome) in outcomes.into_iter().flatten() {
        if let Err(problem) = outcome {
            tracing::warn!(cause = %problem, message, "message not handled");
            response.add_failure(message);
        }
    }
    response
}

/// Works on messages side by side, and reads first what they need.
async fn handle_group(
    services: &Services,
    group: &[SqsMessage],
) -> Vec<(String, Result<(), Problem>)> {
    let messages: Vec<_> = group.iter().map(read).collect();
    let readable: Vec<DeliveryMessage> =
        messages.iter().filter_map(|message| message.as_ref().ok().cloned()).collect();
    let shared = SharedInputs::read(services, &readable).await;
    let turns = Turns::default();
    let work = group.iter().zip(messages).map(|(record, message)| {
        let (shared, turns) = (&shared, &turns);
        async move {
            let outcome = match (message, shared) {
                (Err(problem), _) => Err(problem),
                (Ok(_), Err(problem)) => Err(problem.clone()),
                (Ok(message), Ok(shared)) => {
                    let speed = speed_of(services, record);
                    let made = make(services, &message, speed, &shared.of(&message), turns).await;
                    unless_hopeless(services, &message, made).await
                }
            };
            (record.message_id.clone().unwrap_or_default(), outcome)
        }
    });
    join_all(work).await
}

/// What became of an attempt. A delivery that can never be attempted, or whose outcome can never be written,
/// ends at the first try.
async fn unless_hopeless(
    services: &Services,
    message: &DeliveryMessage,
    made: Result<(), Problem>,
) -> Result<(), Problem> {
    match made {
        Err(problem) if problem.is_permanent() => {
            finish::give_up(services, message, &problem).await
        }
        made => made,
    }
}

fn read(message: &SqsMessage) -> Result<DeliveryMessage, Problem> {
    let body = message.body.as_deref().unwrap_or_default();
    serde_json::from_str(body).map_err(|error| Problem::internal(format!("message: {error}")))
}

/// Which queue a message comes from: the event source says it by its name.
fn speed_of(services: &Services, message: &SqsMessage) -> Speed {
    let Some(source) = message.event_source_arn.as_deref() else { return Speed::Fast };
    let slow = services.config.queue_url(SLOW_QUEUE);
    let is_slow = source.rsplit(':').next() == slow.rsplit('/').next();
    if is_slow { Speed::Slow } else { Speed::Fast }
}

/// Makes the attempt that a message of the fast queue stands for, if it is still to be made.
///
/// # Errors
/// 503 when the table or the secrets cannot be reached: the message is received again.
pub async fn attempt(services: &Services, message: &DeliveryMessage) -> Result<(), Problem> {
    attempt_at(services, message, Speed::Fast).await
}

/// As [`attempt`], for a message of either queue.
///
/// # Errors
/// As [`attempt`]; also when a message cannot be handed on to the slow queue.
pub async fn attempt_at(
    services: &Services,
    message: &DeliveryMessage,
    speed: Speed,
) -> Result<(), Problem> {
    let shared = SharedInputs::read(services, std::slice::from_ref(message)).await?;
    make(services, message, speed, &shared.of(message), &Turns::default()).await
}

/// What those of a batch take turns at whose receivers are not known to be prompt.
#[derive(Debug, Default)]
struct Turns(Mutex<()>);

impl Turns {
    /// Waits for the turn, unless the receiver is prompt; it lasts until it is dropped.
    async fn of(&self, is_prompt: bool) -> Option<MutexGuard<'_, ()>> {
        if is_prompt { None } else { Some(self.0.lock().await) }
    }
}

async fn make(
    services: &Services,
    message: &DeliveryMessage,
    speed: Speed,
    inputs: &Inputs,
    turns: &Turns,
) -> Result<(), Problem> {
    // Before the claim: keys that cannot be read are no failure of the receiver's.
    let key = services.secrets.webhook_key().await?;
    let turn = turns.of(inputs.is_prompt()).await;
    let begun = begin::begin(services, message, speed, inputs).await?;
    drop(turn);
    match begun {
        Begun::Nothing => Ok(()),
        Begun::TooSlow => services.queue(SLOW_QUEUE).send(&[(message, Duration::ZERO)]).await,
        Begun::PutOff(delivery) => {
            finish::queue(services, &delivery, speed).await;
            Ok(())
        }
        Begun::GivenUp { ended, exhausted } => {
            wake_next(services, &ended).await;
            if exhausted {
                let waited = message.subscription_key();
                finish::report(services, &waited, None, Report::Expired, None).await;
            }
            Ok(())
        }
        Begun::Claimed(mut job) => {
            let sent = send_watched(services, &job, message, &key).await;
            let places = std::mem::take(&mut job.places);
            let _turn = turns.of(!places.are_held()).await;
            let outcome = finish::finish(services, &job, sent).await;
            places.leave(services).await;
            outcome
        }
    }
}

/// Sends, and tells the subscription of an attempt that is not counted as soon as it is late: those
/// after it are.
async fn send_watched(
    services: &Services,
    job: &Job,
    message: &DeliveryMessage,
    key: &SealKey,
) -> SentAttempt {
    let mut sending = pin!(send::send(services, job, key));
    if job.places.are_held() {
        return sending.await;
    }
    if let Ok(sent) = tokio::time::timeout(PROMPT, sending.as_mut()).await {
        return sent;
    }
    let subscription = message.subscription_key();
    let asked = Some(job.subscription.url.as_str());
    let late = finish::report(services, &subscription, asked, Report::Late, None);
    tokio::join!(sending, late).0
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn only_those_who_are_not_known_to_be_prompt_wait_for_their_turn() {
        let turns = Turns::default();
        let first = turns.of(false).await;
        assert!(turns.of(true).now_or_never().is_some_and(|turn| turn.is_none()));
        assert!(turns.of(false).now_or_never().is_none());
        drop(first);
        assert!(turns.of(false).now_or_never().is_some_and(|turn| turn.is_some()));
    }
}
