//! The first step: whether an attempt is to be made, and the claim that makes it ours.

use commerce::topics;
use delivery::delivery::{
    Delivery, DeliveryAttempt, DeliveryMessage, DeliveryStatus, Places, Speed, Turn, head_before,
};
use delivery::subscription::{Gate, Ordering, Subscription};
use gateway::app::App;
use gateway::clock::{MINUTE, Timestamp};
use gateway::item::Key;
use gateway::problem::{Code, Problem};
use gateway::seal;
use gateway::table::{Pass, random_up_to};
use ground::event::Event;
use ground::key;
use platform::app::Stop;
use platform::installation::{Installation, InstallationStatus};

/// A claimed attempt with all that it needs.
pub(crate) struct Job {
    pub(crate) delivery: Delivery,
    pub(crate) event: Event,
    pub(crate) subscription: Subscription,
    /// Which queue brought it.
    pub(crate) speed: Speed,
    /// To be left when the attempt has been made.
    pub(crate) places: Places,
}

/// What a message came to.
pub(crate) enum Begun {
    /// The attempt was made, or is being made, by somebody else.
    Nothing,
    /// Not now: the delivery waits for its receiver's circuit, for a place, or for its turn.
    PutOff(Box<Delivery>),
    /// Not here: the message belongs on the queue of slow receivers.
    TooSlow,
    /// Never: the delivery has ended without this attempt.
    GivenUp {
        /// The delivery as it ended.
        ended: Box<Delivery>,
        /// Whether its receiver is to blame.
        exhausted: bool,
    },
    /// To be made by us.
    Claimed(Box<Job>),
}

/// Reads the delivery with its event and its subscription, and claims the attempt.
///
/// # Errors
/// `version_conflict` when another writer came first: decide anew.
pub(crate) async fn begin(
    app: &App,
    message: &DeliveryMessage,
    speed: Speed,
) -> Result<Begun, Problem> {
    let delivery_key = key::delivery(&message.delivery_id);
    let event_key = key::event(&message.event_id);
    let subscription_key = message.subscription_key();
    let installation_keys = installation_keys(message);
    let keys: Vec<&Key> = [&delivery_key, &event_key, &subscription_key]
        .into_iter()
        .chain(installation_keys.iter().flatten())
        .collect();
    let mut batch = app.table.get_many(&keys).await?;
    let Some(delivery) = batch.take::<Delivery>(&delivery_key)? else { return Ok(Begun::Nothing) };
    let now = app.clock.now();
    let turn = delivery.turn(message.attempt, now);
    if turn == Turn::Stale {
        return Ok(Begun::Nothing);
    }
    let event: Option<Event> = batch.take(&event_key)?;
    let subscription: Option<Subscription> = batch.take(&subscription_key)?;
    let mut installation: Option<Installation> = None;
    if let Some([installation_key, stop_key]) = &installation_keys
        && batch.take::<Stop>(stop_key)?.is_none()
    {
        installation = batch.take(installation_key)?;
    }
    let url = subscription.as_ref().map_or("", |subscription| subscription.url.as_str());
    let lost = (turn == Turn::AfterLost).then(|| DeliveryAttempt::lost(&delivery, url));
    let judged = judge(&delivery, event, subscription, installation.as_ref());
    let (event, subscription) = match judged {
        Ok(both) => both,
        Err(why) => return end(app, &delivery, lost, DeliveryStatus::Cancelled, why).await,
    };
    if delivery.is_spent(now) {
        let why = if lost.is_some() { "interrupted" } else { "expired" };
        return end(app, &delivery, lost, DeliveryStatus::Exhausted, why).await;
    }
    if speed == Speed::Fast && Speed::of(&delivery, &subscription) == Speed::Slow {
        return Ok(Begun::TooSlow);
    }
    let gate = if delivery.test { Gate::Closed } else { subscription.health.gate(now) };
    let places = match admit(app, &delivery, &subscription, (gate, speed), now).await? {
        Admission::Granted(places) => places,
        Admission::Waits(waiting) => return put_off(app, &delivery, waiting, lost).await,
    };
    claim(app, Job { delivery, event, subscription, speed, places }, gate, lost, now).await
}

/// Why an attempt whose time has come is not made now.
enum Waiting {
    /// Until this time: its circuit, or its turn.
    Until(Box<Delivery>),
    /// For the one before it, whose end sends the message.
    Behind(Option<Box<Delivery>>),
}

/// Whether an attempt may be claimed.
enum Admission {
    /// With these places.
    Granted(Places),
    /// Not now.
    Waits(Waiting),
}

/// Whether the delivery may go now: what keeps it is another before it in its lane, its receiver's
/// circuit, too many at once, or its subscription's rate. The rate is asked last, because asking
/// uses it up.
async fn admit(
    app: &App,
    delivery: &Delivery,
    subscription: &Subscription,
    (gate, speed): (Gate, Speed),
    now: Timestamp,
) -> Result<Admission, Problem> {
    if let Some(waiting) = hold(app, delivery, subscription, gate, now).await? {
        return Ok(Admission::Waits(waiting));
    }
    let Some(places) = Places::take(app, delivery, subscription, speed, now).await? else {
        let crowded = delivery.crowded(u32::from_be_bytes(seal::random_bytes()), now);
        return Ok(Admission::Waits(Waiting::Until(Box::new(crowded))));
    };
    match pace(app, delivery, subscription, now).await {
        Ok(None) => Ok(Admission::Granted(places)),
        Ok(Some(waiting)) => {
            places.leave(app).await;
            Ok(Admission::Waits(waiting))
        }
        Err(problem) => {
            places.leave(app).await;
            Err(problem)
        }
    }
}

/// Another before the delivery in its lane, or its receiver's circuit.
async fn hold(
    app: &App,
    delivery: &Delivery,
    subscription: &Subscription,
    gate: Gate,
    now: Timestamp,
) -> Result<Option<Waiting>, Problem> {
    if delivery.test {
        return Ok(None);
    }
    if subscription.ordering == Ordering::Entity
        && let Some(head) = head_before(app, delivery).await?
    {
        return Ok(Some(Waiting::Behind(delivery.behind(&head, now).map(Box::new))));
    }
    if let Gate::Open(until) = gate {
        // Spread out, so that not everything comes up in the moment the circuit opens.
        let deferred = delivery.deferred(until.plus(random_up_to(MINUTE)), now);
        return Ok(Some(Waiting::Until(Box::new(deferred))));
    }
    Ok(None)
}

/// The turn of a delivery whose subscription's rate is used up.
async fn pace(
    app: &App,
    delivery: &Delivery,
    subscription: &Subscription,
    now: Timestamp,
) -> Result<Option<Waiting>, Problem> {
    let rate = subscription.max_rate_per_second.filter(|_| !delivery.test);
    let Some(rate) = rate else { return Ok(None) };
    let key = key::delivery_pace(&subscription.id);
    Ok(match app.table.pace(&key, rate, delivery.turn_at, now).await? {
        Pass::Granted => None,
        Pass::Later { at, turn } => Some(Waiting::Until(Box::new(delivery.paced(at, turn, now)))),
    })
}

async fn put_off(
    app: &App,
    delivery: &Delivery,
    waiting: Waiting,
    lost: Option<DeliveryAttempt>,
) -> Result<Begun, Problem> {
    let (after, is_carried) = match waiting {
        Waiting::Until(after) => (after, true),
        Waiting::Behind(Some(after)) => (after, false),
        Waiting::Behind(None) => return Ok(Begun::Nothing),
    };
    let write = app.table.write().also(lost, |write, lost| write.put(&lost));
    write.replace(&*after, Code::VersionConflict).commit().await?;
    tracing::debug!(delivery = delivery.id.as_str(), held_by = ?after.held_by, "put off");
    Ok(if is_carried { Begun::PutOff(after) } else { Begun::Nothing })
}

/// The installation of the app whose subscription on a store it is, and the mark of operators who
/// have stopped the app: what an app may be sent ends with either. An app's own subscription also
/// tells it of its uninstallation and its suspension, and asks for none.
fn installation_keys(message: &DeliveryMessage) -> Option<[Key; 2]> {
    let (store, app) = (message.store_id.as_ref()?, message.app_id.as_ref()?);
    let id = Installation::id_of(store, app);
    Some([key::installation(&id), Stop::of(app, &id)])
}

/// What is to be sent and where to, or why nothing ever is.
fn judge(
    delivery: &Delivery,
    event: Option<Event>,
    subscription: Option<Subscription>,
    installation: Option<&Installation>,
) -> Result<(Event, Subscription), &'static str> {
    let event = event.filter(|event| !event.is_expunged()).ok_or("payload_expunged")?;
    let subscription = subscription.ok_or("subscription_deleted")?;
    // A test shows whether a receiver works, also before its subscription is switched on.
    if !subscription.is_enabled() && !delivery.test {
        return Err("subscription_disabled");
    }
    let is_active = installation.is_some_and(|found| found.status == InstallationStatus::Active);
    if subscription.scopes.is_some() && !is_active {
        return Err("installation_inactive");
    }
    // A test carries a sample, and was judged when it was asked for.
    if !delivery.test && !subscription.may_read(topics::scope_of(&event.name), installation) {
        return Err("insufficient_scope");
    }
    Ok((event, subscription))
}

async fn end(
    app: &App,
    delivery: &Delivery,
    lost: Option<DeliveryAttempt>,
    status: DeliveryStatus,
    why: &str,
) -> Result<Begun, Problem> {
    let ended = delivery.ended(status, why, app.clock.now());
    let write = app.table.write().replace(&ended, Code::VersionConflict);
    let write = write.also(lost, |write, lost| write.put(&lost));
    ended.leave_lane(write).commit().await?;
    let exhausted = status == DeliveryStatus::Exhausted && !delivery.test;
    Ok(Begun::GivenUp { ended: Box::new(ended), exhausted })
}

/// Claims the attempt. The one probe through a half-open circuit is claimed in the same
/// transaction. Who does not get it leaves its places.
async fn claim(
    app: &App,
    job: Job,
    gate: Gate,
    lost: Option<DeliveryAttempt>,
    now: Timestamp,
) -> Result<Begun, Problem> {
    let Job { delivery, event, subscription, speed, places } = job;
    let mut write = app.table.write().also(lost, |write, lost| write.put(&lost));
    let subscription = match gate {
        Gate::Probe => {
            let probing = subscription.with_health(subscription.health.probing(now));
            write = probing.save(write, &subscription);
            probing
        }
        _ => subscription,
    };
    let delivery = delivery.claimed(now);
    if let Err(problem) = write.replace(&delivery, Code::VersionConflict).commit().await {
        places.leave(app).await;
        return Err(problem);
    }
    Ok(Begun::Claimed(Box::new(Job { delivery, event, subscription, speed, places })))
}
