//! Steps of a replay: each creates some pages of deliveries, or scans them.

use commerce::audience::Audience;
use commerce::replays::Replaying;
use core_types::id::ReplayId;
use core_types::key;
use core_types::range::TimeRange;
use delivery::delivery::{Delivery, DeliveryStatus, QUEUE};
use delivery::replay::Replay;
use platform::authority::AuthorityCheck;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::Problem;
use reliability::evidence::{Record, append};
use services::Services;
use table::item::Index;

/// The most pages of one step: well within the function's time.
const PAGES: usize = 20;
/// The number of deliveries that one page of a scan reads.
const SCANNED_AT_ONCE: usize = 100;

/// Takes the next step. Returns when the following step is due; none when the replay has ended.
///
/// # Errors
/// `version_conflict` when the replay was written meanwhile; 503 when the table cannot be reached.
pub(crate) async fn step(services: &Services, id: &ReplayId) -> Result<Option<Timestamp>, Problem> {
    let Some(mut replay) = services.table.get::<Replay>(&key::replay(id)).await? else {
        return Ok(None);
    };
    if !replay.is_ready(services.clock.now()) {
        return Ok(None);
    }
    let audience = match replay.made_at {
        None => Some(Audience::of_store(services, &replay.store_id).await),
        Some(_) => None,
    };
    let mut authority = AuthorityCheck::of(replay.authority.as_ref());
    for _ in 0..PAGES {
        // Existing deliveries do not depend on the authority: the rest of the replay only counts them.
        if replay.made_at.is_none()
            && let Some(reason) = authority.revocation(services).await?
        {
            replay = replay.revoked(reason, services.clock.now());
            append_evidence(services, &replay).await?;
            replay.save(services.table.write()).commit().await?;
            break;
        }
        let next = match (&audience, replay.made_at) {
            (Some(audience), None) => make(services, &replay, audience).await?,
            (_, Some(made_at)) => scan(services, &replay, made_at).await?,
            (None, None) => break,
        };
        replay = next;
        if replay.next_step_at > services.clock.now() || replay.status.is_over() {
            break;
        }
    }
    if replay.status.is_over() {
        finished(&replay);
        return Ok(None);
    }
    Ok(Some(replay.next_step_at))
}

/// Ends a replay after a permanent error, which admits another on the store.
///
/// # Errors
/// `version_conflict` when the replay was written meanwhile; 503 when the table cannot be reached.
pub(crate) async fn fail(services: &Services, id: &ReplayId) -> Result<(), Problem> {
    let found = services.table.get::<Replay>(&key::replay(id)).await?;
    let Some(replay) = found.filter(|replay| !replay.status.is_over()) else { return Ok(()) };
    let over = replay.failed_internally(services.clock.now());
    match append_evidence(services, &over).await {
        // Evidence that cannot be appended may be the cause of the failure.
        Err(problem) if problem.is_permanent() => {
            tracing::error!(
                cause = %problem, replay = id.as_str(),
                "evidence of a replay not appended"
            );
        }
        outcome => outcome?,
    }
    over.save(services.table.write()).commit().await?;
    finished(&over);
    Ok(())
}

/// Creates a page of deliveries, saves the progress, and sends their messages: in this order, so that a
/// worker that loses the step sends none.
async fn make(
    services: &Services,
    replay: &Replay,
    audience: &Audience,
) -> Result<Replay, Problem> {
    let now = services.clock.now();
    let (deliveries, made) = Replaying::new(services, replay, audience, now).make().await?;
    let next = replay.advanced(made, now);
    append_evidence(services, &next).await?;
    next.save(services.table.write()).commit().await?;
    let now = services.clock.now();
    let message = |delivery: &Delivery| Some((delivery.message(), delivery.delay(now)?));
    let messages: Vec<_> = deliveries.iter().filter_map(message).collect();
    if let Err(problem) = services.queue(QUEUE).send(&messages).await {
        tracing::warn!(
            cause = %problem, replay = replay.id.as_str(),
            "messages of a replay's deliveries not queued; the sweep queues them"
        );
    }
    Ok(next)
}

/// Scans a page of the created deliveries.
async fn scan(services: &Services, replay: &Replay, made_at: Timestamp) -> Result<Replay, Problem> {
    let tenant = key::event_tenant(Some(&replay.store_id), None);
    // Also those of interrupted or repeated steps.
    let range = TimeRange { since: replay.created_at, until: made_at.plus(MINUTE) };
    let days = range.walk(Index::Gsi5, |day| vec![key::deliveries_on(&tenant, day)]);
    let is_its_own = |delivery: &Delivery| delivery.replay_id.as_ref() == Some(&replay.id);
    let place = replay.scan.place.as_ref();
    let (found, place) = services.table.walk(&days, SCANNED_AT_ONCE, place, is_its_own).await?;
    let seen: Vec<DeliveryStatus> = found.iter().map(|delivery| delivery.status).collect();
    let next = replay.with_scanned(&seen, place, services.clock.now());
    append_evidence(services, &next).await?;
    next.save(services.table.write()).commit().await?;
    Ok(next)
}

/// Appends the evidence of a replay before it ends: an interrupted step appends it again.
async fn append_evidence(services: &Services, replay: &Replay) -> Result<(), Problem> {
    if replay.status.is_over() {
        append(services, Record::of_replay(replay)?).await?;
    }
    Ok(())
}

fn finished(replay: &Replay) {
    tracing::info!(
        replay = replay.id.as_str(),
        store = replay.store_id.as_str(),
        kind = replay.kind.as_str(),
        status = replay.status.as_str(),
        sent = replay.sent,
        succeeded = replay.succeeded,
        failed = replay.failed,
        "replay ended"
    );
}
