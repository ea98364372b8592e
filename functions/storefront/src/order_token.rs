//! The token that came with an order: whoever shows it may look at the order, pay and cancel it.

use axum::extract::FromRequestParts;
use gateway::problem::Problem;
use gateway::request::{Argument, Raw};
use http::request::Parts;

/// The header that carries it.
const HEADER: &str = "x-service-order-token";

/// An order's token, if the request has one: `X-Service-Order-Token`.
pub(crate) struct OrderToken(Option<String>);

impl OrderToken {
    /// The token, as it was sent.
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl Argument for OrderToken {
    gateway::describes! { |operation| {
        let location = gateway::describe::ParameterLocation::Header;
        operation.takes::<String>(location, "X-Service-Order-Token", false);
    } }
}

impl<S: Sync> FromRequestParts<S> for OrderToken {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        Ok(Self(inbound.header(HEADER).map(str::to_owned)))
    }
}
