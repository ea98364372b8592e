//! `/v1/payments`: payments and providers.

use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    Routes::default()
}
