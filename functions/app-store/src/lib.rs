//! `/v1/app-store`

use gateway::routes::Routes;

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default()
}
