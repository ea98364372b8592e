//! Removal of a deleted category from its products, in batches.

use catalogue::category::CategoryDrain;
use catalogue::product::Product;
use core_types::key;
use futures_util::TryStreamExt;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;

use crate::PARALLEL;

/// The number of products in one batch.
const BATCH: usize = 250;
/// The most batches of one sweep; the rest is left to the next sweep.
const BATCHES: usize = 10;

/// Continues with a deleted category where the sweep before stopped. Failed products stay due.
///
/// # Errors
/// 503; `version_conflict` when another sweep processes it.
pub(crate) async fn continue_drain(
    services: &Services,
    drain: &CategoryDrain,
) -> Result<(), Problem> {
    let mut current = drain.clone();
    for _ in 0..BATCHES {
        let batch = services.table.page::<Product>(&current.rest(), BATCH, None, |_| true).await?;
        let named = |product: &&Product| product.category_id.as_ref() == Some(&current.category_id);
        futures_util::stream::iter(batch.items.iter().filter(named).map(Ok))
            .try_for_each_concurrent(PARALLEL, |product| async move {
                let change = drain.change(services.clock.now());
                let summary = key::summary(&product.store_id, &product.id);
                let write = services
                    .table
                    .write()
                    .update(&product.key(), change.clone(), Code::VersionConflict)
                    .update(&summary, change, Code::VersionConflict);
                match write.commit().await {
                    // It was given another category, or deleted.
                    Err(problem) if problem.code == Code::VersionConflict => Ok(()),
                    // A product that can never be written does not block the others.
                    Err(problem) if problem.is_permanent() => {
                        let product = product.id.as_str();
                        tracing::error!(
                            cause = %problem, product,
                            "deleted category not removed from a product"
                        );
                        Ok(())
                    }
                    outcome => outcome,
                }
            })
            .await?;
        current = current.past(batch.items.last(), batch.next.is_some());
        if !current.is_open {
            break;
        }
    }
    let next = CategoryDrain { version: drain.version.saturating_add(1), ..current };
    services.table.write().replace(&next, Code::VersionConflict).commit().await
}
