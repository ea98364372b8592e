//! Which shop a request is for, and whether it is answered.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Redirect, Response};
use cookie::Cookie;
use gateway::request::ClientIp;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};
use identity::domain::Host;
use identity::store::StoreStatus;
use identity::storefront::{OpenStore, any_store, open_store, subdomain_of};
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use serde_json::Value;
use services::shared_reads::SharedReads;
use themes::session::PreviewSession;
use tokio::sync::OnceCell;

use super::{PREVIEW, SessionState, Visit};
use crate::access;
use crate::fault::{Fault, ShopLanguage};
use crate::form::Fields;
use crate::paths::is_path;
use crate::shops::Shops;
use crate::words::Words;

impl FromRequestParts<Arc<Shops>> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, shops: &Arc<Shops>) -> Result<Self, Response> {
        let visit = Self::load(parts, shops).await?;
        access::ensure_admitted(&visit).await?;
        Ok(visit)
    }
}

/// A request of what everybody may see of a shop, even if it asks for a password: that page itself and its files, and
/// what robots read.
pub(crate) struct AnyVisit(pub(crate) Visit);

impl FromRequestParts<Arc<Shops>> for AnyVisit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, shops: &Arc<Shops>) -> Result<Self, Response> {
        Visit::load(parts, shops).await.map(Self)
    }
}

impl Visit {
    async fn load(parts: &Parts, shops: &Arc<Shops>) -> Result<Self, Response> {
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or(parts.uri.authority().map(http::uri::Authority::as_str));
        let host = host.unwrap_or_default().to_ascii_lowercase();
        let location = parts.uri.path_and_query().map_or("/", |all| all.as_str()).to_owned();
        ensure_own(&parts.method, &parts.headers, &host).map_err(IntoResponse::into_response)?;
        let cookies = cookies(&parts.headers);
        let name = subdomain(shops, &host).await.map_err(IntoResponse::into_response)?;
        let preview = preview(parts.uri.query(), &cookies);
        let found = match (open_store(&shops.app, &name).await, &preview) {
            (Ok(open), _) => Ok((open, None)),
            (Err(closed), None) => Err(closed),
            (Err(closed), Some(token)) => previewed(shops, &name, token).await.ok_or(closed),
        };
        let (open, session) = match found {
            Ok(found) => found,
            Err(problem) => return Err(closed(parts, shops, &name, problem).await.into_response()),
        };
        // A browser takes `//host` for another site: no page may lead there.
        if !is_path(parts.uri.path()) {
            return Err(Fault::not_found().into_response());
        }
        let preview_session = OnceCell::new_with(session);
        let reads = SharedReads::default();
        if let Some(context) = Context::current() {
            context.insert(reads.clone());
        }
        if let Some(now) = open.moved_to(&name).filter(|_| parts.method == Method::GET) {
            let domain = host.strip_prefix(&*name).unwrap_or_default();
            let to = format!("{}://{now}{domain}", shops.scheme);
            return Err(Redirect::permanent(&format!("{to}{location}")).into_response());
        }
        ShopLanguage::note(parts, &open.store);
        let trusts_proxy = shops.app.config.trust_proxy;
        let client = ClientIp::of(&parts.headers, &parts.extensions, trusts_proxy);
        let origin = format!("{}://{host}", shops.scheme);
        let is_from_elsewhere = is_from_elsewhere(&parts.headers);
        let session = parts.extensions.get::<SessionState>().cloned().unwrap_or_default();
        let shops = Arc::clone(shops);
        Ok(Self {
            shops,
            open,
            origin,
            location,
            cookies,
            client,
            session,
            preview,
            preview_session,
            reads,
            is_from_elsewhere,
        })
    }
}

/// The subdomain of the shop at a host: a label before the platform's domain, or that of the store which has verified
/// the host. A name that nobody verified is no shop's, whatever its first label is.
async fn subdomain(shops: &Shops, host: &str) -> Result<String, Fault> {
    let name = without_port(host).trim_end_matches('.');
    let below = name.strip_suffix(without_port(&shops.app.config.shop_domain));
    if let Some(label) = below.and_then(|label| label.strip_suffix('.')) {
        return if label.contains('.') { Err(no_shop()) } else { Ok(label.to_owned()) };
    }
    let host = Host::of(name).ok_or_else(no_shop)?;
    let found = subdomain_of(&shops.app, &host).await?;
    found.map(String::from).ok_or_else(no_shop)
}

fn without_port(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|b| b.is_ascii_digit()) { name } else { host }
    })
}

/// The token of a preview: that of the opened link, or that of the cookie.
fn preview(query: Option<&str>, cookies: &[Cookie<'static>]) -> Option<String> {
    let query = Fields::of_query(query.unwrap_or_default().as_bytes());
    let kept = cookies.iter().find(|cookie| cookie.name() == PREVIEW).map(Cookie::value);
    let token = query.text("preview_token").or(kept.filter(|token| !token.is_empty()));
    token.map(str::to_owned)
}

/// A store that is not open, for who has the token of a preview of it. For anybody else it does not exist.
async fn previewed(
    shops: &Shops,
    name: &str,
    token: &str,
) -> Option<(Arc<OpenStore>, Option<Arc<PreviewSession>>)> {
    let open = any_store(&shops.app, name).await.ok()?;
    let session = PreviewSession::open(&shops.app, &open.store.id, token).await.ok()?;
    Some((open, Some(Arc::new(session))))
}

/// The fault of a shop that is not open: in its language, if there is such a store. Nothing else of it is told.
async fn closed(parts: &Parts, shops: &Shops, name: &str, problem: Problem) -> Fault {
    if problem.code != Code::StorefrontNotFound {
        return problem.into();
    }
    let Ok(known) = any_store(&shops.app, name).await else { return problem.into() };
    ShopLanguage::note(parts, &known.store);
    let pages = &Words::of(&known.store.locale).pages;
    let is_to_open = known.store.status == StoreStatus::Draft;
    let said = if is_to_open { pages.opens_soon } else { pages.is_closed };
    Fault { detail: said.to_owned(), problem: Value::Null, ..problem.into() }
}

/// Whether a browser says that a page of another site leads here, as by a link or a picture. What it opens may show
/// something, and must change nothing.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    site.is_some_and(|site| !matches!(site, "same-origin" | "none"))
}

fn no_shop() -> Fault {
    Problem::from(Code::StorefrontNotFound).into()
}

/// Ensures that a form was sent by a page of this shop. Browsers say where a request comes from (Fetch Metadata,
/// `Origin`); what says nothing of it is no browser, and has no cookies of one.
fn ensure_own(method: &Method, headers: &HeaderMap, host: &str) -> Result<(), Fault> {
    if method.is_safe() {
        return Ok(());
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_own = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => origin.split_once("://").is_some_and(|(_, of)| of == host),
        (None, None) => true,
    };
    if is_own {
        return Ok(());
    }
    let detail = "The form was sent by a page of another site.";
    Err(Fault::of(StatusCode::FORBIDDEN, "forbidden", detail))
}

fn cookies(headers: &HeaderMap) -> Vec<Cookie<'static>> {
    let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    sent.flat_map(|line| Cookie::split_parse(line.to_owned())).flatten().collect()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_form_of_another_site_is_rejected() {
        let own = |pairs: &[(&'static str, &str)]| {
            ensure_own(&Method::POST, &headers(pairs), "tea.shops.example").is_ok()
        };
        assert!(own(&[]));
        assert!(own(&[("sec-fetch-site", "same-origin")]));
        assert!(own(&[("origin", "https://tea.shops.example")]));
        for other in ["cross-site", "same-site", "none"] {
            assert!(!own(&[("sec-fetch-site", other), ("origin", "https://tea.shops.example")]));
        }
        for other in ["https://coffee.shops.example", "null", "https://tea.shops.example.evil"] {
            assert!(!own(&[("origin", other)]), "{other}");
        }
        let get = ensure_own(&Method::GET, &headers(&[("sec-fetch-site", "cross-site")]), "x");
        assert!(get.is_ok());
    }
}
