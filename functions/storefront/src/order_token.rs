//! The token of an order, returned at checkout and sent in mails: its bearer may read, pay and cancel the
//! order.

use axum::extract::FromRequestParts;
use gateway::request::{Argument, Raw};
use http::request::Parts;
use primitives::problem::Problem;
use sales::order::PresentedToken;
use services::Services;

/// The header of the token.
const HEADER: &str = "x-service-order-token";

/// An order's token, if the request has one: `X-Service-Order-Token`.
pub(crate) struct OrderToken(Option<String>);

impl OrderToken {
    /// Returns the presented token: from the header, or else from the body (`alongside`). Without a token
    /// no key is read.
    ///
    /// # Errors
    /// 503.
    pub(crate) async fn presented(
        &self,
        services: &Services,
        alongside: Option<&str>,
    ) -> Result<Option<PresentedToken>, Problem> {
        let Some(token) = self.0.as_deref().or(alongside) else { return Ok(None) };
        Ok(Some(PresentedToken::new(token, services.secrets.order_link_key().await?)))
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
