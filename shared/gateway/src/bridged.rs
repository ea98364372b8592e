//! Bridged requests: calls that this service makes to itself, or to an app's own server, on behalf
//! of an app's page.
//!
//! They are rejected where a request arrives, by the row it matched, and not where it leaves, by the text of
//! its path. So no spelling of a path, no other name of this host and no proxy leads around the check, and a
//! new route is closed unless its access opens it. Anybody may send the header that marks a bridged request,
//! because it only takes rights away.

use std::net::IpAddr;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use url::Url;

use crate::row::Access;
use crate::row::Row;
use egress::is_loopback;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use services::config::Config;

/// The header that marks a bridged request, and the rejection of one.
pub const MARK: HeaderName = HeaderName::from_static("x-service-bridge");
/// The mark's value on a request.
pub const REQUEST: HeaderValue = HeaderValue::from_static("request");
/// The mark's value on a rejection.
const REJECTED: &str = "rejected";

/// The header in which the bridge names the original client's address, readable by this service alone.
const FROM: HeaderName = HeaderName::from_static("x-service-bridge-from");
/// The lifetime of that header (our choice): a bridged request takes less.
const BELIEVED_FOR: Duration = MINUTE;

/// Names the original client of a bridged request to this service, so that budgets are charged to the
/// client's network and not to the service's own, which all pages share. The value is sealed: nobody else can
/// write or read it.
///
/// # Errors
/// 503 without the keys.
pub async fn vouch(
    services: &Services,
    client: Option<IpAddr>,
    headers: &mut HeaderMap,
) -> Result<(), Problem> {
    let Some(client) = client else { return Ok(()) };
    let keys = services.secrets.keys().await?;
    let said = format!("{client} {}", services.clock.now().millis());
    let sealed = keys.request_key.seal(said.as_bytes(), FROM.as_str().as_bytes());
    headers.insert(FROM, HeaderValue::from_str(&sealed).map_err(Problem::internal)?);
    Ok(())
}

/// The original client's address, if the bridge sent one.
pub(crate) async fn client_address(services: &Services, headers: &HeaderMap) -> Option<IpAddr> {
    let sealed = headers.get(FROM)?.to_str().ok()?;
    let keys = services.secrets.keys().await.ok()?;
    let said = keys.request_key.open(sealed, FROM.as_str().as_bytes()).ok()?;
    let (client, at) = std::str::from_utf8(&said).ok()?.split_once(' ')?;
    let until = Timestamp::from_millis(at.parse().ok()?).plus(BELIEVED_FOR);
    client.parse().ok().filter(|_| services.clock.now() < until)
}

/// Rejects a bridged request to a row that is not open to apps. Open are rows that admit app tokens, and
/// public reads.
///
/// # Errors
/// `path_not_allowed`, marked for the bridge.
pub(crate) fn validate(headers: &HeaderMap, row: &Row) -> Result<(), Problem> {
    if !headers.contains_key(MARK) || is_open(row) {
        return Ok(());
    }
    Err(Problem::from(Code::PathNotAllowed).header(MARK, REJECTED))
}

/// Whether bridged requests reach this row.
fn is_open(row: &Row) -> bool {
    match row.access {
        Access::Scope(_) => true,
        // A write without a caller is a sign-in, a registration, a verification or a checkout.
        Access::Public => row.method == Method::GET,
        Access::Merchant
        | Access::Role(_)
        | Access::Developer
        | Access::Operator
        | Access::Client
        | Access::Embedded
        | Access::Customer => false,
    }
}

/// Whether an answer is the rejection of a bridged request, under any of our host names.
pub fn is_rejection(headers: &HeaderMap) -> bool {
    headers.get(MARK).is_some_and(|mark| mark.as_bytes() == REJECTED.as_bytes())
}

/// Whether a URL leads to this deployment: to the API's host or an admin origin's, whatever the port. On the
/// local machine the port must match too.
pub fn is_ours(config: &Config, url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let own = std::iter::once(&*config.base_url).chain(config.admin_origins.iter());
    own.filter_map(|own| Url::parse(own).ok()).any(|own| is_same_host(&own, &url))
}

fn is_same_host(own: &Url, other: &Url) -> bool {
    if is_loopback(own) {
        // Everything of a developer's own machine is one host: there, ports tell servers apart.
        return is_loopback(other) && own.port_or_known_default() == other.port_or_known_default();
    }
    let name = |url: &Url| url.host_str().map(|host| host.trim_end_matches('.').to_owned());
    name(own).is_some() && name(own) == name(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridged_request_reaches_app_routes_and_public_reads() {
        let mut marked = HeaderMap::new();
        marked.insert(MARK, REQUEST);
        for (method, access, open) in [
            (Method::DELETE, Access::Scope("write_store"), true),
            (Method::GET, Access::Public, true),
            (Method::POST, Access::Public, false),
            (Method::GET, Access::Embedded, false),
            (Method::GET, Access::Client, false),
            (Method::GET, Access::Customer, false),
            (Method::GET, Access::Merchant, false),
        ] {
            let row = Row::example(method, "/v1/x", access);
            assert_eq!(validate(&marked, &row).is_ok(), open, "{row:?}");
            assert!(
                validate(&HeaderMap::new(), &row).is_ok(),
                "without a mark nothing is rejected"
            );
        }
    }

    #[test]
    fn our_hosts_are_known_in_every_spelling() {
        let on = |own: &str, other: &str| {
            is_same_host(&Url::parse(own).unwrap(), &Url::parse(other).unwrap())
        };
        let api = "https://api.example.com";
        for ours in [
            "https://api.example.com/v1",
            "https://API.Example.com",
            "https://api.example.com.",
            "https://api.example.com:8443",
            "http://api.example.com",
        ] {
            assert!(on(api, ours), "{ours}");
        }
        for other in ["https://app.example.com", "https://api.example.com.evil.example"] {
            assert!(!on(api, other), "{other}");
        }
        let local = "http://127.0.0.1:3000";
        for ours in [
            "http://localhost:3000",
            "http://LOCALHOST.:3000/",
            "http://api.localhost:3000",
            "http://127.8.8.8:3000",
            "http://[::1]:3000",
            "http://[::ffff:127.0.0.1]:3000",
            "http://2130706433:3000",
            "http://0.0.0.0:3000",
            "http://[::]:3000",
        ] {
            assert!(on(local, ours), "{ours}");
        }
        for other in ["http://127.0.0.1:4000", "http://192.168.0.1:3000", "https://localhost"] {
            assert!(!on(local, other), "{other}");
        }
    }
}
