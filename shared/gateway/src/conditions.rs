//! Conditional reads, and reads of a part (RFC 9110 §13 and §14).

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Collected};
use primitives::context::Context;
use primitives::problem::{Code, Problem};

use crate::answer::Versioned;

/// Evaluates the conditions of a read in the order of RFC 9110 §13.2.2: `If-Match`, `If-None-Match`, `Range` with
/// `If-Range`.
pub(crate) async fn evaluate(
    context: &Arc<Context>,
    method: &Method,
    request: &HeaderMap,
    response: Response,
) -> Response {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if !is_read || response.status() != StatusCode::OK {
        return response;
    }
    let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let is_version = response.extensions().get::<Versioned>().is_some();
    if !is_matched(request, tag, is_version) {
        let problem = Arc::clone(context)
            .scope(async { Problem::from(Code::PreconditionFailed).into_response() })
            .await;
        return replaced(response, problem);
    }
    if !is_version && tag.is_some_and(|tag| is_known(request, tag)) {
        return not_modified(response);
    }
    if *method == Method::GET { ranged(context, request, response).await } else { response }
}

/// Whether `If-Match` is absent, any, or names the response's tag.
fn is_matched(request: &HeaderMap, tag: Option<&str>, is_version: bool) -> bool {
    if !request.contains_key(header::IF_MATCH) {
        return true;
    }
    // A version may be sent as in a write, which takes `7` and `v7` for `"7"`.
    let plain = |tag: &str| {
        let tag = tag.trim();
        let bare = tag.trim_matches('"').trim_start_matches('v');
        if is_version { bare.to_owned() } else { tag.to_owned() }
    };
    let current = tag.map(plain);
    tags(request, &header::IF_MATCH).any(|tag| tag == "*" || Some(plain(tag)) == current)
}

/// Whether `If-None-Match` names the tag. The RFC requires weak comparison for this header.
fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let plain = |tag: &str| tag.trim_start_matches("W/").to_owned();
    let current = plain(tag);
    tags(request, &header::IF_NONE_MATCH).any(|tag| tag == "*" || plain(tag) == current)
}

/// The tags that a header lists.
fn tags<'a>(request: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lists = request.get_all(name).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}

fn not_modified(mut response: Response) -> Response {
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.body_mut() = Body::empty();
    response.headers_mut().remove(header::CONTENT_TYPE);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}

/// A problem in the place of a response, of which the headers stay that say nothing about its body.
fn replaced(response: Response, problem: Response) -> Response {
    let (mut head, _) = response.into_parts();
    let (rejected, body) = problem.into_parts();
    for name in [header::CONTENT_LENGTH, header::ETAG, header::CACHE_CONTROL, header::LINK] {
        head.headers.remove(name);
    }
    head.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    head.headers.extend(rejected.headers);
    head.status = rejected.status;
    Response::from_parts(head, body)
}

/// What a request asks of a body of some length.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// These bytes, the last one included.
    Bytes(usize, usize),
    /// Bytes that it does not have.
    Unsatisfiable,
}

/// The requested part of a body that may be read in parts.
async fn ranged(context: &Arc<Context>, request: &HeaderMap, response: Response) -> Response {
    let range = request.get(header::RANGE).and_then(|range| range.to_str().ok());
    let (Some(range), true) = (range, response.headers().contains_key(header::ACCEPT_RANGES))
    else {
        return response;
    };
    // Strong comparison; a date never matches, because responses have none.
    let is_current = request
        .get(header::IF_RANGE)
        .is_none_or(|tag| Some(tag) == response.headers().get(header::ETAG));
    if !is_current {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    match part_of(range, body.len()) {
        None => Response::from_parts(head, body.into()),
        Some(Part::Unsatisfiable) => {
            let problem = Arc::clone(context)
                .scope(async { Problem::from(Code::RangeNotSatisfiable).into_response() })
                .await;
            let mut rejected = replaced(Response::from_parts(head, Body::empty()), problem);
            describe_part(rejected.headers_mut(), &format!("bytes */{}", body.len()));
            rejected
        }
        Some(Part::Bytes(first, last)) => {
            head.status = StatusCode::PARTIAL_CONTENT;
            head.headers.remove(header::CONTENT_LENGTH);
            describe_part(&mut head.headers, &format!("bytes {first}-{last}/{}", body.len()));
            Response::from_parts(head, body.slice(first..=last).into())
        }
    }
}

fn describe_part(headers: &mut HeaderMap, range: &str) {
    if let Ok(range) = HeaderValue::from_str(range) {
        headers.insert(header::CONTENT_RANGE, range);
    }
}

/// Parses `bytes=0-499`, `bytes=500-` and `bytes=-500`. None is returned for what is to be ignored: several
/// ranges, other units, and what is malformed (RFC 9110 §14.2).
fn part_of(range: &str, length: usize) -> Option<Part> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number that is too large for the machine is beyond every body.
        is_number.then(|| text.parse().unwrap_or(usize::MAX))
    };
    let end = length.checked_sub(1);
    let (first, last) = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => (first, last),
        (Some(first), None) if last.is_empty() => (first, usize::MAX),
        (None, Some(count)) if first.is_empty() && count > 0 => {
            (length.saturating_sub(count), usize::MAX)
        }
        (None, Some(_)) if first.is_empty() => return Some(Part::Unsatisfiable),
        _ => return None,
    };
    Some(match end {
        Some(end) if first <= end => Part::Bytes(first, last.min(end)),
        _ => Part::Unsatisfiable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_is_read_and_everything_else_is_ignored() {
        for (range, part) in [
            ("bytes=0-499", Some(Part::Bytes(0, 499))),
            ("bytes=500-", Some(Part::Bytes(500, 999))),
            ("bytes=-500", Some(Part::Bytes(500, 999))),
            ("bytes=0-0", Some(Part::Bytes(0, 0))),
            ("bytes=-1", Some(Part::Bytes(999, 999))),
            ("bytes=0-99999999999999999999999", Some(Part::Bytes(0, 999))),
            ("bytes=-2000", Some(Part::Bytes(0, 999))),
            ("bytes=1000-", Some(Part::Unsatisfiable)),
            ("bytes=-0", Some(Part::Unsatisfiable)),
            ("bytes=5-4", None),
            ("bytes=0-1,5-6", None),
            ("bytes=a-b", None),
            ("bytes=-", None),
            ("lines=0-1", None),
            ("bytes=+1-2", None),
        ] {
            assert_eq!(part_of(range, 1_000), part, "{range}");
        }
        assert_eq!(part_of("bytes=0-", 0), Some(Part::Unsatisfiable));
    }
}
