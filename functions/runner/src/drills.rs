//! The steps of a failover drill.
//!
//! The next step follows from the drill in the table ([`Drill::next_step`]). One message works on the
//! drill for some seconds, with a check every half a second. So a stop condition and an operator take
//! effect within a second.
//!
//! - *A message twice*: a worker that finds the drill leased to another ignores the message.
//! - *A crash before the fault is injected*: the drill is due, and the next step checks the canary again.
//! - *A crash while the fault is injected*: the fault expires by its own time, which the adapters check.
//!   The next step finds it expired, and goes on to the outcomes of the events.
//! - *A crash after an event was created and before the drill recorded it*: the drill does not know the
//!   event, which is delivered like any other.
//! - *A crash after the evidence*: it is appended once, under an id derived from the drill.

use std::time::Duration;

use core_types::id::{DrillId, EventId};
use core_types::key;
use delivery::delivery::QUEUE;
use platform::authority::{Authority, AuthorityCheck};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use reliability::canary;
use reliability::drill::{Drill, DrillKind, DrillStatus, Step, StopCondition, StopMetric};
use reliability::evidence::{Record, append};
use services::Services;
use table::canary::CanaryHold;
use table::{Condition, Write};
use tokio::time::Instant;

/// The longest time that one message works on a drill.
const STAY: Duration = Duration::from_secs(15);
/// The longest time that one message works on a drill that waits for its events.
const STAY_RECOVERING: Duration = Duration::from_secs(5);
/// The time between two checks.
const TICK: Duration = Duration::from_millis(500);
/// The delay of the next message while the drill waits for its events.
const LATER: Duration = Duration::from_secs(5);

/// Takes the drill's next steps. Returns when the next message is due; none when the drill has ended.
///
/// # Errors
/// `version_conflict` when an operator has ended it, or another worker has taken it over; 503 when the
/// table cannot be reached.
pub(crate) async fn step(services: &Services, id: &DrillId) -> Result<Option<Timestamp>, Problem> {
    let Some(mut drill) = claim(services, id).await? else { return Ok(None) };
    let operator = Authority::of_operator(&drill.requested_by, None);
    let mut authority = AuthorityCheck::of(Some(&operator));
    let began = Instant::now();
    loop {
        if let Some(reason) = authority.revocation(services).await? {
            let why = format!("aborted: {reason}");
            end_rotation(services, &drill).await;
            release(services, &drill.aborted_because(&why, services.clock.now())).await?;
            return Ok(None);
        }
        drill = advance(services, drill).await?;
        if drill.status.is_final() {
            return Ok(None);
        }
        let is_recovering = drill.status == DrillStatus::Recovering;
        if began.elapsed() >= if is_recovering { STAY_RECOVERING } else { STAY } {
            release_canary(services, &drill).await?;
            let later = if is_recovering { LATER } else { Duration::ZERO };
            return Ok(Some(services.clock.now().plus(later)));
        }
        tokio::time::sleep(TICK).await;
    }
}

/// Ends a drill after a permanent error, with its fault, and releases the canary.
///
/// # Errors
/// `version_conflict` when the drill was written meanwhile; 503 when the table cannot be reached.
pub(crate) async fn fail(services: &Services, id: &DrillId) -> Result<(), Problem> {
    let found = services.table.get::<Drill>(&key::drill(id)).await?;
    let Some(drill) = found.filter(|drill| !drill.status.is_final()) else { return Ok(()) };
    end_rotation(services, &drill).await;
    let why = "it met a permanent error";
    release(services, &drill.failed_for(why, services.clock.now())).await.map(drop)
}

/// Ends the rotation of a secret that is part of the drill. If that fails, the rotation ends by itself
/// later.
async fn end_rotation(services: &Services, drill: &Drill) {
    let is_rotating =
        drill.kind == DrillKind::SigningKeyRotation && drill.status == DrillStatus::Injected;
    if is_rotating && let Err(problem) = canary::finish_secret_rotation(services).await {
        tracing::warn!(
            cause = %problem, drill = drill.id.as_str(),
            "new signing secret of a drill not promoted; the old one expires by itself"
        );
    }
}

/// Claims the drill; none when it has ended, or another worker has it.
async fn claim(services: &Services, id: &DrillId) -> Result<Option<Drill>, Problem> {
    let Some(found) = services.table.get::<Drill>(&key::drill(id)).await? else { return Ok(None) };
    let now = services.clock.now();
    if found.status.is_final() || found.is_leased(now) {
        return Ok(None);
    }
    let claimed = found.claimed(now);
    Ok(services.table.put_next(&claimed).await?.then_some(claimed))
}

async fn release_canary(services: &Services, drill: &Drill) -> Result<(), Problem> {
    services.table.put_next(&drill.released(services.clock.now())).await.map(drop)
}

/// Checks the drill, and takes the step that follows.
async fn advance(services: &Services, drill: Drill) -> Result<Drill, Problem> {
    let drill = observe(services, drill).await?;
    let now = services.clock.now();
    match drill.next_step(now) {
        Step::Begin => {
            canary::ensure(services).await?;
            save(services, drill.begun(now)).await
        }
        Step::MakeEvent => make_event(services, &drill).await,
        Step::Inject => inject(services, &drill).await,
        Step::EndFault => end_fault(services, &drill, None).await,
        Step::Stop(condition) => end_fault(services, &drill, Some(condition)).await,
        Step::Conclude => conclude(services, &drill).await,
        Step::GiveUp => {
            release(
                services,
                &drill.failed_for("the events of the canary store are not received", now),
            )
            .await
        }
        Step::Wait | Step::Nothing => Ok(drill),
    }
}

/// Records the outcomes of the drill's events. If nothing is new, the drill is read again, so that an
/// operator's end of it takes effect.
async fn observe(services: &Services, drill: Drill) -> Result<Drill, Problem> {
    let open = drill.beats.iter().filter(|beat| !beat.is_settled() || !beat.received);
    let open: Vec<EventId> = open.map(|beat| beat.event_id.clone()).collect();
    let fates = canary::fates(services, &open).await?;
    let looks_at_queue =
        drill.stop_conditions.iter().any(|condition| condition.metric == StopMetric::QueueDepth);
    let depth = if looks_at_queue { services.queue(QUEUE).depth().await?.waiting } else { 0 };
    if let Some(next) = drill.with_fates(&fates, depth, services.clock.now()) {
        return save(services, next).await;
    }
    let found: Option<Drill> = services.table.get(&key::drill(&drill.id)).await?;
    let found = found.filter(|found| found.version == drill.version);
    found.ok_or_else(|| Code::VersionConflict.into())
}

async fn save(services: &Services, next: Drill) -> Result<Drill, Problem> {
    if services.table.put_next(&next).await? { Ok(next) } else { Err(Code::VersionConflict.into()) }
}

/// Creates an event. During the fault a rejected write is recorded instead: it may be what the fault
/// causes.
async fn make_event(services: &Services, drill: &Drill) -> Result<Drill, Problem> {
    let next = match canary::make_event(services).await {
        Ok(event) => drill.with_event(event, services.clock.now()),
        Err(problem) if drill.status == DrillStatus::Injected => {
            tracing::info!(
                cause = %problem, drill = drill.id.as_str(),
                "canary event rejected during the fault of a drill"
            );
            drill.with_rejected_write(services.clock.now())
        }
        Err(problem) => return Err(problem),
    };
    save(services, next).await
}

async fn inject(services: &Services, drill: &Drill) -> Result<Drill, Problem> {
    let next = drill.injected(services.clock.now());
    if next.kind == DrillKind::SigningKeyRotation {
        canary::rotate_secret(services, next.duration()).await?;
    }
    let write = services.table.write().replace(&next, Code::VersionConflict);
    held(write, &next.hold_with_fault()).commit().await?;
    tracing::warn!(
        drill = next.id.as_str(),
        kind = next.kind.as_str(),
        "fault of a drill injected"
    );
    Ok(next)
}

/// Adds the write of the canary's hold, on condition that the same run holds it.
fn held(write: Write, hold: &CanaryHold) -> Write {
    write.put_if(hold, Condition::is("run_id", &hold.run_id), Code::VersionConflict)
}

async fn end_fault(
    services: &Services,
    drill: &Drill,
    why: Option<StopCondition>,
) -> Result<Drill, Problem> {
    let next = drill.with_fault_ended(why, services.clock.now());
    let write = services.table.write().replace(&next, Code::VersionConflict);
    held(write, &next.hold()).commit().await?;
    tracing::warn!(drill = next.id.as_str(), kind = next.kind.as_str(), "fault of a drill ended");
    if next.kind == DrillKind::SigningKeyRotation {
        canary::finish_secret_rotation(services).await?;
    }
    Ok(next)
}

async fn conclude(services: &Services, drill: &Drill) -> Result<Drill, Problem> {
    let evidence = append(services, Record::of_drill(drill)).await?;
    release(services, &drill.concluded(Some(evidence.to_string()), services.clock.now())).await
}

/// Saves the ended drill, and releases the canary.
async fn release(services: &Services, over: &Drill) -> Result<Drill, Problem> {
    let write = services.table.write().replace(over, Code::VersionConflict);
    let is_ours = Condition::is("run_id", over.id.as_str());
    let released = write.delete_if(&CanaryHold::place(), is_ours, Code::VersionConflict);
    match released.commit().await {
        // The hold had expired, and another run has it.
        Err(problem) if problem.code == Code::VersionConflict => save(services, over.clone()).await,
        outcome => outcome.map(|()| over.clone()),
    }
}
