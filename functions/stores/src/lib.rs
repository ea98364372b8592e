//! `/v1/stores`

use gateway::routes::Routes;

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default()
}
