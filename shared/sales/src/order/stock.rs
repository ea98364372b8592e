//! The stock that an order holds, and the moves between its states.
//!
//! A line has each location once, and no two lines share a variant, so a transaction writes each level once.

use catalogue::inventory::{self, Line, StockStep};
use core_types::id::LocationId;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use table::Write;

use super::{Order, OrderItem, Units};

primitives::string_enum! {
    /// The state of the stock that an order's remaining units hold.
    StockState {
        /// Reserved until the order is paid.
        Reserved = "reserved",
        /// Committed: to be shipped.
        Committed = "committed",
        /// Not held any more: it was released or written off.
        Released = "released",
    }
}

/// A move of all stock that an order still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockMove {
    /// From reserved to committed.
    Commit,
    /// From committed to reserved.
    Uncommit,
    /// Makes it available again.
    Release,
    /// Takes committed stock out; releases reserved stock.
    WriteOff,
}

/// Moves the remaining units of every line, at each of their locations.
pub fn move_all(write: Write, order: &Order, how: StockMove, now: Timestamp) -> Write {
    order.items.iter().fold(write, |write, item| {
        let held = item.allocations();
        let held = held.iter().filter(|one| one.remaining() > 0);
        held.fold(write, |write, one| {
            let line = line(order, item, &one.location_id, one.remaining());
            move_line(write, order, &line, how, now)
        })
    })
}

fn move_line(
    write: Write,
    order: &Order,
    line: &Line<'_>,
    how: StockMove,
    now: Timestamp,
) -> Write {
    let step = match (how, order.stock) {
        (_, StockState::Released) => return write,
        // Transitions decide these two moves only in the state that they start from.
        (StockMove::Commit, _) => StockStep::Commit,
        (StockMove::Uncommit, _) => StockStep::Uncommit,
        (StockMove::Release | StockMove::WriteOff, StockState::Reserved) => {
            StockStep::ReleaseReserved
        }
        (StockMove::Release, StockState::Committed) => StockStep::ReleaseCommitted,
        (StockMove::WriteOff, StockState::Committed) => StockStep::Fulfil,
    };
    inventory::apply(write, step, line, lost(), now)
}

/// Units of a line at a location.
pub fn line<'a>(
    order: &'a Order,
    item: &'a OrderItem,
    location: &'a LocationId,
    quantity: u32,
) -> Line<'a> {
    Line { store: &order.store_id, variant: &item.variant_id, location, quantity, order: &order.id }
}

/// Adds a stock movement of units of a line, at each of their locations.
pub(crate) fn step_all(
    write: Write,
    step: StockStep,
    (order, item): (&Order, &OrderItem),
    at: &[Units],
    now: Timestamp,
) -> Write {
    at.iter().fold(write, |write, units| {
        let line = line(order, item, &units.location_id, units.quantity);
        inventory::apply(write, step, &line, lost(), now)
    })
}

/// The error for a level with less stock than the order holds: a defect, never caused by the caller.
pub(super) fn lost() -> Problem {
    Problem::internal("a stock level does not hold what an order set aside")
}
