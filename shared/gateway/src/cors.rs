//! Which browsers may call what: storefront, token and public catalogue routes are open, merchant
//! routes are for the configured admin origins alone (docs/conventions.md §1).
//!
//! Judged by path, not by row: API Gateway sends a preflight for any path to `$default`.

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::config::Config;
use crate::context;

/// Paths whose answers any origin may read. None of them accepts a cookie.
const OPEN: &[&str] = &[
    "/health",
    "/v1/storefront/",
    "/v1/app-store/oauth/token",
    "/v1/app-store/oauth/revoke",
    "/v1/app-store/oauth/introspect",
    "/v1/app-store/oauth/jwks",
    "/v1/app-store/oauth/metadata",
    "/v1/app-store/apps",
    "/v1/operations/event-types",
];

/// Whether any origin may call this. Below the catalogue of apps that is reading alone: writing
/// there acts for a merchant or a developer.
fn is_open(method: &Method, path: &str) -> bool {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let merchant = path == "/v1/app-store/oauth/token-exchange"
        || (path.starts_with("/v1/app-store/apps") && !reads);
    !merchant && OPEN.iter().any(|open| path.starts_with(open))
}

/// The method that is asked about: a preflight's is in its header.
fn asked_method(method: &Method, headers: &HeaderMap) -> Method {
    let named = context::header(headers, "access-control-request-method")
        .filter(|_| method == Method::OPTIONS)
        .and_then(|name| name.parse().ok());
    named.unwrap_or_else(|| method.clone())
}

/// Adds the headers that let the asking origin read the answer, if it may.
pub(crate) fn apply(
    config: &Config,
    method: &Method,
    path: &str,
    request: &HeaderMap,
    answer: &mut HeaderMap,
) {
    if is_open(&asked_method(method, request), path) {
        // Also to who names no origin: a shared cache hands the answer on to those who do.
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

/// Whether a cookie credential may be believed: from no browser origin, or an admin origin. A
/// cookie rides on any page's request; a bearer token does not.
pub fn cookie_is_trusted(config: &Config, headers: &HeaderMap) -> bool {
    match context::header(headers, "origin") {
        None => context::header(headers, "sec-fetch-site").is_none_or(|site| site != "cross-site"),
        Some(origin) => config.admin_origins.iter().any(|allowed| allowed == origin),
    }
}

/// The answer to a preflight, when the request is one.
pub(crate) fn preflight(method: &Method, request: &HeaderMap) -> Option<(StatusCode, HeaderMap)> {
    let asked = request.get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    if method != Method::OPTIONS || !request.contains_key(header::ORIGIN) {
        return None;
    }
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, asked.clone());
    let allowed = "authorization, content-type, idempotency-key, if-match, if-none-match, \
                   traceparent, x-request-id, x-service-store-id, x-service-order-token";
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    headers.insert(HeaderName::from_static("vary"), HeaderValue::from_static("Origin"));
    Some((StatusCode::NO_CONTENT, headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_paths_are_open() {
        for open in ["/v1/storefront/lookup", "/v1/app-store/oauth/token", "/v1/app-store/apps"] {
            assert!(is_open(&Method::GET, open), "{open}");
        }
        for closed in [
            "/v1/auth/signin",
            "/v1/stores",
            "/v1/app-store/oauth/token-exchange",
            "/v1/app-store/apps/app_1/oauth/authorize",
            "/v1/app-store/apps/app_1/reviews",
            "/v1/app-store/developers/apps",
        ] {
            assert!(!is_open(&Method::POST, closed), "{closed}");
        }
    }
}
