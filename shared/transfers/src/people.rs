//! Deletion of files with personal data when one of their people is redacted: no single person can be
//! removed from a file.

use core_types::id::StoreId;
use core_types::key;
use primitives::problem::Problem;
use services::Services;
use table::Query;
use table::item::{Index, Item};

use crate::chunk;
use crate::export::{Export, ExportKind, start_next};
use crate::import::{Import, ImportKind, ImportStatus};

/// The number of imports or exports in one page.
const PAGE: usize = 100;

/// Deletes a store's exports of personal data, and the files of its imports of customers. Returns whether
/// none is left: an import under way is allowed to finish.
///
/// # Errors
/// `version_conflict` when one of them has changed meanwhile; 503.
pub async fn forget(services: &Services, store: &StoreId) -> Result<bool, Problem> {
    exports(services, store).await?;
    imports(services, store).await
}

async fn exports(services: &Services, store: &StoreId) -> Result<(), Problem> {
    let all = [Query::index(Index::Gsi5, key::exports_on(store))];
    let is_meant = |export: &Export| ExportKind::is_personal(export.kind);
    let mut place = None;
    loop {
        let (found, next) = services.table.walk(&all, PAGE, place.as_ref(), is_meant).await?;
        for export in &found {
            if !export.status.is_over() {
                export
                    .cancelled(services.clock.now())?
                    .save(services.table.write())
                    .commit()
                    .await?;
                start_next(services, store).await;
            }
            chunk::erase(services, export.id.as_str()).await?;
            services.table.write().delete(&export.key()).commit().await?;
        }
        if next.is_none() {
            return Ok(());
        }
        place = next;
    }
}

async fn imports(services: &Services, store: &StoreId) -> Result<bool, Problem> {
    let all = [Query::index(Index::Gsi5, key::imports_on(store))];
    let is_meant = |import: &Import| import.kind == ImportKind::Customers;
    let (mut place, mut is_all) = (None, true);
    loop {
        let (found, next) = services.table.walk(&all, PAGE, place.as_ref(), is_meant).await?;
        for import in &found {
            if import.status == ImportStatus::Running {
                is_all = false;
                continue;
            }
            if !import.status.is_over() {
                let cancelled = import.cancelled(services.clock.now())?;
                cancelled.save(import, services.table.write()).commit().await?;
            }
            chunk::erase(services, import.id.as_str()).await?;
        }
        if next.is_none() {
            return Ok(is_all);
        }
        place = next;
    }
}
