//! What the system's requests to others reach: emulated payment providers, and a receiver of webhooks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use bytes::Bytes;
use egress::{Incoming, Outgoing, SendError, Sending, Transport};
use http::HeaderMap;
use serde_json::Value;
use tower::ServiceExt;

/// The URL of the receiver.
pub const RECEIVER: &str = "http://127.0.0.1:9/hooks";
/// The largest answer of a provider, in bytes.
const LARGEST: usize = 1 << 22;

/// A webhook that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The id of the event.
    pub event: String,
    /// Its type.
    pub kind: String,
    /// The entity that it is about.
    pub entity: String,
    /// The entity's version.
    pub version: u64,
}

/// A receiver of webhooks, which fails now and then.
#[derive(Debug, Default)]
pub struct Receiver(Mutex<Received>);

#[derive(Debug, Default)]
struct Received {
    arrivals: Vec<Arrival>,
    failures: u64,
}

impl Receiver {
    fn state(&self) -> MutexGuard<'_, Received> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails so many times from now on.
    pub fn fail(&self, times: u64) {
        self.state().failures = times;
    }

    /// What has arrived, in this order.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.state().arrivals.clone()
    }

    fn receive(&self, body: &[u8]) -> u16 {
        let mut state = self.state();
        if state.failures > 0 {
            state.failures = state.failures.saturating_sub(1);
            return 500;
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |pointer: &str| {
            body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        state.arrivals.push(Arrival {
            event: text("/id"),
            kind: text("/type"),
            entity: text("/entity/id"),
            version: body.pointer("/entity/version").and_then(Value::as_u64).unwrap_or(0),
        });
        200
    }
}

/// The others, in this process.
pub struct Network {
    /// The payment providers.
    pub providers: Router,
    /// The receiver of webhooks.
    pub receiver: Arc<Receiver>,
}

impl Transport for Network {
    fn send(&self, request: Outgoing) -> Sending<'_> {
        if request.destination.as_str().starts_with(RECEIVER) {
            let status = self.receiver.receive(&request.body);
            let headers = HeaderMap::new();
            let answer = Incoming { status, headers, body: Bytes::new(), truncated: false };
            return Box::pin(async move { Ok(answer) });
        }
        let providers = self.providers.clone();
        Box::pin(async move {
            let mut sent = Request::new(Body::from(request.body));
            *sent.method_mut() = request.method;
            *sent.headers_mut() = request.headers;
            *sent.uri_mut() =
                request.destination.as_str().parse().map_err(|_| SendError::Protocol)?;
            let Ok(answer) = providers.oneshot(sent).await;
            let (parts, body) = answer.into_parts();
            let body = to_bytes(body, LARGEST).await.map_err(|_| SendError::Protocol)?;
            Ok(Incoming {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body,
                truncated: false,
            })
        })
    }
}
