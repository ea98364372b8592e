//! Responses with a theme's page.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::fault::Fault;
use crate::page_cache::KeptPage;
use crate::visit::Visit;

/// What a theme's page may do: run its own scripts and load its own files. It reaches no other origin, is framed by
/// nobody, and registers no worker, which would see the checkout's requests. Pictures may be anywhere, as in a shop's texts.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' https: data: blob:; media-src 'self' https: blob:; font-src 'self' data:; connect-src 'self'; \
     frame-src https://www.youtube.com https://www.youtube-nocookie.com https://player.vimeo.com; manifest-src 'self'; \
     form-action 'self'; base-uri 'none'; object-src 'none'; worker-src 'none'; frame-ancestors 'none'";

/// A page that was rendered now.
pub(super) fn page(
    visit: &Visit,
    status: StatusCode,
    page: &KeptPage,
    sent: &HeaderMap,
) -> Response {
    let is_public = visit.is_anonymous() && status == StatusCode::OK;
    if is_public {
        return kept(page, sent);
    }
    with_headers((status, page.html.clone()).into_response(), "private, no-store")
}

/// A page that is this visitor's alone.
pub(crate) fn private(status: StatusCode, html: String) -> Response {
    with_headers((status, html).into_response(), "private, no-store")
}

/// A page that is everybody's, or that the browser has already.
pub(super) fn kept(page: &KeptPage, sent: &HeaderMap) -> Response {
    let known = sent.get_all(header::IF_NONE_MATCH).iter();
    let mut tags = known.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(','));
    let is_known = tags.any(|tag| tag.trim().trim_start_matches("W/") == &*page.tag);
    let response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        (StatusCode::OK, page.html.clone()).into_response()
    };
    let mut response = with_headers(response, "public, max-age=2, must-revalidate");
    if let Ok(tag) = HeaderValue::from_str(&page.tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn with_headers(mut response: Response, caching: &'static str) -> Response {
    let headers = response.headers_mut();
    let all = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, caching),
        (header::VARY, "Cookie"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), microphone=(), geolocation=(), payment=()",
        ),
    ];
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// One section alone.
pub(super) fn section(html: String) -> Response {
    with_headers(html.into_response(), "no-store")
}

/// A page that cannot be shown. A preview that is over ends.
pub(crate) fn fault(visit: &Visit, fault: Fault) -> Response {
    let is_over = visit.preview().is_some() && fault.status.is_client_error();
    let is_of_theme = fault.status == StatusCode::UNPROCESSABLE_ENTITY;
    let response = fault.into_response();
    if is_over && !is_of_theme {
        return visit.with_cookie(response, crate::visit::PREVIEW, "");
    }
    response
}
