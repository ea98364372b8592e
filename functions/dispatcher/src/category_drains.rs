//! The products of a deleted category, which it is taken off in batches.

use catalogue::category::CategoryDrain;
use catalogue::product::Product;
use core_types::key;
use futures_util::TryStreamExt;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;

use crate::PARALLEL;

/// Products that are looked at together.
const BATCH: usize = 250;
/// Such batches in one sweep: what is beyond them is the next sweep's.
const BATCHES: usize = 10;

/// Goes on with a deleted category where the sweep before stopped. What fails stays due.
///
/// # Errors
/// 503; `version_conflict`: another sweep is at it.
pub(crate) async fn continue_drain(
    services: &Services,
    drain: &CategoryDrain,
) -> Result<(), Problem> {
    let mut now_at = drain.clone();
    for _ in 0..BATCHES {
        let batch = services.table.page::<Product>(&now_at.rest(), BATCH, None, |_| true).await?;
        let named = |product: &&Product| product.category_id.as_ref() == Some(&now_at.category_id);
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
                    // It has been given another, or has gone.
                    Err(problem) if problem.code == Code::VersionConflict => Ok(()),
                    // One that can never be written keeps no other from it.
                    Err(problem) if problem.is_permanent() => {
                        let product = product.id.as_str();
                        tracing::error!(cause = %problem, product, "it keeps a deleted category");
                        Ok(())
                    }
                    outcome => outcome,
                }
            })
            .await?;
        now_at = now_at.past(batch.items.last(), batch.next.is_some());
        if !now_at.is_open {
            break;
        }
    }
    let next = CategoryDrain { version: drain.version.saturating_add(1), ..now_at };
    services.table.write().replace(&next, Code::VersionConflict).commit().await
}
