//! Outgoing HTTP to addresses that strangers chose: webhook receivers, media URLs, providers.
//!
//! A URL is validated three times, each time against a different attack.
//!
//! 1. [`Destination::parse`] validates the text: scheme, port, userinfo, and the host in any spelling. IP
//!    literals are rejected only here: no HTTP client passes them to its resolver (docs/platform.md §4), so no
//!    later check sees them.
//! 2. [`Egress::check`] also resolves the name when a subscription is created, so that its owner learns at
//!    once of a later rejection. It is no protection: the answer may change.
//! 3. [`Egress::send`] resolves again *inside* the connection, through a guard that rejects the name if any
//!    of its addresses is bad, and gives the client only validated ones. The validated address is the one that
//!    is dialled, so a name that rebinds between check and connect gains nothing.
//!
//! The receiver itself may be hostile, too. It may hang, drip a byte every 100 ms, or send 93 MiB in a second
//! (docs/platform.md §4). [`Outgoing::deadline`] covers everything from the resolver to the last byte, and
//! reading stops at [`Outgoing::max_body`]. Redirects are returned as answers, environment proxies are
//! ignored, and nothing is retried. The name is resolved at every attempt (docs/conventions.md §11). A
//! connection pool would bypass the resolver, so no connection outlives its request, except in
//! [`Egress::send_pooled`], which resolves first and reuses only a connection to an address in the answer.

mod connection_pool;
pub mod connector;
mod destination;
mod resolve;
mod tls;
mod transport;
mod txt;

use std::{
    error::Error,
    fmt, io,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method};
use rustls_platform_verifier::BuilderVerifierExt;
use url::Host;

use connection_pool::ConnectionPool;
pub use destination::{
    Destination, DestinationRejection, Policy, Ports, address_is_allowed, is_loopback,
};
use resolve::Guard;
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use transport::{Sending, Transport};
pub use txt::{NameServers, ResolveTxt, Texts};

/// Time for the TCP and TLS handshakes (docs/conventions.md §10).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The client of outgoing HTTP. Clones share one inner client, which is built at the first request: a process
/// that sends nothing does not read the system's certificates (docs/platform.md §8).
#[derive(Clone)]
pub struct Egress {
    guard: Guard,
    client: Arc<OnceLock<reqwest::Client>>,
    tls: Arc<OnceLock<rustls::ClientConfig>>,
    connections: Arc<ConnectionPool>,
    /// What carries requests instead of the network.
    transport: Option<Arc<dyn Transport>>,
    /// Made at the first query, so that other functions have no resolver.
    names: Arc<OnceLock<Arc<dyn ResolveTxt>>>,
}

impl fmt::Debug for Egress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Egress").field("policy", &self.guard.policy).finish_non_exhaustive()
    }
}

/// One outgoing request. It owns its headers and body, because they are signed before the name is resolved.
pub struct Outgoing {
    /// The method.
    pub method: Method,
    /// The destination.
    pub destination: Destination,
    /// The headers. `Host` and `Content-Length` are added.
    pub headers: HeaderMap,
    /// The body: exactly these bytes are sent, because they were signed.
    pub body: Bytes,
    /// Time for all of it: resolver, handshakes, headers and body (webhooks: 5 s, or 15 for a slow
    /// receiver, docs/conventions.md §10).
    pub deadline: Duration,
    /// Bytes of the response's body to read before hanging up (webhooks: 16 KiB,
    /// docs/conventions.md §10).
    pub max_body: usize,
}

/// The receiver's answer of any status, redirects included.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The HTTP status.
    pub status: u16,
    /// The response's headers.
    pub headers: HeaderMap,
    /// The first [`Outgoing::max_body`] bytes of the body, as sent: nothing is decompressed.
    pub body: Bytes,
    /// Whether the body had more bytes, which were not read.
    pub truncated: bool,
}

/// The reason why there is no answer. Its text is public: it has no address and no library's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendError {
    /// The URL or one of its addresses is rejected; nothing was connected.
    Blocked(DestinationRejection),
    /// The name does not resolve.
    Dns,
    /// No connection within three seconds, or it was rejected.
    Connect,
    /// The TLS handshake failed, most often over the certificate.
    Tls,
    /// The deadline passed. Our choice: also if the status had arrived but the body had not.
    Timeout,
    /// The connection broke, or the answer was not HTTP.
    Protocol,
}

impl SendError {
    /// The error class that a delivery attempt records (docs/conventions.md §10).
    pub fn class(self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked_address",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Blocked(rejection) => return rejection.fmt(formatter),
            Self::Dns => "The host name does not resolve to an address.",
            Self::Connect => "The host did not accept a connection.",
            Self::Tls => "The TLS handshake with the host failed.",
            Self::Timeout => "The host did not answer in time.",
            Self::Protocol => "The host did not answer with valid HTTP.",
        })
    }
}

impl Error for SendError {}

impl From<DestinationRejection> for SendError {
    fn from(rejection: DestinationRejection) -> Self {
        match rejection {
            DestinationRejection::Unresolvable => Self::Dns,
            rejection => Self::Blocked(rejection),
        }
    }
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> Self {
        let causes = || std::iter::successors(error.source(), |&error| cause_of(error));
        if let Some(rejection) =
            causes().find_map(|cause| cause.downcast_ref::<DestinationRejection>())
        {
            return Self::from(*rejection);
        }
        if causes().any(<dyn Error>::is::<rustls::Error>) {
            return Self::Tls;
        }
        // A connection that was not open within three seconds is `connect` too; `timeout` is for our deadline
        // alone.
        if error.is_connect() { Self::Connect } else { Self::Protocol }
    }
}

/// Like `source()`, which skips the error inside an `io::Error`; TLS errors arrive wrapped twice.
fn cause_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

impl Egress {
    /// A client that uses the operating system's resolver.
    pub fn new(policy: Policy) -> Self {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    /// A client with this resolver, for tests of hostile name servers.
    pub fn with_resolver(policy: Policy, resolver: Arc<dyn Resolve>) -> Self {
        Self {
            guard: Guard { policy, inner: resolver },
            client: Arc::default(),
            tls: Arc::default(),
            connections: Arc::default(),
            transport: None,
            names: Arc::default(),
        }
    }

    /// The same client, whose requests this carries instead of the network: for a system that is one process.
    #[must_use]
    pub fn with_transport(self, transport: Arc<dyn Transport>) -> Self {
        Self { transport: Some(transport), ..self }
    }

    /// The same client with another source of TXT records: a file, in development.
    #[must_use]
    pub fn with_names(self, names: Arc<dyn ResolveTxt>) -> Self {
        Self { names: Arc::new(OnceLock::from(names)), ..self }
    }

    /// The TXT records of a name; none if the name does not exist. Their content is untrusted.
    ///
    /// # Errors
    /// [`SendError::Dns`], also when no name server answers in three seconds.
    pub async fn txt(&self, name: &str) -> Result<Vec<String>, SendError> {
        let names = self.names.get_or_init(|| Arc::new(NameServers::default()));
        txt::resolve_txt(&**names, name).await
    }

    /// The destinations that this client may reach.
    pub fn policy(&self) -> &Policy {
        &self.guard.policy
    }

    /// Validates a URL and every present address of its name, within two seconds. It is for the time when the
    /// URL is entered; [`Egress::send`] does not rely on it.
    pub async fn check(&self, url: &str) -> Result<Destination, DestinationRejection> {
        let destination = Destination::parse(url, self.policy())?;
        if let Some(Host::Domain(name)) = destination.0.host() {
            self.guard.resolve(name).await?;
        }
        Ok(destination)
    }

    /// Sends one request, once. Reads the answer up to its end, the body limit or the deadline.
    pub async fn send(&self, request: Outgoing) -> Result<Incoming, SendError> {
        // The destination may have been validated under another policy, and the guard never sees an IP
        // literal.
        request.destination.validate(self.policy())?;
        let deadline = request.deadline;
        // Dropping the exchange closes its connection, whatever state that is in.
        let exchange = async {
            match &self.transport {
                Some(transport) => transport.send(request).await,
                None => exchange(self.client()?, request).await,
            }
        };
        tokio::time::timeout(deadline, exchange).await.map_err(|_| SendError::Timeout)?
    }

    /// As [`Egress::send`], over an idle connection to one of the name's present addresses if there is one.
    /// Its own connection stays open for three seconds, for the next request.
    pub async fn send_pooled(&self, request: Outgoing) -> Result<Incoming, SendError> {
        request.destination.validate(self.policy())?;
        let deadline = request.deadline;
        let exchange = async {
            if let Some(transport) = &self.transport {
                return transport.send(request).await;
            }
            let client = self.pooled_client(&request.destination).await?;
            exchange(&client, request).await
        };
        tokio::time::timeout(deadline, exchange).await.map_err(|_| SendError::Timeout)?
    }

    /// The client whose connections lead to the destination's present, validated addresses.
    async fn pooled_client(&self, destination: &Destination) -> Result<reqwest::Client, SendError> {
        let addresses = match destination.0.host() {
            Some(Host::Domain(name)) => self.guard.resolve(name).await?,
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            None => return Err(DestinationRejection::HostName.into()),
        };
        self.connections.client(&destination.0, &addresses, |pool| self.build(pool))
    }

    fn client(&self) -> Result<&reqwest::Client, SendError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.build(reqwest::Client::builder().pool_max_idle_per_host(0))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Builds a client that cannot bypass the guard.
    fn build(&self, pool: reqwest::ClientBuilder) -> Result<reqwest::Client, SendError> {
        let client = pool
            .tls_backend_preconfigured(self.tls())
            .dns_resolver(self.guard.clone())
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .http1_only()
            .build()?;
        Ok(client)
    }

    fn tls(&self) -> rustls::ClientConfig {
        self.tls.get_or_init(tls_config).clone()
    }
}

async fn exchange(client: &reqwest::Client, request: Outgoing) -> Result<Incoming, SendError> {
    let mut response = client
        .request(request.method, request.destination.0)
        .headers(request.headers)
        .body(request.body)
        .send()
        .await?;
    let headers = std::mem::take(response.headers_mut());
    let mut body = BytesMut::new();
    let mut truncated = false;
    while let Some(mut chunk) = response.chunk().await? {
        let left = request.max_body.saturating_sub(body.len());
        truncated = chunk.len() > left;
        chunk.truncate(left);
        body.extend_from_slice(&chunk);
        if truncated {
            break;
        }
    }
    Ok(Incoming { status: response.status().as_u16(), headers, body: body.freeze(), truncated })
}

/// TLS with the system's certificates. On a machine without any (a bare container), no peer is trusted: https
/// fails as `tls`, and a local stack over http still works.
fn tls_config() -> rustls::ClientConfig {
    let builder = tls();
    let trusting_nobody = builder.clone().with_root_certificates(rustls::RootCertStore::empty());
    let mut config =
        builder.with_platform_verifier().unwrap_or(trusting_nobody).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

/// TLS with the algorithms of [`tls`].
pub(crate) fn tls() -> rustls::ConfigBuilder<rustls::ClientConfig, rustls::WantsVerifier> {
    let provider = Arc::new(tls::provider());
    let versions =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let Ok(builder) = versions else { unreachable!("ring speaks TLS 1.2 and 1.3") };
    builder
}

#[cfg(test)]
mod tests;
