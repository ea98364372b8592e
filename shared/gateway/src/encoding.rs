//! Compressed answers (RFC 9110 §8.4): what of an answer is sent to a caller who takes it encoded.
//!
//! An answer is encoded when it is long enough, and of a type that compresses well. Its `ETag` gets the
//! encoding's name as a suffix, because each encoding is a representation of its own (§8.8.3.3), and a caller
//! who sends that tag back in `If-Match` or `If-None-Match` means the same object: the suffix is removed before
//! the request is read. What carries a credential (`no-store`) is never encoded, so that its length tells
//! nothing.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Collected};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::quality::weighted;

/// Bytes of a body from which it is encoded (our choice): a shorter one fits one packet.
const MIN_LENGTH: usize = 1_024;
/// Bytes of a body from which its encoding is cached, if its tag is the digest of the body (our choice).
const CACHED_FROM: usize = 64 << 10;
/// The maximum bytes of cached encodings (our choice).
const MAX_CACHED: u64 = 8 << 20;
/// The number of encodings that are expected in the cache.
const EXPECTED_ENTRIES: usize = 16;
/// The level of gzip (our choice): beyond it a body takes twice as long, and shrinks by some hundredths.
const LEVEL: u32 = 4;
/// Types that compress well, besides every text and what is derived from JSON or XML.
const COMPRESSIBLE: [&str; 4] =
    ["application/json", "application/javascript", "application/xml", "application/wasm"];

/// An encoding of bodies.
#[derive(Debug, Clone, Copy)]
pub struct Encoding {
    /// Its name in `Accept-Encoding`.
    pub name: &'static str,
    /// Encodes a body.
    pub encode: fn(&[u8]) -> io::Result<Vec<u8>>,
}

/// gzip, which every caller has.
pub const GZIP: Encoding = Encoding { name: "gzip", encode: gzip };

fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    encoder.write_all(body)?;
    encoder.finish()
}

/// The encodings that a server has. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Encodings {
    /// The preferred one first.
    all: Arc<[Encoding]>,
    cache: Arc<Cache<CacheKey, Bytes, ByLength>>,
}

/// The name of an encoding, and the tag of what it encodes.
type CacheKey = (&'static str, HeaderValue);

#[derive(Debug, Clone)]
struct ByLength;

impl Weighter<CacheKey, Bytes> for ByLength {
    fn weight(&self, _: &CacheKey, body: &Bytes) -> u64 {
        u64::try_from(body.len()).unwrap_or(u64::MAX)
    }
}

impl Encodings {
    /// These encodings, the preferred one first.
    pub fn new(all: impl Into<Arc<[Encoding]>>) -> Self {
        let cache = Cache::with_weighter(EXPECTED_ENTRIES, MAX_CACHED, ByLength);
        Self { all: all.into(), cache: Arc::new(cache) }
    }

    /// Answers a request with what `next` answers, encoded as the caller takes it.
    pub async fn answer(self, mut request: Request, next: Next) -> Response {
        let negotiated =
            self.negotiate(request.method(), request.headers().get(header::ACCEPT_ENCODING));
        self.remove_suffixes(request.headers_mut());
        negotiated.encode(next.run(request).await).await
    }

    /// Chooses the encoding of the response to a request.
    pub fn negotiate(&self, method: &Method, accepted: Option<&HeaderValue>) -> Negotiated {
        let accepted = accepted.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let encoding = preferred(&self.all, accepted);
        Negotiated { encoding, is_head: *method == Method::HEAD, encodings: self.clone() }
    }

    /// Removes the names of encodings from the tags of a conditional request.
    pub fn remove_suffixes(&self, headers: &mut HeaderMap) {
        for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
            let Some(sent) = headers.get(&name).and_then(|tags| tags.to_str().ok()) else {
                continue;
            };
            let mut tags = sent.to_owned();
            for encoding in self.all.iter() {
                tags = tags.replace(&format!("-{}\"", encoding.name), "\"");
            }
            if tags != sent
                && let Ok(tags) = HeaderValue::from_str(&tags)
            {
                headers.insert(name, tags);
            }
        }
    }
}

/// The encoding chosen for the response to a request.
#[derive(Debug, Clone)]
pub struct Negotiated {
    encoding: Option<Encoding>,
    is_head: bool,
    encodings: Encodings,
}

impl Negotiated {
    /// The response as it is sent.
    pub async fn encode(self, response: Response) -> Response {
        let (mut parts, body) = response.into_parts();
        if parts.status == StatusCode::NOT_MODIFIED {
            add_vary(&mut parts.headers);
            if let Some(encoding) = self.encoding {
                tag_encoded(&mut parts.headers, encoding);
            }
            return Response::from_parts(parts, body);
        }
        if !may_be_encoded(&parts) {
            return Response::from_parts(parts, body);
        }
        if self.is_head {
            let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok());
            if length.and_then(|it| it.parse().ok()).is_some_and(|it: usize| it >= MIN_LENGTH) {
                self.mark_encoded(&mut parts);
            }
            return Response::from_parts(parts, body);
        }
        let Ok(bytes) = body.collect().await.map(Collected::to_bytes) else {
            // As a server does whose response breaks off.
            return Response::from_parts(parts, Body::empty());
        };
        if bytes.len() < MIN_LENGTH {
            return Response::from_parts(parts, Body::from(bytes));
        }
        let bytes = match self.encoding.map(|encoding| self.encoded(encoding, &parts, &bytes)) {
            Some(Ok(encoded)) => {
                self.mark_encoded(&mut parts);
                encoded
            }
            Some(Err(cause)) => {
                tracing::error!(%cause, "response sent as it is");
                bytes
            }
            None => {
                add_vary(&mut parts.headers);
                bytes
            }
        };
        Response::from_parts(parts, Body::from(bytes))
    }

    fn encoded(&self, encoding: Encoding, parts: &Parts, bytes: &Bytes) -> io::Result<Bytes> {
        let tag = parts.headers.get(header::ETAG).filter(|tag| is_digest(tag));
        let Some(tag) = tag.filter(|_| bytes.len() >= CACHED_FROM) else {
            return (encoding.encode)(bytes).map(Bytes::from);
        };
        let key = (encoding.name, tag.clone());
        self.encodings.cache.get_or_insert_with(&key, || (encoding.encode)(bytes).map(Bytes::from))
    }

    fn mark_encoded(&self, parts: &mut Parts) {
        add_vary(&mut parts.headers);
        if let Some(encoding) = self.encoding {
            parts.headers.remove(header::CONTENT_LENGTH);
            let name = HeaderValue::from_static(encoding.name);
            parts.headers.insert(header::CONTENT_ENCODING, name);
            tag_encoded(&mut parts.headers, encoding);
        }
    }
}

/// Whether a response is of a type that compresses well, is whole, and has no reason to be sent as it is.
fn may_be_encoded(parts: &Parts) -> bool {
    let headers = &parts.headers;
    let control = headers.get(header::CACHE_CONTROL).and_then(|value| value.to_str().ok());
    let as_it_is = ["no-store", "no-transform"];
    let is_fixed =
        control.is_some_and(|it| as_it_is.iter().any(|directive| it.contains(directive)));
    let has = |name| headers.contains_key(name);
    !is_fixed
        && !has(header::CONTENT_ENCODING)
        && !has(header::CONTENT_RANGE)
        && headers.get(header::CONTENT_TYPE).is_some_and(is_compressible)
}

fn is_compressible(kind: &HeaderValue) -> bool {
    let kind = kind.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || COMPRESSIBLE.contains(&kind.as_str())
}

/// Whether a tag is the digest of a body, as [`crate::answer`] makes it.
fn is_digest(tag: &HeaderValue) -> bool {
    let tag = tag.as_bytes();
    let within = tag.strip_prefix(b"\"").and_then(|tag| tag.strip_suffix(b"\""));
    within.is_some_and(|tag| tag.len() == 32 && tag.iter().all(u8::is_ascii_hexdigit))
}

/// Adds the name of the encoding to the tag.
fn tag_encoded(headers: &mut HeaderMap, encoding: Encoding) {
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()?.strip_suffix('"'));
    if let Some(tag) = tag.map(|tag| format!("{tag}-{}\"", encoding.name))
        && let Ok(tag) = HeaderValue::from_str(&tag)
    {
        headers.insert(header::ETAG, tag);
    }
}

/// Says that the response depends on what encodings the caller takes.
fn add_vary(headers: &mut HeaderMap) {
    let name = header::ACCEPT_ENCODING.as_str();
    let said = |value: &HeaderValue| {
        value.to_str().is_ok_and(|it| {
            it.split(',').any(|it| it.trim() == "*" || it.trim().eq_ignore_ascii_case(name))
        })
    };
    if headers.get_all(header::VARY).iter().any(said) {
        return;
    }
    let mut all: Vec<String> = Vec::new();
    for value in headers.get_all(header::VARY) {
        all.extend(value.to_str().ok().map(str::to_owned));
    }
    all.push("Accept-Encoding".to_owned());
    if let Ok(value) = HeaderValue::from_str(&all.join(", ")) {
        headers.insert(header::VARY, value);
    }
}

/// The encoding that a caller likes best, and of several the first (RFC 9110 §12.5.3); none sends the body as it is.
fn preferred(all: &[Encoding], accepted: &str) -> Option<Encoding> {
    let mut weights: Vec<(String, u16)> = accepted.split(',').filter_map(weighted).collect();
    for (name, _) in &mut weights {
        // An old name (RFC 9110 §8.4.1.3).
        if name == "x-gzip" {
            "gzip".clone_into(name);
        }
    }
    let of = |name: &str| {
        let named = weights.iter().find(|(known, _)| known == name);
        named.or_else(|| weights.iter().find(|(known, _)| known == "*")).map(|(_, weight)| *weight)
    };
    // Not encoded, a body is acceptable unless that is excluded, but liked less than what is named.
    let identity = weights.iter().find(|(known, _)| known == "identity").map_or(0, |(_, it)| *it);
    let liked = |encoding: &Encoding| of(encoding.name).filter(|weight| *weight > 0);
    let best = all.iter().filter_map(|it| Some((liked(it)?, it))).rev().max_by_key(|(it, _)| *it);
    best.filter(|(weight, _)| *weight >= identity).map(|(_, encoding)| *encoding)
}

#[cfg(test)]
mod tests;
