//! An order that a visitor may see.

use http::Method;
use serde_json::Value;

use crate::api::Call;
use crate::fault::Fault;
use crate::paths::segment;
use crate::visit::Visit;

/// An order that this visitor may see.
pub(crate) struct ShownOrder {
    pub(crate) id: String,
    pub(crate) json: Value,
}

impl Visit {
    /// A call about an order, with the token that this browser has for it.
    pub(crate) fn order_call(&self, method: Method, id: &str, path: &str) -> Call {
        self.call(method, path).header("x-service-order-token", self.order_token(id))
    }

    /// Loads an order.
    ///
    /// # Errors
    /// `not_found`, also for another's.
    pub(crate) async fn load_order(&self, id: &str) -> Result<ShownOrder, Fault> {
        let path = format!("/orders/{}", segment(id));
        let answer = self.send(self.order_call(Method::GET, id, &path)).await?;
        Ok(ShownOrder { id: id.to_owned(), json: self.own_urls(&answer) })
    }
}
