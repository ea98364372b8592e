//! The session of a customer: where it begins, and what it opens.

use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};
use serde_json::Value;

use crate::fault::Fault;
use crate::form::Fields;
use crate::values::with;
use crate::visit::{SESSION, Visit};

/// The base of a customer's own routes in the API.
pub(super) const CUSTOMER: &str = "/v1/storefront/customer";

/// Where a sign-in leads.
pub(super) fn target(fields: &Fields) -> String {
    let wanted = fields.path("return_to").or_else(|| fields.path("checkout_url"));
    wanted.unwrap_or("/account").to_owned()
}

pub(super) fn to_sign_in(visit: &Visit) -> Response {
    let back: String = form_urlencoded::byte_serialize(visit.location.as_bytes()).collect();
    let to = Redirect::to(&format!("/account/login?return_to={back}")).into_response();
    visit.with_cookie(to, SESSION, "")
}

impl Visit {
    /// Reads what a signed-in customer has, or leads to the sign-in.
    pub(super) async fn own(&self, path: &str) -> Result<Value, Response> {
        if !self.has_session() {
            return Err(to_sign_in(self));
        }
        let found = self.send(self.call_at(Method::GET, format!("{CUSTOMER}{path}"))).await;
        match found {
            Ok(answer) => Ok(self.own_urls(&answer)),
            Err(fault) if fault.status == StatusCode::UNAUTHORIZED => Err(to_sign_in(self)),
            Err(fault) => Err(fault.into_response()),
        }
    }

    /// A call of a route without a session, which names the store in its body.
    pub(super) async fn at_store(&self, path: &str, body: Value) -> Result<Value, Fault> {
        let body = with(body, "subdomain", self.store().subdomain.as_str());
        let call = self.call_at(Method::POST, format!("{CUSTOMER}{path}")).body(body);
        Ok(self.send(call).await?.json())
    }
}
