//! Finds the store of a host or a subdomain.

use axum::extract::State;
use gateway::app::App;
use gateway::caller::Public;
use gateway::reply::Json;
use gateway::request::{Query, Raw};
use identity::domain::Host;
use identity::storefront::{StorefrontView, subdomain_of};
use primitives::fields::{Exact, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use services::Services;

use crate::viewer::Viewer;

/// The storefront to find.
#[request]
#[derive(Debug)]
pub struct LookupQuery {
    /// The host in the shopper's browser, with or without a port.
    host: Option<Text<1, 260>>,
    /// The subdomain alone.
    subdomain: Option<Text<1, 63>>,
    /// The token of a preview session; or send it as `X-Service-Preview-Token`.
    #[expect(dead_code, reason = "the viewer is validated by it")]
    preview_token: Option<Exact<512>>,
}

/// `GET /v1/storefront/lookup` (`findStore`): Find a store by subdomain or host.
///
/// Without either, the `Host` of the request is used: a verified domain, or a subdomain of the platform. A
/// former subdomain of a store finds the store, and the response has its present one.
///
/// # Errors
/// `host_required`: nothing names a storefront; `storefront_not_found`, also for a store that is not open,
/// unless a preview token is sent; `invalid_or_expired_token`; `preview_expired`.
pub async fn get(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Query(input): Query<LookupQuery>,
) -> Result<Json<StorefrontView>, Problem> {
    let own_host = || {
        let host = inbound.header("host")?;
        let name = label(host)?;
        let api = app.config.base_url.split("://").nth(1).and_then(label);
        (api.as_deref() != Some(&name)).then_some(host)
    };
    let name = match (&input.subdomain, &input.host) {
        (Some(subdomain), _) => subdomain.as_str().to_owned(),
        (None, Some(host)) => {
            at_host(&app, host.as_str()).await?.ok_or(Code::StorefrontNotFound)?
        }
        (None, None) => {
            let host = own_host().ok_or(Code::HostRequired)?;
            at_host(&app, host).await?.ok_or(Code::HostRequired)?
        }
    };
    let viewer = Viewer::at(&app, &inbound, &name).await?;
    Ok(Json::new(&viewer.view()).cached(viewer.keeping()))
}

/// Returns the subdomain of a host: that of the store that has verified the domain, or else its first
/// label.
async fn at_host(services: &Services, host: &str) -> Result<Option<String>, Problem> {
    let name = host.split(['/', ':']).next().unwrap_or_default();
    if let Some(host) = Host::of(name.trim_end_matches('.'))
        && let Some(subdomain) = subdomain_of(services, &host).await?
    {
        return Ok(Some(subdomain.into()));
    }
    Ok(label(host))
}

/// The first label of a host, if a domain follows. An IP address, or a name of one label, has none.
fn label(host: &str) -> Option<String> {
    let host = host.split('/').next()?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_end_matches('.');
    let (first, domain) = name.split_once('.')?;
    let is_name = domain.rsplit('.').next()?.bytes().any(|b| b.is_ascii_alphabetic());
    (is_name && !name.starts_with('[')).then(|| first.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subdomain_is_the_first_label_of_a_host() {
        for host in ["My-Shop.example.com", "my-shop.example.com:8080", "my-shop.localhost."] {
            assert_eq!(label(host).as_deref(), Some("my-shop"), "{host}");
        }
        for host in ["localhost", "127.0.0.1:3000", "[::1]:3000", "[fe80::1.2]", "", ":80"] {
            assert_eq!(label(host), None, "{host}");
        }
    }
}
