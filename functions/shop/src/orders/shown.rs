//! An order that a visitor may see.

use std::time::Duration;

use http::Method;
use serde_json::Value;

use crate::api::{Answer, Call};
use crate::fault::Fault;
use crate::paths::segment;
use crate::values::text;
use crate::visit::Visit;

/// How long a page waits for a provider.
const PATIENCE: Duration = Duration::from_secs(4);

/// An order that this visitor may see.
pub(crate) struct ShownOrder {
    pub(crate) id: String,
    pub(crate) json: Value,
}

impl ShownOrder {
    /// Whether a provider may know more of its payment than the order does.
    fn awaits_provider(&self) -> bool {
        let is_due = self.json.get("payment_required").and_then(Value::as_bool).unwrap_or(false);
        let is_processing = text(&self.json, "financial_status") == "processing";
        (is_due || is_processing) && text(&self.json, "payment_provider") != "manual"
    }
}

impl Visit {
    /// A call about an order, with the token that this browser has for it.
    pub(crate) fn order_call(&self, method: Method, id: &str, path: &str) -> Call {
        self.call(method, path).header("x-service-order-token", self.order_token(id))
    }

    /// Loads an order. Where money is still to arrive, its provider is asked first, for the browser that has paid may not
    /// have come back.
    ///
    /// # Errors
    /// `not_found`, also for another's.
    pub(crate) async fn load_order_now(&self, id: &str) -> Result<ShownOrder, Fault> {
        let known = self.load_order(id).await?;
        if !known.awaits_provider() {
            return Ok(known);
        }
        let asking = storefront::ask_provider(&self.shops.app, self.store(), id);
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Ok(true)) => {
                let call = self.order_call(Method::GET, id, &path_of(id)).free();
                Ok(self.shown(id, &self.send(call).await?))
            }
            // The provider's webhook decides it.
            Ok(_) | Err(_) => Ok(known),
        }
    }

    /// Loads an order.
    ///
    /// # Errors
    /// `not_found`, also for another's.
    pub(crate) async fn load_order(&self, id: &str) -> Result<ShownOrder, Fault> {
        let answer = self.send(self.order_call(Method::GET, id, &path_of(id))).await?;
        Ok(self.shown(id, &answer))
    }

    fn shown(&self, id: &str, answer: &Answer) -> ShownOrder {
        ShownOrder { id: id.to_owned(), json: self.own_urls(answer) }
    }
}

fn path_of(id: &str) -> String {
    format!("/orders/{}", segment(id))
}
