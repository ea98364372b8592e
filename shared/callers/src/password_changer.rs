//! The caller who may change a password.

use std::sync::Arc;

use gateway::caller::{Access, Caller, Identity, Public};
use gateway::request::Inbound;
use primitives::problem::Problem;
use services::Services;

/// The authorization of a password change: a mailed token, or the signed-in owner.
#[derive(Debug, Clone)]
pub enum PasswordChanger<C> {
    /// A mailed token, which [`by_link`](identity::authentication::password::by_link) validates.
    Link(Public),
    /// The signed-in owner.
    Session(Box<C>),
}

gateway::caller_argument!(PasswordChanger where C: Caller);

impl<C: Caller> Caller for PasswordChanger<C> {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        // A body that is not JSON is rejected as such, with or without a session.
        let by_link = inbound.json().map_or(true, |body| body.get("token").is_some());
        if by_link {
            return Public::authenticate(services, inbound).await.map(Self::Link);
        }
        Ok(Self::Session(Box::new(C::authenticate(services, inbound).await?)))
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Link(public) => public.identity(),
            Self::Session(owner) => owner.identity(),
        }
    }
}
