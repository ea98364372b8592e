//! The successful answer of a handler: a value that is sent, and stored by idempotency records.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, Collected};
use serde::Serialize;

use crypto::seal;

/// `Cache-Control` of personal data: no cache stores it (RFC 9111 §5.2.2).
pub const PRIVATE: &str = "private, no-store";

/// Which caches may store an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheControl {
    /// Browsers and shared caches, for this long (RFC 9111 §5.2.2).
    Anybody(Duration),
    /// None: [`PRIVATE`].
    Nobody,
}

impl From<Duration> for CacheControl {
    fn from(max_age: Duration) -> Self {
        Self::Anybody(max_age)
    }
}

/// A successful answer.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Vec<u8>,
    /// Whether its `ETag` is a version.
    versioned: bool,
}

/// Marks a response whose `ETag` is a version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Versioned;

impl Answer {
    /// An answer of this status with a JSON body.
    pub fn json(status: StatusCode, body: &impl Serialize) -> Self {
        // Views are plain structs of ours: serializing one fails only when memory runs out.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self::of(status, body).header(header::CONTENT_TYPE, "application/json")
    }

    /// 200 with a body that is not JSON.
    pub fn bytes(content_type: &str, body: Vec<u8>) -> Self {
        Self::of(StatusCode::OK, body).header(header::CONTENT_TYPE, content_type)
    }

    /// 200.
    pub fn ok(body: &impl Serialize) -> Self {
        Self::json(StatusCode::OK, body)
    }

    /// 201.
    pub fn created(body: &impl Serialize) -> Self {
        Self::json(StatusCode::CREATED, body)
    }

    /// 202.
    pub fn accepted(body: &impl Serialize) -> Self {
        Self::json(StatusCode::ACCEPTED, body)
    }

    /// 302 without a body (RFC 9110 §15.4.3).
    pub fn found(location: &str) -> Self {
        Self::of(StatusCode::FOUND, Vec::new()).header(header::LOCATION, location)
    }

    /// 204.
    pub fn no_content() -> Self {
        Self::of(StatusCode::NO_CONTENT, Vec::new())
    }

    fn of(status: StatusCode, body: Vec<u8>) -> Self {
        Self { status, headers: Vec::new(), body, versioned: false }
    }

    /// Allows requests for a part of the body (RFC 9110 §14.3).
    #[must_use]
    pub(crate) fn ranged(self) -> Self {
        self.header(header::ACCEPT_RANGES, "bytes")
    }

    /// Replaces the status.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Adds or replaces a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.retain(|(present, _)| *present != name);
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Sets `ETag: "<version>"`, which `If-Match` is compared with. The version counts writes of the object
    /// alone. A view also has values that others count (a customer's orders, a product's rating) or that
    /// change with time, and these make no new version. So this tag never answers 304; the tags of
    /// [`Answer::cached`] do.
    #[must_use]
    pub fn version(self, version: u64) -> Self {
        let answer = self.header(header::ETAG, &format!("\"{version}\""));
        Self { versioned: true, ..answer }
    }

    /// `Cache-Control: no-store`: the answer carries a credential (RFC 6749 §5.1).
    #[must_use]
    pub fn no_store(self) -> Self {
        self.header(header::CACHE_CONTROL, "no-store")
    }

    /// Sets who may cache it. A publicly cacheable answer has the digest of its body as `ETag`, and is
    /// answered 304 to a client that has it ([`revalidate`]).
    #[must_use]
    pub fn cached(self, cache_control: impl Into<CacheControl>) -> Self {
        let CacheControl::Anybody(max_age) = cache_control.into() else {
            return self.header(header::CACHE_CONTROL, PRIVATE);
        };
        let (tag, seconds) = (tag(&self.body), max_age.as_secs());
        let answer = self.header(header::ETAG, &tag);
        let answer = Self { versioned: false, ..answer };
        answer.header(header::CACHE_CONTROL, &format!("public, max-age={seconds}"))
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers as text pairs, for an idempotency record.
    pub(crate) fn header_pairs(&self) -> Vec<(String, String)> {
        let pair = |(name, value): &(HeaderName, HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        self.headers.iter().filter_map(pair).collect()
    }

    /// The bytes of the body, before it is encoded for the client.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Rebuilds an answer from its stored parts.
    pub(crate) fn restored(status: u16, headers: &[(String, String)], body: Vec<u8>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
        let mut answer = Self::of(status, body);
        for (name, value) in headers {
            if let Ok(name) = HeaderName::try_from(name.as_str()) {
                answer = answer.header(name, value);
            }
        }
        answer
    }
}

/// An `ETag` that is the digest of the body.
fn tag(body: &[u8]) -> String {
    let digest = seal::digest(&String::from_utf8_lossy(body));
    let tag: String = digest.chars().take(32).collect();
    format!("\"{tag}\"")
}

/// Replaces the `ETag` by the digest of another body, unless it is a version.
pub(crate) fn retag(head: &mut http::response::Parts, body: &[u8]) {
    if head.extensions.get::<Versioned>().is_some() || !head.headers.contains_key(header::ETAG) {
        return;
    }
    if let Ok(tag) = HeaderValue::from_str(&tag(body)) {
        head.headers.insert(header::ETAG, tag);
    }
}

/// Adds an `ETag` to a public answer that has none, so that clients can revalidate every public answer.
pub(crate) async fn tagged(response: Response) -> Response {
    let headers = response.headers();
    let is_stored = |value: &HeaderValue| value.as_bytes() != b"no-store";
    let is_cached = headers.get(header::CACHE_CONTROL).is_none_or(is_stored);
    if response.status() != StatusCode::OK || headers.contains_key(header::ETAG) || !is_cached {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    if let Ok(tag) = HeaderValue::from_str(&tag(&body)) {
        parts.headers.insert(header::ETAG, tag);
    }
    Response::from_parts(parts, body.into())
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::body::Body::from(self.body)).into_response();
        if self.status == StatusCode::NO_CONTENT {
            response.headers_mut().remove(header::CONTENT_TYPE);
        }
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        if self.versioned {
            response.extensions_mut().insert(Versioned);
        }
        response
    }
}
