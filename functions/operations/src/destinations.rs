//! The destination of a subscription: its validation, and the challenge that proves the ownership of a queue.

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::SubscriptionId;
use core_types::scope::WriteWebhooks;
use crypto::seal::SealKey;
use delivery::delivery::{QUEUE, Speed};
use delivery::subscription::{
    Challenge, ConfirmOutcome, DestinationKind, Subscription, SubscriptionView,
};
use egress::DestinationRejection;
use gateway::app::App;
use gateway::bridged;
use gateway::reply::Json;
use gateway::request::{Body, Path, Validation};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use services::queue::foreign::QueueError;

use crate::subscriptions::{find_to_change, replace};

/// A URL of at most 2,048 characters.
pub(crate) type Url = Text<1, 2048>;

/// The destination of a subscription's events.
#[request]
#[derive(Debug, Clone)]
#[schemars(rename = "DestinationInput")]
pub(crate) struct DestinationRequest {
    /// `https` for a URL that is posted to, `sqs` for an Amazon SQS queue.
    #[deserr(rename = "type")]
    kind: DestinationKind,
    /// With `https`: a URL on a public host, port 443 or 8443.
    url: Option<Url>,
    /// With `sqs`: the URL of a queue in your own AWS account, whose policy lets this service send.
    queue_url: Option<Url>,
}

/// The destination that a request names, by its `url` or its `destination`.
pub(crate) fn parse_destination(
    url: Option<Url>,
    destination: Option<DestinationRequest>,
) -> Option<(DestinationKind, String)> {
    let (kind, place) = match destination {
        None => (DestinationKind::Https, url),
        Some(requested) => match requested.kind {
            DestinationKind::Https => (DestinationKind::Https, requested.url),
            DestinationKind::Sqs => (DestinationKind::Sqs, requested.queue_url),
        },
    };
    place.map(|place| (kind, place.into()))
}

/// The field errors of the destination that a request names.
pub(crate) async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if given.has("url") && given.has("destination") {
        let detail =
            "Send `url`, which means a destination of type `https`, or `destination`, not both.";
        errors.push(FieldError::new("/destination", "not_applicable", detail));
    }
    if let Some(url) = given.get::<Url>("url") {
        errors.extend(rejected_url("/url", &url, validation).await);
    }
    let Some(requested) = given.get::<DestinationRequest>("destination") else { return errors };
    let (own, other) = match requested.kind {
        DestinationKind::Https => {
            (("/destination/url", requested.url), ("/destination/queue_url", requested.queue_url))
        }
        DestinationKind::Sqs => {
            (("/destination/queue_url", requested.queue_url), ("/destination/url", requested.url))
        }
    };
    if other.1.is_some() {
        let detail = format!("Not allowed for a destination of type `{}`.", requested.kind);
        errors.push(FieldError::new(other.0, "not_applicable", detail));
    }
    match (own, requested.kind) {
        ((at, None), _) => {
            errors.push(FieldError::new(at, "required", "This field is required."));
        }
        ((at, Some(url)), DestinationKind::Https) => {
            errors.extend(rejected_url(at, &url, validation).await);
        }
        ((at, Some(url)), DestinationKind::Sqs) => {
            let rejection = validation.app.foreign_queue(url.as_str(), QUEUE).err();
            errors.extend(rejection.map(|it| FieldError::new(at, it.code(), it.to_string())));
        }
    }
    errors
}

/// The field error of a URL that the egress policy rejects, or that belongs to this service.
async fn rejected_url(
    at: &'static str,
    url: &Url,
    validation: &Validation<'_>,
) -> Option<FieldError> {
    if bridged::is_ours(&validation.app.config, url.as_str()) {
        let detail = "The URL must not point to this service.";
        return Some(FieldError::new(at, "own_host", detail));
    }
    let rejection = validation.app.egress.check(url.as_str()).await.err();
    rejection.map(|rejection: DestinationRejection| {
        FieldError::new(at, rejection.code(), rejection.to_string())
    })
}

/// Sends a challenge to the queue of a subscription. It is stored only after that: a crash in between leaves
/// a token that is never accepted.
///
/// # Errors
/// `queue_unreachable`, with the answer of the queue.
pub(crate) async fn send_challenge(
    services: &Services,
    subscription: &Subscription,
    key: &SealKey,
    challenge: &Challenge,
    now: Timestamp,
) -> Result<(), Problem> {
    let keys = subscription.signing_keys(key, now);
    let keys = keys.ok_or_else(|| {
        Problem::internal("the signing secret of a subscription could not be unsealed")
    })?;
    let queue = services.foreign_queue(&subscription.url, QUEUE).map_err(|rejection| {
        Problem::field("/destination/queue_url", rejection.code(), rejection.to_string())
    })?;
    let message = challenge.message(subscription, &keys);
    queue.send(message, Speed::Fast.deadline()).await.map(drop).map_err(unreachable)
}

fn unreachable(error: QueueError) -> Problem {
    let QueueError { class, answer } = error;
    let problem = Code::QueueUnreachable.with("reason", class);
    match answer {
        Some(answer) => problem.with("answer", answer.body),
        None => problem,
    }
}

/// The token of a challenge.
#[request]
#[derive(Debug)]
pub(crate) struct ConfirmRequest {
    /// `data.token` of the challenge message that the queue received.
    token: Text<1, 200>,
}

/// `POST /v1/operations/webhook-subscriptions/{id}/confirm` (`confirmWebhookSubscription`):
/// Confirm the ownership of a queue.
///
/// Send the token of the challenge message that the queue received, within 24 hours. From then on the queue
/// gets events, unless the subscription is disabled.
///
/// The same token again changes nothing. After five wrong tokens the challenge is void: send a new one.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read; `invalid_or_expired_token`;
/// `too_many_attempts` after five wrong tokens;
/// `invalid_state_transition` when there is no queue to confirm.
pub(crate) async fn confirm(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    Body(input): Body<ConfirmRequest>,
) -> Result<Json<SubscriptionView>, Problem> {
    table::retry(|| async {
        let before = find_to_change(&app, &caller, &id).await?;
        let now = app.clock.now();
        match before.confirm(input.token.as_str(), now)? {
            ConfirmOutcome::AlreadyConfirmed => {
                let view = SubscriptionView::of(&before, now);
                Ok(Json::new(&view).version(before.version))
            }
            ConfirmOutcome::Confirmed(after) => replace(&app, &before, &after, now).await,
            ConfirmOutcome::WrongToken(after) => {
                after.save(app.table.write(), &before).commit().await?;
                Err(Code::InvalidOrExpiredToken.into())
            }
        }
    })
    .await
}

/// `POST /v1/operations/webhook-subscriptions/{id}/challenge` (`challengeWebhookSubscription`):
/// Send a new challenge to a queue.
///
/// The queue must not be confirmed yet. The token of the previous challenge is void; the new one is valid for
/// 24 hours. Wait a minute between two challenges.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read; `queue_unreachable`;
/// `too_many_attempts` within a minute of the previous challenge;
/// `invalid_state_transition` when there is no queue to confirm.
pub(crate) async fn challenge(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
) -> Result<Json<SubscriptionView>, Problem> {
    let challenged = find_to_change(&app, &caller, &id).await?;
    let now = app.clock.now();
    challenged.ensure_can_be_challenged(now)?;
    let (key, drawn) = (app.secrets.webhook_key().await?, Challenge::draw(now));
    send_challenge(&app, &challenged, &key, &drawn, now).await?;
    table::retry(|| async {
        let before = find_to_change(&app, &caller, &id).await?;
        if before.is_confirmed() || before.url != challenged.url {
            let actions = before.allowed_actions();
            return Err(Problem::state(before.status.as_str(), &actions));
        }
        let after = before.changed(now).to_be_confirmed(&drawn);
        replace(&app, &before, &after, now).await
    })
    .await
}
