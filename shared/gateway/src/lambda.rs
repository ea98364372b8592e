//! Running a family as a Lambda behind an API Gateway HTTP API (payload format 2.0).
//!
//! The event is read by us, not by `lambda_http`: that decodes `rawPath` into the URI, so that
//! `/links/a%3Fb` arrives as another path; expects every header to be text; and aborts the process
//! on a body that is not base64 (traps 16, 25, 26).

use std::collections::HashMap;
use std::fmt::Write;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderName, HeaderValue, Request};
use http_body_util::BodyExt;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};
use tower::ServiceExt;

use crate::app::App;
use crate::problem::{Code, Problem};
use crate::request::ClientIp;
use crate::routes::Routes;

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
    let response = match request(event) {
        Ok(request) => router.oneshot(request).await.into_response(),
        Err(problem) => problem.into_response(),
    };
    outgoing(response).await
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

/// `rawPath` arrives decoded (traps 25): everything but unreserved characters and `/` is encoded
/// again, so that a `?`, `#` or `%` in a parameter stays in it.
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

async fn outgoing(response: Response) -> HttpApiAnswer {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let mut headers = HashMap::<String, String>::new();
    let mut cookies = Vec::new();
    for (name, value) in &parts.headers {
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
    let (body, is_base64_encoded) = match std::str::from_utf8(&bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (BASE64_STANDARD.encode(&bytes), true),
    };
    HttpApiAnswer { status_code: parts.status.as_u16(), headers, cookies, body, is_base64_encoded }
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

    #[test]
    fn a_body_that_is_not_base64_is_a_problem_and_not_an_abort() {
        let outcome = request(event(serde_json::json!({
            "rawPath": "/", "requestContext": {"http": {"method": "POST"}},
            "body": "***", "isBase64Encoded": true
        })));
        assert_eq!(outcome.unwrap_err().code, Code::InvalidRequest);
    }
}
