//! The reads of a `GET` beyond its charge: a narrow filter reads many items to find few, and some items
//! are large.
//!
//! A point pays for [`UNITS`] capacity units of the table. Reads beyond the points are charged when the
//! request is answered, whether the bucket has the points or not. A page of a list ends early, with a
//! cursor, when its reads exceed [`LIST_LIMIT`].

use http::Method;

use super::{ActualCost, Charge, Cost};
use crate::row::Row;
use primitives::context::Context;
use table::{ReadLimit, TableUse};

/// The capacity units that a point pays for (our choice). A page of a list is below its charge, and a
/// network that spends all its restored points takes a fifth of a partition's throughput.
const UNITS: u64 = 20;
/// The reads after which a page ends (our choice): 3 MB of items. The query that exceeds it is the last
/// one.
const LIST_LIMIT: ReadLimit = ReadLimit { capacity_tenths: 3_800 };

/// The mark of a request that is charged for its reads.
#[derive(Debug, Clone, Copy)]
struct Metered;

/// The points for this many tenths of a capacity unit.
fn points(tenths: u64) -> u32 {
    u32::try_from(tenths.div_ceil(UNITS.saturating_mul(10))).unwrap_or(u32::MAX)
}

/// Begins to count the current request's reads, for a list if it is one.
pub(crate) fn begin(row: &Row) {
    let Some(context) = Context::current() else { return };
    if row.cost == Cost::List {
        context.insert(LIST_LIMIT);
    }
    if row.method == Method::GET || row.cost == Cost::List {
        context.insert(Metered);
    }
}

/// The reads of the current request, in points.
pub fn points_read() -> u32 {
    let read: Option<TableUse> = Context::current().and_then(|context| context.get());
    read.map_or(0, |read| points(read.capacity_tenths))
}

/// Raises the cost of a request to that of its reads.
pub(crate) fn count_read(context: &Context) {
    let Some(charge) = context.get::<Charge>().filter(|_| context.get::<Metered>().is_some())
    else {
        return;
    };
    let read: TableUse = context.get().unwrap_or_default();
    let known = context.get::<ActualCost>().map_or(charge.taken(), |actual| actual.0);
    let read = points(read.capacity_tenths);
    // Reads up to the charge need no correction.
    if read > known || context.get::<ReadLimit>().is_some() {
        context.insert(ActualCost(known.max(read)));
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::row::Access;
    use primitives::clock::Timestamp;

    #[test]
    fn a_point_pays_for_twenty_units() {
        for (tenths, expected) in [(0, 0), (1, 1), (200, 1), (201, 2), (1_270, 7), (24_600, 123)] {
            assert_eq!(points(tenths), expected, "{tenths}");
        }
    }

    #[tokio::test]
    async fn a_list_has_read_enough_at_its_bound_and_nothing_else_ever_has() {
        assert!(!ReadLimit::is_reached());
        for (cost, tenths, expected) in
            [(Cost::List, 3_800, false), (Cost::List, 3_801, true), (Cost::WRITE, 24_600, false)]
        {
            let context = Context::new(&HeaderMap::new(), "/", Timestamp::from_millis(0));
            context.insert(TableUse {
                trips: 1,
                capacity_tenths: tenths,
                charges: 0,
                throttles: 0,
            });
            let enough = context.scope(async move {
                let row = Row::example(Method::GET, "/", Access::Public);
                begin(&Row { cost, ..row });
                ReadLimit::is_reached()
            });
            assert_eq!(enough.await, expected, "{cost:?} {tenths}");
        }
    }
}
