//! Webhook subscriptions: list, create, get, update, delete.
//!
//! A store's owner sees all subscriptions of the store; an app sees and manages its own, and may
//! subscribe only to topics that its token's scopes can read (docs/conventions.md §10).

mod input;

use axum::extract::State;
use callers::StoreAccess;
use commerce::event_filter::EventFilter;
use commerce::readers::{ensure_reads, ensure_reads_all, ensure_reads_sent};
use core_types::id::SubscriptionId;
use core_types::key;
use core_types::scope::{ReadWebhooks, RequiredScope, WriteWebhooks};
use crypto::signature::SigningSecret;
use delivery::subscription::{
    Challenge, DestinationKind, Ordering, Subscription, SubscriptionStatus, SubscriptionView,
    claim_quota, hint, release_quota, seal_secret,
};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, NoStore, Page};
use gateway::request::{Body, IfMatch, Path, Query, Ruled};
use platform::actor::StoreActor;
use primitives::clock::Timestamp;
use primitives::fields::Flag;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use services::queue::foreign;

use input::{CreateSubscriptionRequest, UpdateSubscriptionRequest, per_second};

use crate::destinations::{parse_destination, send_challenge};

/// A subscription with its signing secret, which is returned once.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SubscriptionWithSecret {
    #[serde(flatten)]
    view: SubscriptionView,
    /// The signing secret: `whsec_` and base64. It is never returned again.
    secret: String,
}

impl SubscriptionWithSecret {
    pub(crate) fn new(subscription: &Subscription, secret: &SigningSecret, now: Timestamp) -> Self {
        Self { view: SubscriptionView::of(subscription, now), secret: secret.reveal() }
    }
}

/// Whether the actor may see a subscription.
fn is_visible(subscription: &Subscription, actor: &StoreActor) -> bool {
    actor.app().is_none_or(|app| subscription.app_id.as_ref() == Some(&app.app_id))
}

/// Loads the subscription of this id, if the caller may see it.
///
/// # Errors
/// `not_found`, both for an unknown one and for another's.
pub(crate) async fn find<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &SubscriptionId,
) -> Result<Subscription, Problem> {
    let found =
        services.table.get::<Subscription>(&key::subscription(&caller.store.id, id)).await?;
    let visible = found.filter(|subscription| is_visible(subscription, &caller.actor));
    visible.ok_or_else(|| Code::NotFound.into())
}

/// Loads the subscription of this id for a change, which requires that the caller can read all events that it
/// sends.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read.
pub(crate) async fn find_to_change<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &SubscriptionId,
) -> Result<Subscription, Problem> {
    let found = find(services, caller, id).await?;
    ensure_reads_all(&caller.actor, &found)?;
    Ok(found)
}

/// Replaces `before` with `after`, and responds with it.
pub(crate) async fn replace(
    services: &Services,
    before: &Subscription,
    after: &Subscription,
    now: Timestamp,
) -> Result<Json<SubscriptionView>, Problem> {
    let answer = Json::new(&SubscriptionView::of(after, now)).version(after.version);
    after.save(services.table.write(), before).answer(answer, now).await
}

/// Filters of the list of subscriptions.
#[request]
#[derive(Debug)]
pub(crate) struct SubscriptionsQuery {
    /// Only subscriptions in this status.
    status: Option<SubscriptionStatus>,
}

/// `GET /v1/operations/webhook-subscriptions` (`listWebhookSubscriptions`): List webhook subscriptions.
///
/// The oldest subscription comes first. An app sees the subscriptions that it created only. Signing secrets
/// and the values of custom headers are never returned.
pub(crate) async fn list(
    caller: StoreAccess<ReadWebhooks>,
    State(app): State<App>,
    Query(query): Query<SubscriptionsQuery>,
    paging: Paging,
) -> Result<Page<SubscriptionView>, Problem> {
    let partition = key::store(&caller.store.id).pk;
    let all = table::Query::partition(partition).begins_with(key::SUBSCRIPTIONS);
    let now = app.clock.now();
    let is_requested = |subscription: &Subscription| {
        is_visible(subscription, &caller.actor)
            && query.status.is_none_or(|status| subscription.status == status)
    };
    let view = |subscription: Subscription| SubscriptionView::of(&subscription, now);
    paging.query(&app, &all, is_requested, view).await
}

/// `POST /v1/operations/webhook-subscriptions` (`createWebhookSubscription`): Create a webhook subscription.
///
/// A subscription sends the events of the store to a URL or an Amazon SQS queue. A store has at most 50. The
/// response has the signing secret, and no later one does.
///
/// A queue first gets a challenge, and no event until its token is sent to `POST …/{id}/confirm`. An app
/// receives only events that its scopes cover, also with `*`.
///
/// # Errors
/// `insufficient_scope` for an event type that the caller cannot read; `subscription_limit`;
/// `queue_unreachable`, with the answer of the queue; `invalid_url`, `blocked_address`, `own_host`,
/// `invalid_queue_url`, `own_queue`, `unknown_event_type` as field errors.
pub(crate) async fn create(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateSubscriptionRequest>>,
) -> Result<NoStore<Created<SubscriptionWithSecret>>, Problem> {
    authorize(&caller.actor, input.event_types.filters())?;
    let key = app.secrets.webhook_key().await?;
    let now = app.clock.now();
    let id = SubscriptionId::mint(now);
    let secret = input.secret.map_or_else(SigningSecret::generate, |own| own.0);
    let sealed = seal_secret(&key, &id, &secret);
    let requested = parse_destination(input.url, input.destination);
    let (kind, url) =
        requested.ok_or_else(|| Problem::internal("a validated destination is missing"))?;
    let is_fifo = kind == DestinationKind::Sqs && foreign::is_fifo(&url);
    let mut made = Subscription::for_store(
        &caller.store.id,
        caller.actor.id(),
        id,
        url,
        input.event_types.to_vec(),
        sealed,
        now,
    );
    made.destination = kind;
    made.secret_hint = Some(hint(&secret));
    made.description = input.description.map(String::from).filter(|text| !text.is_empty());
    made.filter = input.filter;
    let in_order = if is_fifo { Ordering::Entity } else { Ordering::None };
    made.ordering = input.ordering.unwrap_or(in_order);
    made.max_rate_per_second = input.max_rate_per_second.and_then(per_second);
    made.app_id = caller.actor.app().map(|app| app.app_id.clone());
    made.scopes = caller.actor.app().map(|app| app.scopes.clone());
    if input.enabled == Some(Flag(false)) {
        made.status = SubscriptionStatus::Disabled;
    }
    let mut made = made.with_headers(&key, &input.headers.unwrap_or_default().0);
    if kind == DestinationKind::Sqs {
        let challenge = Challenge::draw(now);
        send_challenge(&app, &made, &key, &challenge, now).await?;
        made = made.to_be_confirmed(&challenge);
    }
    let view = SubscriptionWithSecret::new(&made, &secret, now);
    let answer = Created::new(&view).version(made.version).no_store();
    let write = app.table.write().create(&made, Code::VersionConflict);
    claim_quota(write, &caller.store.id).answer(answer, now).await
}

/// `GET /v1/operations/webhook-subscriptions/{id}` (`getWebhookSubscription`): Get a webhook subscription.
///
/// The subscription has the health of its receiver and the failure counts. Signing secrets and the values of
/// custom headers are never returned.
///
/// # Errors
/// `not_found`, also for another app's subscription.
pub(crate) async fn get(
    caller: StoreAccess<ReadWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
) -> Result<Json<SubscriptionView>, Problem> {
    let found = find(&app, &caller, &id).await?;
    let view = SubscriptionView::of(&found, app.clock.now());
    Ok(Json::new(&view).version(found.version))
}

/// `PATCH /v1/operations/webhook-subscriptions/{id}` (`updateWebhookSubscription`):
/// Update a webhook subscription.
///
/// The caller must be able to read the events that it sent before, and those that it sends from now on.
/// Another queue gets a challenge, and no event until its token is sent to `POST …/{id}/confirm`. When an app
/// changes `event_types`, the subscription takes over the scopes of the token that was used.
///
/// # Errors
/// `not_found`; `precondition_failed` when `If-Match` names another version; `insufficient_scope` for
/// an event type that the caller cannot read; `queue_unreachable`; `invalid_url`,
/// `blocked_address`, `own_host`, `invalid_queue_url`, `own_queue`, `unknown_event_type` as field errors.
pub(crate) async fn update(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    if_match: IfMatch,
    Ruled(Body(input)): Ruled<Body<UpdateSubscriptionRequest>>,
) -> Result<Json<SubscriptionView>, Problem> {
    let found = find_to_change(&app, &caller, &id).await?;
    if let Some(types) = &input.event_types {
        authorize(&caller.actor, types.filters())?;
    }
    let key = app.secrets.webhook_key().await?;
    let requested = parse_destination(input.url.clone(), input.destination.clone());
    let challenge = match requested.as_ref().filter(|to| is_another_queue(&found, to)) {
        None => None,
        Some((kind, url)) => {
            if_match.check(found.version)?;
            let (now, moved) = (app.clock.now(), found.sent_to(*kind, url.clone()));
            let drawn = Challenge::draw(now);
            send_challenge(&app, &moved, &key, &drawn, now).await?;
            Some(drawn)
        }
    };
    table::retry(|| async {
        let before = find_to_change(&app, &caller, &id).await?;
        if_match.check(before.version)?;
        let now = app.clock.now();
        let mut after = input.clone().apply(&before, &caller.actor, now)?;
        if let Some((kind, url)) = &requested {
            after = after.sent_to(*kind, url.clone());
        }
        if requested.as_ref().is_some_and(|to| is_another_queue(&before, to)) {
            // The destination was changed meanwhile, so this queue got no challenge.
            let challenge = challenge.as_ref().ok_or(Code::VersionConflict)?;
            after = after.to_be_confirmed(challenge);
        }
        if let Some(headers) = &input.headers {
            after = after.with_headers(&key, &headers.0);
        }
        replace(&app, &before, &after, now).await
    })
    .await
}

/// Whether a destination is a queue that the subscription does not send to yet.
fn is_another_queue(before: &Subscription, (kind, url): &(DestinationKind, String)) -> bool {
    let is_same = before.destination == *kind && before.url == *url;
    *kind == DestinationKind::Sqs && !is_same
}

/// `DELETE /v1/operations/webhook-subscriptions/{id}` (`deleteWebhookSubscription`):
/// Delete a webhook subscription.
///
/// A delivery that is still unfinished is cancelled at its next attempt. Past deliveries stay in their list
/// until they are 30 days old, but cannot be redelivered.
///
/// # Errors
/// `not_found`; `precondition_failed` when `If-Match` names another version; `insufficient_scope` for events
/// that the caller cannot read.
pub(crate) async fn delete(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    table::retry(|| async {
        let found = find(&app, &caller, &id).await?;
        ensure_reads_sent(&caller.actor, &found)?;
        if_match.check(found.version)?;
        let write = app.table.write().delete_unchanged(&found, Code::VersionConflict);
        let write = release_quota(write, &caller.store.id);
        write.answer(NoContent::default(), app.clock.now()).await
    })
    .await
}

/// Ensures that the actor can read the events of its filters. For an app, a wildcard covers the topics that
/// its scopes cover at the time of each event, and an exact topic must be among them. A topic without a scope
/// is for owners and admins of the store. A member's subscription belongs to the store and outlasts the
/// member's role, so the member must be able to read all topics of the filters.
fn authorize(actor: &StoreActor, filters: &[EventFilter]) -> Result<(), Problem> {
    let is_app = actor.app().is_some();
    for filter in filters.iter().filter(|filter| !is_app || filter.is_exact()) {
        for scope in filter.scopes() {
            ensure_reads(actor, scope)?;
        }
    }
    Ok(())
}
