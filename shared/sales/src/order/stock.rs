//! What an order holds of the stock, and the moves between the states of it.
//!
//! A line's stock is at each location once, and no two lines share a variant: so a transaction
//! touches each level once.

use catalogue::inventory::{self, Line, StockStep};
use core_types::id::LocationId;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use table::Write;

use super::{Order, OrderItem, Units};

primitives::string_enum! {
    /// What an order's remaining units hold of the stock.
    StockState {
        /// Set aside until the order is paid.
        Reserved = "reserved",
        /// The order's own: to be sent.
        Committed = "committed",
        /// Nothing: it went back, or was written off.
        Released = "released",
    }
}

/// A move of everything that an order still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockMove {
    /// From set aside to the order's own.
    Commit,
    /// From the order's own to set aside again.
    Uncommit,
    /// Back.
    Release,
    /// What is the order's own is gone; what was only set aside goes back.
    WriteOff,
}

/// Moves the remaining units of every line, wherever they are.
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
        // A payment shows the order as it will be.
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

/// So many units of a line at a location.
pub fn line<'a>(
    order: &'a Order,
    item: &'a OrderItem,
    location: &'a LocationId,
    quantity: u32,
) -> Line<'a> {
    Line { store: &order.store_id, variant: &item.variant_id, location, quantity, order: &order.id }
}

/// One step of units of a line, at each of their locations.
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

/// The levels do not hold what the order says it holds: a defect, never the caller's fault.
pub(super) fn lost() -> Problem {
    Problem::internal("a stock level does not hold what an order set aside")
}
