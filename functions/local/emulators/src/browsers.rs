//! What keeps pages of the web away from the servers of this machine, which answer whoever reaches them. A page's
//! request to another origin has an `Origin`, and no SDK sends one. A site that points its own name to this machine
//! (DNS rebinding) is known by that name, in `Host`.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Whether no site can have this host: an address, a name without a domain, or a name that is reserved for private use
/// (RFC 6761 §6.3, and `.internal`).
pub fn is_private_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || !name.contains('.')
        || name.ends_with(".localhost")
        || name.ends_with(".internal")
}

/// Rejects what a page in a browser may have sent.
pub(crate) async fn reject_pages(request: Request, next: Next) -> Response {
    if request.headers().contains_key(header::ORIGIN) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let host = request.headers().get(header::HOST);
    if host.is_some_and(|host| !host.to_str().is_ok_and(is_private_host)) {
        return StatusCode::MISDIRECTED_REQUEST.into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::is_private_host;

    #[test]
    fn only_names_that_no_site_can_have_are_private() {
        for private in [
            "127.0.0.1:3000",
            "127.3.2.1",
            "[::1]:3000",
            "localhost:3000",
            "localhost",
            "LOCALHOST.",
            "gateway:3000",
            "a.localhost",
            "host.docker.internal:8000",
        ] {
            assert!(is_private_host(private), "{private}");
        }
        for foreign in [
            "rebound.example:3000",
            "127.0.0.1.example",
            "localhost.example:3000",
            "alocalhost.example",
            "rebound.example:3000:x",
        ] {
            assert!(!is_private_host(foreign), "{foreign}");
        }
    }
}
