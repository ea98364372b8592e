//! Permitted destinations: a URL validated by its text, an address by its network (docs/conventions.md
//! §11).

use std::{error::Error, fmt, net::IpAddr, sync::LazyLock};

use ip_network::IpNetwork;
use url::{Host, Url};

/// The longest URL, in bytes (our choice; proxies cut longer ones).
const MAX_URL_BYTES: usize = 2048;

/// The networks that docs/conventions.md §11 rejects, in its order. Those outside `2000::/3` would be
/// rejected anyway ([`address_is_allowed`]); they are listed so that the list can be compared with its
/// source.
pub(super) const REJECTED_NETWORKS: &[&str] = &[
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

/// [`REJECTED_NETWORKS`], parsed once. `None`, should one of them not parse, rejects everything.
static REJECTED: LazyLock<Option<Vec<IpNetwork>>> =
    LazyLock::new(|| REJECTED_NETWORKS.iter().map(|network| network.parse().ok()).collect());

/// The rule for destinations of outgoing requests.
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
    /// Every port: local receivers listen on any free one.
    Any,
}

impl Policy {
    /// The policy of production: https, ports 443 and 8443, global unicast (docs/conventions.md §11).
    pub fn strict() -> Self {
        Self { allow_http: false, allow_loopback: false, ports: Ports::Only(&[443, 8443]) }
    }

    /// The policy of `local` and tests: also http, loopback and any port. Every other private range stays
    /// rejected, so that a developer's machine is no bridge into the office network.
    pub fn development() -> Self {
        Self { allow_http: true, allow_loopback: true, ports: Ports::Any }
    }
}

/// Why a URL, or an address it leads to, is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DestinationRejection {
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

impl DestinationRejection {
    /// The problem code (docs/errors.md): `blocked_address`
    /// if the URL leads to a private place, `invalid_url` for everything else.
    pub fn code(self) -> &'static str {
        match self {
            Self::LocalName | Self::Address => "blocked_address",
            _ => "invalid_url",
        }
    }
}

impl fmt::Display for DestinationRejection {
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

impl Error for DestinationRejection {}

/// A URL that was parsed and validated, except for the addresses of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination(pub(super) Url);

impl Destination {
    /// Validates everything about a URL that can be validated without a name server.
    pub fn parse(text: &str, policy: &Policy) -> Result<Self, DestinationRejection> {
        if text.len() > MAX_URL_BYTES {
            return Err(DestinationRejection::TooLong);
        }
        // `url` drops tabs and line breaks and reads `\` as `/` (docs/platform.md §4, §5). Whoever
        // sends these hopes that two parsers disagree, so they are rejected and not repaired.
        if text.bytes().any(|byte| byte <= 0x20 || byte == 0x7f || byte == b'\\') {
            return Err(DestinationRejection::Malformed);
        }
        if text.contains('#') {
            return Err(DestinationRejection::Fragment);
        }
        // For the same reason: `https:host` and `https:///host` would be repaired, and the `@` of an
        // empty userinfo would be gone after parsing.
        let (_, rest) = text.split_once("://").ok_or(DestinationRejection::Malformed)?;
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(DestinationRejection::UserInfo);
        }
        if authority.is_empty() {
            return Err(DestinationRejection::HostName);
        }
        let destination = Self(Url::parse(text).map_err(|_| DestinationRejection::Malformed)?);
        destination.validate(policy)?;
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

    /// The receiver of a URL: the host in normal form, and the port unless it is that of `https`; empty if
    /// the text is no URL. It is not validated, and says nothing about addresses.
    pub fn receiver_of(url: &str) -> String {
        let Ok(url) = Url::parse(url) else { return String::new() };
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        match url.port_or_known_default() {
            Some(443) | None => host.to_owned(),
            Some(port) => format!("{host}:{port}"),
        }
    }

    pub(super) fn validate(&self, policy: &Policy) -> Result<(), DestinationRejection> {
        match self.0.scheme() {
            "https" => {}
            "http" if policy.allow_http => {}
            _ => return Err(DestinationRejection::Scheme),
        }
        let port = self.0.port_or_known_default().ok_or(DestinationRejection::Port)?;
        if matches!(policy.ports, Ports::Only(allowed) if !allowed.contains(&port)) {
            return Err(DestinationRejection::Port);
        }
        // `url` has already turned every spelling of an address (decimal, octal, hex, short, full
        // width) into one of the two literals.
        match self.0.host() {
            Some(Host::Domain(name)) => validate_name(name, policy),
            Some(Host::Ipv4(address)) => validate_literal(address.into(), policy),
            Some(Host::Ipv6(address)) => validate_literal(address.into(), policy),
            None => Err(DestinationRejection::HostName),
        }
    }
}

fn validate_literal(address: IpAddr, policy: &Policy) -> Result<(), DestinationRejection> {
    match address_is_allowed(address, policy) {
        true if address.is_loopback() => Ok(()),
        true => Err(DestinationRejection::Literal),
        false => Err(DestinationRejection::Address),
    }
}

fn validate_name(name: &str, policy: &Policy) -> Result<(), DestinationRejection> {
    // An empty label is a trailing dot (`localhost.` is localhost) or a doubled one.
    if name.split('.').any(str::is_empty) {
        return Err(DestinationRejection::HostName);
    }
    match name.rsplit('.').next() {
        Some("localhost") if policy.allow_loopback => Ok(()),
        Some("localhost" | "local" | "internal") => Err(DestinationRejection::LocalName),
        _ if name.contains('.') => Ok(()),
        // The resolver would complete a single label with the machine's search domains.
        _ => Err(DestinationRejection::HostName),
    }
}

/// Whether a URL leads to the machine of whoever follows it: `localhost` and names below it (RFC 6761 §6.3), and
/// addresses of loopback.
pub fn is_loopback(url: &Url) -> bool {
    let address = match url.host() {
        None => return false,
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            return name == "localhost" || name.ends_with(".localhost");
        }
        Some(Host::Ipv4(v4)) => IpAddr::V4(v4),
        Some(Host::Ipv6(v6)) => IpAddr::V6(v6).to_canonical(),
    };
    // Connecting to the unspecified address also reaches the local machine.
    address.is_loopback() || address.is_unspecified()
}

/// Whether a connection may go to this address: global unicast (docs/conventions.md §11), for IPv6
/// only within `2000::/3` (docs/platform.md §4), and loopback where the policy says so.
pub fn address_is_allowed(ip: IpAddr, policy: &Policy) -> bool {
    if ip.is_loopback() {
        return policy.allow_loopback;
    }
    let is_unicast = match ip {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => matches!(address.segments(), [0x2000..=0x3fff, ..]),
    };
    let is_rejected =
        |networks: &Vec<IpNetwork>| networks.iter().any(|network| network.contains(ip));
    is_unicast && REJECTED.as_ref().is_some_and(|networks| !is_rejected(networks))
}
