//! What a list reads beyond what it is charged ahead: narrow filters look at much to find little.
//!
//! A point pays for [`UNITS`] capacity units of the table. What a list read beyond its points is
//! charged when it is answered, whether the bucket holds it or not, and it reads on only while that
//! is no more than [`MOST`]: then the page ends early, with a cursor.

use super::{ActualCost, Charge, Cost};
use crate::context::Context;
use crate::table::TableUse;

/// Capacity units that a point pays for (our choice): a page of a list is below what it is charged,
/// and a network that spends all that it is restored takes a fifth of what a partition can give.
const UNITS: u64 = 20;
/// Points that reading for one page may come to before it ends (our choice): 3 MB of items. One more
/// query than that is what a page reads at most.
const MOST: u32 = 20;

/// The mark of a request that is answered with a page.
#[derive(Debug, Clone, Copy)]
struct Paged;

/// What this many tenths of a capacity unit cost.
fn points(tenths: u64) -> u32 {
    u32::try_from(tenths.div_ceil(UNITS.saturating_mul(10))).unwrap_or(u32::MAX)
}

/// From here on the request under way reads for a list, if it is one.
pub(crate) fn begin(cost: Cost) {
    if let (Cost::List, Some(context)) = (cost, Context::current()) {
        context.keep(Paged);
    }
}

/// Whether the page of the request under way has to end, since so much was read for it. What is no
/// list goes on.
pub fn has_read_enough() -> bool {
    let Some(context) = Context::current() else { return false };
    let read: TableUse = context.kept().unwrap_or_default();
    context.kept::<Paged>().is_some() && points(read.capacity_tenths) >= MOST
}

/// Has a list cost no less than what was read for it.
pub(crate) fn count_read(context: &Context) {
    let Some(charge) = context.kept::<Charge>().filter(|_| context.kept::<Paged>().is_some())
    else {
        return;
    };
    let read: TableUse = context.kept().unwrap_or_default();
    let known = context.kept::<ActualCost>().map_or(charge.taken(), |actual| actual.0);
    context.keep(ActualCost(known.max(points(read.capacity_tenths))));
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::clock::Timestamp;

    #[test]
    fn a_point_pays_for_twenty_units() {
        for (tenths, expected) in [(0, 0), (1, 1), (200, 1), (201, 2), (1_270, 7), (24_600, 123)] {
            assert_eq!(points(tenths), expected, "{tenths}");
        }
    }

    #[tokio::test]
    async fn a_list_has_read_enough_at_its_bound_and_nothing_else_ever_has() {
        assert!(!has_read_enough());
        for (cost, tenths, expected) in
            [(Cost::List, 3_800, false), (Cost::List, 3_801, true), (Cost::WRITE, 24_600, false)]
        {
            let context = Context::new(&HeaderMap::new(), "/", Timestamp::from_millis(0));
            context.keep(TableUse { trips: 1, capacity_tenths: tenths, charges: 0, throttles: 0 });
            let enough = context.scope(async move {
                begin(cost);
                has_read_enough()
            });
            assert_eq!(enough.await, expected, "{cost:?} {tenths}");
        }
    }
}
