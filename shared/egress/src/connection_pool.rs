//! The connection pool: connections stay open for the next request to the same receiver, for a few
//! seconds.
//!
//! A client pool finds a connection by its URL's host, without a resolver. So there is one pool for each
//! receiver and each answer of its name server. The name is resolved and validated for every request. A
//! connection is reused only by a request of the same scheme, name (which its certificate was verified
//! for) and port, whose addresses are those of the connection. When the name has other addresses, the pool
//! is dropped, with its connections.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use url::{Host, Url};

use super::{DestinationRejection, SendError};

/// The time for which an idle connection stays open for another request. Our choice: less than servers
/// wait before they close one, most of which wait five seconds or more.
pub(super) const IDLE: Duration = Duration::from_secs(3);
/// The most idle connections to one receiver.
pub(super) const MOST_IDLE: usize = 16;
/// The most receivers with connections: the latest ones.
const MOST_RECEIVERS: usize = 64;

/// The origin that a connection leads to, by its URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    fn of(url: &Url) -> Result<Self, SendError> {
        let host = url.host_str().ok_or(DestinationRejection::HostName)?.to_owned();
        let port = url.port_or_known_default().ok_or(DestinationRejection::Port)?;
        Ok(Self { scheme: url.scheme().to_owned(), host, port })
    }
}

/// A client whose connections lead to these addresses.
#[derive(Debug)]
struct Pool {
    /// Sorted, because name servers rotate their answers.
    addresses: Vec<IpAddr>,
    client: reqwest::Client,
    /// The time of its last use, as [`Inner::uses`] counts.
    last: u64,
}

#[derive(Debug, Default)]
struct Inner {
    pools: HashMap<Origin, Pool>,
    uses: u64,
}

/// The latest receivers.
#[derive(Debug, Default)]
pub(super) struct ConnectionPool(Mutex<Inner>);

impl ConnectionPool {
    /// The client for requests to this URL, whose host was validated to have these addresses; `build`
    /// makes a client without connections.
    pub(super) fn client(
        &self,
        url: &Url,
        validated: &[IpAddr],
        build: impl FnOnce(reqwest::ClientBuilder) -> Result<reqwest::Client, SendError>,
    ) -> Result<reqwest::Client, SendError> {
        let origin = Origin::of(url)?;
        let mut addresses = validated.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.uses = inner.uses.saturating_add(1);
        let last = inner.uses;
        if let Some(pool) = inner.pools.get_mut(&origin)
            && pool.addresses == addresses
        {
            pool.last = last;
            return Ok(pool.client.clone());
        }
        let mut builder =
            reqwest::Client::builder().pool_idle_timeout(IDLE).pool_max_idle_per_host(MOST_IDLE);
        if let Some(Host::Domain(name)) = url.host() {
            // The client replaces port 0 with the URL's.
            let dialled: Vec<_> =
                validated.iter().map(|address| SocketAddr::new(*address, 0)).collect();
            builder = builder.resolve_to_addrs(name, &dialled);
        }
        let client = build(builder)?;
        inner.pools.insert(origin, Pool { addresses, client: client.clone(), last });
        if inner.pools.len() > MOST_RECEIVERS {
            let oldest = inner.pools.iter().min_by_key(|(_, pool)| pool.last);
            if let Some(oldest) = oldest.map(|(origin, _)| origin.clone()) {
                inner.pools.remove(&oldest);
            }
        }
        Ok(client)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pools.len()
    }
}
