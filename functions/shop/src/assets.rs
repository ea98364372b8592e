//! Files of themes, and images of stores, on the shop's own origin.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderMap, HeaderName, StatusCode, header};

use crate::fault::Fault;
use crate::paths::segment;
use crate::visit::{AnyVisit, Visit};

/// The request headers of a file that the API answers for itself.
const FORWARDED: [(&str, HeaderName); 3] = [
    ("if-none-match", header::IF_NONE_MATCH),
    ("range", header::RANGE),
    ("if-range", header::IF_RANGE),
];

/// `GET /assets/{sha256}/{name}`: the name is for people and for scripts that import each other.
pub(crate) async fn theme_file(
    Path((sha256, _)): Path<(String, String)>,
    headers: HeaderMap,
    AnyVisit(visit): AnyVisit,
) -> Result<Response, Fault> {
    file(&visit, &format!("/theme/files/{}", segment(&sha256)), &headers).await
}

/// `GET /media/{id}`.
pub(crate) async fn media(
    Path(id): Path<String>,
    headers: HeaderMap,
    AnyVisit(visit): AnyVisit,
) -> Result<Response, Fault> {
    file(&visit, &format!("/media/{}", segment(&id)), &headers).await
}

/// `GET /shared/{name}`: a file that themes expect of the platform.
pub(crate) async fn shared(Path(name): Path<String>) -> Response {
    let Some((kind, text)) = shop_theme::shared_file(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}

/// `GET /favicon.ico`: the store's own, if it has one.
pub(crate) async fn favicon(AnyVisit(visit): AnyVisit) -> Response {
    match &visit.store().branding.favicon {
        Some(id) => Redirect::temporary(&format!("/media/{}", id.as_str())).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn file(visit: &Visit, path: &str, headers: &HeaderMap) -> Result<Response, Fault> {
    // A theme's script must not become a worker, which would see and answer every request of the shop.
    if headers.contains_key("service-worker") {
        let detail = "A theme's file is no service worker.";
        return Err(Fault::of(StatusCode::FORBIDDEN, "forbidden", detail));
    }
    // A page has dozens of files, which browsers and shared caches keep: they are not its visitor's cost.
    let mut call = visit.public(path).free();
    for (name, key) in FORWARDED {
        let value = headers.get(key).and_then(|value| value.to_str().ok());
        call = call.header(name, value.map(str::to_owned));
    }
    let mut response = visit.shops.api.respond(call).await;
    // It belongs to pages of this origin alone.
    response.headers_mut().remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    Ok(response)
}
