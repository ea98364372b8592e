//! `/v1/orders`: orders, fulfilment, refunds.

use gateway::routes::Routes;

/// The routes of this family, in document order.
pub fn routes() -> Routes {
    Routes::default()
}
