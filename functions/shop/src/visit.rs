//! A visitor's request: which shop it is for, what its cookies hold, and its calls of the API.

mod arrival;
mod session;

use std::sync::Arc;

use axum::response::Response;
use cookie::{Cookie, SameSite};
use gateway::request::ClientIp;
use http::{HeaderValue, Method, header};
use identity::settings::Settings;
use identity::store::Store;
use identity::storefront::OpenStore;
use primitives::clock::{DAY, MINUTE};
use primitives::problem::Problem;
use serde_json::Value;
use services::shared_reads::SharedReads;
use themes::session::PreviewSession;
use tokio::sync::OnceCell;

use crate::api::{Answer, Call};
use crate::fault::Fault;
use crate::paths::segment;
use crate::shops::Shops;
use crate::words::Words;

pub(crate) use arrival::AnyVisit;
pub(crate) use session::{SessionState, end_session};

/// The cookie of a cart: its id and its token.
pub(crate) const CART: &str = "shop_cart";
/// The cookie of a customer's session.
pub(crate) const SESSION: &str = "shop_session";
/// The cookie of the orders that were placed or opened last: their ids and tokens.
pub(crate) const ORDER: &str = "shop_order";
/// The cookie of a theme's preview.
pub(crate) const PREVIEW: &str = "shop_preview";
/// The cookie of who has entered the shop's password.
pub(crate) const ACCESS: &str = "shop_access";
/// The cookie of a link that sets a new password: its token.
pub(crate) const RESET: &str = "shop_reset";

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
    session: SessionState,
    /// The token of a preview: that of the opened link, or that of the cookie.
    preview: Option<String>,
    preview_session: OnceCell<Arc<PreviewSession>>,
    /// What the calls of this request read together.
    reads: SharedReads,
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
    pub(crate) fn parse(value: &str) -> Self {
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

impl Visit {
    /// The store.
    pub(crate) fn store(&self) -> &Store {
        &self.open.store
    }

    /// The settings of the store: read once, and cached as long as the store is.
    ///
    /// # Errors
    /// 503.
    pub(crate) async fn settings(&self) -> Result<&Settings, Problem> {
        self.open.settings(&self.shops.app).await
    }

    /// The address of the visitor, if it is known.
    pub(crate) fn client_address(&self) -> Option<std::net::IpAddr> {
        self.client.map(|client| client.0)
    }

    /// The words of the platform's own pages, in the store's language.
    pub(crate) fn words(&self) -> &'static Words {
        Words::of(&self.store().locale)
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

    /// The value of a cookie, unless it is empty.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let found = self.cookies.iter().find(|cookie| cookie.name() == name);
        found.map(Cookie::value).filter(|value| !value.is_empty())
    }

    /// Whether this visitor has neither a cart nor an order nor a session nor a preview: such pages are everybody's, unless the shop
    /// asks for a password.
    pub(crate) fn is_anonymous(&self) -> bool {
        !self.store().password_protected
            && self.preview.is_none()
            && [CART, ORDER, SESSION].iter().all(|name| self.cookie(name).is_none())
    }

    /// The cart that the cookie names.
    pub(crate) fn cart(&self) -> Option<Opened> {
        self.cookie(CART).map(Opened::parse)
    }

    /// Whether the visitor has signed in.
    pub(crate) fn has_session(&self) -> bool {
        self.session_token().is_some()
    }

    /// The token of the visitor's session, unless it was found to be over.
    fn session_token(&self) -> Option<&str> {
        self.cookie(SESSION).filter(|_| !self.session.is_over())
    }

    /// The token of a preview.
    pub(crate) fn preview(&self) -> Option<&str> {
        self.preview.as_deref()
    }

    /// The session of the preview, if there is one: read once for a request.
    ///
    /// # Errors
    /// `invalid_or_expired_token`, `preview_expired`, 503.
    pub(crate) async fn preview_session(&self) -> Result<Option<&PreviewSession>, Problem> {
        let Some(token) = self.preview() else { return Ok(None) };
        let load = || async {
            let opened = PreviewSession::open(&self.shops.app, &self.store().id, token).await;
            opened.map(Arc::new)
        };
        self.preview_session.get_or_try_init(load).await.map(|session| Some(&**session))
    }

    /// A call of the storefront's routes, at a path below the storefront, by this visitor.
    pub(crate) fn call(&self, method: Method, path: &str) -> Call {
        self.call_at(method, self.below(path)).header("x-service-preview-token", self.preview())
    }

    /// A call of any path of the family, by this visitor.
    pub(crate) fn call_at(&self, method: Method, path: String) -> Call {
        let session = self.session_token().map(|token| format!("Bearer {token}"));
        self.anonymous(method, path).header("authorization", session)
    }

    /// A call of any path of the family, without the visitor's session.
    pub(crate) fn call_of_nobody(&self, method: Method, path: String) -> Call {
        self.anonymous(method, path)
    }

    /// A call of what everybody may see. Without credentials it is answered from the response cache.
    pub(crate) fn public(&self, path: &str) -> Call {
        self.anonymous(Method::GET, self.below(path))
            .header("x-service-preview-token", self.preview())
    }

    fn anonymous(&self, method: Method, path: String) -> Call {
        let locale = self.store().locale.to_string();
        let call = Call::new(method, path).client(self.client).reads(self.reads.clone());
        call.header("x-service-locale", Some(locale))
    }

    fn below(&self, path: &str) -> String {
        format!("/v1/storefront/{}{path}", segment(self.store().subdomain.as_str()))
    }

    /// Charges the visitor's budget for a page. Nothing is read for it but the session of a preview.
    ///
    /// # Errors
    /// 429, 503.
    pub(crate) async fn charge(&self) -> Result<(), Fault> {
        Box::pin(self.send(self.public("").charge_only())).await.map(drop)
    }

    /// As [`Visit::get`], charged to the visitor's budget: for each search.
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

    /// Sends a call. Whose session is over goes on as a guest, and their cookie ends with the response.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn send(&self, call: Call) -> Result<Answer, Fault> {
        let of_guest = call.of_guest();
        let answer = match (self.shops.api.send(call).await, of_guest) {
            (Err(fault), Some(of_guest)) if fault.is("unauthenticated") => {
                self.session.end();
                self.shops.api.send(of_guest).await
            }
            (answer, _) => answer,
        };
        answer.map_err(|fault| fault.in_words(self.words()))
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
            (true, _) => std::time::Duration::ZERO,
            // As long as the link is valid.
            (false, RESET) => MINUTE.saturating_mul(30),
            (false, PREVIEW | ORDER) => DAY,
            (false, _) => DAY.saturating_mul(30),
        };
        let mut cookie = Cookie::new(name, value.to_owned());
        cookie.set_path("/");
        cookie.set_http_only(true);
        cookie.set_same_site(SameSite::Lax);
        cookie.set_secure(self.shops.scheme == "https");
        let seconds = age.as_secs();
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

    #[test]
    fn a_cookie_names_a_cart_and_its_token() {
        for (text, id, token) in [("crt_1.abc", "crt_1", Some("abc")), ("crt_1", "crt_1", None)] {
            let opened = Opened::parse(text);
            assert_eq!((opened.id.as_str(), opened.token.as_deref()), (id, token));
            assert_eq!(opened.written(), text);
        }
    }
}
