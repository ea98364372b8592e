//! What a chunk of work asks of the table, where no request counts it.

use std::sync::Arc;

use http::HeaderMap;

use super::TableUse;
use primitives::clock::Timestamp;
use primitives::context::Context;

/// What a chunk of work asked of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metered {
    /// Round trips.
    pub trips: u32,
    /// Capacity in tenths of a unit, as the table says it.
    pub capacity_tenths: u64,
}

/// Does work that no request asked for, in a context of its own, and says what it asked of the table. It
/// counts for the work around it, too.
pub fn metered<F: Future>(
    now: Timestamp,
    work: F,
) -> impl Future<Output = (F::Output, Metered)> + use<F> {
    // On the heap before anything else: what is measured is large.
    let work = Box::pin(work);
    async move {
        let context = Context::new(&HeaderMap::new(), "", now);
        let done = Arc::clone(&context).scope(work).await;
        let TableUse { trips, capacity_tenths, .. } = context.kept().unwrap_or_default();
        Context::update(|around: &mut TableUse| {
            around.trips = around.trips.saturating_add(trips);
            around.capacity_tenths = around.capacity_tenths.saturating_add(capacity_tenths);
        });
        (done, Metered { trips, capacity_tenths })
    }
}
