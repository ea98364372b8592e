//! Running a family as a Lambda behind an API Gateway HTTP API (payload format 2.0).
//!
//! The event is read by us, not by `lambda_http`: that decodes `rawPath` into the URI, so that
//! `/links/a%3Fb` arrives as another path; expects every header to be text; and aborts the process
//! on a body that is not base64 (docs/platform.md §3).

use std::collections::HashMap;
use std::fmt::Write;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use http_body_util::BodyExt;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};
use tower::ServiceExt;

use crate::app::App;
use crate::clock::Timestamp;
use crate::context::Context;
use crate::problem::{Code, Problem};
use crate::request::ClientIp;
use crate::routes::{Routes, Unreadable};
use crate::size::{ANSWER_LIMIT, base64_len, escaped_len};

/// Bytes of an answer's document beside its body and the text of its headers: at most.
const ENVELOPE: usize = 4096;

/// What of the event we use.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpApiEvent {
    #[serde(default)]
    raw_path: String,
    #[serde(default)]
    raw_query_string: String,
    #[serde(default)]
    cookies: Vec<String>,
    #[serde(default)]
    headers: HashMap<String, String>,
    request_context: RequestContext,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestContext {
    http: HttpDescription,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HttpDescription {
    method: String,
    #[serde(default)]
    source_ip: Option<String>,
}

/// The answer as API Gateway takes it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpApiAnswer {
    status_code: u16,
    headers: HashMap<String, String>,
    cookies: Vec<String>,
    body: String,
    is_base64_encoded: bool,
}

/// Serves a family until the environment ends.
pub async fn serve(routes: Routes) -> Result<(), Error> {
    crate::log::init("info");
    let service = routes.into_router(App::from_env());
    lambda_runtime::run(service_fn(move |event: LambdaEvent<HttpApiEvent>| {
        let service = service.clone();
        async move { Ok::<_, Error>(answer(service, event.payload).await) }
    }))
    .await
}

/// Answers one event.
pub async fn answer(router: Router, event: HttpApiEvent) -> HttpApiAnswer {
    let request = request(event).unwrap_or_else(|problem| {
        let mut request = Request::new(Body::empty());
        request.extensions_mut().insert(Unreadable(problem));
        request
    });
    let path = request.uri().path().to_owned();
    let response = router.oneshot(request).await.into_response();
    match outgoing(response).await {
        Ok(answer) => answer,
        Err(head) => too_large(&head, &path).await,
    }
}

fn request(event: HttpApiEvent) -> Result<Request<Body>, Problem> {
    let mut uri = encode_path(&event.raw_path);
    if !event.raw_query_string.is_empty() {
        uri.push('?');
        uri.push_str(&event.raw_query_string);
    }
    let body = match (event.body, event.is_base64_encoded) {
        (None, _) => Vec::new(),
        (Some(text), false) => text.into_bytes(),
        (Some(text), true) => BASE64_STANDARD
            .decode(text)
            .map_err(|_| Code::InvalidRequest.detail("The body is not readable."))?,
    };
    let http = event.request_context.http;
    let mut request = Request::builder()
        .method(http.method.as_str())
        .uri(uri)
        .body(Body::from(body))
        .map_err(|_| Code::InvalidRequest.detail("The request line is not readable."))?;
    for (name, value) in &event.headers {
        // A header that is not one is dropped, as a proxy would; bytes beyond ASCII are kept.
        if let (Ok(name), Ok(value)) =
            (HeaderName::try_from(name.as_str()), HeaderValue::from_bytes(value.as_bytes()))
        {
            request.headers_mut().append(name, value);
        }
    }
    if !event.cookies.is_empty()
        && let Ok(value) = HeaderValue::try_from(event.cookies.join("; "))
    {
        request.headers_mut().insert(http::header::COOKIE, value);
    }
    if let Some(address) = http.source_ip.and_then(|text| text.parse().ok()) {
        request.extensions_mut().insert(ClientIp(address));
    }
    Ok(request)
}

/// `rawPath` arrives decoded (docs/platform.md §3): everything but unreserved characters and `/` is
/// encoded again, so that a `?`, `#` or `%` in a parameter stays in it.
fn encode_path(decoded: &str) -> String {
    let mut path = String::with_capacity(decoded.len());
    for byte in decoded.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b':'
            | b'@' => path.push(char::from(byte)),
            _ => {
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    if path.starts_with('/') { path } else { format!("/{path}") }
}

/// The answer as API Gateway takes it, or its head when it is larger than that.
async fn outgoing(response: Response) -> Result<HttpApiAnswer, Parts> {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let (headers, cookies) = head(&parts.headers);
    let names = headers.iter().map(|(name, value)| name.len().saturating_add(value.len()));
    let texts = names.chain(cookies.iter().map(String::len));
    // Each of them may be escaped, and has quotes and a comma around it.
    let taken = texts.fold(ENVELOPE, |sum, size| sum.saturating_add(size.saturating_mul(2)));
    let room = ANSWER_LIMIT.saturating_sub(taken);
    let text = std::str::from_utf8(&bytes).ok().filter(|_| escaped_len(&bytes) <= room);
    let (body, is_base64_encoded) = match text {
        Some(text) => (text.to_owned(), false),
        None if base64_len(bytes.len()) <= room => (BASE64_STANDARD.encode(&bytes), true),
        None => return Err(parts),
    };
    let status_code = parts.status.as_u16();
    Ok(HttpApiAnswer { status_code, headers, cookies, body, is_base64_encoded })
}

/// The problem that is sent instead of an answer that Lambda would not hand on, with the headers of
/// that answer that do not tell of its body.
async fn too_large(head: &Parts, path: &str) -> HttpApiAnswer {
    tracing::error!(path, status = head.status.as_u16(), "an answer is too large to be sent");
    let context = Context::new(&head.headers, path, Timestamp::from_millis(0));
    let said = context.scope(async { Problem::from(Code::AnswerTooLarge).into_response() });
    let mut response = said.await;
    let of_body = [header::ETAG, header::LINK, header::LAST_MODIFIED, header::CONTENT_LENGTH];
    for (name, value) in &head.headers {
        if !of_body.contains(name) && !response.headers().contains_key(name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    let status_code = response.status().as_u16();
    let (headers, cookies) = self::head(response.headers());
    let body = response.into_body().collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let body = String::from_utf8_lossy(&body).into_owned();
    HttpApiAnswer { status_code, headers, cookies, body, is_base64_encoded: false }
}

/// Headers and cookies as API Gateway takes them.
fn head(head: &HeaderMap) -> (HashMap<String, String>, Vec<String>) {
    let mut headers = HashMap::<String, String>::new();
    let mut cookies = Vec::new();
    for (name, value) in head {
        let Ok(text) = value.to_str() else { continue };
        if name == http::header::SET_COOKIE {
            cookies.push(text.to_owned());
            continue;
        }
        let joined = headers.entry(name.as_str().to_owned()).or_default();
        if !joined.is_empty() {
            joined.push_str(", ");
        }
        joined.push_str(text);
    }
    (headers, cookies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: serde_json::Value) -> HttpApiEvent {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_decoded_path_keeps_its_parameters_whole() {
        let request = request(event(serde_json::json!({
            "rawPath": "/v1/stores/a?b=1#c%2Fé d", "rawQueryString": "x=%20y",
            "requestContext": {"http": {"method": "GET", "sourceIp": "203.0.113.9"}},
            "headers": {"x-odd": "caf\u{e9}", "bad name": "dropped"}
        })))
        .unwrap();
        assert_eq!(request.uri().path(), "/v1/stores/a%3Fb%3D1%23c%252F%C3%A9%20d");
        assert_eq!(request.uri().query(), Some("x=%20y"));
        assert_eq!(request.headers().len(), 1);
    }

    /// What a route that answers with this body is answered with, and how large that is.
    async fn sent(body: Vec<u8>) -> (HttpApiAnswer, usize) {
        let get = || async move { ([("etag", "\"1\""), ("x-request-id", "mine")], body) };
        let router = Router::new().route("/it", axum::routing::get(get));
        let event = event(serde_json::json!({
            "rawPath": "/it", "requestContext": {"http": {"method": "GET"}},
        }));
        let answer = answer(router, event).await;
        let size = serde_json::to_vec(&answer).unwrap().len();
        (answer, size)
    }

    #[tokio::test]
    async fn what_can_be_sent_is_sent_and_what_cannot_is_a_problem() {
        for (body, is_base64) in [
            (b"{\"a\":\"b\"}".to_vec(), false),
            (vec![b'x'; 6 << 20].split_off(8192), false),
            // Quotes: twice as much as text.
            (vec![b'"'; 4 << 20], true),
            (vec![0; 4 << 20], true),
            (vec![0xff; 4 << 20], true),
        ] {
            let (answer, size) = sent(body.clone()).await;
            assert_eq!((answer.status_code, answer.is_base64_encoded), (200, is_base64));
            assert!(size <= ANSWER_LIMIT, "{size}");
            let back = if is_base64 {
                BASE64_STANDARD.decode(&answer.body).unwrap()
            } else {
                answer.body.into_bytes()
            };
            assert!(back == body);
        }
        for body in [vec![b'x'; 6 << 20], vec![0xff; 5 << 20]] {
            let (answer, size) = sent(body).await;
            assert_eq!(answer.status_code, 500);
            assert!(size < 2000);
            let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
            assert_eq!(problem["code"], "answer_too_large");
            assert_eq!(
                (&problem["instance"], &problem["request_id"]),
                (&"/it".into(), &"mine".into())
            );
            assert_eq!(answer.headers.get("x-request-id").unwrap(), "mine");
            assert_eq!(answer.headers.get("content-type").unwrap(), "application/problem+json");
            assert!(!answer.headers.contains_key("etag"));
        }
    }

    #[test]
    fn a_body_that_is_not_base64_is_a_problem_and_not_an_abort() {
        let outcome = request(event(serde_json::json!({
            "rawPath": "/", "requestContext": {"http": {"method": "POST"}},
            "body": "***", "isBase64Encoded": true
        })));
        assert_eq!(outcome.unwrap_err().code, Code::InvalidRequest);
    }
}
