//! Actions on a webhook subscription: enable, disable, test, and rotation of its secret.

use gateway::idempotency::Commit;
use std::collections::BTreeMap;
use std::time::Duration;

use ::delivery::delivery::{self, Delivery, DeliveryView};
use ::delivery::subscription::{
    DEFAULT_GRACE, DestinationKind, OwnSecret, Subscription, SubscriptionView, hint, seal_secret,
};
use axum::extract::State;
use callers::StoreAccess;
use commerce::event_types::{self, EventType};
use commerce::readers::ensure_reads;
use commerce::topics;
use core_types::event::{self, Event, EventSubject, TopicDeclaration};
use core_types::id::SubscriptionId;
use core_types::scope::{RequiredScope, WriteWebhooks};
use crypto::signature::SigningSecret;
use gateway::app::App;
use gateway::reply::{Accepted, Either, Json, NoStore};
use gateway::request::{Body, IfMatch, Path, Ruled};
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Int, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use services::Services;

use crate::subscriptions::{SubscriptionWithSecret, find_to_change, replace};

/// Loads, changes and writes a subscription; retried when a delivery's outcome was written in between.
async fn transition<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &SubscriptionId,
    if_match: IfMatch,
    decide: impl Fn(&Subscription, Timestamp) -> Result<Subscription, Problem>,
) -> Result<Json<SubscriptionView>, Problem> {
    table::retry(|| async {
        let before = find_to_change(services, caller, id).await?;
        if_match.check(before.version)?;
        let now = services.clock.now();
        let after = decide(&before, now)?;
        replace(services, &before, &after, now).await
    })
    .await
}

/// `POST /v1/operations/webhook-subscriptions/{id}/enable` (`enableWebhookSubscription`):
/// Enable a webhook subscription.
///
/// A subscription that the service disabled can be enabled as well. The failure counts and the circuit are
/// reset. A subscription whose queue is not confirmed cannot be enabled; confirm the queue instead.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read;
/// `invalid_state_transition` when it is enabled, or its queue is not confirmed.
pub(crate) async fn enable(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    if_match: IfMatch,
) -> Result<Json<SubscriptionView>, Problem> {
    transition(&app, &caller, &id, if_match, Subscription::enable).await
}

/// `POST /v1/operations/webhook-subscriptions/{id}/disable` (`disableWebhookSubscription`):
/// Disable a webhook subscription.
///
/// New events are not delivered. A delivery that is still unfinished is cancelled at its next attempt; test
/// events are still sent. Once it is enabled again, a replay can send the events of the meantime.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read;
/// `invalid_state_transition` when it is not enabled.
pub(crate) async fn disable(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    if_match: IfMatch,
) -> Result<Json<SubscriptionView>, Problem> {
    transition(&app, &caller, &id, if_match, Subscription::disable).await
}

/// A delivery that was queued.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeliveryAnswer {
    /// The delivery, as it was created.
    pub(crate) delivery: DeliveryView,
}

/// The request that a test would send.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TestPreview {
    /// `true`.
    dry_run: bool,
    /// `POST`; `SendMessage` for a queue.
    method: &'static str,
    /// The URL that is posted to, or the URL of the queue.
    url: String,
    /// The headers by name, with the values of custom headers masked. For a queue, the message attributes.
    headers: BTreeMap<String, String>,
    /// The body, byte for byte as it is signed.
    body: String,
}

/// The preview of a dry run, or the delivery that was queued.
type TestReply = Either<NoStore<Json<TestPreview>>, Accepted<DeliveryAnswer>>;

/// A test event to send.
#[request]
#[derive(Debug)]
pub(crate) struct TestRequest {
    /// The event type to send an example of. By default, the first of the catalogue that the subscription
    /// receives.
    event_type: Option<Text<1, 100>>,
    /// Return the request that would be sent, and send nothing.
    dry_run: Flag,
}

/// `POST /v1/operations/webhook-subscriptions/{id}/test` (`testWebhookSubscription`):
/// Send a test event to a subscription.
///
/// The event carries example data and the header `X-Service-Test: true`. It is attempted once, also while
/// the subscription is disabled. Its outcome does not count in the health of the subscription.
///
/// With `dry_run`, nothing is sent: 200 with the exact headers and body, and the values of custom headers
/// masked. For a queue, these are the message attributes.
///
/// # Errors
/// `not_found`; `insufficient_scope`; `invalid_state_transition` before the queue is confirmed;
/// `unknown_event_type` as a field error.
pub(crate) async fn test(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    Ruled(Body(input)): Ruled<Body<TestRequest>>,
) -> Result<TestReply, Problem> {
    let subscription = find_to_change(&app, &caller, &id).await?;
    let topic = topic(&subscription, input.event_type.as_ref().map(Text::as_str))?;
    ensure_reads(&caller.actor, topic.scope)?;
    let now = app.clock.now();
    let data = event_types::find(topic.name).map(EventType::example_data).unwrap_or_default();
    let entity = data.get("id").and_then(Value::as_str).unwrap_or(topic.entity).to_owned();
    let about = EventSubject {
        store: subscription.store_id.as_ref(),
        app: subscription.app_id.as_ref(),
        entity: &entity,
        version: 1,
    };
    let event = Event::sample(&topic, about, data, now);
    let delivery =
        Delivery { test: true, ordering_key: None, ..Delivery::new(&event, &subscription, now) };
    if input.dry_run.0 {
        let response = preview(&app, &subscription, &event, &delivery.claimed(now), now).await?;
        return Ok(Either::Left(response));
    }
    if !subscription.is_confirmed() {
        let actions = subscription.allowed_actions();
        return Err(Problem::state(subscription.status.as_str(), &actions));
    }
    let answer = Accepted::new(&DeliveryAnswer { delivery: DeliveryView::from(&delivery) });
    let write = app.table.write().emit(event).create(&delivery, Code::VersionConflict);
    let answer = write.answer(answer, now).await?;
    queue(&app, &delivery).await;
    Ok(Either::Right(answer))
}

impl Rules for TestRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let named = given.get::<Text<1, 100>>("event_type");
        let unknown = named.filter(|name| topics::find(name.as_str()).is_none());
        unknown.map(|_| unknown_topic()).into_iter().collect()
    }
}

fn unknown_topic() -> FieldError {
    let detail = "Must be the name of an event type of GET /v1/operations/event-types.";
    FieldError::new("/event_type", "unknown_event_type", detail)
}

/// The topic of a test event: the requested one, or the first of the catalogue that the subscription
/// receives.
fn topic(
    subscription: &Subscription,
    requested: Option<&str>,
) -> Result<TopicDeclaration, Problem> {
    let unknown = || Problem::invalid(vec![unknown_topic()]);
    if let Some(name) = requested {
        return topics::find(name).ok_or_else(unknown);
    }
    let takes = |entry: &TopicDeclaration| {
        let wanted = |filter: &String| event::matches(filter, entry.name);
        let allowed = subscription
            .scopes
            .as_ref()
            .is_none_or(|scopes| entry.scope.is_some_and(|scope| scopes.cover(scope)));
        allowed && subscription.event_types.iter().any(wanted)
    };
    topics::catalogue().into_iter().find(takes).ok_or_else(unknown)
}

/// Builds the exact request that would be sent, with the values of custom headers masked.
async fn preview(
    services: &Services,
    subscription: &Subscription,
    event: &Event,
    delivery: &Delivery,
    now: Timestamp,
) -> Result<NoStore<Json<TestPreview>>, Problem> {
    let key = services.secrets.webhook_key().await?;
    let keys = subscription.signing_keys(&key, now);
    let keys = keys.ok_or_else(|| {
        Problem::internal("the signing secret of a subscription could not be unsealed")
    })?;
    let masked = subscription.masked_headers();
    let custom = masked.into_iter().map(|(name, mask)| (name, mask.to_owned())).collect();
    let headers = delivery::headers(event, delivery, &keys, &custom, now);
    let (method, headers) = match subscription.destination {
        DestinationKind::Https => ("POST", headers),
        DestinationKind::Sqs => ("SendMessage", delivery::message_attributes(headers)),
    };
    let request = TestPreview {
        dry_run: true,
        method,
        url: subscription.url.clone(),
        headers: headers.into_iter().collect(),
        body: event.body.clone(),
    };
    Ok(Json::new(&request).no_store())
}

/// Queues a delivery that has been written. If the message cannot be sent, the sweep queues the delivery
/// within a minute.
pub(crate) async fn queue(services: &Services, delivery: &Delivery) {
    let message = (delivery.message(), Duration::ZERO);
    if let Err(problem) = services.queue(delivery::QUEUE).send(&[message]).await {
        tracing::warn!(
            cause = %problem, delivery = delivery.id.as_str(),
            "message of a delivery not queued; the sweep queues it"
        );
    }
}

/// A new signing secret.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct RotateWebhookSecretRequest {
    /// The grace period, in which the old secret signs as well, in seconds: 86,400 by default, 7 days at
    /// most. Send 0 if the old secret has leaked.
    grace_seconds: Option<Int<0, 604_800>>,
    /// Your own secret: `whsec_` and the base64 of 24 to 64 bytes. By default, one is generated.
    secret: Option<OwnSecret>,
}

/// `POST /v1/operations/webhook-subscriptions/{id}/secret/rotate` (`rotateWebhookSecret`):
/// Rotate the signing secret.
///
/// The response has the new secret, and no later one does. During the grace period `webhook-signature`
/// carries a signature of each secret, and `X-Service-Hmac-SHA256` stays with the old one. The period ends
/// after 24 hours by default, or when the new secret is promoted. With `grace_seconds` 0 the new secret
/// alone signs at once.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read;
/// `invalid_state_transition` during a rotation, unless `grace_seconds` is 0.
pub(crate) async fn rotate(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    if_match: IfMatch,
    Body(input): Body<RotateWebhookSecretRequest>,
) -> Result<NoStore<Json<SubscriptionWithSecret>>, Problem> {
    let key = app.secrets.webhook_key().await?;
    let grace = input.grace_seconds.map_or(DEFAULT_GRACE, |Int(seconds)| {
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    });
    let secret = input.secret.map_or_else(SigningSecret::generate, |own| own.0);
    table::retry(|| async {
        let before = find_to_change(&app, &caller, &id).await?;
        if_match.check(before.version)?;
        let now = app.clock.now();
        let sealed = seal_secret(&key, &id, &secret);
        let after = before.rotate(sealed, Some(hint(&secret)), grace, now)?;
        let view = SubscriptionWithSecret::new(&after, &secret, now);
        let answer = Json::new(&view).version(after.version).no_store();
        after.save(app.table.write(), &before).answer(answer, now).await
    })
    .await
}

/// `POST /v1/operations/webhook-subscriptions/{id}/secret/promote` (`promoteWebhookSecret`):
/// Promote the new signing secret.
///
/// The grace period of the rotation ends: from now on only the new secret signs, in both signature headers.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read;
/// `no_secret_rotation` when there is no grace period.
pub(crate) async fn promote(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    if_match: IfMatch,
) -> Result<Json<SubscriptionView>, Problem> {
    transition(&app, &caller, &id, if_match, Subscription::finish_rotation).await
}
