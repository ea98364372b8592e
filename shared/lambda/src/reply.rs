//! Prepares responses for the adapter. Otherwise it uses the first of repeated headers where the format
//! has one value, fails on a header that is not text, and decides between text and base64 by the content
//! type, whatever the size of the escaped text (docs/platform.md §3).

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

/// The most bytes of a response document in addition to its body and the text of its headers.
const ENVELOPE: usize = 4096;
/// The most bytes of a response through a load balancer: 1 MB.
const BALANCED_LIMIT: usize = 1_000_000;

/// A response that can be sent.
pub(super) struct Reply(http::Response<Body>);

impl lambda_http::IntoResponse for Reply {
    fn into_response(self) -> Pin<Box<dyn Future<Output = http::Response<Body>> + Send>> {
        Box::pin(ready(self.0))
    }
}

impl Reply {
    /// This response, or a problem if it is too large for its receiver.
    pub(super) async fn of(response: Response, source: Source, path: &str) -> Self {
        let (mut parts, body) = response.into_parts();
        let bytes = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        if !is_plain(&parts.headers) {
            parts.headers = joined(&parts.headers);
        }
        match fitting(bytes, max_body_bytes(&parts.headers, source)) {
            Some(body) => Self(http::Response::from_parts(parts, body)),
            None => Self::too_large(&parts, path).await,
        }
    }

    /// The problem that is sent instead, with the headers of the response that do not describe its body.
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

/// The most bytes of a body with these headers: each of them may be escaped, and has quotes and a comma
/// around it. A load balancer gets them twice, because it uses one form or the other.
fn max_body_bytes(headers: &HeaderMap, source: Source) -> usize {
    let text = |(name, value): (&http::HeaderName, &HeaderValue)| {
        name.as_str().len().saturating_add(value.len()).saturating_mul(2)
    };
    let taken = headers.iter().map(text).fold(ENVELOPE, usize::saturating_add);
    match source {
        Source::LoadBalancer => BALANCED_LIMIT.saturating_sub(taken.saturating_mul(2)),
        Source::HttpApi | Source::RestApi => ANSWER_LIMIT.saturating_sub(taken),
    }
}

/// The body as text, or as base64 if it is not text or too long; none if both are too long.
fn fitting(bytes: Bytes, limit: usize) -> Option<Body> {
    let bytes = match String::from_utf8(bytes.into()) {
        Ok(text) if fits_escaped(text.as_bytes(), limit) => return Some(Body::Text(text)),
        Ok(text) => text.into_bytes(),
        Err(binary) => binary.into_bytes(),
    };
    (base64_len(bytes.len()) <= limit).then_some(Body::Binary(bytes))
}

/// Whether every header has one value, which is text.
fn is_plain(headers: &HeaderMap) -> bool {
    let mut values = headers.values();
    headers.len() == headers.keys_len() && values.all(|value| value.to_str().is_ok())
}

/// One value for each name, except for cookies, which need several.
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
