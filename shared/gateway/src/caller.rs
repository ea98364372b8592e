//! Who may call: a handler's first argument says it, and a handler without one does not compile.
//!
//! The concrete callers that need merchants, stores or apps live in `platform::caller`; this file
//! has what all callers share, and the one that needs nothing.

use std::sync::Arc;

use crate::app::App;
use crate::budget::Tier;
#[cfg(feature = "openapi")]
use crate::describe::Operation;
use crate::problem::Problem;
use crate::request::Inbound;

/// What a row of a route table demands of its caller: for the guards, the contract tests and the
/// documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Anybody.
    Public,
    /// A merchant session.
    Merchant,
    /// A member of the store with this role or one that may do more, by session.
    Role(&'static str),
    /// A member of the store who may do what this scope names, by session, or an app token with it.
    Scope(&'static str),
    /// A merchant with a developer profile.
    Developer,
    /// A platform operator.
    Operator,
    /// OAuth client credentials, validated by the endpoint itself in the RFC's order.
    Client,
    /// An embedded app token, or a merchant session that names an installation.
    Embedded,
    /// A customer of a store, by their token.
    Customer,
}

impl Access {
    /// Whether the store is selected for the handler, so that `store_id` in a body is not one of
    /// the request's own fields (docs/conventions.md §6).
    pub const fn selects_store(self) -> bool {
        matches!(self, Self::Scope(_) | Self::Role(_))
    }
}

/// Who a request turned out to be from.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The scope of idempotency keys and cursors: `merchant:mer_…`, `installation:ins_…`.
    pub principal: String,
    /// The store the call is about.
    pub store: Option<String>,
    /// Whose budget pays.
    pub subject: String,
    /// How large that budget is.
    pub tier: Tier,
    /// The network of a guest: somebody who has proven nothing, whose idempotency keys are bound to
    /// where they come from.
    pub guest: Option<String>,
    /// What the credential may do, where scopes say so: scopes by name, `read_*` or `*`. A kept answer is
    /// shown again to whoever may do at least what its request could.
    pub scopes: Option<String>,
}

impl Identity {
    /// Somebody unknown, told apart by network alone.
    pub fn anonymous(inbound: &Inbound) -> Self {
        Self::of_network(&inbound.client_prefix())
    }

    /// Somebody unknown in this network.
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

/// A kind of caller. Authentication happens once, before the handler, in
/// [`crate::routes`]; as an argument a caller is only taken out of the request.
pub trait Caller: Clone + Send + Sync + 'static {
    /// What the route table and the documents say.
    fn access() -> Access;

    /// Says what finding out who calls reads, beside credentials.
    #[cfg(feature = "openapi")]
    fn describe(operation: &mut Operation) {
        let _ = operation;
    }

    /// Whether finding out who calls may read the table, so that a network which is rejected time
    /// and again is turned away before.
    fn reads(_: &Inbound) -> bool {
        true
    }

    /// Finds out who calls.
    ///
    /// # Errors
    /// 401, 403 or 404, before anything else of the request is looked at.
    fn authenticate(
        app: &App,
        inbound: &Arc<Inbound>,
    ) -> impl Future<Output = Result<Self, Problem>> + Send;

    /// Who that is.
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
            type Rejection = $crate::problem::Problem;

            async fn from_request_parts(
                parts: &mut http::request::Parts,
                _: &State,
            ) -> Result<Self, Self::Rejection> {
                let caller = parts.extensions.get::<Self>().cloned();
                caller.ok_or_else(|| $crate::problem::Problem::internal("no caller in the request"))
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

    async fn authenticate(_: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        Ok(Self { identity: Identity::anonymous(inbound) })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

crate::caller_argument!(Public);
