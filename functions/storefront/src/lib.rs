//! `/v1/storefront`: the public storefront.

use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    Routes::default()
}
