//! The names at which the system is served. A site that points its own name to this machine (DNS rebinding) could
//! otherwise read, in its visitor's browser, what the API answers.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use emulators::is_private_host;
use gateway::app::App;
use http::{HeaderMap, header};
use identity::domain::Host;
use identity::storefront::subdomain_of;
use primitives::problem::{Code, Problem};

/// The names of a system that others do not reach.
#[derive(Debug, Clone)]
pub(crate) struct HostNames {
    /// Hosts of the system's URL and of the origins that may call it, with their ports.
    own: Arc<[String]>,
}

impl HostNames {
    /// The hosts of these URLs.
    pub(crate) fn of<'a>(urls: impl IntoIterator<Item = &'a str>) -> Self {
        let hosts = urls.into_iter().filter_map(|url| Some(url.split_once("://")?.1));
        Self { own: hosts.map(|host| name(host).to_ascii_lowercase()).collect() }
    }

    /// Whether a request was sent to one of these names, to one that no site can have, or to none.
    pub(crate) fn has_own(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST) else { return true };
        host.to_str().is_ok_and(|host| {
            is_private_host(host) || self.own.contains(&name(host).to_ascii_lowercase())
        })
    }
}

/// A host without its port.
fn name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// What the API is guarded by.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) names: HostNames,
    pub(crate) app: App,
}

/// Admits a request to the API that was sent to a name of the system, or to a domain that a store has verified.
pub(crate) async fn admit(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    if guard.names.has_own(request.headers()) {
        return next.run(request).await;
    }
    match guard.is_of_store(request.headers()).await {
        Ok(true) => next.run(request).await,
        Ok(false) => Problem::from(Code::MisdirectedRequest).into_response(),
        Err(problem) => problem.into_response(),
    }
}

impl Guard {
    async fn is_of_store(&self, headers: &HeaderMap) -> Result<bool, Problem> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        match host.and_then(|host| Host::of(name(host).trim_end_matches('.'))) {
            Some(host) => Ok(subdomain_of(&self.app, &host).await?.is_some()),
            None => Ok(false),
        }
    }
}
