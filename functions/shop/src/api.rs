//! The storefront API in this process: its routes with their rules, budgets and caches, without a connection.
//!
//! A page calls it as any storefront would, so that a shop can do what the API can, and no more.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use gateway::budget::{ChargeOnly, Unmetered};
use gateway::request::{ClientIp, KnownCodes, PasswordPage};
use http::{HeaderName, Method, StatusCode, header};
use serde_json::Value;
use services::shared_reads::SharedReads;
use tower::ServiceExt;

use crate::fault::Fault;

/// The largest answer that is read, in bytes.
const LARGEST: usize = 8 << 20;

/// The routes of the storefront family.
#[derive(Clone)]
pub(crate) struct Api {
    router: Router,
}

/// Which budget a call is charged to.
#[derive(Debug, Clone, Copy)]
enum Charging {
    /// That of the visitor.
    Once,
    /// None.
    Free,
    /// That of the visitor, and nothing is answered.
    Only,
}

/// A call of the API.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    method: Method,
    path: String,
    headers: Vec<(HeaderName, String)>,
    body: Option<Value>,
    client: Option<ClientIp>,
    password_page: Option<PasswordPage>,
    has_known_codes: bool,
    reads: SharedReads,
    charging: Charging,
}

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Bytes,
}

impl Answer {
    /// The JSON of the answer; null if it has none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }
}

impl Call {
    /// A call of this path, with its query.
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: Vec::new(),
            body: None,
            client: None,
            password_page: None,
            has_known_codes: false,
            reads: SharedReads::default(),
            charging: Charging::Once,
        }
    }

    /// Adds a header, unless there is no value.
    pub(crate) fn header(mut self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        if let Some(value) = value {
            self.headers.push((HeaderName::from_static(name), value.into()));
        }
        self
    }

    /// The call without the visitor's session; none if it has no session.
    pub(crate) fn of_guest(&self) -> Option<Self> {
        let is_session = |(name, _): &(HeaderName, String)| *name == header::AUTHORIZATION;
        if !self.headers.iter().any(is_session) {
            return None;
        }
        let headers = self.headers.iter().filter(|pair| !is_session(pair)).cloned().collect();
        Some(Self { headers, ..self.clone() })
    }

    /// Sends this JSON.
    pub(crate) fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// The client whose budgets are charged.
    pub(crate) fn client(mut self, client: Option<ClientIp>) -> Self {
        self.client = client;
        self
    }

    /// What the calls of a page read together.
    pub(crate) fn reads(mut self, reads: SharedReads) -> Self {
        self.reads = reads;
        self
    }

    /// The page of the shop that a mail with a link to set a password leads to.
    pub(crate) fn password_page(mut self, url: String) -> Self {
        self.password_page = Some(PasswordPage(url.into()));
        self
    }

    /// Its discount codes are those of a cart.
    pub(crate) fn with_known_codes(self) -> Self {
        Self { has_known_codes: true, ..self }
    }

    /// Charges no budget: a page is charged once, whatever it is made of.
    pub(crate) fn free(self) -> Self {
        Self { charging: Charging::Free, ..self }
    }

    /// Charges the budget, and does nothing else.
    pub(crate) fn charge_only(self) -> Self {
        Self { charging: Charging::Only, ..self }
    }

    fn into_request(self) -> Option<Request> {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let body = match self.body {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let mut request = request.body(body).ok()?;
        request.extensions_mut().insert(self.reads);
        if let Some(client) = self.client {
            request.extensions_mut().insert(client);
        }
        if let Some(page) = self.password_page {
            request.extensions_mut().insert(page);
        }
        if self.has_known_codes {
            request.extensions_mut().insert(KnownCodes);
        }
        match self.charging {
            Charging::Once => {}
            Charging::Free => drop(request.extensions_mut().insert(Unmetered)),
            Charging::Only => drop(request.extensions_mut().insert(ChargeOnly)),
        }
        Some(request)
    }
}

impl Api {
    pub(crate) fn new(router: Router) -> Self {
        Self { router }
    }

    /// Sends a call, and returns the response as it is.
    pub(crate) async fn respond(&self, call: Call) -> Response {
        // A cookie or a parameter of a visitor that no header may have.
        let Some(request) = call.into_request() else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        let mut response = self.router.clone().oneshot(request).await.into_response();
        gateway::routes::count_part(&mut response);
        response
    }

    /// Sends a call.
    ///
    /// # Errors
    /// The problem of the answer.
    pub(crate) async fn send(&self, call: Call) -> Result<Answer, Fault> {
        let (head, body) = Box::pin(self.respond(call)).await.into_parts();
        let bytes = axum::body::to_bytes(body, LARGEST).await.map_err(|_| Fault::internal())?;
        if head.status.is_success() {
            return Ok(Answer { bytes });
        }
        Err(Fault::rejected(head.status, &head.headers, &bytes))
    }
}
