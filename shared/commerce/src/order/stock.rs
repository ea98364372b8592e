//! What an order holds of the stock, and the moves between the states of it.
//!
//! A line's stock is at one location, and no two lines share a variant: so a transaction touches
//! each level once.

use gateway::clock::Timestamp;
use gateway::problem::Problem;
use gateway::table::Write;

use super::{Order, OrderItem};
use crate::inventory::{self, Line, Step};

gateway::words! {
    /// What an order's remaining units hold of the stock.
    StockHold {
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
pub enum Move {
    /// From set aside to the order's own.
    Commit,
    /// From the order's own to set aside again.
    Uncommit,
    /// Back.
    Release,
    /// What is the order's own is gone; what was only set aside goes back.
    WriteOff,
}

/// Moves the remaining units of every line that is at a location.
pub fn move_all(write: Write, order: &Order, how: Move, now: Timestamp) -> Write {
    let held = order.items.iter().filter(|item| item.remaining() > 0);
    held.fold(write, |write, item| move_line(write, order, item, how, now))
}

fn move_line(write: Write, order: &Order, item: &OrderItem, how: Move, now: Timestamp) -> Write {
    let Some(line) = line(order, item, item.remaining()) else { return write };
    let step = match (how, order.stock) {
        (_, StockHold::Released) => return write,
        // A settlement shows the order as it will be.
        (Move::Commit, _) => Step::Commit,
        (Move::Uncommit, _) => Step::Uncommit,
        (Move::Release | Move::WriteOff, StockHold::Reserved) => Step::ReleaseReserved,
        (Move::Release, StockHold::Committed) => Step::ReleaseCommitted,
        (Move::WriteOff, StockHold::Committed) => Step::Fulfil,
    };
    inventory::apply(write, step, &line, lost(), now)
}

/// So many units of a line, where they are; none when the variant's stock is not counted.
pub fn line<'a>(order: &'a Order, item: &'a OrderItem, quantity: u32) -> Option<Line<'a>> {
    Some(Line {
        store: &order.store_id,
        variant: &item.variant_id,
        location: item.location_id.as_ref()?,
        quantity,
        order: &order.id,
    })
}

/// The levels do not hold what the order says it holds: a defect, never the caller's fault.
pub(super) fn lost() -> Problem {
    Problem::internal("a stock level does not hold what an order set aside")
}
