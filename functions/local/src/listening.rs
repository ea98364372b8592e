//! The sockets of the API: by default loopback, of IPv4 and IPv6.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use emulators::AnyError;
use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1_024;

/// Binds a port without listening on it yet. Without an address it is bound on loopback, on IPv6 where the machine has
/// that; `::` is bound for both families.
pub(crate) fn reserve(host: Option<IpAddr>, port: u16) -> Result<Vec<TcpSocket>, AnyError> {
    let Some(host) = host else {
        let first = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), port != 0)?;
        let taken = first.local_addr()?.port();
        let second = match bind(SocketAddr::from((Ipv6Addr::LOCALHOST, taken)), port != 0) {
            Ok(second) => Some(second),
            // A port that was drawn may be somebody else's there.
            Err(cause) if port == 0 || !cause.is_taken() => None,
            Err(cause) => return Err(cause.into()),
        };
        return Ok([Some(first), second].into_iter().flatten().collect());
    };
    Ok(vec![bind(SocketAddr::from((host, port)), port != 0)?])
}

/// Begins to accept connections.
pub(crate) fn listen(socket: TcpSocket) -> Result<TcpListener, AnyError> {
    let address = socket.local_addr()?;
    Ok(socket.listen(BACKLOG).map_err(|cause| Unavailable { address, cause })?)
}

/// The URL by which this machine reaches the API.
pub(crate) fn url_of(address: SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => format!("http://127.0.0.1:{}", address.port()),
        _ => format!("http://{address}"),
    }
}

fn bind(address: SocketAddr, is_chosen: bool) -> Result<TcpSocket, Unavailable> {
    let bound = || {
        // Of IPv6, the operating system binds both families where the address is `::`.
        let socket = if address.is_ipv6() { TcpSocket::new_v6() } else { TcpSocket::new_v4() }?;
        // For a quick restart; a port on which another process listens stays unavailable. A port that is drawn would be
        // drawn again by others until it listens.
        socket.set_reuseaddr(is_chosen)?;
        socket.bind(address)?;
        Ok(socket)
    };
    bound().map_err(|cause| Unavailable { address, cause })
}

/// An unavailable port.
#[derive(Debug)]
struct Unavailable {
    address: SocketAddr,
    cause: io::Error,
}

impl Unavailable {
    /// Whether another process has it.
    fn is_taken(&self) -> bool {
        self.cause.kind() == ErrorKind::AddrInUse
    }
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { address, cause } = self;
        write!(f, "the API cannot listen on {address}: {cause}; choose another port with --port")
    }
}

impl std::error::Error for Unavailable {}
