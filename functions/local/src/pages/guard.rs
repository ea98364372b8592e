//! Who may open the private pages: a browser on this machine, at a name that no other site can have. A site
//! that points its own name to this machine (DNS rebinding) could otherwise read mails and requests.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use gateway::request::ClientIp;
use http::{HeaderMap, Method, StatusCode, header};
use primitives::context;

use super::layout::error;
use super::site::Site;

/// Admits a request by the name in its `Host`.
pub(super) async fn admit_name(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    if !site.whereabouts.names.has_own(request.headers()) {
        let detail = "Open the page at 127.0.0.1 or at localhost.";
        return error(StatusCode::MISDIRECTED_REQUEST, "Not served at this name", detail);
    }
    next.run(request).await
}

/// Admits a request by its client, and by who has sent it.
pub(super) async fn admit(request: Request, next: Next) -> Response {
    let client = request.extensions().get::<ClientIp>();
    if client.is_some_and(|client| !client.0.is_loopback()) {
        let detail = "It shows mails and requests: open it on the machine that runs the system.";
        return error(StatusCode::FORBIDDEN, "Not served to other machines", detail);
    }
    if *request.method() != Method::GET && !is_same_origin(request.headers()) {
        let detail = "Only the pages of this system may send this.";
        return error(StatusCode::FORBIDDEN, "Sent by another site", detail);
    }
    next.run(request).await
}

/// Whether a page of this origin has sent a request, or no page has.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let host = context::header(headers, header::HOST.as_str()).unwrap_or_default();
    let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, from)| from == host);
    let site = context::header(headers, "sec-fetch-site");
    context::header(headers, header::ORIGIN.as_str()).is_none_or(is_own)
        && site.is_none_or(|site| matches!(site, "same-origin" | "none"))
}
