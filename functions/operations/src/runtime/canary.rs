//! The receiver of the canary's deliveries: this service itself, over the network that clients use, so
//! that drills need no other deployment.
//!
//! It follows the rules for receivers (docs/webhooks.md): it checks the time, verifies the signatures over
//! the raw bytes, and accepts an event once.

use std::sync::Arc;

use axum::extract::State;
use core_types::id::EventId;
use crypto::signature::{constant_time_eq, service_hmac, standard_signature};
use delivery::subscription::SigningKeys;
use gateway::app::App;
use gateway::budget::{Cost, Tier};
use gateway::caller::{Access, Caller, Identity};
use gateway::reply::NoContent;
use gateway::request::{Inbound, Signed};
use gateway::routes::Routes;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use reliability::canary::{self, CanaryReceipt};

/// The tolerance for a signature's time, in the past or in the future, in seconds (docs/webhooks.md).
const TOLERANCE: u64 = 300;

pub(crate) fn routes() -> Routes {
    Routes::default().post(canary::RECEIVER, Cost::READ, receive)
}

/// The sender of a webhook, whose signature is verified with the body. It has a budget of its own, so that
/// other requests of the same network do not block the canary's deliveries.
#[derive(Debug, Clone)]
pub(crate) struct CanaryCall {
    identity: Identity,
}

gateway::caller_argument!(CanaryCall);

impl Caller for CanaryCall {
    fn access() -> Access {
        Access::Public
    }

    fn reads(_: &Inbound) -> bool {
        false
    }

    async fn authenticate(_: &services::Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let anonymous = Identity::anonymous(inbound);
        let subject = format!("canary#{}", inbound.client_prefix());
        Ok(Self { identity: Identity { subject, tier: Tier::Public, ..anonymous } })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// An event of the canary store, as it is delivered.
#[derive(Debug)]
pub(crate) struct CanaryEvent;

primitives::inline_schema!([] CanaryEvent, "CanaryEvent", |_generator| {
    schemars::json_schema!({"type": "object"})
});

/// `POST /v1/operations/runtime/canary/deliveries` (`receiveCanaryDelivery`):
/// Receive a webhook of the canary store.
///
/// The service delivers the events of failover drills to itself here. It checks the time and both signatures,
/// and accepts each event once. Nobody else has the signing secret, so other requests are rejected.
///
/// # Errors
/// `signature_mismatch`.
pub(crate) async fn receive(
    _: CanaryCall,
    State(app): State<App>,
    Signed { inbound, .. }: Signed<CanaryEvent>,
) -> Result<NoContent, Problem> {
    let now = app.clock.now();
    let named = inbound.header("webhook-id").and_then(EventId::parse);
    let seconds = inbound.header("x-service-timestamp").and_then(|text| text.parse().ok());
    let (Some(event), Some(seconds)) = (named, seconds.filter(|at| is_fresh(*at, now))) else {
        return Err(Code::SignatureMismatch.into());
    };
    let subscription = canary::subscription(&app).await?.ok_or(Code::SignatureMismatch)?;
    let key = app.secrets.webhook_key().await?;
    let keys = subscription.signing_keys(&key, now).ok_or(Code::SignatureMismatch)?;
    if !is_signed(&inbound, &event, seconds, &keys) {
        return Err(Code::SignatureMismatch.into());
    }
    // A repeated delivery writes nothing.
    app.table.put_new(&CanaryReceipt::of(event, now)).await?;
    Ok(NoContent::default())
}

fn is_fresh(seconds: i64, now: Timestamp) -> bool {
    now.seconds().abs_diff(seconds) <= TOLERANCE
}

/// Whether both signatures are valid, by a secret that signs now.
fn is_signed(inbound: &Inbound, event: &EventId, seconds: i64, keys: &SigningKeys) -> bool {
    let secrets = || std::iter::once(&keys.current).chain(&keys.previous);
    let is = |expected: &str, found: &str| constant_time_eq(expected.as_bytes(), found.as_bytes());
    let hmac = inbound.header("x-service-hmac-sha256").unwrap_or_default();
    let entries = inbound.header("webhook-signature").unwrap_or_default();
    let has_hmac = secrets().any(|secret| is(&service_hmac(secret, seconds, &inbound.body), hmac));
    let has_standard = secrets().any(|secret| {
        let expected = standard_signature(secret, event.as_str(), seconds, &inbound.body);
        entries.split(' ').any(|entry| is(&expected, entry))
    });
    has_hmac && has_standard
}
