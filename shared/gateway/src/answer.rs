//! What a handler answers with: a value that can be sent, and that an idempotency record can keep.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

/// A successful answer.
#[derive(Debug, Clone)]
pub struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Vec<u8>,
}

impl Answer {
    /// An answer of this status with a JSON body.
    pub fn json(status: StatusCode, body: &impl Serialize) -> Self {
        // Views are plain structs of ours: writing one cannot fail but by running out of memory.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { status, headers: Vec::new(), body }.header(header::CONTENT_TYPE, "application/json")
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
        Self { status: StatusCode::NO_CONTENT, headers: Vec::new(), body: Vec::new() }
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

    /// `ETag: "<version>"`, what `If-Match` is compared with.
    #[must_use]
    pub fn version(self, version: u64) -> Self {
        self.header(header::ETAG, &format!("\"{version}\""))
    }

    /// `Cache-Control: no-store`: the answer carries a credential (RFC 6749 §5.1).
    #[must_use]
    pub fn no_store(self) -> Self {
        self.header(header::CACHE_CONTROL, "no-store")
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
        let mut answer = Self { status, headers: Vec::new(), body };
        for (name, value) in headers {
            if let Ok(name) = HeaderName::try_from(name.as_str()) {
                answer = answer.header(name, value);
            }
        }
        answer
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
        response
    }
}
