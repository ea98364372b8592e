//! Receipts: what became of a delivery, signed, for whoever has to prove it to somebody else.

use axum::extract::State;
use delivery::delivery::Delivery;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::reply::{Json, NoStore};
use gateway::request::Path;
use gateway::{seal, token};
use ground::event::EventGroup;
use ground::id::{DeliveryId, EventId, StoreId, SubscriptionId};
use ground::key;
use ground::scope::ReadWebhooks;
use http::Uri;
use platform::caller::StoreAccess;
use schemars::JsonSchema;
use serde::Serialize;

use crate::deliveries::find;

/// What the signed statement is (RFC 8725 §3.11): no access token, and no other statement.
const TYPE: &str = "webhook-receipt+jwt";

/// What is stated about a delivery's last attempt.
#[derive(Debug, Serialize, JsonSchema)]
struct ReceiptClaims {
    /// Issuer: this service.
    iss: String,
    /// Subject: the delivery.
    sub: DeliveryId,
    /// When it was signed, in epoch seconds.
    iat: i64,
    /// The event: what the receiver got as `webhook-id`.
    event_id: EventId,
    /// The event's name.
    event_type: String,
    store_id: Option<StoreId>,
    subscription_id: SubscriptionId,
    /// The attempt's number, from 1.
    attempt: u32,
    /// Where it went: host, and port if the URL names one. A path may hold a credential.
    host: String,
    /// When the attempt began.
    attempted_at: Timestamp,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// Whether the receiver took it: it answered 2xx.
    delivered: bool,
    /// The answer's status, if there was an answer.
    status_code: Option<u16>,
    /// The class of the failure.
    error: Option<String>,
    /// SHA-256 of the body that was sent, in hex.
    body_sha256: String,
}

/// What became of a delivery, signed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignedReceipt {
    delivery_id: DeliveryId,
    /// The attempt's number, from 1.
    attempt: u32,
    /// The claims as a compact JWS (RFC 7515 §7.1, ES256).
    jws: String,
    /// The same as JSON.
    claims: ReceiptClaims,
}

/// `GET /v1/operations/webhook-deliveries/{id}/receipt` (`getWebhookReceipt`): Get a signed receipt of a delivery.
///
/// States the last attempt, signed.
///
/// As a compact JWS (RFC 7515 §7.1, ES256) that verifies with the keys of
/// `GET /v1/app-store/oauth/jwks`, and the same as JSON.
///
/// # Errors
/// `not_found`; `invalid_state_transition` while no attempt has ended; `payload_expunged` when neither the
/// body nor its digest is left.
pub(crate) async fn show(
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

/// The digest of what was sent: as it was recorded, or of the event's body, which never changes.
async fn digest(app: &App, delivery: &Delivery) -> Result<String, Problem> {
    if let Some(digest) = &delivery.body_sha256 {
        return Ok(digest.clone());
    }
    let group = app.table.get::<EventGroup>(&key::event(&delivery.event_id)).await?;
    let event = group.and_then(|group| group.into_event(&delivery.event_id));
    let event = event.filter(|event| !event.is_expunged()).ok_or(Code::PayloadExpunged)?;
    Ok(seal::digest(&event.body))
}

/// Host and port of a URL that was parsed when it was given; it has no user information.
fn host(url: &str) -> String {
    let uri: Uri = url.parse().unwrap_or_default();
    uri.authority().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn of_a_url_the_host_is_stated_and_nothing_else() {
        assert_eq!(host("https://hooks.example.com/secret?token=1"), "hooks.example.com");
        assert_eq!(host("https://hooks.example.com:8443/"), "hooks.example.com:8443");
    }
}
