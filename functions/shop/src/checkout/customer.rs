//! What a signed-in customer has for a checkout: their e-mail address, and their saved addresses.

use http::Method;
use maud::{Markup, html};
use serde_json::Value;

use super::offers::destination;
use crate::address::lines_of;
use crate::cart::Cart;
use crate::values::{items, text};
use crate::visit::Visit;
use crate::words::Words;

/// What a customer has for a checkout; nothing of a guest.
#[derive(Debug, Default)]
pub(super) struct Customer {
    email: String,
    addresses: Vec<Value>,
}

impl Customer {
    /// Loads what a cart lacks. A checkout goes on without it.
    pub(super) async fn load(visit: &Visit, cart: &Cart) -> Self {
        if !visit.has_session() {
            return Self::default();
        }
        let lacks_email = text(&cart.json, "email").is_empty();
        let me = async { if lacks_email { own(visit, "/me").await } else { Value::Null } };
        let (me, addresses) = tokio::join!(me, own(visit, "/addresses?limit=50"));
        Self { email: text(&me, "email").to_owned(), addresses: items(&addresses) }
    }

    pub(super) fn email(&self) -> &str {
        &self.email
    }

    /// The address that the customer prefers.
    pub(super) fn preferred(&self) -> Option<&Value> {
        let is_default =
            |one: &&Value| one.get("is_default").and_then(Value::as_bool) == Some(true);
        self.addresses.iter().find(is_default)
    }

    /// A saved address, as a cart takes it.
    pub(super) fn address(&self, id: &str) -> Option<Value> {
        self.addresses.iter().find(|one| text(one, "id") == id).map(destination)
    }

    /// The choice of a saved address.
    pub(super) fn choice(&self, words: &Words) -> Markup {
        html! {
            @if !self.addresses.is_empty() {
                details {
                    summary { (words.saved_addresses) }
                    ul.plain {
                        @for one in &self.addresses {
                            li { button.link name="act" value={ "use:" (text(one, "id")) } { bdi { (lines_of(one, words).join(", ")) } } }
                        }
                    }
                }
            }
        }
    }
}

async fn own(visit: &Visit, path: &str) -> Value {
    let call = visit.call_at(Method::GET, format!("/v1/storefront/customer{path}")).free();
    visit.send(call).await.map(|answer| answer.json()).unwrap_or_default()
}
