//! The token of a cart, returned when it is created: its bearer may read, change and order the cart.

use axum::extract::FromRequestParts;
use gateway::request::{Argument, Raw};
use http::request::Parts;
use primitives::problem::Problem;
use sales::cart::access::PresentedCartToken;
use services::Services;

/// The header of the token.
const HEADER: &str = "x-service-cart-token";

/// A cart's token, if the request has one, and the network that it came from: `X-Service-Cart-Token`.
pub(crate) struct CartToken {
    token: Option<String>,
    /// The network prefix of the client.
    pub(super) network: String,
}

impl CartToken {
    /// Returns the presented token. Without a token no key is read.
    ///
    /// # Errors
    /// 503.
    pub(super) async fn presented(
        &self,
        services: &Services,
    ) -> Result<Option<PresentedCartToken>, Problem> {
        let Some(token) = &self.token else { return Ok(None) };
        Ok(Some(PresentedCartToken::new(token, services.secrets.order_link_key().await?)))
    }
}

impl Argument for CartToken {
    gateway::describes! { |operation| {
        let location = gateway::describe::ParameterLocation::Header;
        operation.takes::<String>(location, "X-Service-Cart-Token", false);
    } }
}

impl<S: Sync> FromRequestParts<S> for CartToken {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        let token = inbound.header(HEADER).map(str::to_owned);
        Ok(Self { token, network: inbound.client_prefix() })
    }
}
