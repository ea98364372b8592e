//! CORS: routes that their own rule opens are open to any origin, all others to the configured admin origins
//! alone (docs/conventions.md §1).

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use primitives::context;
use services::config::Config;

/// Whether answers to this method and path may be read from any origin (CORS).
pub type CrossOrigin = fn(&Method, &str) -> bool;

/// The method of the actual request; a preflight names it in its header.
fn requested_method(method: &Method, headers: &HeaderMap) -> Method {
    let named = context::header(headers, "access-control-request-method")
        .filter(|_| method == Method::OPTIONS)
        .and_then(|name| name.parse().ok());
    named.unwrap_or_else(|| method.clone())
}

/// Adds the headers that let the request's origin read the answer, if it may.
pub(crate) fn apply(
    (config, is_open): (&Config, CrossOrigin),
    (method, path): (&Method, &str),
    request: &HeaderMap,
    answer: &mut HeaderMap,
) {
    if is_open(&requested_method(method, request), path) {
        // Also without an `Origin`, because a shared cache passes the answer on to requests that have one.
        answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    } else {
        let Some(origin) = context::header(request, "origin") else { return };
        answer.append(header::VARY, HeaderValue::from_static("Origin"));
        if !config.admin_origins.iter().any(|allowed| allowed == origin) {
            return;
        }
        if let Ok(origin) = HeaderValue::from_str(origin) {
            answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            let yes = HeaderValue::from_static("true");
            answer.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
        }
    }
    let exposed = "etag, link, location, retry-after, x-request-id, idempotent-replayed, \
                   ratelimit, ratelimit-policy, x-service-cost-requested, x-service-cost-actual, \
                   x-service-cost-available, x-service-cost-restore-rate";
    answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
}

/// Whether a cookie credential is trusted: from an admin origin, or from no cross-site page. Any page's
/// request carries the cookie; a bearer token does not travel by itself.
pub fn cookie_is_trusted(config: &Config, headers: &HeaderMap) -> bool {
    match context::header(headers, "origin") {
        None => context::header(headers, "sec-fetch-site").is_none_or(|site| site != "cross-site"),
        Some(origin) => config.admin_origins.iter().any(|allowed| allowed == origin),
    }
}

/// The answer to a preflight, when the request is one.
pub(crate) fn preflight(method: &Method, request: &HeaderMap) -> Option<(StatusCode, HeaderMap)> {
    let requested = request.get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    if method != Method::OPTIONS || !request.contains_key(header::ORIGIN) {
        return None;
    }
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, requested.clone());
    let allowed = "authorization, content-type, idempotency-key, if-match, if-none-match, \
                   traceparent, x-request-id, x-service-store-id, x-service-order-token, x-service-cart-token, \
                   x-service-preview-token, x-service-locale";
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    headers.insert(HeaderName::from_static("vary"), HeaderValue::from_static("Origin"));
    Some((StatusCode::NO_CONTENT, headers))
}
