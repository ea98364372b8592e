//! An answer as the adapter takes it. Left to itself, that keeps the first of repeated headers where the
//! form has room for one, fails on a header that is no text, and tells text from bytes by the content
//! type, however long a text becomes when it is escaped (docs/platform.md §3).

use std::future::{Future, ready};
use std::pin::Pin;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, HeaderValue, header};
use http_body_util::{BodyExt, Collected};
use lambda_http::Body;

use super::event::Source;
use primitives::clock::Timestamp;
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use primitives::size::{ANSWER_LIMIT, base64_len, fits_escaped};

/// Bytes of an answer's document beside its body and the text of its headers: at most.
const ENVELOPE: usize = 4096;
/// Bytes of an answer that a load balancer hands on, at most: 1 MB.
const BALANCED_LIMIT: usize = 1_000_000;

/// An answer that can be sent.
pub(super) struct Reply(http::Response<Body>);

impl lambda_http::IntoResponse for Reply {
    fn into_response(self) -> Pin<Box<dyn Future<Output = http::Response<Body>> + Send>> {
        Box::pin(ready(self.0))
    }
}

impl Reply {
    /// This answer, or a problem when it is larger than can be sent to who asked.
    pub(super) async fn of(response: Response, source: Source, path: &str) -> Self {
        let (mut parts, body) = response.into_parts();
        let bytes = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        if !is_plain(&parts.headers) {
            parts.headers = joined(&parts.headers);
        }
        match fitting(bytes, room(&parts.headers, source)) {
            Some(body) => Self(http::Response::from_parts(parts, body)),
            None => Self::too_large(&parts, path).await,
        }
    }

    /// The problem that is sent instead, with the headers of that answer that do not tell of its body.
    async fn too_large(head: &Parts, path: &str) -> Self {
        tracing::error!(path, status = head.status.as_u16(), "response too large to be sent");
        let context = Context::new(&head.headers, path, Timestamp::from_millis(0));
        let said = context.scope(async { Problem::from(Code::AnswerTooLarge).into_response() });
        let (mut parts, body) = said.await.into_parts();
        let of_body = [header::ETAG, header::LINK, header::LAST_MODIFIED, header::CONTENT_LENGTH];
        for (name, value) in &head.headers {
            if !of_body.contains(name) && !parts.headers.contains_key(name) {
                parts.headers.insert(name, value.clone());
            }
        }
        let bytes = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        let body = Body::from(String::from_utf8_lossy(&bytes).into_owned());
        Self(http::Response::from_parts(parts, body))
    }
}

/// Bytes that a body may take beside these headers: each of them may be escaped, and has quotes and a
/// comma around it. A load balancer is given them twice, for it takes one form or the other.
fn room(headers: &HeaderMap, source: Source) -> usize {
    let text = |(name, value): (&http::HeaderName, &HeaderValue)| {
        name.as_str().len().saturating_add(value.len()).saturating_mul(2)
    };
    let taken = headers.iter().map(text).fold(ENVELOPE, usize::saturating_add);
    match source {
        Source::LoadBalancer => BALANCED_LIMIT.saturating_sub(taken.saturating_mul(2)),
        Source::HttpApi | Source::RestApi => ANSWER_LIMIT.saturating_sub(taken),
    }
}

/// The body as text, or where that is none or too long as base64; nothing where both are too long.
fn fitting(bytes: Bytes, room: usize) -> Option<Body> {
    let bytes = match String::from_utf8(bytes.into()) {
        Ok(text) if fits_escaped(text.as_bytes(), room) => return Some(Body::Text(text)),
        Ok(text) => text.into_bytes(),
        Err(binary) => binary.into_bytes(),
    };
    (base64_len(bytes.len()) <= room).then_some(Body::Binary(bytes))
}

/// Whether every header has one value, which is text.
fn is_plain(headers: &HeaderMap) -> bool {
    let mut values = headers.values();
    headers.len() == headers.keys_len() && values.all(|value| value.to_str().is_ok())
}

/// One value for each name, except where only several will do: cookies.
fn joined(headers: &HeaderMap) -> HeaderMap {
    let mut all = HeaderMap::with_capacity(headers.keys_len());
    for name in headers.keys() {
        let mut texts = headers.get_all(name).iter().filter(|value| value.to_str().is_ok());
        let Some(first) = texts.next() else { continue };
        all.insert(name, first.clone());
        for text in texts {
            if name == header::SET_COOKIE {
                all.append(name, text.clone());
            } else if let Some(joined) = all.get_mut(name) {
                let both = [joined.as_bytes(), text.as_bytes()].join(&b", "[..]);
                *joined = HeaderValue::from_bytes(&both).unwrap_or_else(|_| joined.clone());
            }
        }
    }
    all
}
