//! Outgoing HTTP to addresses that strangers chose: webhook receivers, media URLs, providers.
//!
//! A URL is judged three times, and each time a different lie fails.
//!
//! 1. [`Destination::parse`] judges the text: scheme, port, userinfo, and the host in whatever
//!    spelling it came. IP literals end here, because no HTTP client asks its resolver about them
//!    (traps 10), so nothing later would.
//! 2. [`Egress::check`] also resolves the name, when a subscription is created, so that its owner
//!    hears at once what would be refused later. It protects nobody: the answer may change.
//! 3. [`Egress::send`] resolves again *inside* the connection, through a guard that refuses if any
//!    answer is bad and hands the client only what it has judged. The checked address is the one
//!    that is dialled, so a name that rebinds between check and connect gains nothing.
//!
//! Then the receiver itself may be hostile. It may hang, drip a byte every 100 ms, or fill 93 MiB in
//! a second (traps 11): [`Outgoing::deadline`] covers everything from the resolver to the last byte,
//! and reading stops at [`Outgoing::max_body`]. Redirects come back as answers, environment proxies
//! are ignored, nothing is retried, and no connection outlives its request: a pooled one would skip
//! the resolver, and the interface wants the name resolved at every attempt (protocols §8).

use std::{
    error::Error,
    fmt,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, LazyLock, OnceLock},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method};
use ip_network::IpNetwork;
use rustls_platform_verifier::BuilderVerifierExt;
use url::{Host, Url};

/// Longest URL we accept, in bytes (our choice; longer ones are cut by proxies on the way).
const MAX_URL_BYTES: usize = 2048;

/// Time for the TCP and TLS handshakes together with the resolver (protocols §8: "Connect 3 s").
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time for the resolver alone. Our choice: under [`CONNECT_TIMEOUT`], so that a name server that
/// hangs is recorded as `dns` and not as `connect`.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The networks that protocols §8 refuses, in its order. Those outside `2000::/3` would be refused
/// anyway ([`address_is_allowed`]); they stand here so that the list can be compared with its source.
const REFUSED_NETWORKS: &[&str] = &[
    "10.0.0.0/8",      // private, RFC 1918
    "172.16.0.0/12",   // private
    "192.168.0.0/16",  // private
    "127.0.0.0/8",     // loopback
    "169.254.0.0/16",  // link-local: the metadata services of the clouds
    "100.64.0.0/10",   // CGNAT, RFC 6598
    "224.0.0.0/4",     // multicast
    "192.0.2.0/24",    // documentation
    "198.51.100.0/24", // documentation
    "203.0.113.0/24",  // documentation
    "198.18.0.0/15",   // benchmarking
    "0.0.0.0/8",       // "this network": 0.0.0.0 reaches loopback on Linux
    "240.0.0.0/4",     // reserved, and broadcast at its end
    "192.0.0.0/24",    // IETF protocol assignments
    "192.88.99.0/24",  // 6to4 relays
    "::/128",
    "::1/128",
    "fe80::/10",     // link-local
    "fc00::/7",      // unique local: fd00:ec2::254 is a metadata service
    "fec0::/10",     // site-local
    "ff00::/8",      // multicast
    "2001:db8::/32", // documentation
    "3fff::/20",     // documentation
    "100::/64",      // discard
    "2002::/16",     // 6to4: carries an IPv4 address
    "64:ff9b::/96",  // NAT64: carries an IPv4 address
    "64:ff9b:1::/48",
    "2001::/32",     // Teredo: carries an IPv4 address
    "2001:2::/48",   // benchmarking
    "2001:10::/28",  // ORCHID
    "2001:20::/28",  // ORCHIDv2
    "2001::/23",     // our choice: all IETF protocol assignments, RFC 2928
    "5f00::/16",     // segment routing
    "::/96",         // v4-compatible
    "::ffff:0:0/96", // v4-mapped. Our choice: of allowed IPv4 too, nobody publishes such an AAAA
];

/// [`REFUSED_NETWORKS`], parsed once. `None`, should one of them not parse, refuses everything.
static REFUSED: LazyLock<Option<Vec<IpNetwork>>> =
    LazyLock::new(|| REFUSED_NETWORKS.iter().map(|network| network.parse().ok()).collect());

/// What outgoing requests may reach.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Whether `http:` is accepted next to `https:`. Never in production.
    pub allow_http: bool,
    /// Whether 127.0.0.0/8, `::1` and `localhost` are accepted. Never in production.
    pub allow_loopback: bool,
    /// Which ports may be dialled.
    pub ports: Ports,
}

/// Which ports outgoing requests may dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// These alone, so that a webhook cannot talk to a mail server or a database.
    Only(&'static [u16]),
    /// Every port: local receivers listen wherever there is room.
    Any,
}

impl Policy {
    /// What production uses: https, ports 443 and 8443, global unicast (protocols §8).
    pub fn strict() -> Self {
        Self { allow_http: false, allow_loopback: false, ports: Ports::Only(&[443, 8443]) }
    }

    /// What `local` and tests use: also http, loopback and any port. Every other private range
    /// stays refused, so that a developer's machine is no bridge into the office network.
    pub fn development() -> Self {
        Self { allow_http: true, allow_loopback: true, ports: Ports::Any }
    }
}

/// Why a URL, or an address it leads to, is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Longer than 2048 bytes.
    TooLong,
    /// Not an absolute URL, or with bytes that parsers repair: controls, spaces, backslashes.
    Malformed,
    /// Not `https`.
    Scheme,
    /// A name or password before the host.
    UserInfo,
    /// A `#fragment`, which would never be sent.
    Fragment,
    /// A port outside [`Policy::ports`].
    Port,
    /// A host that is not a public DNS name: empty, one label, a trailing dot.
    HostName,
    /// A global IP address instead of a name.
    Literal,
    /// A name for private use: `localhost`, `.localhost`, `.local`, `.internal`.
    LocalName,
    /// An address that is not global unicast, written out or among the resolver's answers.
    Address,
    /// The name has no addresses, or its resolver did not answer within two seconds.
    Unresolvable,
}

impl Refusal {
    /// The problem code of the interface (api: `POST /webhook-subscriptions`): `blocked_address`
    /// if the URL leads to a private place, `invalid_url` for everything else.
    pub fn code(self) -> &'static str {
        match self {
            Self::LocalName | Self::Address => "blocked_address",
            _ => "invalid_url",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLong => "The URL is longer than 2048 bytes.",
            Self::Malformed => "The URL is not a valid absolute URL.",
            Self::Scheme => "The URL must begin with https://.",
            Self::UserInfo => "The URL must not contain a user name or password.",
            Self::Fragment => "The URL must not contain a fragment.",
            Self::Port => "The URL's port is not allowed; use 443 or 8443.",
            Self::HostName => "The URL's host must be a full public host name.",
            Self::Literal => "The URL's host must be a name, not an IP address.",
            Self::LocalName => "The URL's host is a name for private networks.",
            Self::Address => "The URL's host is not a public internet address.",
            Self::Unresolvable => "The URL's host name does not resolve to an address.",
        })
    }
}

impl Error for Refusal {}

/// A URL that was parsed and judged. To hold one is the proof; only its name's addresses are open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination(Url);

impl Destination {
    /// Judges everything about a URL that can be judged without asking a name server.
    pub fn parse(text: &str, policy: &Policy) -> Result<Self, Refusal> {
        if text.len() > MAX_URL_BYTES {
            return Err(Refusal::TooLong);
        }
        // `url` drops tabs and line breaks and reads `\` as `/` (traps 12, 15). Whoever sends these
        // hopes that two parsers disagree, so they are refused and not repaired.
        if text.bytes().any(|byte| byte <= 0x20 || byte == 0x7f || byte == b'\\') {
            return Err(Refusal::Malformed);
        }
        if text.contains('#') {
            return Err(Refusal::Fragment);
        }
        // For the same reason: `https:host` and `https:///host` would be repaired, and the `@` of an
        // empty userinfo would be gone after parsing.
        let (_, rest) = text.split_once("://").ok_or(Refusal::Malformed)?;
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(Refusal::UserInfo);
        }
        if authority.is_empty() {
            return Err(Refusal::HostName);
        }
        let destination = Self(Url::parse(text).map_err(|_| Refusal::Malformed)?);
        destination.judge(policy)?;
        Ok(destination)
    }

    /// The URL in normal form, which is what is requested.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host in normal form: the key for limits per receiver.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    fn judge(&self, policy: &Policy) -> Result<(), Refusal> {
        match self.0.scheme() {
            "https" => {}
            "http" if policy.allow_http => {}
            _ => return Err(Refusal::Scheme),
        }
        let port = self.0.port_or_known_default().ok_or(Refusal::Port)?;
        if matches!(policy.ports, Ports::Only(allowed) if !allowed.contains(&port)) {
            return Err(Refusal::Port);
        }
        // `url` has already turned every spelling of an address (decimal, octal, hex, short, full
        // width) into one of the two literals.
        match self.0.host() {
            Some(Host::Domain(name)) => judge_name(name, policy),
            Some(Host::Ipv4(address)) => judge_literal(address.into(), policy),
            Some(Host::Ipv6(address)) => judge_literal(address.into(), policy),
            None => Err(Refusal::HostName),
        }
    }
}

fn judge_literal(address: IpAddr, policy: &Policy) -> Result<(), Refusal> {
    match address_is_allowed(address, policy) {
        true if address.is_loopback() => Ok(()),
        true => Err(Refusal::Literal),
        false => Err(Refusal::Address),
    }
}

fn judge_name(name: &str, policy: &Policy) -> Result<(), Refusal> {
    // An empty label is a trailing dot (`localhost.` is localhost) or a doubled one.
    if name.split('.').any(str::is_empty) {
        return Err(Refusal::HostName);
    }
    match name.rsplit('.').next() {
        Some("localhost") if policy.allow_loopback => Ok(()),
        Some("localhost" | "local" | "internal") => Err(Refusal::LocalName),
        _ if name.contains('.') => Ok(()),
        // The resolver would complete a single label with the machine's search domains.
        _ => Err(Refusal::HostName),
    }
}

/// Whether a connection may go to this address: global unicast (protocols §8), for IPv6 only within
/// `2000::/3` (traps 12), and loopback where the policy says so.
pub fn address_is_allowed(ip: IpAddr, policy: &Policy) -> bool {
    if ip.is_loopback() {
        return policy.allow_loopback;
    }
    let is_unicast = match ip {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => matches!(address.segments(), [0x2000..=0x3fff, ..]),
    };
    let is_refused =
        |networks: &Vec<IpNetwork>| networks.iter().any(|network| network.contains(ip));
    is_unicast && REFUSED.as_ref().is_some_and(|networks| !is_refused(networks))
}

/// What [`Resolve::resolve`] returns: every address of the name, in the order to try them.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Looks names up. It is not trusted: its answers are judged by the caller.
pub trait Resolve: Send + Sync {
    /// All addresses of a name. An empty list and an error mean the same: the name is of no use.
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

/// A resolver that refuses. The HTTP client knows no other, so it cannot dial what was not judged.
#[derive(Clone)]
struct Guard {
    policy: Policy,
    inner: Arc<dyn Resolve>,
}

impl Guard {
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, Refusal> {
        let answer = tokio::time::timeout(RESOLVE_TIMEOUT, self.inner.resolve(host)).await;
        let Ok(Ok(addresses)) = answer else {
            return Err(Refusal::Unresolvable);
        };
        if addresses.is_empty() {
            return Err(Refusal::Unresolvable);
        }
        // One bad answer among good ones is an attack that waits for a retry: refuse them all.
        if addresses.iter().all(|address| address_is_allowed(*address, &self.policy)) {
            Ok(addresses)
        } else {
            Err(Refusal::Address)
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

/// The way out. Clones share one client, which is built at the first request: a start-up that sends
/// nothing does not pay for reading the system's certificates (0.7 ms, traps 22).
#[derive(Clone)]
pub struct Egress {
    guard: Guard,
    client: Arc<OnceLock<reqwest::Client>>,
}

impl fmt::Debug for Egress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Egress").field("policy", &self.guard.policy).finish_non_exhaustive()
    }
}

/// One request. It owns its headers and body, because they are signed before the name is resolved.
pub struct Outgoing {
    /// The method.
    pub method: Method,
    /// Where it goes.
    pub destination: Destination,
    /// Its headers. `Host` and `Content-Length` are added.
    pub headers: HeaderMap,
    /// Its body: exactly these bytes are sent, since exactly these were signed.
    pub body: Bytes,
    /// Time for all of it: resolver, handshakes, headers and body (webhooks: 15 s, protocols §8).
    pub deadline: Duration,
    /// Bytes of the response's body to read before hanging up (webhooks: 16 KiB, protocols §8).
    pub max_body: usize,
}

/// What the receiver answered, whatever the status; a redirect is an answer too.
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

/// Why there is no answer. The text is public: it names no address, and no library's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendError {
    /// The URL or one of its addresses is refused; nothing was connected.
    Blocked(Refusal),
    /// The name does not resolve.
    Dns,
    /// No connection within three seconds, or it was refused.
    Connect,
    /// The TLS handshake failed, most often over the certificate.
    Tls,
    /// The deadline passed. Our choice: also if the status had arrived but the body had not.
    Timeout,
    /// The connection broke, or what came over it was not HTTP.
    Protocol,
}

impl SendError {
    /// The error class that a delivery attempt records (protocols §8).
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
            Self::Blocked(refusal) => return refusal.fmt(formatter),
            Self::Dns => "The host name does not resolve to an address.",
            Self::Connect => "The host did not accept a connection.",
            Self::Tls => "The TLS handshake with the host failed.",
            Self::Timeout => "The host did not answer in time.",
            Self::Protocol => "The host did not answer with valid HTTP.",
        })
    }
}

impl Error for SendError {}

impl From<Refusal> for SendError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unresolvable => Self::Dns,
            refusal => Self::Blocked(refusal),
        }
    }
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> Self {
        let causes = || std::iter::successors(error.source(), |&error| cause_of(error));
        if let Some(refusal) = causes().find_map(|cause| cause.downcast_ref::<Refusal>()) {
            return Self::from(*refusal);
        }
        if causes().any(<dyn Error>::is::<rustls::Error>) {
            return Self::Tls;
        }
        // A connection that was not made in three seconds is `connect` too; `timeout` is ours alone.
        if error.is_connect() { Self::Connect } else { Self::Protocol }
    }
}

/// Like `source()`, which skips what an `io::Error` wraps; TLS errors arrive wrapped twice.
fn cause_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

impl Egress {
    /// A way out that resolves names as the operating system does.
    pub fn new(policy: Policy) -> Self {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    /// A way out with a resolver of the caller's: for tests of what a hostile name server can do.
    pub fn with_resolver(policy: Policy, resolver: Arc<dyn Resolve>) -> Self {
        Self { guard: Guard { policy, inner: resolver }, client: Arc::default() }
    }

    /// What this way out may reach.
    pub fn policy(&self) -> &Policy {
        &self.guard.policy
    }

    /// Judges a URL and every address that its name has now. For the moment when someone gives us
    /// the URL, within two seconds; [`Egress::send`] does not rely on it.
    pub async fn check(&self, url: &str) -> Result<Destination, Refusal> {
        let destination = Destination::parse(url, self.policy())?;
        if let Some(Host::Domain(name)) = destination.0.host() {
            self.guard.resolve(name).await?;
        }
        Ok(destination)
    }

    /// Sends one request, once, and reads the answer until it ends, is long enough, or is late.
    pub async fn send(&self, request: Outgoing) -> Result<Incoming, SendError> {
        // The destination may have been judged under another policy, and a literal in it would
        // never meet the guard.
        request.destination.judge(self.policy())?;
        let deadline = request.deadline;
        // Dropping the exchange closes its connection, whatever state that is in.
        tokio::time::timeout(deadline, self.exchange(request))
            .await
            .map_err(|_| SendError::Timeout)?
    }

    async fn exchange(&self, request: Outgoing) -> Result<Incoming, SendError> {
        let mut response = self
            .client()?
            .request(request.method, request.destination.0)
            .headers(request.headers)
            .body(request.body)
            .send()
            .await?;
        let headers = std::mem::take(response.headers_mut());
        let mut body = BytesMut::new();
        let mut truncated = false;
        while let Some(mut chunk) = response.chunk().await? {
            let room = request.max_body.saturating_sub(body.len());
            truncated = chunk.len() > room;
            chunk.truncate(room);
            body.extend_from_slice(&chunk);
            if truncated {
                break;
            }
        }
        Ok(Incoming { status: response.status().as_u16(), headers, body: body.freeze(), truncated })
    }

    fn client(&self) -> Result<&reqwest::Client, SendError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls_config()?)
            .dns_resolver(self.guard.clone())
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .pool_max_idle_per_host(0)
            .http1_only()
            .build()?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// TLS with ring, named here so that no process-wide provider has to be installed first, and with
/// the system's certificates. On a machine that has none (a bare container), nobody is trusted:
/// https fails as `tls`, and a local stack over http still works.
fn tls_config() -> Result<rustls::ClientConfig, SendError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| SendError::Tls)?;
    let trusting_nobody = builder.clone().with_root_certificates(rustls::RootCertStore::empty());
    let mut config =
        builder.with_platform_verifier().unwrap_or(trusting_nobody).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests;
