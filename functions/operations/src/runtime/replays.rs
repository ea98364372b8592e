//! Replays of events (docs/conventions.md §10). Requests are validated and counted here; `functions/runner`
//! sends the events.

use axum::extract::State;
use callers::{StoreAccess, StoreOrOperator};
use commerce::audience::Audience;
use commerce::event_filter::EventTypes;
use commerce::readers::ensure_reads_replay;
use commerce::replays::{Counted, Replaying, load_named};
use core_types::id::{DeliveryId, ReplayId, SubscriptionId};
use core_types::key;
use core_types::scope::{ReadOperations, RequiredScope, WriteOperations};
use delivery::replay::{
    DEFAULT_RATE, Estimate, MAX_DELIVERIES, MAX_RANGE, Replay, ReplayInput, ReplayKind,
    ReplayStatus, ReplayView, Skipped,
};
use delivery::run::RunMessage;
use delivery::subscription::Subscription;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Accepted, Either, Json, Page};
use gateway::request::{Body, Path, Query, RequestRules, Ruled, Validation};
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, Int};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use reliability::evidence::{self, Record};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Index;

use crate::range::{self, TimeRange};

/// Deliveries that one request names at most.
const MOST_NAMED: usize = 100;

/// A replay to create.
#[request]
#[derive(Debug)]
pub(crate) struct ReplayRequest {
    /// `delivery`: the events of `delivery_ids`. `recover`: the failed deliveries of `subscription_id`.
    /// `missing`: events that match a subscription now and have no delivery to it. `range`: all events that
    /// match a subscription now.
    kind: ReplayKind,
    /// The only subscription to send to. `recover` needs it; `delivery` does not accept it.
    subscription_id: Option<SubscriptionId>,
    /// The only event types to send; all by default. `delivery` does not accept it.
    event_types: Option<EventTypes>,
    /// The start of the range, at most 14 days before `until`. It is about when events happened; for
    /// `recover`, about when deliveries were created. All kinds but `delivery` need it.
    since: Option<Timestamp>,
    /// The end of the range; now by default.
    until: Option<Timestamp>,
    /// For `delivery` only: 1 to 100 deliveries whose events are sent again.
    delivery_ids: Option<AtMost<DeliveryId, MOST_NAMED>>,
    /// Return the count and the estimate, and send nothing.
    dry_run: Flag,
    /// The maximum number of deliveries to create: 1 to 10,000, by default 10,000.
    max_count: Option<Int<1, 10_000>>,
    /// The maximum number of first attempts a second: 1 to 1,000, by default 100.
    rate_per_second: Option<Int<1, 1_000>>,
}

/// The fields that each kind needs, and those that it does not accept.
fn fields_of(kind: ReplayKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        ReplayKind::Delivery => {
            (&["delivery_ids"], &["subscription_id", "event_types", "since", "until"])
        }
        ReplayKind::Recover => (&["subscription_id", "since"], &["delivery_ids"]),
        ReplayKind::Missing | ReplayKind::Range => (&["since"], &["delivery_ids"]),
    }
}

impl RequestRules for ReplayRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let Some(kind) = given.get::<ReplayKind>("kind") {
            let (needed, other) = fields_of(kind);
            let at = |name: &&str| format!("/{name}");
            errors.extend(needed.iter().filter(|name| !given.has(name)).map(|name| {
                FieldError::new(
                    at(name),
                    "required",
                    format!("Required for a replay of kind `{kind}`."),
                )
            }));
            errors.extend(other.iter().filter(|name| given.has(name)).map(|name| {
                FieldError::new(
                    at(name),
                    "not_applicable",
                    format!("Not allowed for a replay of kind `{kind}`."),
                )
            }));
        }
        if given.count("delivery_ids") == Some(0) {
            let detail = "Must have at least one delivery.";
            errors.push(FieldError::new("/delivery_ids", "too_few", detail));
        }
        if given.has("since") {
            errors.extend(range::violations(given, MAX_RANGE, validation.app.clock.now()));
        }
        errors
    }
}

/// The result of a dry run of a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReplayPlan {
    /// Always `true`.
    dry_run: bool,
    /// The kind of replay.
    kind: ReplayKind,
    /// The deliveries that would be created.
    matched: u64,
    /// Whether there are more than `max_count`, or more than were counted.
    has_more: bool,
    /// The deliveries that would be skipped, by reason.
    skipped: Skipped,
    /// The cost and duration that it would have.
    estimate: Estimate,
}

/// The plan of a dry run, or the replay that was begun.
type ReplayReply = Either<Json<ReplayPlan>, Accepted<ReplayView>>;

/// `POST /v1/operations/runtime/replays` (`createReplay`): Create a replay of events.
///
/// A replay sends events again, with the same body and event id, by new deliveries with
/// `X-Service-Replay-Id`. `kind` selects the events. A delivery that is still retried is `cancelled` when it
/// is replayed. An app replays to its own subscriptions only. A store has one replay at a time.
///
/// It runs after this request has answered 202; poll `GET …/{id}` or wait for `replay.finished`. With
/// `dry_run`, 200 with the count and the estimate, and nothing is written.
///
/// # Errors
/// `not_found` for the subscription; `insufficient_scope` for events that the caller cannot read;
/// `invalid_state_transition` while the subscription is not enabled; `replay_running`: a store has one replay
/// at a time; `unknown_delivery`, `range_too_wide` as field errors.
pub(crate) async fn create(
    caller: StoreOrOperator<WriteOperations>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<ReplayRequest>>,
) -> Result<ReplayReply, Problem> {
    let now = app.clock.now();
    let floor = caller.store.created_at;
    let range = match input.kind {
        ReplayKind::Delivery => None,
        _ => Some(TimeRange::of(input.since, input.until, MAX_RANGE, floor, now)?),
    };
    let AtMost(mut delivery_ids) = input.delivery_ids.unwrap_or(AtMost(Vec::new()));
    let mut named = std::collections::HashSet::new();
    delivery_ids.retain(|id| named.insert(id.clone()));
    let whole = |Int(number)| u64::try_from(number).ok();
    let rate = input.rate_per_second.and_then(|Int(rate)| u32::try_from(rate).ok());
    let wanted = ReplayInput {
        kind: input.kind,
        subscription_id: input.subscription_id,
        event_types: input.event_types.map(|types| types.to_vec()).unwrap_or_default(),
        range,
        delivery_ids,
        max_count: input.max_count.and_then(whole).unwrap_or(MAX_DELIVERIES),
        rate_per_second: rate.unwrap_or(DEFAULT_RATE),
    };
    let (replay, scopes) = counted(&app, &caller, wanted, now).await?;
    let replay = replay.on_behalf_of(caller.authority_or_operator(&scopes));
    if input.dry_run.0 {
        let plan = ReplayPlan {
            dry_run: true,
            kind: replay.kind,
            matched: replay.matched,
            has_more: replay.has_more,
            skipped: replay.skipped,
            estimate: replay.estimate(),
        };
        return Ok(Either::Left(Json::new(&plan)));
    }
    write(&app, replay, now).await.map(Either::Right)
}

/// Counts and begins a replay.
///
/// # Errors
/// As [`create`].
pub(crate) async fn begin<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    input: ReplayInput,
    now: Timestamp,
) -> Result<Accepted<ReplayView>, Problem> {
    let (replay, scopes) = counted(services, caller, input, now).await?;
    write(services, replay.on_behalf_of(caller.authority(&scopes)), now).await
}

/// Validates and counts a replay. Returns it with the scopes that its events require.
async fn counted<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    input: ReplayInput,
    now: Timestamp,
) -> Result<(Replay, Vec<&'static str>), Problem> {
    let of_app = caller.actor.app().map(|actor| &actor.app_id);
    let replay = Replay::new(input, &caller.store.id, of_app, caller.actor.id(), now);
    if let Some(id) = &replay.subscription_id {
        let found =
            services.table.get::<Subscription>(&key::subscription(&caller.store.id, id)).await?;
        let visible = found.filter(|it| of_app.is_none() || it.app_id.as_ref() == of_app);
        let subscription = visible.ok_or(Code::NotFound)?;
        if !subscription.is_enabled() {
            let actions = subscription.allowed_actions();
            return Err(Problem::state(subscription.status.as_str(), &actions));
        }
    }
    let named = load_named(services, &replay).await?;
    let unknown = replay.delivery_ids.iter().enumerate().filter_map(|(place, id)| {
        let detail = "There is no such delivery in the store.";
        let fault =
            || FieldError::new(format!("/delivery_ids/{place}"), "unknown_delivery", detail);
        named.iter().all(|delivery| delivery.id != *id).then(fault)
    });
    let unknown: Vec<FieldError> = unknown.collect();
    if !unknown.is_empty() {
        return Err(Problem::invalid(unknown));
    }
    let audience = Audience::of_store(services, &caller.store.id).await;
    let scopes = ensure_reads_replay(&caller.actor, &replay, &named, &audience)?;
    let Counted { matched, skipped, has_more } =
        Replaying::new(services, &replay, &audience, now).count().await?;
    Ok((Replay { matched, skipped, has_more, ..replay }, scopes))
}

async fn write(
    services: &Services,
    replay: Replay,
    now: Timestamp,
) -> Result<Accepted<ReplayView>, Problem> {
    let answer = Accepted::new(&ReplayView::from(&replay)).version(replay.version);
    // The replay counts skipped events itself, each once.
    let replay = Replay { skipped: Skipped::default(), ..replay };
    let answer = replay.begin(services.table.write()).answer(answer, now).await?;
    let first_step = services.clock.now().until(replay.next_step_at);
    RunMessage::Replay { id: replay.id }.send(services, first_step).await;
    Ok(answer)
}

/// Filters of the list of replays.
#[request]
#[derive(Debug)]
pub(crate) struct ReplaysQuery {
    /// Only replays in this status.
    status: Option<ReplayStatus>,
    /// Only replays of this kind.
    kind: Option<ReplayKind>,
}

/// `GET /v1/operations/runtime/replays` (`listReplays`): List replays of a store.
///
/// The newest replay comes first. An app only gets the replays that it created. Replays are retained for 90 days.
pub(crate) async fn list(
    caller: StoreOrOperator<ReadOperations>,
    State(app): State<App>,
    Query(query): Query<ReplaysQuery>,
    paging: Paging,
) -> Result<Page<ReplayView>, Problem> {
    let of_store = key::replays_on(&caller.store.id);
    let all = table::Query::index(Index::Gsi5, of_store).newest_first();
    let is_requested = |replay: &Replay| {
        is_visible(replay, &caller)
            && query.status.is_none_or(|status| replay.status == status)
            && query.kind.is_none_or(|kind| replay.kind == kind)
    };
    paging.query(&app, &all, is_requested, |replay| ReplayView::from(&replay)).await
}

/// Whether the caller may see a replay.
fn is_visible<S: RequiredScope>(replay: &Replay, caller: &StoreAccess<S>) -> bool {
    let of_app = caller.actor.app();
    replay.store_id == caller.store.id
        && of_app.is_none_or(|actor| replay.app_id.as_ref() == Some(&actor.app_id))
}

async fn find<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &ReplayId,
) -> Result<Replay, Problem> {
    let found = services.table.get::<Replay>(&key::replay(id)).await?;
    found.filter(|replay| is_visible(replay, caller)).ok_or_else(|| Code::NotFound.into())
}

/// `GET /v1/operations/runtime/replays/{id}` (`getReplay`): Get a replay and its progress.
///
/// `progress` counts the deliveries that were created, succeeded and failed. `skipped` counts what was not
/// sent, by reason.
///
/// # Errors
/// `not_found`, also for another app's replay.
pub(crate) async fn get(
    caller: StoreOrOperator<ReadOperations>,
    State(app): State<App>,
    Path(id): Path<ReplayId>,
) -> Result<Json<ReplayView>, Problem> {
    let replay = find(&app, &caller, &id).await?;
    Ok(Json::new(&ReplayView::from(&replay)).version(replay.version))
}

/// `POST /v1/operations/runtime/replays/{id}/cancel` (`cancelReplay`): Cancel a replay.
///
/// No more deliveries are created. Those that exist already are still attempted: those of about ten seconds
/// at most. The cancellation is recorded as evidence and emits `replay.finished`.
///
/// # Errors
/// `not_found`; `insufficient_scope` without a scope that the replay requires; `invalid_state_transition`
/// when it has ended.
pub(crate) async fn cancel(
    caller: StoreOrOperator<WriteOperations>,
    State(app): State<App>,
    Path(id): Path<ReplayId>,
) -> Result<Json<ReplayView>, Problem> {
    table::retry_up_to(evidence::ADDITION_ATTEMPTS, || async {
        let now = app.clock.now();
        let replay = find(&app, &caller, &id).await?;
        if let Some(authority) = &replay.authority {
            authority.ensure_covered_by(&caller.actor)?;
        }
        let cancelled = replay.cancelled(now)?;
        let answer = Json::new(&ReplayView::from(&cancelled)).version(cancelled.version);
        let addition = evidence::addition(&app, Record::of_replay(&cancelled)?, now).await?;
        let write = cancelled.save(app.table.write());
        write.when_some(addition, |write, it| it.put_into(write)).answer(answer, now).await
    })
    .await
}
