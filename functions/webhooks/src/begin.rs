//! The first step: decides whether an attempt is to be made, and claims it where it may be somebody else's.

use std::borrow::Cow;
use std::sync::Arc;

use core_types::event::Event;
use core_types::key;
use crypto::seal;
use delivery::delivery::{
    AttemptReadiness, Delivery, DeliveryAttempt, DeliveryMessage, DeliveryStatus, Permits, Speed,
    head_before, message_body,
};
use delivery::subscription::{DestinationKind, Gate, Ordering, Subscription};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Key;
use table::{Pass, random_up_to};

use crate::inputs::{self, Inputs};

/// An attempt with everything it needs.
pub(crate) struct Job {
    pub(crate) delivery: Delivery,
    pub(crate) event: Arc<Event>,
    pub(crate) subscription: Arc<Subscription>,
    /// The queue that its message came from.
    pub(crate) speed: Speed,
    /// Its concurrency permits, to be returned after the attempt.
    pub(crate) permits: Permits,
}

impl Job {
    /// The body that is sent and signed.
    pub(crate) fn body(&self) -> Cow<'_, str> {
        match self.subscription.destination {
            DestinationKind::Https => Cow::Borrowed(&self.event.body),
            DestinationKind::Sqs => message_body(&self.event.body),
        }
    }
}

/// The outcome of a message.
pub(crate) enum Begun {
    /// The attempt was made, is under way elsewhere, or needs no message now.
    Nothing,
    /// The delivery is postponed: by its receiver's circuit, a concurrency limit or a rate limit.
    Postponed(Box<Delivery>),
    /// The message belongs on the queue of slow receivers.
    TooSlow,
    /// The delivery has ended without this attempt.
    Ended {
        /// The ended delivery.
        ended: Box<Delivery>,
        /// Whether its receiver is at fault.
        exhausted: bool,
    },
    /// The attempt is to be made.
    Attempt(Box<Job>),
}

/// Begins the attempt of a message, if it is still to be made.
///
/// # Errors
/// 503 when the table cannot be reached.
pub(crate) async fn begin(
    services: &Services,
    message: &DeliveryMessage,
    speed: Speed,
    inputs: &Inputs,
) -> Result<Begun, Problem> {
    if let Some(begun) = begin_first(message, speed, inputs, services.clock.now()) {
        return Ok(begun);
    }
    let mut known = inputs.deliverable(false).is_ok().then_some(inputs);
    // A claim that is lost to another writer is decided again, on the current items.
    table::retry(|| decide(services, message, speed, known.take())).await
}

/// Begins a first attempt that nothing can postpone, without a claim: its message belongs to this worker.
/// None when the attempt must be claimed.
fn begin_first(
    message: &DeliveryMessage,
    speed: Speed,
    inputs: &Inputs,
    now: Timestamp,
) -> Option<Begun> {
    let delivery = inputs.delivery.as_ref()?;
    let (event, subscription) = inputs.deliverable(false).ok()?;
    let is_free = message.attempt == 1
        && !delivery.is_spent(now)
        && subscription.ordering == Ordering::None
        && subscription.max_rate_per_second.is_none()
        && subscription.health.is_prompt()
        && matches!(subscription.health.gate(now), Gate::Closed);
    if !is_free {
        return None;
    }
    match delivery.readiness(message.attempt, now) {
        AttemptReadiness::Stale => Some(Begun::Nothing),
        AttemptReadiness::AfterExpiredLease => None,
        AttemptReadiness::Ready => {
            let (delivery, permits) = (delivery.begun(now), Permits::default());
            let job = Job { delivery, event, subscription, speed, permits };
            Some(Begun::Attempt(Box::new(job)))
        }
    }
}

/// Loads the delivery, with its event and its subscription unless they are known, and claims the attempt.
///
/// # Errors
/// `version_conflict` when another writer came first: decide again.
async fn decide(
    services: &Services,
    message: &DeliveryMessage,
    speed: Speed,
    known: Option<&Inputs>,
) -> Result<Begun, Problem> {
    let delivery_key = key::delivery(&message.delivery_id);
    let others = known.map_or_else(|| inputs::keys_of(message), |_| Vec::new());
    let keys: Vec<&Key> = std::iter::once(&delivery_key).chain(&others).collect();
    let mut batch = services.table.get_many(&keys).await?;
    let Some(delivery) = batch.take::<Delivery>(&delivery_key)? else { return Ok(Begun::Nothing) };
    let now = services.clock.now();
    let readiness = delivery.readiness(message.attempt, now);
    if readiness == AttemptReadiness::Stale {
        return Ok(Begun::Nothing);
    }
    let inputs = match known {
        Some(known) => known.clone(),
        None => Inputs::of(&mut batch, message)?,
    };
    let is_lost = readiness == AttemptReadiness::AfterExpiredLease;
    let delivery = if is_lost { with_lost(&delivery, &inputs) } else { delivery };
    let (event, subscription) = match inputs.deliverable(delivery.test) {
        Ok(both) => both,
        Err(why) => return end(services, &delivery, DeliveryStatus::Cancelled, why).await,
    };
    if delivery.is_spent(now) {
        let why = if is_lost { "interrupted" } else { "expired" };
        return end(services, &delivery, DeliveryStatus::Exhausted, why).await;
    }
    if speed == Speed::Fast && Speed::of(&delivery, &subscription) == Speed::Slow {
        return Ok(Begun::TooSlow);
    }
    let gate = if delivery.test { Gate::Closed } else { subscription.health.gate(now) };
    let permits = match admit(services, &delivery, &subscription, (gate, speed), now).await? {
        Admission::Granted(permits) => permits,
        Admission::Waits(waiting) => return postpone(services, &delivery, waiting).await,
    };
    claim(services, Job { delivery, event, subscription, speed, permits }, gate, now).await
}

/// The delivery with its lost attempt recorded.
fn with_lost(delivery: &Delivery, inputs: &Inputs) -> Delivery {
    let url = inputs.subscription.as_ref().map_or("", |subscription| subscription.url.as_str());
    delivery.clone().with_attempt(&DeliveryAttempt::lease_expired(delivery, url))
}

/// A postponed attempt.
enum Waiting {
    /// The delivery waits until a time: for its circuit, a concurrency permit or its rate limit.
    Until(Box<Delivery>),
    /// The delivery waits for the one before it, whose end sends the message; none if it waits already.
    Behind(Option<Box<Delivery>>),
}

/// The decision whether an attempt may be claimed.
enum Admission {
    /// It may, with these concurrency permits.
    Granted(Permits),
    /// It is postponed.
    Waits(Waiting),
}

/// Decides whether the delivery may be attempted now. It is postponed by an earlier one of its ordering
/// key, its receiver's circuit, a concurrency limit or its subscription's rate limit. The rate limit is
/// checked last, because the check consumes it.
async fn admit(
    services: &Services,
    delivery: &Delivery,
    subscription: &Subscription,
    (gate, speed): (Gate, Speed),
    now: Timestamp,
) -> Result<Admission, Problem> {
    if let Some(waiting) = hold(services, delivery, subscription, gate, now).await? {
        return Ok(Admission::Waits(waiting));
    }
    let Some(permits) = Permits::acquire(services, delivery, subscription, speed, now).await?
    else {
        let postponed = delivery.held_by_concurrency(u32::from_be_bytes(seal::random_bytes()), now);
        return Ok(Admission::Waits(Waiting::Until(Box::new(postponed))));
    };
    match rate_limit(services, delivery, subscription, now).await {
        Ok(None) => Ok(Admission::Granted(permits)),
        Ok(Some(waiting)) => {
            permits.release(services).await;
            Ok(Admission::Waits(waiting))
        }
        Err(problem) => {
            permits.release(services).await;
            Err(problem)
        }
    }
}

/// Postpones for an earlier delivery of the ordering key, or for the receiver's circuit.
async fn hold(
    services: &Services,
    delivery: &Delivery,
    subscription: &Subscription,
    gate: Gate,
    now: Timestamp,
) -> Result<Option<Waiting>, Problem> {
    if delivery.test {
        return Ok(None);
    }
    if subscription.ordering == Ordering::Entity
        && let Some(head) = head_before(services, delivery).await?
    {
        return Ok(Some(Waiting::Behind(delivery.held_by_entity(&head, now).map(Box::new))));
    }
    if let Gate::Open(until) = gate {
        // Spread out, so that not all deliveries are due in the moment the circuit may close.
        let postponed = delivery.held_by_circuit(until.plus(random_up_to(MINUTE)), now);
        return Ok(Some(Waiting::Until(Box::new(postponed))));
    }
    Ok(None)
}

/// Postpones a delivery whose subscription's rate limit is used up.
async fn rate_limit(
    services: &Services,
    delivery: &Delivery,
    subscription: &Subscription,
    now: Timestamp,
) -> Result<Option<Waiting>, Problem> {
    let rate = subscription.max_rate_per_second.filter(|_| !delivery.test);
    let Some(rate) = rate else { return Ok(None) };
    let key = key::delivery_rate_limit(&subscription.id);
    Ok(match services.table.rate_limit(&key, rate, delivery.rate_slot_at, now).await? {
        Pass::Granted => None,
        Pass::Later { at, slot } => {
            Some(Waiting::Until(Box::new(delivery.held_by_rate(at, slot, now))))
        }
    })
}

async fn postpone(
    services: &Services,
    delivery: &Delivery,
    waiting: Waiting,
) -> Result<Begun, Problem> {
    let (after, is_carried) = match waiting {
        Waiting::Until(after) => (after, true),
        Waiting::Behind(Some(after)) => (after, false),
        Waiting::Behind(None) => return Ok(Begun::Nothing),
    };
    after.replace(services).await?;
    tracing::debug!(
        delivery = delivery.id.as_str(), held_by = ?after.held_by,
        "delivery postponed"
    );
    Ok(if is_carried { Begun::Postponed(after) } else { Begun::Nothing })
}

async fn end(
    services: &Services,
    delivery: &Delivery,
    status: DeliveryStatus,
    why: &str,
) -> Result<Begun, Problem> {
    let ended = delivery.ended(status, why, services.clock.now());
    ended.replace(services).await?;
    let exhausted = status == DeliveryStatus::Exhausted && !delivery.test;
    Ok(Begun::Ended { ended: Box::new(ended), exhausted })
}

/// Claims the attempt. The one probe through a half-open circuit is claimed in the same transaction. If
/// the claim is lost, the permits are returned.
async fn claim(
    services: &Services,
    job: Job,
    gate: Gate,
    now: Timestamp,
) -> Result<Begun, Problem> {
    let Job { delivery, event, subscription, speed, permits } = job;
    let delivery = delivery.claimed_by_us(now);
    let mut claimed = Arc::clone(&subscription);
    let outcome = match gate {
        Gate::Probe => {
            let probing = subscription.with_health(subscription.health.probing(now));
            let write = probing.save(services.table.write(), &subscription);
            claimed = Arc::new(probing);
            write.replace(&delivery, Code::VersionConflict).commit().await
        }
        _ => delivery.replace(services).await,
    };
    if let Err(problem) = outcome {
        permits.release(services).await;
        return Err(problem);
    }
    let job = Job { delivery, event, subscription: claimed, speed, permits };
    Ok(Begun::Attempt(Box::new(job)))
}
