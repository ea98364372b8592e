//! Connections that are kept for the next request to the same receiver, for a few seconds.
//!
//! A pool knows a connection by its URL's host and asks no resolver about it. So there is one pool for
//! each receiver and each answer of its name server: the name is resolved and validated for every request
//! as ever, and a connection is used again only by a request of the same scheme, name (which is the one
//! that its certificate was verified for) and port, whose addresses are those that it was made to. When
//! the name leads elsewhere the pool is dropped, and its connections with it.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use url::{Host, Url};

use super::{DestinationRejection, SendError};

/// How long a connection is kept for another request. Our choice: less than servers wait before they
/// close one, most of which wait five seconds or more.
pub(super) const IDLE: Duration = Duration::from_secs(3);
/// Connections to one receiver that are kept.
pub(super) const MOST_IDLE: usize = 16;
/// Receivers whose connections are kept: those that were sent to last.
const MOST_RECEIVERS: usize = 64;

/// Whom a connection leads to, by what the URL says.
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
    /// Sorted: name servers answer in turns.
    addresses: Vec<IpAddr>,
    client: reqwest::Client,
    /// When it was asked for, as [`Inner::asked`] counts.
    last: u64,
}

#[derive(Debug, Default)]
struct Inner {
    pools: HashMap<Origin, Pool>,
    asked: u64,
}

/// The receivers that were sent to last.
#[derive(Debug, Default)]
pub(super) struct ConnectionPool(Mutex<Inner>);

impl ConnectionPool {
    /// The client for requests to this URL whose host was validated to have these addresses; `build`
    /// makes one that has never connected.
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
        inner.asked = inner.asked.saturating_add(1);
        let last = inner.asked;
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
