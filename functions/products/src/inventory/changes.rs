//! Manual changes of stock: adjust, set, move. One transaction writes all levels of a request
//! and their movements, or none. An item or a location that there is not is a fault of its field.

use std::collections::BTreeSet;

use axum::extract::State;
use catalogue::inventory::{
    AdjustmentView, InventoryChange, MAX_LEVELS, MAX_QUANTITY, MovementKind, StockState,
};
use core_types::id::{LocationId, VariantId};
use core_types::scope::WriteInventory;
use gateway::app::App;
use gateway::idempotency::Required;
use gateway::reply::Json;
use gateway::request::{Body, Given, Ruled, Rules, Validation, request};
use platform::caller::StoreAccess;
use primitives::fields::{AtMost, Flag, Int, Patch, Text};
use primitives::problem::{FieldError, Problem};

use catalogue::workflows::adjust_stock::{Asked, execute, fault};

primitives::string_enum! {
    /// What can be adjusted and set: the two change together, by what comes and goes.
    #[schemars(rename = "AdjustableState")]
    CountedState {
        /// What can be sold.
        Available = "available",
        /// What lies there.
        OnHand = "on_hand",
    }
}

primitives::string_enum! {
    /// What stock can be moved between by the merchant; what orders hold is theirs.
    MovableState {
        /// What can be sold.
        Available = "available",
        /// What is set aside.
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

/// How many more, or fewer.
type Difference = Int<{ -MAX_QUANTITY }, MAX_QUANTITY>;
/// How many there are; negative where a variant is sold beyond its stock.
type Counted = Int<{ -MAX_QUANTITY }, MAX_QUANTITY>;

/// That a request names no change.
fn no_changes(given: Given<'_>) -> Vec<FieldError> {
    let is_empty = given.count("changes") == Some(0);
    let fault = || FieldError::new("/changes", "too_few", "Name at least one change.");
    is_empty.then(fault).into_iter().collect()
}

/// Quantities to adjust.
#[request]
#[derive(Debug)]
pub struct AdjustRequest {
    /// Why; kept in the ledger.
    reason: Text<1, 200>,
    /// What the caller knows it by; kept in the ledger.
    reference: Option<Text<1, 200>>,
    /// What changes.
    #[schemars(length(min = 1))]
    changes: AtMost<AdjustChange, MAX_LEVELS>,
    /// Only says what it would come to.
    dry_run: Flag,
}

impl Rules for AdjustRequest {
    async fn broken(given: Given<'_>, _: &Validation<'_>) -> Vec<FieldError> {
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
    /// Which quantity; what is available, unless said otherwise.
    state: Option<CountedState>,
    /// How many more, or fewer.
    delta: Difference,
    /// How many there have to be before.
    change_from: Option<Counted>,
}

/// `POST /v1/inventory/levels/adjust` (`adjustInventory`): Adjust stock by a delta.
///
/// Changes of the same quantity are added up first.
///
/// # Errors
/// `insufficient_quantity`, `stale_quantity`, `item_not_tracked`, `location_inactive`;
/// `unknown_item` and `unknown_location` as faults of their fields.
pub async fn adjust(
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
    let asked = Asked {
        kind: MovementKind::Adjusted,
        reason: input.reason.into(),
        reference: input.reference.map(String::from),
        dry_run: input.dry_run.0,
        wanted: wanted.collect(),
        mark: None,
    };
    execute(&app, &caller.store, &asked).await
}

/// Quantities to set.
#[request]
#[derive(Debug)]
pub struct SetRequest {
    /// Why; kept in the ledger.
    reason: Text<1, 200>,
    /// What the caller knows it by; kept in the ledger.
    reference: Option<Text<1, 200>>,
    /// What changes.
    #[schemars(length(min = 1))]
    changes: AtMost<SetChange, MAX_LEVELS>,
    /// Only says what it would come to.
    dry_run: Flag,
}

impl Rules for SetRequest {
    async fn broken(given: Given<'_>, _: &Validation<'_>) -> Vec<FieldError> {
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
    /// Which quantity; what is available, unless said otherwise.
    state: Option<CountedState>,
    /// How many there are.
    quantity: Int<0, MAX_QUANTITY>,
    /// How many there have to be before; `null` sets it whatever there is.
    compare_quantity: Patch<Counted>,
}

/// `POST /v1/inventory/levels/set` (`setInventory`): Set stock with compare-and-set.
///
/// The request says what the count started from, so that a sale in between is not undone.
///
/// # Errors
/// `insufficient_quantity`, `stale_quantity`, `item_not_tracked`, `location_inactive`;
/// `unknown_item` and `unknown_location` as faults of their fields.
pub async fn set(
    caller: StoreAccess<WriteInventory>,
    State(app): State<App>,
    _: Required,
    Ruled(Body(input)): Ruled<Body<SetRequest>>,
) -> Result<Json<AdjustmentView>, Problem> {
    let (mut wanted, mut errors, mut lookups) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (number, change) in input.changes.0.into_iter().enumerate() {
        let lookup = (change.item_id, change.location_id);
        if !lookups.insert(lookup.clone()) {
            let detail = "Another change sets a quantity of this item at this location.";
            errors.push(fault(number, "item_id", "duplicate_change", detail));
        }
        let from = match change.compare_quantity {
            Patch::Set(from) => Some(from.0),
            Patch::Clear => None,
            Patch::Keep => {
                let detail = "Say what the quantity is now, or `null` to set it regardless.";
                errors.push(fault(number, "compare_quantity", "required", detail));
                None
            }
        };
        let state = change.state.unwrap_or(CountedState::Available).into();
        wanted.push(InventoryChange::Set { lookup, state, quantity: change.quantity.0, from });
    }
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let asked = Asked {
        kind: MovementKind::Set,
        reason: input.reason.into(),
        reference: input.reference.map(String::from),
        dry_run: input.dry_run.0,
        wanted,
        mark: None,
    };
    execute(&app, &caller.store, &asked).await
}

/// Stock to move.
#[request]
#[derive(Debug)]
pub struct MoveRequest {
    /// Why; kept in the ledger.
    reason: Text<1, 200>,
    /// What the caller knows it by; kept in the ledger.
    reference: Option<Text<1, 200>>,
    /// What moves.
    #[schemars(length(min = 1))]
    changes: AtMost<MoveChange, MAX_LEVELS>,
    /// Only says what it would come to.
    dry_run: Flag,
}

impl Rules for MoveRequest {
    async fn broken(given: Given<'_>, _: &Validation<'_>) -> Vec<FieldError> {
        no_changes(given)
    }
}

/// One move: between states at `location_id`, or between locations.
#[request]
#[derive(Debug)]
struct MoveChange {
    /// The item.
    item_id: VariantId,
    /// How many.
    quantity: Int<1, MAX_QUANTITY>,
    /// Where a move between states happens.
    location_id: Option<LocationId>,
    /// Where a move between locations begins.
    from_location: Option<LocationId>,
    /// Where a move between locations ends.
    to_location: Option<LocationId>,
    /// The state it is taken from; available, unless said otherwise.
    from_state: Option<MovableState>,
    /// The state it is put into; that it is taken from, unless said otherwise.
    to_state: Option<MovableState>,
}

impl MoveChange {
    fn wanted(self, number: usize) -> Result<InventoryChange, FieldError> {
        let (from, to) = match (self.location_id, self.from_location, self.to_location) {
            (Some(at), None, None) => (at.clone(), at),
            (None, Some(from), Some(to)) => (from, to),
            (None, Some(_), None) => {
                return Err(fault(number, "to_location", "required", "Say where it goes."));
            }
            (None, None, Some(_)) => {
                return Err(fault(number, "from_location", "required", "Say where it is."));
            }
            (None, None, None) => {
                let detail = "Name a location, or two to move between.";
                return Err(fault(number, "location_id", "required", detail));
            }
            (Some(_), _, _) => {
                let detail = "Name one location, or two to move between, not both.";
                return Err(fault(number, "location_id", "ambiguous_location", detail));
            }
        };
        let from_state = self.from_state.unwrap_or(MovableState::Available);
        let to_state = self.to_state.unwrap_or(from_state);
        if from == to && from_state == to_state {
            let detail = "It must move to another state or another location.";
            return Err(fault(number, "to_state", "nothing_moves", detail));
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
/// Both levels change in one transaction.
///
/// # Errors
/// `insufficient_quantity`, `stale_quantity`, `item_not_tracked`, `location_inactive`;
/// `unknown_item` and `unknown_location` as faults of their fields.
pub async fn move_stock(
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
    let asked = Asked {
        kind: MovementKind::Moved,
        reason: input.reason.into(),
        reference: input.reference.map(String::from),
        dry_run: input.dry_run.0,
        wanted,
        mark: None,
    };
    execute(&app, &caller.store, &asked).await
}
