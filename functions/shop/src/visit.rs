//! A visitor's request: which shop it is for, what its cookies hold, and its calls of the API.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Redirect, Response};
use cookie::{Cookie, SameSite};
use gateway::request::ClientIp;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use identity::domain::Host;
use identity::store::Store;
use identity::storefront::{OpenStore, any_store, open_store, subdomain_of};
use primitives::clock::DAY;
use primitives::problem::{Code, Problem};
use serde_json::Value;

use crate::api::{Answer, Call};
use crate::fault::Fault;
use crate::form::Fields;
use crate::paths::segment;
use crate::preview;
use crate::shops::Shops;

/// The cookie of a cart: its id and its token.
pub(crate) const CART: &str = "shop_cart";
/// The cookie of a customer's session.
pub(crate) const SESSION: &str = "shop_session";
/// The cookie of an order that was just placed: its id and its token.
pub(crate) const ORDER: &str = "shop_order";
/// The cookie of a theme's preview.
pub(crate) const PREVIEW: &str = "shop_preview";

/// A request of a shop's page.
pub(crate) struct Visit {
    pub(crate) shops: Arc<Shops>,
    open: Arc<OpenStore>,
    /// The shop's own origin: `https://tea.shops.example`.
    pub(crate) origin: String,
    /// The path with its query.
    pub(crate) location: String,
    cookies: Vec<Cookie<'static>>,
    client: Option<ClientIp>,
    /// Whether a page of another site has sent the visitor here.
    pub(crate) is_from_elsewhere: bool,
}

/// A cart or an order, and the token that opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) id: String,
    /// None for what the customer's session opens.
    pub(crate) token: Option<String>,
}

impl Opened {
    /// Reads the value of a cookie.
    fn parse(value: &str) -> Self {
        match value.split_once('.') {
            Some((id, token)) => Self { id: id.to_owned(), token: Some(token.to_owned()) },
            None => Self { id: value.to_owned(), token: None },
        }
    }

    /// The value of its cookie.
    pub(crate) fn written(&self) -> String {
        match &self.token {
            Some(token) => format!("{}.{token}", self.id),
            None => self.id.clone(),
        }
    }
}

impl FromRequestParts<Arc<Shops>> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, shops: &Arc<Shops>) -> Result<Self, Response> {
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or(parts.uri.authority().map(http::uri::Authority::as_str));
        let host = host.unwrap_or_default().to_ascii_lowercase();
        let location = parts.uri.path_and_query().map_or("/", |all| all.as_str()).to_owned();
        ensure_own(&parts.method, &parts.headers, &host).map_err(IntoResponse::into_response)?;
        let cookies = cookies(&parts.headers);
        let name = subdomain(shops, &host).await.map_err(IntoResponse::into_response)?;
        let found = match open_store(&shops.app, &name).await {
            Err(closed) => previewed(shops, &name, parts.uri.query(), &cookies).await.ok_or(closed),
            open => open,
        };
        let open = found.map_err(|problem| Fault::from(problem).into_response())?;
        if let Some(now) = open.moved_to(&name).filter(|_| parts.method == Method::GET) {
            let domain = host.strip_prefix(&*name).unwrap_or_default();
            let to = format!("{}://{now}{domain}", shops.scheme);
            return Err(Redirect::permanent(&format!("{to}{location}")).into_response());
        }
        let client = ClientIp::behind_proxy(&shops.app, &parts.headers)
            .or_else(|| parts.extensions.get::<ClientIp>().copied());
        let origin = format!("{}://{host}", shops.scheme);
        let is_from_elsewhere = is_from_elsewhere(&parts.headers);
        let shops = Arc::clone(shops);
        Ok(Self { shops, open, origin, location, cookies, client, is_from_elsewhere })
    }
}

/// The subdomain of the shop at a host: a label before the platform's domain, or that of the store which has verified
/// the host. A name that nobody verified is no shop's, whatever its first label is.
async fn subdomain(shops: &Shops, host: &str) -> Result<String, Fault> {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|b| b.is_ascii_digit()) { name } else { host }
    });
    let name = name.trim_end_matches('.');
    let below = name.strip_suffix(shops.app.config.shop_domain.as_str());
    if let Some(label) = below.and_then(|label| label.strip_suffix('.')) {
        return if label.contains('.') { Err(no_shop()) } else { Ok(label.to_owned()) };
    }
    let host = Host::of(name).ok_or_else(no_shop)?;
    let found = subdomain_of(&shops.app, &host).await?;
    found.map(String::from).ok_or_else(no_shop)
}

/// A store that is not open, for who has the token of a preview of it. For anybody else it does not exist.
async fn previewed(
    shops: &Shops,
    name: &str,
    query: Option<&str>,
    cookies: &[Cookie<'static>],
) -> Option<Arc<OpenStore>> {
    let query = Fields::of_query(query.unwrap_or_default().as_bytes());
    let kept = cookies.iter().find(|cookie| cookie.name() == PREVIEW).map(Cookie::value);
    let token = query.text("preview_token").or(kept)?;
    let store = any_store(&shops.app, name).await.ok()?;
    preview::session(&shops.app, &store.store, token).await.ok()?;
    Some(store)
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

impl Visit {
    /// The store.
    pub(crate) fn store(&self) -> &Store {
        &self.open.store
    }

    /// The path of the request.
    pub(crate) fn path(&self) -> &str {
        self.location.split('?').next().unwrap_or("/")
    }

    /// The query of the request, as it was sent.
    pub(crate) fn query(&self) -> &str {
        self.location.split_once('?').map_or("", |(_, query)| query)
    }

    /// What tells this page of this shop from others.
    pub(crate) fn page_key(&self) -> String {
        format!("{}{}", self.origin, self.location)
    }

    fn cookie(&self, name: &str) -> Option<&str> {
        let found = self.cookies.iter().find(|cookie| cookie.name() == name);
        found.map(Cookie::value).filter(|value| !value.is_empty())
    }

    /// Whether this visitor has neither a cart nor a session nor a preview: such pages are everybody's.
    pub(crate) fn is_anonymous(&self) -> bool {
        [CART, SESSION, PREVIEW].iter().all(|name| self.cookie(name).is_none())
    }

    /// The cart that the cookie names.
    pub(crate) fn cart(&self) -> Option<Opened> {
        self.cookie(CART).map(Opened::parse)
    }

    /// The order that the cookie names, if it is this one.
    pub(crate) fn order_token(&self, id: &str) -> Option<String> {
        let order = Opened::parse(self.cookie(ORDER)?);
        order.token.filter(|_| order.id == id)
    }

    /// Whether the visitor has signed in.
    pub(crate) fn has_session(&self) -> bool {
        self.cookie(SESSION).is_some()
    }

    /// The token of a preview.
    pub(crate) fn preview(&self) -> Option<&str> {
        self.cookie(PREVIEW)
    }

    /// A call of the storefront's routes, at a path below the storefront, by this visitor.
    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        self.call_at(method, self.below(path)).header("x-service-preview-token", self.preview())
    }

    /// A call of any path of the family, by this visitor.
    pub(crate) fn call_at(&self, method: Method, path: String) -> Call {
        let session = self.cookie(SESSION).map(|token| format!("Bearer {token}"));
        self.anonymous(method, path).header("authorization", session)
    }

    /// A call of what everybody may see. Without credentials it is answered from the response cache.
    pub(crate) fn public(&self, path: &str) -> Call {
        self.anonymous(Method::GET, self.below(path))
            .header("x-service-preview-token", self.preview())
    }

    fn anonymous(&self, method: Method, path: String) -> Call {
        let locale = self.store().locale.to_string();
        Call::new(method, path).client(self.client).header("x-service-locale", Some(locale))
    }

    fn below(&self, path: &str) -> String {
        format!("/v1/storefront/{}{path}", segment(self.store().subdomain.as_str()))
    }

    /// As [`Visit::get`], charged to the visitor's budget: once a page, and for each search.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn get_charged(&self, path: &str) -> Result<Value, Fault> {
        Ok(self.own_urls(&self.send(self.public(path)).await?))
    }

    /// Reads JSON below the storefront, as a part of a page. URLs of the API's images become those of this shop.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Fault> {
        Ok(self.own_urls(&self.send(self.public(path).free()).await?))
    }

    /// Sends a call.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn send(&self, call: Call) -> Result<Answer, Fault> {
        self.shops.api.send(call).await
    }

    /// The JSON of an answer, with the API's URLs of images replaced by those of this shop, which need no
    /// other origin.
    pub(crate) fn own_urls(&self, answer: &Answer) -> Value {
        let text = String::from_utf8_lossy(&answer.bytes);
        serde_json::from_str(&self.own_text(&text)).unwrap_or_default()
    }

    /// As [`Visit::own_urls`], of JSON.
    pub(crate) fn with_own_urls(&self, json: &Value) -> Value {
        serde_json::from_str(&self.own_text(&json.to_string())).unwrap_or_default()
    }

    fn own_text(&self, text: &str) -> String {
        let base = &*self.shops.app.config.base_url;
        let names = [self.store().subdomain.as_str(), self.store().id.as_str()];
        names.iter().fold(text.to_owned(), |text, name| {
            text.replace(&format!("{base}/v1/storefront/{name}/media/"), "/media/")
        })
    }

    /// A response header that sets a cookie, which no script reads and no other site's form sends.
    pub(crate) fn set_cookie(&self, name: &'static str, value: &str) -> HeaderValue {
        let age = match (value.is_empty(), name) {
            (true, _) => 0,
            (false, PREVIEW | ORDER) => 1,
            (false, _) => 30,
        };
        let mut cookie = Cookie::new(name, value.to_owned());
        cookie.set_path("/");
        cookie.set_http_only(true);
        cookie.set_same_site(SameSite::Lax);
        cookie.set_secure(self.shops.scheme == "https");
        let seconds = DAY.as_secs().saturating_mul(age);
        cookie.set_max_age(cookie::time::Duration::seconds(i64::try_from(seconds).unwrap_or(0)));
        HeaderValue::from_str(&cookie.to_string()).unwrap_or(HeaderValue::from_static(""))
    }

    /// Adds a cookie to a response.
    pub(crate) fn with_cookie(
        &self,
        mut response: Response,
        name: &'static str,
        value: &str,
    ) -> Response {
        response.headers_mut().append(header::SET_COOKIE, self.set_cookie(name, value));
        response
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_cookie_names_a_cart_and_its_token() {
        for (text, id, token) in [("crt_1.abc", "crt_1", Some("abc")), ("crt_1", "crt_1", None)] {
            let opened = Opened::parse(text);
            assert_eq!((opened.id.as_str(), opened.token.as_deref()), (id, token));
            assert_eq!(opened.written(), text);
        }
    }
}
