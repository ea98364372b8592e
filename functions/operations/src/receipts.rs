//! Receipts: a signed statement about the last attempt of a delivery, as proof for a third party.

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::EventGroup;
use core_types::id::{DeliveryId, EventId, StoreId, SubscriptionId};
use core_types::key;
use core_types::scope::ReadWebhooks;
use crypto::seal;
use crypto::token;
use delivery::delivery::Delivery;
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::Path;
use http::Uri;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;

use crate::deliveries::find;

/// The `typ` of the signed statement (RFC 8725 §3.11), which is neither an access token nor another
/// statement.
const TYPE: &str = "webhook-receipt+jwt";

/// The claims about a delivery's last attempt.
#[derive(Debug, Serialize, JsonSchema)]
struct ReceiptClaims {
    /// The issuer: the base URL of this service.
    iss: String,
    /// The subject: the id of the delivery.
    sub: DeliveryId,
    /// When it was signed, in seconds since 1970.
    iat: i64,
    /// The id of the event, which the receiver got as `webhook-id`.
    event_id: EventId,
    /// The event type, like `order.created`.
    event_type: String,
    /// The store of the subscription.
    store_id: Option<StoreId>,
    /// The subscription that was delivered to.
    subscription_id: SubscriptionId,
    /// The number of the attempt, from 1.
    attempt: u32,
    /// The host that was called, with the port if the URL names one. The path is omitted.
    host: String,
    /// When the attempt began.
    attempted_at: Timestamp,
    /// The duration of the attempt, in milliseconds.
    duration_ms: u64,
    /// Whether the receiver accepted the event: it answered 2xx.
    delivered: bool,
    /// The HTTP status of the response; `null` without a response.
    status_code: Option<u16>,
    /// The class of the failure, like `timeout`; `null` on success.
    error: Option<String>,
    /// SHA-256 of the body that was sent, in hex.
    body_sha256: String,
}

/// A signed statement about the last attempt of a delivery.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignedReceipt {
    /// The delivery.
    delivery_id: DeliveryId,
    /// The number of the attempt, from 1.
    attempt: u32,
    /// The claims as a compact JWS (RFC 7515 §7.1, ES256).
    jws: String,
    /// The same claims as JSON.
    claims: ReceiptClaims,
}

/// `GET /v1/operations/webhook-deliveries/{id}/receipt` (`getWebhookReceipt`):
/// Get a signed receipt of a delivery.
///
/// The receipt states when the last attempt was made, how the receiver answered, and the SHA-256 of the body
/// that was sent. It is a compact JWS (RFC 7515 §7.1, ES256), with the same claims as JSON. Verify it with
/// the keys of `GET /v1/app-store/oauth/jwks`.
///
/// # Errors
/// `not_found`; `invalid_state_transition` while no attempt has ended; `payload_expunged` when neither the
/// body nor its digest is stored any more.
pub(crate) async fn get(
    caller: StoreAccess<ReadWebhooks>,
    State(app): State<App>,
    Path(id): Path<DeliveryId>,
) -> Result<NoStore<Json<SignedReceipt>>, Problem> {
    let delivery = find(&app, &caller, &id).await?;
    let attempt = delivery
        .attempts()
        .pop()
        .ok_or_else(|| Problem::state(delivery.status.as_str(), &delivery.allowed_actions()))?;
    let body_sha256 = digest(&app, &delivery).await?;
    let claims = ReceiptClaims {
        iss: app.config.base_url.clone(),
        sub: delivery.id.clone(),
        iat: app.clock.now().seconds(),
        event_id: delivery.event_id.clone(),
        event_type: delivery.event_type.clone(),
        store_id: delivery.store_id.clone(),
        subscription_id: delivery.subscription_id.clone(),
        attempt: attempt.number,
        host: host(&attempt.url),
        attempted_at: attempt.started_at,
        duration_ms: attempt.duration_ms,
        delivered: attempt.status_code.is_some_and(|status| (200..300).contains(&status)),
        status_code: attempt.status_code,
        error: attempt.error.clone(),
        body_sha256,
    };
    let keys = app.secrets.receipt_keys().await?;
    let jws = token::sign_statement(&keys, TYPE, &claims).map_err(Problem::internal)?;
    let receipt = SignedReceipt { delivery_id: delivery.id, attempt: attempt.number, jws, claims };
    Ok(Json::new(&receipt).no_store())
}

/// The digest of the body that was sent: the recorded one, or that of the event's body, which never changes.
async fn digest(services: &Services, delivery: &Delivery) -> Result<String, Problem> {
    if let Some(digest) = &delivery.body_sha256 {
        return Ok(digest.clone());
    }
    let group = services.table.get::<EventGroup>(&key::event(&delivery.event_id)).await?;
    let event = group.and_then(|group| group.into_event(&delivery.event_id));
    let event = event.filter(|event| !event.is_expunged()).ok_or(Code::PayloadExpunged)?;
    Ok(seal::digest(&event.body))
}

/// The host and port of a URL that was validated when it was stored; it has no user information.
fn host(url: &str) -> String {
    let uri: Uri = url.parse().unwrap_or_default();
    uri.authority().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_receipt_states_only_the_host_of_a_url() {
        assert_eq!(host("https://hooks.example.com/secret?token=1"), "hooks.example.com");
        assert_eq!(host("https://hooks.example.com:8443/"), "hooks.example.com:8443");
    }
}
