//! The table calls of a chunk of work, outside of requests.

use std::sync::Arc;

use http::HeaderMap;

use super::TableUse;
use primitives::clock::Timestamp;
use primitives::context::Context;

/// The table calls of a chunk of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metered {
    /// Round trips.
    pub trips: u32,
    /// Capacity in tenths of a unit, as the table reports it.
    pub capacity_tenths: u64,
}

/// Runs work outside of any request, in a context of its own, and returns its table calls. They are also
/// counted for the surrounding work.
pub fn metered<F: Future>(
    now: Timestamp,
    work: F,
) -> impl Future<Output = (F::Output, Metered)> + use<F> {
    // On the heap before anything else: what is measured is large.
    let work = Box::pin(work);
    async move {
        let context = Context::new(&HeaderMap::new(), "", now);
        let done = Arc::clone(&context).scope(work).await;
        let TableUse { trips, capacity_tenths, .. } = context.get().unwrap_or_default();
        Context::update(|around: &mut TableUse| {
            around.trips = around.trips.saturating_add(trips);
            around.capacity_tenths = around.capacity_tenths.saturating_add(capacity_tenths);
        });
        (done, Metered { trips, capacity_tenths })
    }
}
