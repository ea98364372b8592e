//! A client: somebody at one network address, perhaps with a credential.

use std::future::{Future, IntoFuture};
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::{Reply, documented, trouble};

static NETWORK: AtomicU32 = AtomicU32::new(0);
/// Names are of one length in every run: a longer one can make an item cost a unit more.
static NAME: AtomicU32 = AtomicU32::new(10_000);

/// A network that no other client of this process is in: public limits go by network.
pub(crate) fn fresh_ip() -> IpAddr {
    let [_, a, b, c] = NETWORK.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(11 + a, b, c, 7))
}

/// `prefix` with a number that no other name of this process has.
pub fn unique(prefix: &str) -> String {
    format!("{prefix}-{}", NAME.fetch_add(1, Ordering::Relaxed))
}

#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    ip: IpAddr,
    token: Option<String>,
    store: Option<String>,
}

impl Client {
    pub(crate) fn new(http: reqwest::Client, url: &str) -> Self {
        Self { http, url: url.to_owned(), ip: fresh_ip(), token: None, store: None }
    }

    /// The same client without a credential, on a network of its own.
    #[must_use]
    pub fn stranger(&self) -> Self {
        Self::new(self.http.clone(), &self.url)
    }

    /// The same client with this bearer token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same client, which names this store in every request.
    #[must_use]
    pub fn with_store(&self, store: &str) -> Self {
        Self { store: Some(store.to_owned()), ..self.clone() }
    }

    /// The same client on a network of its own.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        self.from_ip(fresh_ip())
    }

    /// The same client at this address.
    #[must_use]
    pub fn from_ip(&self, ip: IpAddr) -> Self {
        Self { ip, ..self.clone() }
    }

    /// The same client, over another way to the same system.
    #[must_use]
    pub fn at_url(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    pub fn ip(&self) -> IpAddr {
        self.ip
    }

    /// The bearer token it has.
    pub fn token(&self) -> &str {
        self.token.as_deref().expect("the client has a token")
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    pub fn get(&self, path: &str) -> Input {
        self.request(Method::GET, path)
    }

    pub fn post(&self, path: &str) -> Input {
        self.request(Method::POST, path)
    }

    pub fn put(&self, path: &str) -> Input {
        self.request(Method::PUT, path)
    }

    pub fn patch(&self, path: &str) -> Input {
        self.request(Method::PATCH, path)
    }

    pub fn delete(&self, path: &str) -> Input {
        self.request(Method::DELETE, path)
    }

    pub fn request(&self, method: Method, path: &str) -> Input {
        let asked = format!("{method} {path}");
        let request = self.http.request(method.clone(), self.url(path));
        let mut request = request.header("x-forwarded-for", self.ip.to_string());
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(store) = &self.store {
            request = request.header("x-service-store-id", store);
        }
        let (url, is_guest) = (self.url.clone(), self.token.is_none());
        Input { asked, request, url, method, sent: None, is_guest, has_key: false }
    }
}

/// A request; `.await` sends it.
#[derive(Debug)]
pub struct Input {
    asked: String,
    request: RequestBuilder,
    url: String,
    method: Method,
    /// The JSON body.
    sent: Option<Value>,
    is_guest: bool,
    has_key: bool,
}

impl Input {
    #[must_use]
    pub fn json(self, body: Value) -> Self {
        let text = body.to_string();
        Self { sent: Some(body), ..self.header("content-type", "application/json").body(text) }
    }

    #[must_use]
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        Self { request: self.request.form(fields), ..self }
    }

    /// Exactly these bytes.
    #[must_use]
    pub fn body(self, bytes: impl Into<Vec<u8>>) -> Self {
        Self { request: self.request.body(bytes.into()), ..self }
    }

    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        let has_key = self.has_key || name.eq_ignore_ascii_case("idempotency-key");
        Self { request: self.request.header(name, value), has_key, ..self }
    }

    #[must_use]
    pub fn query(self, fields: &[(&str, &str)]) -> Self {
        Self { request: self.request.query(fields), ..self }
    }

    #[must_use]
    pub fn basic(self, user: &str, password: &str) -> Self {
        Self { request: self.request.basic_auth(user, Some(password)), ..self }
    }

    /// With an `Idempotency-Key`; a guest's is filled up to the length that is demanded of one.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        let filled = if self.is_guest { format!("{key:-<22}") } else { key.to_owned() };
        self.header("idempotency-key", &filled)
    }

    /// With an `If-Match`.
    #[must_use]
    pub fn if_match(self, etag: &str) -> Self {
        self.header("if-match", etag)
    }

    /// For this store.
    #[must_use]
    pub fn store(self, id: &str) -> Self {
        self.header("x-service-store-id", id)
    }
}

impl IntoFuture for Input {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { asked, request, url, method, has_key, .. } = self;
            match trouble::send(request, &url, &method, has_key, asked.clone()).await {
                Ok(reply) => {
                    documented::compare(self.sent.as_ref(), &reply);
                    reply
                }
                Err(cause) => panic!("{asked} got no answer: {cause:?}"),
            }
        })
    }
}
