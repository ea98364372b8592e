//! Handlers of manual changes of stock: adjust, set, move. One transaction writes all levels of a request
//! and their movements, or none. An unknown item or location is a field error.

use std::collections::BTreeSet;

use axum::extract::State;
use callers::StoreAccess;
use catalogue::inventory::{
    AdjustmentView, InventoryChange, MAX_LEVELS, MAX_QUANTITY, MovementKind, StockState,
};
use core_types::id::{LocationId, VariantId};
use core_types::scope::WriteInventory;
use gateway::app::App;
use gateway::idempotency::{Required, answering};
use gateway::reply::Json;
use gateway::request::{Body, Ruled};
use primitives::fields::{AtMost, Flag, Int, Nullable, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{FieldError, Problem};

use catalogue::workflows::adjust_stock::{InventoryRequest, execute, violation};

primitives::string_enum! {
    /// The states that can be adjusted and set; both quantities change together.
    #[schemars(rename = "AdjustableState")]
    CountedState {
        /// The quantity that can be sold.
        Available = "available",
        /// The quantity that is physically present.
        OnHand = "on_hand",
    }
}

primitives::string_enum! {
    /// The states between which a merchant can move stock; stock of orders cannot be moved.
    MovableState {
        /// The quantity that can be sold.
        Available = "available",
        /// The quantity that the merchant has set aside.
        Reserved = "reserved",
    }
}

impl From<CountedState> for StockState {
    fn from(state: CountedState) -> Self {
        match state {
            CountedState::Available => Self::Available,
            CountedState::OnHand => Self::OnHand,
        }
    }
}

impl From<MovableState> for StockState {
    fn from(state: MovableState) -> Self {
        match state {
            MovableState::Available => Self::Available,
            MovableState::Reserved => Self::Reserved,
        }
    }
}

/// The change of the quantity; negative to reduce it.
type Difference = Int<{ -MAX_QUANTITY }, MAX_QUANTITY>;
/// A current quantity; negative if the variant was sold beyond its stock.
type Counted = Int<{ -MAX_QUANTITY }, MAX_QUANTITY>;

/// The field error of a request without changes.
fn no_changes(given: Given<'_>) -> Vec<FieldError> {
    let is_empty = given.count("changes") == Some(0);
    let violation = || FieldError::new("/changes", "too_few", "Must have at least one change.");
    is_empty.then(violation).into_iter().collect()
}

/// Quantities to adjust.
#[request]
#[derive(Debug)]
pub struct AdjustRequest {
    /// The reason, recorded in the ledger.
    reason: Text<1, 200>,
    /// The caller's reference, such as the number of a delivery, recorded in the ledger.
    reference: Option<Text<1, 200>>,
    /// The changes.
    #[schemars(length(min = 1))]
    changes: AtMost<AdjustChange, MAX_LEVELS>,
    /// Whether it is a dry run, which returns the result and writes nothing.
    dry_run: Flag,
}

impl Rules for AdjustRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        no_changes(given)
    }
}

/// One quantity to adjust.
#[request]
#[derive(Debug)]
struct AdjustChange {
    /// The item.
    item_id: VariantId,
    /// The location.
    location_id: LocationId,
    /// The state of the quantity; `available` by default.
    state: Option<CountedState>,
    /// The change of the quantity; negative to reduce it.
    delta: Difference,
    /// The quantity expected before the change; another one fails with `stale_quantity`.
    change_from: Option<Counted>,
}

/// `POST /v1/inventory/levels/adjust` (`adjustInventory`): Adjust stock by a delta.
///
/// Changes of the same quantity are added up first. One transaction applies all changes, or none.
///
/// # Errors
/// `insufficient_quantity`, `stale_quantity`, `item_not_tracked`, `location_inactive`;
/// `unknown_item` and `unknown_location` as field errors.
pub async fn adjust_levels(
    caller: StoreAccess<WriteInventory>,
    State(app): State<App>,
    _: Required,
    Ruled(Body(input)): Ruled<Body<AdjustRequest>>,
) -> Result<Json<AdjustmentView>, Problem> {
    let wanted = input.changes.0.into_iter().map(|change| InventoryChange::Adjust {
        lookup: (change.item_id, change.location_id),
        state: change.state.unwrap_or(CountedState::Available).into(),
        delta: change.delta.0,
        from: change.change_from.map(|from| from.0),
    });
    let request = InventoryRequest {
        kind: MovementKind::Adjusted,
        reason: input.reason.into(),
        reference: input.reference.map(String::from),
        dry_run: input.dry_run.0,
        wanted: wanted.collect(),
        idempotency: None,
    };
    execute(&app, &caller.store, &request, &answering(to_response)).await
}

/// Quantities to set.
#[request]
#[derive(Debug)]
pub struct SetRequest {
    /// The reason, recorded in the ledger.
    reason: Text<1, 200>,
    /// The caller's reference, such as the number of a delivery, recorded in the ledger.
    reference: Option<Text<1, 200>>,
    /// The changes.
    #[schemars(length(min = 1))]
    changes: AtMost<SetChange, MAX_LEVELS>,
    /// Whether it is a dry run, which returns the result and writes nothing.
    dry_run: Flag,
}

impl Rules for SetRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        no_changes(given)
    }
}

/// One quantity to set.
#[request]
#[derive(Debug)]
struct SetChange {
    /// The item.
    item_id: VariantId,
    /// The location.
    location_id: LocationId,
    /// The state of the quantity; `available` by default.
    state: Option<CountedState>,
    /// The new quantity.
    quantity: Int<0, MAX_QUANTITY>,
    /// The quantity expected before the change; `null` sets the quantity unconditionally.
    compare_quantity: Nullable<Counted>,
}

/// `POST /v1/inventory/levels/set` (`setInventory`): Set stock with compare-and-set.
///
/// The request names the quantity that it was decided over, so that a sale in between is not overwritten.
/// One transaction applies all changes, or none.
///
/// # Errors
/// `insufficient_quantity`, `stale_quantity`, `item_not_tracked`, `location_inactive`;
/// `unknown_item` and `unknown_location` as field errors.
pub async fn set_levels(
    caller: StoreAccess<WriteInventory>,
    State(app): State<App>,
    _: Required,
    Ruled(Body(input)): Ruled<Body<SetRequest>>,
) -> Result<Json<AdjustmentView>, Problem> {
    let (mut wanted, mut errors, mut lookups) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (number, change) in input.changes.0.into_iter().enumerate() {
        let lookup = (change.item_id, change.location_id);
        if !lookups.insert(lookup.clone()) {
            let detail =
                "Another change of the request sets the quantity of this item at this location.";
            errors.push(violation(number, "item_id", "duplicate_change", detail));
        }
        let from = change.compare_quantity.0.map(|from| from.0);
        let state = change.state.unwrap_or(CountedState::Available).into();
        wanted.push(InventoryChange::Set { lookup, state, quantity: change.quantity.0, from });
    }
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let request = InventoryRequest {
        kind: MovementKind::Set,
        reason: input.reason.into(),
        reference: input.reference.map(String::from),
        dry_run: input.dry_run.0,
        wanted,
        idempotency: None,
    };
    execute(&app, &caller.store, &request, &answering(to_response)).await
}

/// Stock to move.
#[request]
#[derive(Debug)]
pub struct MoveRequest {
    /// The reason, recorded in the ledger.
    reason: Text<1, 200>,
    /// The caller's reference, such as the number of a delivery, recorded in the ledger.
    reference: Option<Text<1, 200>>,
    /// The moves.
    #[schemars(length(min = 1))]
    changes: AtMost<MoveChange, MAX_LEVELS>,
    /// Whether it is a dry run, which returns the result and writes nothing.
    dry_run: Flag,
}

impl Rules for MoveRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        no_changes(given)
    }
}

/// One move: between states at `location_id`, or between locations.
#[request]
#[derive(Debug)]
struct MoveChange {
    /// The item.
    item_id: VariantId,
    /// The quantity to move.
    quantity: Int<1, MAX_QUANTITY>,
    /// The location of a move between states.
    location_id: Option<LocationId>,
    /// The source of a move between locations.
    from_location: Option<LocationId>,
    /// The destination of a move between locations.
    to_location: Option<LocationId>,
    /// The state to move from; `available` by default.
    from_state: Option<MovableState>,
    /// The state to move to; `from_state` by default.
    to_state: Option<MovableState>,
}

impl MoveChange {
    fn wanted(self, number: usize) -> Result<InventoryChange, FieldError> {
        let (from, to) = match (self.location_id, self.from_location, self.to_location) {
            (Some(at), None, None) => (at.clone(), at),
            (None, Some(from), Some(to)) => (from, to),
            (None, Some(_), None) => {
                let detail = "Required with `from_location`: the location to move to.";
                return Err(violation(number, "to_location", "required", detail));
            }
            (None, None, Some(_)) => {
                let detail = "Required with `to_location`: the location to move from.";
                return Err(violation(number, "from_location", "required", detail));
            }
            (None, None, None) => {
                let detail = "Send `location_id`, or `from_location` and `to_location`.";
                return Err(violation(number, "location_id", "required", detail));
            }
            (Some(_), _, _) => {
                let detail = "Send `location_id`, or `from_location` and `to_location`, not both.";
                return Err(violation(number, "location_id", "ambiguous_location", detail));
            }
        };
        let from_state = self.from_state.unwrap_or(MovableState::Available);
        let to_state = self.to_state.unwrap_or(from_state);
        if from == to && from_state == to_state {
            let detail = "Source and destination must differ in state or location.";
            return Err(violation(number, "to_state", "nothing_moves", detail));
        }
        Ok(InventoryChange::Move {
            from: ((self.item_id.clone(), from), from_state.into()),
            to: ((self.item_id, to), to_state.into()),
            quantity: self.quantity.0,
        })
    }
}

/// `POST /v1/inventory/levels/move` (`moveInventory`): Move stock between states or locations.
///
/// One transaction applies all moves, or none.
///
/// # Errors
/// `insufficient_quantity`, `item_not_tracked`, `location_inactive`; `unknown_item`, `unknown_location`, `required`,
/// `ambiguous_location` and `nothing_moves` as field errors.
pub async fn move_levels(
    caller: StoreAccess<WriteInventory>,
    State(app): State<App>,
    _: Required,
    Ruled(Body(input)): Ruled<Body<MoveRequest>>,
) -> Result<Json<AdjustmentView>, Problem> {
    let (mut wanted, mut errors) = (Vec::new(), Vec::new());
    for (number, change) in input.changes.0.into_iter().enumerate() {
        match change.wanted(number) {
            Ok(want) => wanted.push(want),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let request = InventoryRequest {
        kind: MovementKind::Moved,
        reason: input.reason.into(),
        reference: input.reference.map(String::from),
        dry_run: input.dry_run.0,
        wanted,
        idempotency: None,
    };
    execute(&app, &caller.store, &request, &answering(to_response)).await
}

fn to_response(adjustment: &AdjustmentView) -> Json<AdjustmentView> {
    Json::new(adjustment)
}
