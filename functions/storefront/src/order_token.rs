//! The token that came with an order, or with a mail about it: whoever shows it may look at the order, pay and cancel it.

use axum::extract::FromRequestParts;
use gateway::app::App;
use primitives::problem::Problem;
use gateway::request::{Argument, Raw};
use http::request::Parts;
use sales::order::PresentedToken;

/// The header that carries it.
const HEADER: &str = "x-service-order-token";

/// An order's token, if the request has one: `X-Service-Order-Token`.
pub(crate) struct OrderToken(Option<String>);

impl OrderToken {
    /// The token that is shown: in the header, or else `alongside` it. Without one no key is read.
    ///
    /// # Errors
    /// 503.
    pub(crate) async fn presented(
        &self,
        app: &App,
        alongside: Option<&str>,
    ) -> Result<Option<PresentedToken>, Problem> {
        let Some(token) = self.0.as_deref().or(alongside) else { return Ok(None) };
        Ok(Some(PresentedToken::new(token, app.secrets.order_link_key().await?)))
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
