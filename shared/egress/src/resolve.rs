//! Names, and the guard that validates every address they lead to.

use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use super::destination::{DestinationRejection, Policy, address_is_allowed};

/// Time for the resolver alone. Our choice: under [`CONNECT_TIMEOUT`], so that a name server that
/// hangs is recorded as `dns` and not as `connect`.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The result of [`Resolve::resolve`]: every address of the name, in the order to try them.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Resolves names. It is not trusted: the caller validates its answers.
pub trait Resolve: Send + Sync {
    /// All addresses of a name. An empty list and an error mean the same: the name cannot be used.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// The operating system's resolver (`getaddrinfo`), on tokio's blocking threads.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver that rejects addresses. The HTTP client has no other, so it cannot dial an address that was
/// not validated.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) policy: Policy,
    pub(super) inner: Arc<dyn Resolve>,
}

impl Guard {
    pub(super) async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, DestinationRejection> {
        let answer = tokio::time::timeout(RESOLVE_TIMEOUT, self.inner.resolve(host)).await;
        let Ok(Ok(addresses)) = answer else {
            return Err(DestinationRejection::Unresolvable);
        };
        if addresses.is_empty() {
            return Err(DestinationRejection::Unresolvable);
        }
        // One bad answer among good ones is an attack that waits for a retry: reject them all.
        if addresses.iter().all(|address| address_is_allowed(*address, &self.policy)) {
            Ok(addresses)
        } else {
            Err(DestinationRejection::Address)
        }
    }
}

impl reqwest::dns::Resolve for Guard {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.resolve(name.as_str()).await?;
            // The client replaces port 0 with the URL's.
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            let addresses: reqwest::dns::Addrs = Box::new(addresses);
            Ok(addresses)
        })
    }
}
