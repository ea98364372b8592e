//! The third step: records the outcome of an attempt for the delivery, its receiver and the queue.

use std::time::Duration;

use core_types::key;
use crypto::seal;
use delivery::delivery::{
    AttemptVerdict, Delivery, DeliveryMessage, DeliveryStatus, Speed, TIMEOUT, wake_next,
};
use delivery::subscription::{DisabledReason, Subscription};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::outbox;
use table::outbox::DueMark;

use crate::begin::Job;
use crate::count;
use crate::send::{SentAttempt, UNSEALABLE};
use crate::under_way::UnderWay;

/// The number of writes of an outcome whose delivery others change meanwhile.
const TRIES: usize = 5;

/// A delivery's signal about the health of its receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HealthSignal {
    /// The receiver answered 2xx.
    Success,
    /// An attempt failed.
    Failure {
        /// Whether it was the last of its delivery.
        exhausted: bool,
    },
    /// A delivery waited too long for the circuit.
    Expired,
    /// An attempt is under way that a prompt receiver would have answered by now.
    Late,
    /// The receiver answered 410.
    Gone,
}

/// Records the attempt and the outcome of the delivery, in one write. From then on the next message for the
/// delivery is taken.
///
/// # Errors
/// 503 when the table cannot be reached. The message is then received again and finds the attempt
/// claimed; when the lease has ended, the next attempt is made.
pub(crate) async fn finish(
    services: &Services,
    job: &Job,
    sent: SentAttempt,
    under_way: UnderWay,
) -> Result<(), Problem> {
    let Some(delivery) = record(services, job, &sent).await? else {
        // The lease had ended, the payload was removed, or another worker was faster: the newer state stays.
        tracing::warn!(
            delivery = job.delivery.id.as_str(),
            "outcome of an attempt discarded: its delivery has changed"
        );
        return Ok(());
    };
    drop(under_way);
    log(&delivery);
    count::note(services, &delivery, &sent);
    if !delivery.test && delivery.last_error.as_deref() != Some(UNSEALABLE) {
        let report = signal_for(sent.outcome.verdict, delivery.status);
        let took = held_for(job.speed, &sent);
        if changes_health(&job.subscription, report, took, services.clock.now()) {
            let (subscription, attempted_url) =
                (job.subscription.key(), Some(job.subscription.url.as_str()));
            self::report(services, &subscription, attempted_url, report, Some(took)).await;
        }
    }
    queue(services, &delivery, Speed::of(&delivery, &job.subscription)).await;
    wake_next(services, &delivery).await;
    Ok(())
}

/// Writes the delivery with its attempt; none when another state stands. A delivery whose attempt is not claimed
/// may have been queued again or postponed meanwhile, and takes the outcome all the same.
async fn record(
    services: &Services,
    job: &Job,
    sent: &SentAttempt,
) -> Result<Option<Delivery>, Problem> {
    let jitter = u32::from_be_bytes(seal::random_bytes());
    let digest = seal::digest(&job.body());
    let mut begun = job.delivery.clone();
    for _ in 0..TRIES {
        let now = services.clock.now();
        let ended = begun.with_outcome(&sent.outcome, sent.took, jitter, now);
        let delivery =
            Delivery { body_sha256: Some(digest.clone()), ..ended.with_attempt(&sent.attempt) };
        match delivery.record_outcome(services, sent.attempt.recorded_answer(&delivery)).await {
            Ok(()) => return Ok(Some(delivery)),
            Err(problem) if problem.code == Code::VersionConflict => {}
            Err(problem) => return Err(problem),
        }
        if begun.claim.is_some() {
            return Ok(None);
        }
        let found = services.table.get::<Delivery>(&begun.key()).await?;
        match found.and_then(|found| begun.begun_again(&found, now)) {
            Some(again) => begun = again,
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// Ends a delivery that met a permanent error. Its stored attempts are dropped: their size may be the
/// cause. A delivery that cannot even be read loses its due mark.
///
/// # Errors
/// 503 when the table cannot be reached: the message is received again.
pub(crate) async fn end_delivery(
    services: &Services,
    message: &DeliveryMessage,
    problem: &Problem,
) -> Result<(), Problem> {
    let key = key::delivery(&message.delivery_id);
    let now = services.clock.now();
    let ended = match services.table.get::<Delivery>(&key).await {
        Ok(Some(found)) if !found.status.is_final() => {
            let why = problem.code.as_str();
            let ended = found.ended(DeliveryStatus::Exhausted, why, now);
            let ended = Delivery { attempts: Vec::new(), ..ended };
            ended.replace(services).await.map(|()| Some(ended))
        }
        found => found.map(|_| None),
    };
    match ended {
        Ok(Some(ended)) => {
            tracing::error!(?key, cause = %problem, "work given up: delivery");
            wake_next(services, &ended).await;
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(again) if again.code == Code::VersionConflict => Ok(()),
        Err(again) if again.is_permanent() => {
            outbox::remove_due_mark(&services.table, &key, DueMark::Any, &again).await
        }
        Err(again) => Err(again),
    }
}

fn signal_for(verdict: AttemptVerdict, status: DeliveryStatus) -> HealthSignal {
    match verdict {
        AttemptVerdict::Success => HealthSignal::Success,
        AttemptVerdict::Gone => HealthSignal::Gone,
        AttemptVerdict::Failure | AttemptVerdict::Blocked => {
            HealthSignal::Failure { exhausted: status != DeliveryStatus::Retrying }
        }
    }
}

/// The time for which the attempt occupied its worker: after a timeout, at least its deadline.
fn held_for(speed: Speed, sent: &SentAttempt) -> Duration {
    let is_cut_off = sent.outcome.error.as_deref() == Some(TIMEOUT);
    if is_cut_off { sent.took.max(speed.deadline()) } else { sent.took }
}

/// Whether a signal changes anything: most successes do not.
fn changes_health(
    subscription: &Subscription,
    report: HealthSignal,
    took: Duration,
    now: Timestamp,
) -> bool {
    let health = &subscription.health;
    !matches!(report, HealthSignal::Success)
        || health.timed(took).is_some()
        || health.succeeded(now).is_some()
}

fn log(delivery: &Delivery) {
    tracing::info!(
        delivery = delivery.id.as_str(),
        event = delivery.event_id.as_str(),
        subscription = delivery.subscription_id.as_str(),
        attempt = delivery.attempt,
        status = delivery.status.as_str(),
        status_code = delivery.last_status_code,
        error = delivery.last_error.as_deref(),
        millis = delivery.last_duration_ms,
        "delivery attempt"
    );
}

/// Queues the message for the next attempt, unless that is too far away. A failure is only logged: the
/// delivery stays due.
pub(crate) async fn queue(services: &Services, delivery: &Delivery, speed: Speed) {
    if let Some(delay) = delivery.delay(services.clock.now())
        && let Err(problem) =
            services.queue(speed.queue()).send(&[(delivery.message(), delay)]).await
    {
        tracing::warn!(
            cause = %problem, delivery = delivery.id.as_str(),
            "message of the next attempt not queued; the sweep queues it"
        );
    }
}

/// Records a signal in the subscription. It is a write of its own after the delivery's: many deliveries
/// of one receiver fail at once and must not conflict with each other. A lost signal is one failure
/// uncounted.
///
/// `attempted_url` is the URL that was attempted. The subscription may have been moved since: the answer
/// of another host says nothing about its current one.
pub(crate) async fn report(
    services: &Services,
    subscription: &Key,
    attempted_url: Option<&str>,
    report: HealthSignal,
    took: Option<Duration>,
) {
    let outcome = table::retry(|| async {
        let Some(before) = services.table.get::<Subscription>(subscription).await? else {
            return Ok(());
        };
        if attempted_url.is_some_and(|url| before.is_elsewhere(url)) {
            return Ok(());
        }
        let now = services.clock.now();
        // 410 concerns a URL, not its host.
        let report = match report {
            HealthSignal::Gone if attempted_url != Some(before.url.as_str()) => {
                HealthSignal::Failure { exhausted: true }
            }
            other => other,
        };
        let Some(after) = apply_signal(&before, report, took, now) else { return Ok(()) };
        let disabled = before.is_enabled() && !after.is_enabled();
        after
            .save(services.table.write(), &before)
            .when_some(disabled.then(|| after.disabled_event(now)), table::Write::emit)
            .commit()
            .await
    })
    .await;
    if let Err(problem) = outcome {
        tracing::warn!(
            cause = %problem, ?subscription, ?report,
            "health of a subscription not recorded"
        );
    }
}

/// The subscription after a signal; none when nothing changes.
fn apply_signal(
    before: &Subscription,
    report: HealthSignal,
    took: Option<Duration>,
    now: Timestamp,
) -> Option<Subscription> {
    let timed = took.and_then(|took| before.health.timed(took));
    let known = timed.as_ref().unwrap_or(&before.health);
    let health = match report {
        HealthSignal::Success => known.succeeded(now).or(timed)?,
        HealthSignal::Failure { exhausted } => known.failed(exhausted, now),
        HealthSignal::Gone => known.failed(true, now),
        HealthSignal::Expired => known.expired(),
        HealthSignal::Late => known.late()?,
    };
    let should_be_disabled = health.is_hopeless(now);
    let after = before.with_health(health);
    Some(match report {
        _ if !before.is_enabled() => after,
        HealthSignal::Gone => after.disabled_by_system(DisabledReason::Gone, now),
        _ if should_be_disabled => after.disabled_by_system(DisabledReason::Failing, now),
        _ => after,
    })
}
