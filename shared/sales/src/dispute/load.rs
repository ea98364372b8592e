//! Loads disputes.

use core_types::id::{DisputeId, StoreId};
use core_types::key;
use core_types::resource;
use primitives::problem::Problem;
use services::Services;
use table::Query;

use super::{Dispute, DisputeStatus};

/// Loads a dispute of a store.
///
/// # Errors
/// `not_found`.
pub async fn dispute(
    services: &Services,
    store: &StoreId,
    id: &DisputeId,
) -> Result<Dispute, Problem> {
    resource::load(services, &key::dispute(store, id)).await
}

/// The query of a store's disputes, or of those with a status.
pub fn of_store(store: &StoreId, status: Option<DisputeStatus>) -> Query {
    Query::list(match status {
        Some(status) => key::list::disputes_of_status(store, status.as_str()),
        None => key::list::disputes_of_store(store),
    })
}

/// Loads disputes of a store, in the order of `ids`. Missing ones are skipped.
///
/// # Errors
/// 503.
pub async fn disputes<'a>(
    services: &Services,
    store: &StoreId,
    ids: impl IntoIterator<Item = &'a DisputeId>,
) -> Result<Vec<Dispute>, Problem> {
    let keys: Vec<_> = ids.into_iter().map(|id| key::dispute(store, id)).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let read: Result<Vec<Option<Dispute>>, Problem> =
        keys.iter().map(|key| found.take(key)).collect();
    Ok(read?.into_iter().flatten().collect())
}
