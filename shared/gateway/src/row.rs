//! One row of a route table: what is declared about a route, apart from its handler.

use http::Method;

use crate::budget::Cost;

/// One row of a route table.
#[derive(Debug, Clone)]
pub struct Row {
    /// The method.
    pub method: Method,
    /// The path, in axum's syntax.
    pub path: &'static str,
    /// The points it costs.
    pub cost: Cost,
    /// The callers it admits.
    pub access: Access,
    /// Whether its errors are those of RFC 6749 §5.2 instead of RFC 9457.
    pub oauth: bool,
    /// The largest body, in bytes.
    pub body_limit: usize,
    /// Whether it is rejected when its budget cannot be read: it signs somebody in, or sends mail to an
    /// address that the caller names.
    pub fails_closed: bool,
    /// Whether the [`response_cache`](crate::response_cache) may serve its public answers again.
    pub is_cached: bool,
    /// Whether an idempotency key is claimed before its handler runs.
    pub claiming: Claiming,
}

#[cfg(test)]
impl Row {
    /// A free row that takes a body of one byte.
    pub(crate) fn example(method: Method, path: &'static str, access: Access) -> Self {
        let cost = Cost::FREE;
        let (oauth, fails_closed, is_cached, claiming) = (false, false, false, Claiming::Ahead);
        Self { method, path, cost, access, oauth, body_limit: 1, fails_closed, is_cached, claiming }
    }
}

/// The caller that a route row requires: for the guards, the contract tests and the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Anybody.
    Public,
    /// A merchant session.
    Merchant,
    /// A member of the store with this role or a higher one, by session.
    Role(&'static str),
    /// A member of the store whose role includes this scope, by session; or an app token with the scope.
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

/// When the record of a request's key is first written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claiming {
    /// Before the handler runs: of two concurrent requests, only one runs.
    Ahead,
    /// With the effect, which is one transaction: of two concurrent requests, only one takes effect.
    WithEffect,
}
