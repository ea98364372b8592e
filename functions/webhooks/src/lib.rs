//! Deliveries of webhooks: queue → sign → POST, or a message to the subscriber's queue → record the
//! attempt (docs/conventions.md §10, docs/architecture.md §5).
//!
//! One message is for one attempt. The attempt has three steps, and a crash after each is harmless:
//!
//! 1. *Begin*: the delivery is read, and a message for an attempt that was made is ignored. A first attempt at
//!    a prompt receiver is then sent: while the queue hides its message, the message is this worker's, and a
//!    second one that reaches this process meanwhile is ignored too. Every other attempt is claimed: the
//!    delivery becomes `delivering` under a lease of a minute, in one conditional write, which one of two
//!    messages wins (docs/platform.md §2).
//! 2. *Send*: to a URL within 5 seconds, or 15 for a slow receiver, without redirects and with 16 KiB of
//!    the response read (docs/platform.md §4); to a queue by one call without the SDK's retries. After a
//!    crash here its batch or its due mark brings the delivery back, once the lease of a claimed attempt has ended. A
//!    claimed attempt is then recorded as `interrupted`, and the next one is made; one without a claim is made
//!    again. The receiver may get the event twice, and recognizes it by its id: at least once.
//! 3. *Record*: the attempt and the delivery's next state are one conditional write of one item, on
//!    condition that the claim still stands, or that the attempt was not recorded; then the circuit breaker;
//!    then the message for the next attempt. After a crash before the message, the due mark takes effect a
//!    minute after its time.
//!
//! The messages of a batch are processed concurrently, so that a receiver that hangs delays no other
//! (docs/platform.md §2). Items that several of them need, such as a shared event, are read once. A dead
//! receiver costs ten attempts; then its circuit opens, and its due deliveries are postponed without
//! being sent.
//!
//! Within a batch, attempts at receivers that are not known to be prompt are begun one after the other,
//! and recorded so, in a batch slot. They take more writes than others, and often come in crowds: fifty
//! subscriptions that one event makes due at once would delay everybody else at the table.
//!
//! No store's receivers occupy all workers. There are two queues with workers of their own: an attempt on
//! the fast one is cut off after 5 seconds, and a delivery to a receiver that takes longer is moved to
//! the slow one, unclaimed. On each queue, attempts per host and per store are limited while their
//! receiver is not known to answer within a second ([`delivery::delivery::Permits`]). An attempt beyond
//! the limit is postponed and holds nothing. A receiver that is no longer prompt is counted from then on,
//! a second into its first late attempt.
//!
//! A subscription may have an order and a rate limit. A delivery that waits for another one about the
//! same entity holds no message: the worker that ends the other one sends it. A delivery beyond the rate
//! limit is postponed to its time, and comes back with its message then: no worker waits.
//!
//! A permanent error (`Problem::is_permanent`) ends the delivery as `exhausted`, with the error's code as
//! its reason, and the message with it.
//!
//! A message that cannot be parsed is reported as failed, and ends in the dead-letter queue.

mod begin;
mod count;
mod finish;
mod inputs;
mod send;
mod under_way;

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
use finish::HealthSignal;
use inputs::{Inputs, SharedInputs};
use send::SentAttempt;
use under_way::UnderWay;

pub use under_way::busy;

/// Handles a batch of the queue. Returns the messages to be received again.
pub async fn handle(services: &Services, event: SqsEvent) -> SqsBatchResponse {
    let groups = event.records.chunks(inputs::AT_ONCE);
    let work = join_all(groups.map(|group| handle_group(services, group)));
    let (outcomes, used) = table::metered(services.clock.now(), work).await;
    tracing::debug!(messages = event.records.len(), ?used, "batch of messages processed");
    count::write_down(services).await;
    let mut response = SqsBatchResponse::default();
    for (message, outcome) in outcomes.into_iter().flatten() {
        if let Err(problem) = outcome {
            tracing::warn!(
                cause = %problem, message_id = message,
                "delivery message failed; it is received again"
            );
            response.add_failure(message);
        }
    }
    response
}

/// Processes messages concurrently, after reading what they need.
async fn handle_group(
    services: &Services,
    group: &[SqsMessage],
) -> Vec<(String, Result<(), Problem>)> {
    let messages: Vec<_> = group.iter().map(|record| read(record).map(entered)).collect();
    let to_attempt: Vec<DeliveryMessage> = messages
        .iter()
        .filter_map(|message| message.as_ref().ok()?.as_ref().map(|(message, _)| message.clone()))
        .collect();
    let shared = SharedInputs::read(services, &to_attempt).await;
    let slot = BatchSlot::default();
    let work = group.iter().zip(messages).map(|(record, message)| {
        let (shared, slot) = (&shared, &slot);
        async move {
            let outcome = match (message, shared) {
                (Err(problem), _) => Err(problem),
                (Ok(None), _) => Ok(()),
                (Ok(Some(_)), Err(problem)) => Err(problem.clone()),
                (Ok(Some(entered)), Ok(shared)) => {
                    let speed = speed_of(services, record);
                    let (message, inputs) = (entered.0.clone(), shared.of(&entered.0));
                    let made = make(services, entered, speed, &inputs, slot).await;
                    end_if_permanent(services, &message, made).await
                }
            };
            (record.message_id.clone().unwrap_or_default(), outcome)
        }
    });
    join_all(work).await
}

/// A message whose attempt this worker has entered.
type Entered = (DeliveryMessage, UnderWay);

/// Enters the attempt of a message; none when it is under way in this process.
fn entered(message: DeliveryMessage) -> Option<Entered> {
    let under_way = UnderWay::enter(&message)?;
    Some((message, under_way))
}

/// Returns the outcome of an attempt, after ending a delivery that met a permanent error.
async fn end_if_permanent(
    services: &Services,
    message: &DeliveryMessage,
    made: Result<(), Problem>,
) -> Result<(), Problem> {
    match made {
        Err(problem) if problem.is_permanent() => {
            finish::end_delivery(services, message, &problem).await
        }
        made => made,
    }
}

fn read(message: &SqsMessage) -> Result<DeliveryMessage, Problem> {
    let body = message.body.as_deref().unwrap_or_default();
    serde_json::from_str(body).map_err(|error| Problem::internal(format!("message: {error}")))
}

/// The queue of a message, by the name of its event source.
fn speed_of(services: &Services, message: &SqsMessage) -> Speed {
    let Some(source) = message.event_source_arn.as_deref() else { return Speed::Fast };
    let slow = services.config.queue_url(SLOW_QUEUE);
    let is_slow = source.rsplit(':').next() == slow.rsplit('/').next();
    if is_slow { Speed::Slow } else { Speed::Fast }
}

/// Makes the attempt of a message of the fast queue, if it is still to be made.
///
/// # Errors
/// 503 when the table or the secrets cannot be reached: the message is received again.
pub async fn attempt(services: &Services, message: &DeliveryMessage) -> Result<(), Problem> {
    attempt_at(services, message, Speed::Fast).await
}

/// As [`attempt`], for a message of either queue.
///
/// # Errors
/// As [`attempt`]; also 503 when a message cannot be moved to the slow queue.
pub async fn attempt_at(
    services: &Services,
    message: &DeliveryMessage,
    speed: Speed,
) -> Result<(), Problem> {
    let Some(entered) = entered(message.clone()) else { return Ok(()) };
    let shared = SharedInputs::read(services, std::slice::from_ref(message)).await?;
    make(services, entered, speed, &shared.of(message), &BatchSlot::default()).await
}

/// The batch slot for receivers that are not known to be prompt.
#[derive(Debug, Default)]
struct BatchSlot(Mutex<()>);

impl BatchSlot {
    /// Takes the slot, unless the receiver is prompt. It is held until it is dropped.
    async fn of(&self, is_prompt: bool) -> Option<MutexGuard<'_, ()>> {
        if is_prompt { None } else { Some(self.0.lock().await) }
    }
}

async fn make(
    services: &Services,
    (message, under_way): Entered,
    speed: Speed,
    inputs: &Inputs,
    slot: &BatchSlot,
) -> Result<(), Problem> {
    let message = &message;
    // First: unreadable keys are no failure of the receiver.
    let key = services.secrets.webhook_key().await?;
    let held = slot.of(inputs.is_prompt()).await;
    let begun = begin::begin(services, message, speed, inputs).await?;
    drop(held);
    match begun {
        Begun::Nothing => Ok(()),
        // A message that is sent may be received at once: then the attempt must be under way no more.
        Begun::TooSlow => {
            drop(under_way);
            services.queue(SLOW_QUEUE).send(&[(message, Duration::ZERO)]).await
        }
        Begun::Postponed(delivery) => {
            drop(under_way);
            finish::queue(services, &delivery, speed).await;
            Ok(())
        }
        Begun::Ended { ended, exhausted } => {
            wake_next(services, &ended).await;
            if exhausted {
                let waited = message.subscription_key();
                finish::report(services, &waited, None, HealthSignal::Expired, None).await;
            }
            Ok(())
        }
        Begun::Attempt(mut job) => {
            let sent = under_way.sent(send_watched(services, &job, message, &key)).await;
            let permits = std::mem::take(&mut job.permits);
            let _held = slot.of(!permits.are_held()).await;
            let outcome = finish::finish(services, &job, sent, under_way).await;
            permits.release(services).await;
            outcome
        }
    }
}

/// Sends the attempt. If it holds no permits and is late, that is reported to the subscription at once,
/// so that later attempts are counted.
async fn send_watched(
    services: &Services,
    job: &Job,
    message: &DeliveryMessage,
    key: &SealKey,
) -> SentAttempt {
    let mut sending = pin!(send::send(services, job, key));
    if job.permits.are_held() {
        return sending.await;
    }
    if let Ok(sent) = tokio::time::timeout(PROMPT, sending.as_mut()).await {
        return sent;
    }
    let subscription = message.subscription_key();
    let attempted_url = Some(job.subscription.url.as_str());
    let late = finish::report(services, &subscription, attempted_url, HealthSignal::Late, None);
    tokio::join!(sending, late).0
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn only_receivers_that_are_not_prompt_take_the_batch_slot() {
        let slot = BatchSlot::default();
        let first = slot.of(false).await;
        assert!(slot.of(true).now_or_never().is_some_and(|held| held.is_none()));
        assert!(slot.of(false).now_or_never().is_none());
        drop(first);
        assert!(slot.of(false).now_or_never().is_some_and(|held| held.is_some()));
    }
}
