//! Callers: a handler's first argument declares who may call, and a handler without one does not compile.
//!
//! Callers that need merchants, stores or apps are in `callers`. This file has what all callers
//! share, and the public one.

use std::sync::Arc;

pub use crate::row::Access;

use crate::budget::Tier;
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use crate::request::Inbound;
use primitives::problem::Problem;
use services::Services;

/// The identity of an authenticated request.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The scope of idempotency keys and cursors: `merchant:mer_…`, `installation:ins_…`.
    pub principal: String,
    /// The store that the request concerns.
    pub store: Option<String>,
    /// The subject whose budget is charged.
    pub subject: String,
    /// The size of that budget.
    pub tier: Tier,
    /// The network of a guest, who has no credential: it is part of the scope of their idempotency keys.
    pub guest: Option<String>,
    /// The scopes of the credential, if it has any: by name, `read_*` or `*`. A stored idempotent response is
    /// sent again only to a credential that has at least the scopes of the first request.
    pub scopes: Option<String>,
}

impl Identity {
    /// An unauthenticated caller, identified by network alone.
    pub fn anonymous(inbound: &Inbound) -> Self {
        Self::of_network(&inbound.client_prefix())
    }

    /// An unauthenticated caller in this network.
    pub(crate) fn of_network(prefix: &str) -> Self {
        Self {
            principal: "public".to_owned(),
            store: None,
            subject: format!("-#{prefix}"),
            tier: Tier::Public,
            guest: Some(prefix.to_owned()),
            scopes: None,
        }
    }
}

/// A kind of caller. Authentication happens once, before the handler, in [`crate::routes`]; the argument only
/// takes the result out of the request.
pub trait Caller: Clone + Send + Sync + 'static {
    /// The access for the route table and the documents.
    fn access() -> Access;

    /// Describes the parts of the request that authentication reads in addition to credentials.
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        let _ = operation;
    }

    /// Whether authentication may read the table. If so, a network that was rejected repeatedly is turned
    /// away before.
    fn reads(_: &Inbound) -> bool {
        true
    }

    /// Authenticates the caller.
    ///
    /// # Errors
    /// 401, 403 or 404, before anything else of the request is validated.
    fn authenticate(
        services: &Services,
        inbound: &Arc<Inbound>,
    ) -> impl Future<Output = Result<Self, Problem>> + Send;

    /// The identity of this caller.
    fn identity(&self) -> Identity;
}

/// Makes a [`Caller`] usable as a handler's argument.
#[macro_export]
macro_rules! caller_argument {
    ($name:ident) => {
        $crate::caller_argument!(@impl [] $name);
    };
    ($name:ident where $generic:ident: $bound:path) => {
        $crate::caller_argument!(@impl [$generic: $bound,] $name<$generic>);
    };
    (@impl [$($generics:tt)*] $name:ty) => {
        impl<$($generics)* State: Sync> axum::extract::FromRequestParts<State> for $name {
            type Rejection = primitives::problem::Problem;

            async fn from_request_parts(
                parts: &mut http::request::Parts,
                _: &State,
            ) -> Result<Self, Self::Rejection> {
                let caller = parts.extensions.get::<Self>().cloned();
                caller.ok_or_else(|| primitives::problem::Problem::internal("no caller in the request"))
            }
        }
    };
}

/// Anybody.
#[derive(Debug, Clone)]
pub struct Public {
    identity: Identity,
}

impl Caller for Public {
    fn access() -> Access {
        Access::Public
    }

    fn reads(_: &Inbound) -> bool {
        false
    }

    async fn authenticate(_: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        Ok(Self { identity: Identity::anonymous(inbound) })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

crate::caller_argument!(Public);
