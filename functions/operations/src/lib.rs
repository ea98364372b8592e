//! `/v1/operations`

use gateway::routes::Routes;

/// The routes of this family.
pub fn routes() -> Routes {
    Routes::default()
}
