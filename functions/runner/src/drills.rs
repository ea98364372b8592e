//! The steps of a failover drill.
//!
//! What is next follows from the drill as the table has it ([`Drill::next_step`]); a message looks at it for
//! some seconds, every half a second while a fault is there, so that a stop condition and an operator are
//! obeyed within one.
//!
//! - *A message twice*: who finds the drill leased to another leaves it alone.
//! - *A crash before the fault is injected*: the drill is due, and the next step looks at the canary again.
//! - *A crash while it is*: it ends by its own time, which the adapters look at. The next step finds it
//!   over, and goes on to what became of the events.
//! - *A crash between an event and its place in the drill*: the drill does not know of the event. It is
//!   delivered as any other is.
//! - *A crash after the evidence*: it is stated under an id that follows from the drill, once.

use std::time::Duration;

use core_types::id::{DrillId, EventId};
use core_types::key;
use delivery::delivery::QUEUE;
use gateway::app::App;
use table::canary::CanaryHold;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::{Condition, Write};
use platform::authority::{Authority, Standing};
use reliability::canary;
use reliability::drill::{Drill, DrillKind, DrillStatus, Step, StopCondition, StopMetric};
use reliability::evidence::{Record, append};
use tokio::time::Instant;

/// How long one message stays with a drill.
const STAY: Duration = Duration::from_secs(15);
/// How long it stays while events are on their way.
const STAY_RECOVERING: Duration = Duration::from_secs(5);
/// From one look to the next.
const TICK: Duration = Duration::from_millis(500);
/// When the next message comes for events that are on their way.
const LATER: Duration = Duration::from_secs(5);

/// Takes the drill's next steps; answers with when the next message is to come, if one is.
///
/// # Errors
/// `version_conflict` when an operator has ended it, or somebody else has taken it over; 503 when the table
/// cannot be reached.
pub(crate) async fn step(app: &App, id: &DrillId) -> Result<Option<Timestamp>, Problem> {
    let Some(mut drill) = claim(app, id).await? else { return Ok(None) };
    let operator = Authority::of_operator(&drill.requested_by, None);
    let mut standing = Standing::of(Some(&operator));
    let began = Instant::now();
    loop {
        if let Some(reason) = standing.lost(app).await? {
            let why = format!("aborted: {reason}");
            end_rotation(app, &drill).await;
            release(app, &drill.aborted_because(&why, app.clock.now())).await?;
            return Ok(None);
        }
        drill = advance(app, drill).await?;
        if drill.status.is_final() {
            return Ok(None);
        }
        let is_recovering = drill.status == DrillStatus::Recovering;
        if began.elapsed() >= if is_recovering { STAY_RECOVERING } else { STAY } {
            leave(app, &drill).await?;
            let later = if is_recovering { LATER } else { Duration::ZERO };
            return Ok(Some(app.clock.now().plus(later)));
        }
        tokio::time::sleep(TICK).await;
    }
}

/// Ends a drill that has met an error that it would meet again, with its fault; the canary is free then.
///
/// # Errors
/// `version_conflict` when somebody else has written the drill; 503 when the table cannot be reached.
pub(crate) async fn give_up(app: &App, id: &DrillId) -> Result<(), Problem> {
    let found = app.table.get::<Drill>(&key::drill(id)).await?;
    let Some(drill) = found.filter(|drill| !drill.status.is_final()) else { return Ok(()) };
    end_rotation(app, &drill).await;
    let why = "it met an error that it would meet again";
    release(app, &drill.given_up(why, app.clock.now())).await.map(drop)
}

/// Ends the rotation of a secret that is part of the drill: what ends by itself, later, if it cannot be.
async fn end_rotation(app: &App, drill: &Drill) {
    let is_rotating =
        drill.kind == DrillKind::SigningKeyRotation && drill.status == DrillStatus::Injected;
    if is_rotating && let Err(problem) = canary::promote_secret(app).await {
        tracing::warn!(cause = %problem, drill = drill.id.as_str(), "a rotation goes on");
    }
}

/// The drill, taken up; none when it is over, or another is at it.
async fn claim(app: &App, id: &DrillId) -> Result<Option<Drill>, Problem> {
    let Some(found) = app.table.get::<Drill>(&key::drill(id)).await? else { return Ok(None) };
    let now = app.clock.now();
    if found.status.is_final() || found.is_leased(now) {
        return Ok(None);
    }
    let claimed = found.claimed(now);
    Ok(app.table.put_next(&claimed).await?.then_some(claimed))
}

async fn leave(app: &App, drill: &Drill) -> Result<(), Problem> {
    app.table.put_next(&drill.left(app.clock.now())).await.map(drop)
}

/// One look at the drill, and what follows from it.
async fn advance(app: &App, drill: Drill) -> Result<Drill, Problem> {
    let drill = observe(app, drill).await?;
    let now = app.clock.now();
    match drill.next_step(now) {
        Step::Begin => {
            canary::ensure(app).await?;
            saved(app, drill.begun(now)).await
        }
        Step::MakeEvent => make_event(app, &drill).await,
        Step::Inject => inject(app, &drill).await,
        Step::EndFault => end_fault(app, &drill, None).await,
        Step::Stop(condition) => end_fault(app, &drill, Some(condition)).await,
        Step::Conclude => conclude(app, &drill).await,
        Step::GiveUp => {
            release(app, &drill.given_up("the canary's events do not arrive", now)).await
        }
        Step::Wait | Step::Nothing => Ok(drill),
    }
}

/// The drill with what has become of its events; it is read anew where nothing has, so that whoever has
/// ended it meanwhile is obeyed.
async fn observe(app: &App, drill: Drill) -> Result<Drill, Problem> {
    let open = drill.beats.iter().filter(|beat| !beat.is_settled() || !beat.received);
    let open: Vec<EventId> = open.map(|beat| beat.event_id.clone()).collect();
    let fates = canary::fates(app, &open).await?;
    let looks_at_queue =
        drill.stop_conditions.iter().any(|condition| condition.metric == StopMetric::QueueDepth);
    let depth = if looks_at_queue { app.queue(QUEUE).depth().await?.waiting } else { 0 };
    if let Some(next) = drill.with_fates(&fates, depth, app.clock.now()) {
        return saved(app, next).await;
    }
    let found: Option<Drill> = app.table.get(&key::drill(&drill.id)).await?;
    let found = found.filter(|found| found.version == drill.version);
    found.ok_or_else(|| Code::VersionConflict.into())
}

async fn saved(app: &App, next: Drill) -> Result<Drill, Problem> {
    if app.table.put_next(&next).await? { Ok(next) } else { Err(Code::VersionConflict.into()) }
}

/// An event, or that none could be made: the fault may be just that.
async fn make_event(app: &App, drill: &Drill) -> Result<Drill, Problem> {
    let next = match canary::make_event(app).await {
        Ok(event) => drill.with_event(event, app.clock.now()),
        Err(problem) if drill.status == DrillStatus::Injected => {
            tracing::info!(cause = %problem, drill = drill.id.as_str(), "an event is rejected");
            drill.with_refused_write(app.clock.now())
        }
        Err(problem) => return Err(problem),
    };
    saved(app, next).await
}

async fn inject(app: &App, drill: &Drill) -> Result<Drill, Problem> {
    let next = drill.injected(app.clock.now());
    if next.kind == DrillKind::SigningKeyRotation {
        canary::rotate_secret(app, next.duration()).await?;
    }
    let write = app.table.write().replace(&next, Code::VersionConflict);
    held(write, &next.hold_with_fault()).commit().await?;
    tracing::warn!(drill = next.id.as_str(), kind = next.kind.as_str(), "fault injected");
    Ok(next)
}

/// Adds that the canary is held so, by who holds it.
fn held(write: Write, hold: &CanaryHold) -> Write {
    write.put_if(hold, Condition::is("run_id", &hold.run_id), Code::VersionConflict)
}

async fn end_fault(app: &App, drill: &Drill, why: Option<StopCondition>) -> Result<Drill, Problem> {
    let next = drill.with_fault_ended(why, app.clock.now());
    let write = app.table.write().replace(&next, Code::VersionConflict);
    held(write, &next.hold()).commit().await?;
    tracing::warn!(drill = next.id.as_str(), kind = next.kind.as_str(), "fault ended");
    if next.kind == DrillKind::SigningKeyRotation {
        canary::promote_secret(app).await?;
    }
    Ok(next)
}

async fn conclude(app: &App, drill: &Drill) -> Result<Drill, Problem> {
    let evidence = append(app, Record::of_drill(drill)).await?;
    release(app, &drill.concluded(Some(evidence.to_string()), app.clock.now())).await
}

/// The drill, over, and the canary for whoever wants it next.
async fn release(app: &App, over: &Drill) -> Result<Drill, Problem> {
    let write = app.table.write().replace(over, Code::VersionConflict);
    let is_ours = Condition::is("run_id", over.id.as_str());
    let released = write.delete_if(&CanaryHold::place(), is_ours, Code::VersionConflict);
    match released.commit().await {
        // Its time was over, and another has it.
        Err(problem) if problem.code == Code::VersionConflict => saved(app, over.clone()).await,
        outcome => outcome.map(|()| over.clone()),
    }
}
