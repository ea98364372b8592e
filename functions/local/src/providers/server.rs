//! The HTTP server of both APIs: authentication, routing and injected troubles.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, StatusCode};
use primitives::clock::{Clock, Timestamp};
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;

use crate::providers::call::{ApiRequest, ApiResult, ProviderCall, ProviderRejection};
use crate::providers::keys::{RAZORPAY_KEY_ID, RAZORPAY_SECRET, STRIPE_SECRET};
use crate::providers::ledger::{Ledger, Trouble};
use crate::providers::webhook::Provider;
use crate::providers::webhook_sender::QueuedEvents;
use crate::providers::{pages, razorpay, sandbox, stripe};

/// The largest request body, in bytes.
const MAX_BODY: usize = 1 << 20;

/// The ledger, and the queue of the webhooks about its changes.
pub(crate) struct ServerState {
    ledger: Mutex<Ledger>,
    clock: Clock,
    latency: Duration,
    queue: UnboundedSender<QueuedEvents>,
}

impl ServerState {
    pub(crate) fn open(
        clock: Clock,
        latency: Duration,
        queue: UnboundedSender<QueuedEvents>,
    ) -> Self {
        Self { ledger: Mutex::default(), clock, latency, queue }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a change of the ledger exclusively, and queues the webhooks about it.
    pub(crate) fn act<T>(&self, change: impl FnOnce(&mut Ledger, Timestamp) -> T) -> T {
        let mut ledger = self.ledger();
        let done = change(&mut ledger, self.clock.now());
        for events in ledger.queued() {
            // The receiver is dropped when the server has ended.
            let _ = self.queue.send(events);
        }
        done
    }
}

/// Handles any request.
pub(crate) async fn receive(State(state): State<Arc<ServerState>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let call = ProviderCall {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        key: text(&parts.headers, "idempotency-key")
            .or_else(|| text(&parts.headers, "x-refund-idempotency")),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let segments: Vec<&str> = call.path.split('/').skip(1).collect();
    let (provider, path) = match segments.as_slice() {
        ["razorpay", "v1", path @ ..] => (Provider::Razorpay, path),
        ["stripe", "v1", path @ ..] => (Provider::Stripe, path),
        ["sandbox", path @ ..] if let Some(checkout) = pages::is_checkout(path) => {
            let texts = (parts.uri.query().unwrap_or_default(), &*call.body);
            return state.act(|ledger, now| pages::answer(ledger, checkout, texts, now));
        }
        ["sandbox", path @ ..] => {
            let result = state.act(|ledger, now| sandbox::act(ledger, &call, path, now));
            return answer(sandbox::success(path), result);
        }
        _ => return answer(StatusCode::NOT_FOUND, Err(nowhere())),
    };
    tokio::time::sleep(state.latency).await;
    let trouble = state.act(|ledger, _| ledger.note(call.clone()));
    if let Err(rejection) = admit(provider, &parts.headers) {
        return answer(StatusCode::OK, Err(rejection));
    }
    match trouble {
        Some(Trouble::Hang) => std::future::pending().await,
        Some(Trouble::Reject(status, code)) => {
            return answer(StatusCode::OK, Err(injected(status, code)));
        }
        Some(Trouble::DoneButLate | Trouble::Pending) | None => {}
    }
    let query = parts.uri.query().unwrap_or_default();
    let result = state.act(|ledger, now| {
        let is_pending = matches!(trouble, Some(Trouble::Pending));
        let input =
            ApiRequest { method: &call.method, path, query, body: &call.body, now, is_pending };
        ledger.once(provider, &call, |ledger| match provider {
            Provider::Razorpay => ledger.razorpay.answer(&input),
            Provider::Stripe => ledger.stripe.answer(&input),
        })
    });
    if matches!(trouble, Some(Trouble::DoneButLate)) {
        std::future::pending::<()>().await;
    }
    answer(StatusCode::OK, result)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Ensures that the caller has the account's keys.
fn admit(provider: Provider, headers: &HeaderMap) -> Result<(), ProviderRejection> {
    let given = text(headers, "authorization").unwrap_or_default();
    let basic = |pair: String| format!("Basic {}", BASE64_STANDARD.encode(pair));
    let is_known = match provider {
        Provider::Razorpay => given == basic(format!("{RAZORPAY_KEY_ID}:{RAZORPAY_SECRET}")),
        Provider::Stripe => {
            given == format!("Bearer {STRIPE_SECRET}")
                || given == basic(format!("{STRIPE_SECRET}:"))
        }
    };
    match provider {
        _ if is_known => Ok(()),
        Provider::Razorpay => Err(razorpay::unauthorized()),
        Provider::Stripe => Err(stripe::unauthorized()),
    }
}

/// An injected error; both providers put its code at `error.code`.
fn injected(status: u16, code: &str) -> ProviderRejection {
    let text = "A sentence that is not for customers.";
    let error = json!({
        "type": "invalid_request_error", "code": code, "description": text, "message": text,
    });
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    ProviderRejection::new(status, &error)
}

fn nowhere() -> ProviderRejection {
    let message = "There are /razorpay/v1, /stripe/v1 and /sandbox.";
    ProviderRejection::new(StatusCode::NOT_FOUND, &json!({"code": "not_found", "message": message}))
}

/// The HTTP response of a result; `yes` is the status of a success.
fn answer(yes: StatusCode, result: ApiResult) -> Response {
    match result {
        Ok(value) => (yes, axum::Json(value)).into_response(),
        Err(rejection) => (rejection.status, axum::Json(rejection.body)).into_response(),
    }
}
