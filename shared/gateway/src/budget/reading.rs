//! What a `GET` reads beyond what it is charged ahead: narrow filters look at much to find little, and
//! some things are large.
//!
//! A point pays for [`UNITS`] capacity units of the table. What was read beyond the points is
//! charged when it is answered, whether the bucket holds it or not. A list reads on only while that
//! is no more than [`LIST_LIMIT`]: then the page ends early, with a cursor.

use http::Method;

use super::{ActualCost, Charge, Cost};
use crate::row::Row;
use primitives::context::Context;
use table::{ReadLimit, TableUse};

/// Capacity units that a point pays for (our choice): a page of a list is below what it is charged,
/// and a network that spends all that it is restored takes a fifth of what a partition can give.
const UNITS: u64 = 20;
/// What a request may read for one page before the page ends (our choice): 3 MB of items. The query that goes
/// beyond it is the last one.
const LIST_LIMIT: ReadLimit = ReadLimit { capacity_tenths: 3_800 };

/// The mark of a request that pays for what it reads.
#[derive(Debug, Clone, Copy)]
struct Metered;

/// What this many tenths of a capacity unit cost.
fn points(tenths: u64) -> u32 {
    u32::try_from(tenths.div_ceil(UNITS.saturating_mul(10))).unwrap_or(u32::MAX)
}

/// From here on the request under way reads, for a list if it is one.
pub(crate) fn begin(row: &Row) {
    let Some(context) = Context::current() else { return };
    if row.cost == Cost::List {
        context.keep(LIST_LIMIT);
    }
    if row.method == Method::GET || row.cost == Cost::List {
        context.keep(Metered);
    }
}

/// What the request under way has read, in points.
pub fn points_read() -> u32 {
    let read: Option<TableUse> = Context::current().and_then(|context| context.kept());
    read.map_or(0, |read| points(read.capacity_tenths))
}

/// Has a request cost no less than what was read for it.
pub(crate) fn count_read(context: &Context) {
    let Some(charge) = context.kept::<Charge>().filter(|_| context.kept::<Metered>().is_some())
    else {
        return;
    };
    let read: TableUse = context.kept().unwrap_or_default();
    let known = context.kept::<ActualCost>().map_or(charge.taken(), |actual| actual.0);
    let read = points(read.capacity_tenths);
    // What costs as much as was taken has nothing to settle.
    if read > known || context.kept::<ReadLimit>().is_some() {
        context.keep(ActualCost(known.max(read)));
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
            context.keep(TableUse { trips: 1, capacity_tenths: tenths, charges: 0, throttles: 0 });
            let enough = context.scope(async move {
                let row = Row::example(Method::GET, "/", Access::Public);
                begin(&Row { cost, ..row });
                ReadLimit::is_reached()
            });
            assert_eq!(enough.await, expected, "{cost:?} {tenths}");
        }
    }
}
