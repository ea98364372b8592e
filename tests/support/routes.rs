//! The routes that the system declares.

use gateway::caller::Access;
use http::Method;

/// A route.
#[derive(Debug, Clone)]
pub struct Route {
    /// The function that serves it.
    pub family: &'static str,
    pub method: Method,
    /// With its parameters in braces.
    pub path: &'static str,
    /// Whether anybody may call it.
    pub is_public: bool,
    /// Whether an app may call it, by a token of the right scope.
    pub is_for_apps: bool,
    /// Whether the response cache may hold its answers.
    pub is_cached: bool,
}

/// Every route, family by family.
pub fn routes() -> Vec<Route> {
    let mut all = Vec::new();
    for (family, routes) in local::families() {
        all.extend(routes.rows().iter().map(|row| Route {
            family,
            method: row.method.clone(),
            path: row.path,
            is_public: row.access == Access::Public,
            is_for_apps: matches!(row.access, Access::Scope(_)),
            is_cached: row.is_cached,
        }));
    }
    all
}
