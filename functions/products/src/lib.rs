//! `/v1/products`, `/v1/customers`, `/v1/inventory`, `/v1/media`, `/v1/reviews`, `/v1/form-submissions`: the commerce admin surface.

use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    Routes::default()
}
