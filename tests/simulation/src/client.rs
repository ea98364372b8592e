//! Requests, in this process: sent again under their key until they have an answer that stays.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use http::{Method, Request, header};
use serde_json::Value;
use tower::ServiceExt;

use crate::step::Trouble;
use crate::world::World;

/// The largest answer, in bytes.
const LARGEST: usize = 1 << 24;
/// How often a request is sent.
const TRIES: u32 = 6;
/// Longer than a process that has ended keeps an idempotency key.
const LEASE: Duration = Duration::from_secs(31);

/// A request.
#[derive(Debug, Clone)]
pub struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Content>,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The shopper's network; of the merchant, their own.
    pub(crate) network: u64,
}

/// The body of a request: JSON, or bytes of a type.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Json(Value),
    Bytes(&'static str, Vec<u8>),
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) json: Value,
}

impl Reply {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn text(&self, pointer: &str) -> String {
        text(&self.json, pointer)
    }

    pub(crate) fn code(&self) -> &str {
        self.json.get("code").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The text at a place of an object; empty if there is none.
pub(crate) fn text(json: &Value, pointer: &str) -> String {
    json.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The number at a place of an object; 0 if there is none.
pub(crate) fn int(json: &Value, pointer: &str) -> i64 {
    json.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

/// The list at a place of an object; empty if there is none.
pub(crate) fn list<'a>(json: &'a Value, pointer: &str) -> &'a [Value] {
    json.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

impl Call {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), body: None, headers: Vec::new(), network: 0 }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Self::new(Method::POST, path).json(body)
    }

    pub(crate) fn json(self, body: Value) -> Self {
        Self { body: Some(Content::Json(body)), ..self }
    }

    pub(crate) fn bytes(self, kind: &'static str, body: Vec<u8>) -> Self {
        Self { body: Some(Content::Bytes(kind, body)), ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn from(self, network: u64) -> Self {
        Self { network, ..self }
    }

    fn request(&self) -> Request<Body> {
        let network = self.network;
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(&self.path)
            .header("x-forwarded-for", format!("11.0.{network}.7"));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let (kind, body) = match &self.body {
            Some(Content::Json(json)) => ("application/json", json.to_string().into_bytes()),
            Some(Content::Bytes(kind, bytes)) => (*kind, bytes.clone()),
            None => ("", Vec::new()),
        };
        if !kind.is_empty() {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        request.body(Body::from(body)).unwrap_or_default()
    }
}

impl World {
    /// Sends a request once.
    pub(crate) async fn send(&self, call: &Call) -> Reply {
        let router = self.process().router();
        let Ok(answer) = router.oneshot(call.request()).await;
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), LARGEST).await.unwrap_or_default();
        Reply { status, json: serde_json::from_slice(&body).unwrap_or_default() }
    }

    /// Sends a request as any client does: again under its key if there was no answer, or one that passes.
    /// Returns the answer that stays, and how many failed before.
    pub(crate) async fn call(&self, call: &Call, trouble: Trouble) -> (Reply, u32) {
        let mut failed = 0;
        loop {
            let sending = self.send(call);
            let answer = match trouble {
                Trouble::Kill(calls) if failed == 0 => cut(sending, calls).await,
                _ => Some(sending.await),
            };
            let wait = match answer {
                None => {
                    self.restart();
                    LEASE
                }
                Some(reply) if reply.status >= 500 || reply.code() == "request_in_progress" => {
                    if failed >= TRIES {
                        return (reply, failed);
                    }
                    LEASE
                }
                Some(reply) if reply.status == 429 && failed < TRIES => Duration::from_secs(5),
                Some(reply) => return (reply, failed),
            };
            failed = failed.saturating_add(1);
            if failed.saturating_add(2) >= TRIES {
                self.calm();
            }
            self.advance(wait);
        }
    }
}

/// Drops a future before it is polled once more than this: the emulators yield at each call, so that it ends like
/// a process between two of them.
pub(crate) async fn cut<F: Future>(future: F, polls: u32) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left = left.saturating_sub(1);
        future.as_mut().poll(context).map(Some)
    })
    .await
}
