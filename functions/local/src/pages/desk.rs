//! The API as the demo's accounts use it. Their sessions are this process's own.

mod samples;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use emulators::AnyError;
use gateway::budget::Unmetered;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tower::ServiceExt;

use samples::Remembered;
pub(super) use samples::Samples;

use crate::demo::{CUSTOMER, MERCHANT, OPERATOR, SUBDOMAIN};

/// Bytes of a response at most.
pub(super) const LARGEST: usize = 8 << 20;

/// An account of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Merchant,
    Operator,
    Customer,
}

impl Who {
    /// The account by its name in a form.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "merchant" => Some(Self::Merchant),
            "operator" => Some(Self::Operator),
            "customer" => Some(Self::Customer),
            _ => None,
        }
    }

    pub(super) fn account(self) -> crate::demo::Account {
        match self {
            Self::Merchant => MERCHANT,
            Self::Operator => OPERATOR,
            Self::Customer => CUSTOMER,
        }
    }
}

/// A client of the API that signs in as the demo's accounts.
pub(crate) struct Desk {
    api: Router,
    merchant: Mutex<Option<String>>,
    operator: Mutex<Option<String>>,
    samples: Mutex<Remembered>,
}

/// A store of the demo's merchant.
#[derive(Debug, Clone)]
pub(super) struct StoreBrief {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) subdomain: String,
    pub(super) status: String,
}

impl Desk {
    pub(super) fn new(api: Router) -> Self {
        Self {
            api,
            merchant: Mutex::new(None),
            operator: Mutex::new(None),
            samples: Mutex::new(None),
        }
    }

    async fn send(
        &self,
        request: http::request::Builder,
        body: Body,
    ) -> Result<Response, AnyError> {
        let request: Request = request.extension(Unmetered).body(body)?;
        let Ok(answer) = self.api.clone().oneshot(request).await;
        Ok(answer)
    }

    /// Signs an account in. Returns the token; none if there is no demo, or its password has changed.
    pub(super) async fn sign_in(&self, who: Who) -> Option<String> {
        let account = who.account();
        let (email, password) = (account.email, account.password);
        let (path, token, input) = match who {
            Who::Customer => (
                "/v1/storefront/customer/login",
                "/access_token",
                json!({"email": email, "password": password, "subdomain": SUBDOMAIN}),
            ),
            Who::Merchant | Who::Operator => (
                "/v1/auth/signin",
                "/session/access_token",
                json!({"email": email, "password": password}),
            ),
        };
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        let answer = self.send(request, Body::from(input.to_string())).await.ok()?;
        let answer = read(answer).await?;
        answer.pointer(token)?.as_str().map(str::to_owned)
    }

    /// Sends a request as an account; none if it cannot be signed in.
    pub(super) async fn get(
        &self,
        who: Who,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Option<Response> {
        let session = if who == Who::Operator { &self.operator } else { &self.merchant };
        for _ in 0..2 {
            let token = {
                let mut session = session.lock().await;
                if session.is_none() {
                    *session = self.sign_in(who).await;
                }
                session.clone()?
            };
            let bearer = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
            let mut request = Request::get(path).header(header::AUTHORIZATION, bearer);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let answer = self.send(request, Body::empty()).await.ok()?;
            if answer.status() != StatusCode::UNAUTHORIZED {
                return Some(answer);
            }
            // The session has ended: sign in again.
            *session.lock().await = None;
        }
        None
    }

    /// The JSON at a path, as an account; none if there is none, or the account cannot be signed in.
    pub(super) async fn json(
        &self,
        who: Who,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Option<Value> {
        read(self.get(who, path, headers).await?).await
    }

    /// The items of a list of a store, as the demo's merchant.
    pub(super) async fn list(&self, store: &str, path: &str) -> Vec<Value> {
        let headers = [("x-service-store-id", store), ("x-service-locale", "en")];
        let page = self.json(Who::Merchant, path, &headers).await.unwrap_or_default();
        page.get("data").and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// The stores of the demo's merchant, the demo store first; none if they cannot be signed in.
    pub(super) async fn stores(&self) -> Option<Vec<StoreBrief>> {
        let page = self.json(Who::Merchant, "/v1/stores?limit=50", &[]).await?;
        let text = |store: &Value, name: &str| {
            store.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let brief = |store: &Value| StoreBrief {
            id: text(store, "id"),
            name: text(store, "name"),
            subdomain: text(store, "subdomain"),
            status: text(store, "status"),
        };
        let data = page.get("data").and_then(Value::as_array);
        let mut stores: Vec<_> = data.into_iter().flatten().map(brief).collect();
        stores.sort_by_key(|store| store.subdomain != SUBDOMAIN);
        Some(stores)
    }
}

/// The JSON of a successful response.
async fn read(answer: Response) -> Option<Value> {
    let is_success = answer.status().is_success();
    let body = axum::body::to_bytes(answer.into_body(), LARGEST).await.ok()?;
    is_success.then(|| serde_json::from_slice(&body).ok()).flatten()
}
