//! The stock that an order holds, and the moves between its states.
//!
//! Lines may share a variant, and so a level: [`StockSteps`] merges what a transaction does to it.

use catalogue::inventory::{StockStep, StockSteps};
use primitives::problem::{Code, Problem};
use serde_json::json;

use super::{Order, OrderItem, Units};

primitives::string_enum! {
    /// The state of the stock that an order's remaining units hold.
    OrderStock {
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
    /// From available to committed: a draft takes the stock that it no longer held.
    Retake,
    /// Makes it available again.
    Release,
    /// Takes committed stock out; releases reserved stock.
    WriteOff,
}

/// Adds the moves of the remaining units of every line, at each of their locations.
pub fn move_all(steps: &mut StockSteps<'_>, order: &Order, how: StockMove) {
    let Some(step) = step_of(order.stock, how) else { return };
    for item in &order.items {
        for held in item.allocations().iter().filter(|one| one.remaining() > 0) {
            let at = (&item.variant_id, &held.location_id);
            match how {
                StockMove::Retake if item.oversells => {
                    steps.add_beyond_stock(step, at, held.remaining());
                }
                StockMove::Retake => {
                    steps.add(step, at, held.remaining(), insufficient_stock(item));
                }
                _ => steps.add(step, at, held.remaining(), inconsistent_level()),
            }
        }
    }
}

/// The step of a move from this state; none if nothing is held.
const fn step_of(from: OrderStock, how: StockMove) -> Option<StockStep> {
    Some(match (how, from) {
        (StockMove::Retake, _) => StockStep::CommitAtOnce,
        (_, OrderStock::Released) => return None,
        // Transitions decide these two moves only in the state that they start from.
        (StockMove::Commit, _) => StockStep::Commit,
        (StockMove::Uncommit, _) => StockStep::Uncommit,
        (StockMove::Release | StockMove::WriteOff, OrderStock::Reserved) => {
            StockStep::ReleaseReserved
        }
        (StockMove::Release, OrderStock::Committed) => StockStep::ReleaseCommitted,
        (StockMove::WriteOff, OrderStock::Committed) => StockStep::WriteOff,
    })
}

/// Adds a step of units of a line, at each of their locations.
pub(crate) fn step_all(
    steps: &mut StockSteps<'_>,
    step: StockStep,
    item: &OrderItem,
    at: &[Units],
) {
    for units in at {
        steps.add(
            step,
            (&item.variant_id, &units.location_id),
            units.quantity,
            inconsistent_level(),
        );
    }
}

/// The error for a line of a draft whose stock was sold after its hold had ended.
fn insufficient_stock(item: &OrderItem) -> Problem {
    let line = json!({
        "order_item_id": item.id, "variant_id": item.variant_id, "requested": item.remaining(),
    });
    Code::InsufficientStock.with("items", vec![line])
}

/// The error for a level with less stock than the order holds: a defect, never caused by the caller.
pub(super) fn inconsistent_level() -> Problem {
    Problem::internal("a stock level has less than an order has reserved there")
}
