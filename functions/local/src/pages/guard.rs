//! Who may open the private pages: a browser on this machine, at a name that no other site can have. A site
//! that points its own name to this machine (DNS rebinding) could otherwise read mails and requests.

use std::net::IpAddr;
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
    let own = site.whereabouts.url.split_once("://").map_or("", |(_, host)| host);
    let host = context::header(request.headers(), header::HOST.as_str());
    if host.is_some_and(|host| host != own && !is_local(host)) {
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

/// Whether nobody can register this host: an address, or a name without a domain.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || !name.contains('.')
        || name.ends_with(".localhost")
        || name.ends_with(".internal")
}

/// Whether a page of this origin has sent a request, or no page has.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let host = context::header(headers, header::HOST.as_str()).unwrap_or_default();
    let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, from)| from == host);
    let site = context::header(headers, "sec-fetch-site");
    context::header(headers, header::ORIGIN.as_str()).is_none_or(is_own)
        && site.is_none_or(|site| matches!(site, "same-origin" | "none"))
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_names_that_nobody_can_register_are_local() {
        for local in [
            "127.0.0.1:3000",
            "[::1]:3000",
            "localhost:3000",
            "localhost",
            "gateway:3000",
            "a.localhost",
        ] {
            assert!(is_local(local), "{local}");
        }
        for foreign in ["rebound.example:3000", "127.0.0.1.example", "localhost.example:3000"] {
            assert!(!is_local(foreign), "{foreign}");
        }
    }
}
