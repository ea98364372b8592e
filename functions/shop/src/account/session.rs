//! The session of a customer: where it begins, and what it opens.

use axum::response::{IntoResponse, Redirect, Response};
use http::{Method, StatusCode};
use serde_json::Value;

use crate::api::Call;
use crate::fault::Fault;
use crate::form::Fields;
use crate::values::with;
use crate::visit::{CART, ORDER, SESSION, Visit};

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

/// A page for a browser that shows nothing of a customer any more: neither the session's, nor a cart, nor an order.
pub(super) fn signed_out(visit: &Visit, to: &str) -> Response {
    let to = Redirect::to(to).into_response();
    [SESSION, CART, ORDER].into_iter().fold(to, |to, name| visit.with_cookie(to, name, ""))
}

/// An input of a form, by its own name or by that of a theme's form.
pub(super) fn input<'a>(sent: &'a Fields, name: &str) -> &'a str {
    sent.text(name).or_else(|| sent.text(&format!("customer[{name}]"))).unwrap_or_default()
}

/// As [`input`], of a code that was mailed: people write it in groups.
pub(super) fn code(sent: &Fields) -> String {
    input(sent, "code").split_whitespace().collect()
}

/// As [`input`], of a password, which begins and ends as it was typed.
pub(super) fn password<'a>(sent: &'a Fields, name: &str) -> &'a str {
    sent.get(name).or_else(|| sent.get(&format!("customer[{name}]"))).unwrap_or_default()
}

impl Visit {
    /// Reads what a signed-in customer has, or leads to the sign-in.
    pub(super) async fn own(&self, path: &str) -> Result<Value, Response> {
        self.own_by(self.call_at(Method::GET, format!("{CUSTOMER}{path}"))).await
    }

    /// As [`Visit::own`], as a part of a page that was charged.
    pub(super) async fn own_part(&self, path: &str) -> Result<Value, Response> {
        self.own_by(self.call_at(Method::GET, format!("{CUSTOMER}{path}")).free()).await
    }

    async fn own_by(&self, call: Call) -> Result<Value, Response> {
        if !self.has_session() {
            return Err(to_sign_in(self));
        }
        match self.send(call).await {
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
