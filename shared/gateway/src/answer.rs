//! What a handler answers with: a value that can be sent, and that an idempotency record can keep.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Collected};
use serde::Serialize;

use crate::seal;

/// What is somebody's own: their browser keeps it no longer than it shows it (RFC 9111 §5.2.2).
pub const PRIVATE: &str = "private, no-store";

/// Who may keep an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Browsers and shared caches, for so long (RFC 9111 §5.2.2).
    Anybody(Duration),
    /// Nobody: [`PRIVATE`].
    Nobody,
}

impl From<Duration> for Keeping {
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
    /// Its `ETag` is a version.
    versioned: bool,
}

/// The mark of a response whose `ETag` is a version.
#[derive(Debug, Clone, Copy)]
struct Versioned;

impl Answer {
    /// An answer of this status with a JSON body.
    pub fn json(status: StatusCode, body: &impl Serialize) -> Self {
        // Views are plain structs of ours: writing one cannot fail but by running out of memory.
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

    /// 204.
    pub fn no_content() -> Self {
        Self::of(StatusCode::NO_CONTENT, Vec::new())
    }

    fn of(status: StatusCode, body: Vec<u8>) -> Self {
        Self { status, headers: Vec::new(), body, versioned: false }
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

    /// `ETag: "<version>"`, what `If-Match` is compared with. It says what a writer has seen, and
    /// nothing more: a view also shows what others count beside the object (a customer's orders, a
    /// product's rating) or what passes by itself, and these make no version. So no answer is 304
    /// for it; the tags of [`Answer::cached`] are for that.
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

    /// To be kept by whoever may. What anybody may keep has the digest of its body for an `ETag`, so
    /// that whoever has it already is answered 304 ([`revalidate`]).
    #[must_use]
    pub fn cached(self, keeping: impl Into<Keeping>) -> Self {
        let Keeping::Anybody(max_age) = keeping.into() else {
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

    /// The headers as text pairs: what an idempotency record keeps.
    pub(crate) fn header_pairs(&self) -> Vec<(String, String)> {
        let pair = |(name, value): &(HeaderName, HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        self.headers.iter().filter_map(pair).collect()
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// An answer made again from its kept parts.
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

/// The `ETag` that is made of what is shown.
fn tag(body: &[u8]) -> String {
    let digest = seal::digest(&String::from_utf8_lossy(body));
    let tag: String = digest.chars().take(32).collect();
    format!("\"{tag}\"")
}

/// Gives an answer whose `ETag` is its body's digest that of another body.
pub(crate) fn retag(head: &mut http::response::Parts, body: &[u8]) {
    if head.extensions.get::<Versioned>().is_some() || !head.headers.contains_key(header::ETAG) {
        return;
    }
    if let Ok(tag) = HeaderValue::from_str(&tag(body)) {
        head.headers.insert(header::ETAG, tag);
    }
}

/// Gives what anybody may read a validator where its handler gave none, so that every public
/// answer can be asked for again without being sent again.
pub(crate) async fn tagged(response: Response) -> Response {
    let headers = response.headers();
    let is_stored = |value: &HeaderValue| value.as_bytes() != b"no-store";
    let is_kept = headers.get(header::CACHE_CONTROL).is_none_or(is_stored);
    if response.status() != StatusCode::OK || headers.contains_key(header::ETAG) || !is_kept {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    if let Ok(tag) = HeaderValue::from_str(&tag(&body)) {
        parts.headers.insert(header::ETAG, tag);
    }
    Response::from_parts(parts, body.into())
}

/// Turns a response into 304 when the asker has what it holds (RFC 9110 §13.1.2): `GET` and `HEAD`
/// of whatever carries an `ETag` that is made of what is shown ([`Answer::version`] is not).
pub(crate) fn revalidate(method: &Method, request: &HeaderMap, response: &mut Response) {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let is_versioned = response.extensions().get::<Versioned>().is_some();
    if !is_read || is_versioned || response.status() != StatusCode::OK {
        return;
    }
    let Some(current) = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok())
    else {
        return;
    };
    let known = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok());
    // Compared weakly, as the RFC wants it for this header.
    let plain = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let current = plain(current);
    if known.flat_map(|tags| tags.split(',')).any(|tag| tag.trim() == "*" || plain(tag) == current)
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = axum::body::Body::empty();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
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
