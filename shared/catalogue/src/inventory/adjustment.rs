//! Manual changes of stock: adjust, set and move, decided over the levels as read.

use std::collections::{BTreeMap, BTreeSet};

use core_types::id::{LocationId, MovementId, StoreId, VariantId};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde_json::json;
use table::Write;

use super::{AdjustmentView, ChangeView, Delta, Level, Movement, MovementKind, StockState};

/// The most levels of one request: each takes two actions of its transaction.
pub const MAX_LEVELS: usize = 45;

/// The variant and the location of a level.
pub type LevelLookup = (VariantId, LocationId);

/// One change of a request.
#[derive(Debug, Clone)]
pub enum InventoryChange {
    /// Changes a quantity by a delta, if it is `from`.
    Adjust {
        /// The level.
        lookup: LevelLookup,
        /// The state: `available` or `on_hand`, which change together.
        state: StockState,
        /// The delta; negative to reduce.
        delta: i64,
        /// The quantity expected before the change.
        from: Option<i64>,
    },
    /// Sets a quantity, if it is `from`.
    Set {
        /// The level.
        lookup: LevelLookup,
        /// The state: `available` or `on_hand`.
        state: StockState,
        /// The quantity.
        quantity: i64,
        /// The quantity expected before the change.
        from: Option<i64>,
    },
    /// Moves a quantity to another state or location.
    Move {
        /// The source.
        from: (LevelLookup, StockState),
        /// The destination.
        to: (LevelLookup, StockState),
        /// The quantity.
        quantity: i64,
    },
}

impl InventoryChange {
    /// The levels that it touches.
    pub fn lookups(&self) -> Vec<&LevelLookup> {
        match self {
            Self::Adjust { lookup, .. } | Self::Set { lookup, .. } => vec![lookup],
            Self::Move { from, to, .. } => vec![&from.0, &to.0],
        }
    }
}

/// The combined result of the changes of one request.
#[derive(Debug, Clone)]
pub struct Adjustment {
    /// Each level that changes, before and after; none before if it is new.
    pub levels: Vec<(Option<Level>, Level)>,
    /// One movement for each of them.
    pub movements: Vec<Movement>,
    /// Each named quantity with its delta and its result.
    pub changes: Vec<ChangeView>,
}

/// The stock that a request touches, as it was read.
#[derive(Debug, Default)]
pub struct StockSnapshot {
    /// The levels that exist.
    pub levels: BTreeMap<LevelLookup, Level>,
    /// The variants that are sold beyond their stock.
    pub oversellable: Vec<VariantId>,
}

impl StockSnapshot {
    fn quantity(&self, lookup: &LevelLookup, state: StockState) -> i64 {
        self.levels.get(lookup).map_or(0, |level| level.quantity(state))
    }
}

/// Plans the changes of a request as a whole: several changes of one level are merged into one.
///
/// # Errors
/// `stale_quantity`, `insufficient_quantity`, both with the item and the location.
pub fn plan(
    store: &StoreId,
    (wanted, snapshot): (&[InventoryChange], &StockSnapshot),
    kind: MovementKind,
    now: Timestamp,
) -> Result<Adjustment, Problem> {
    let mut deltas: BTreeMap<LevelLookup, Delta> = BTreeMap::new();
    let mut named: BTreeMap<(LevelLookup, StockState), i64> = BTreeMap::new();
    for want in wanted {
        for (lookup, state, delta) in steps(want, snapshot)? {
            let total = deltas.entry(lookup.clone()).or_default();
            *total =
                total.plus(delta_of(state, delta, matches!(want, InventoryChange::Move { .. })));
            let total = named.entry((lookup, state)).or_default();
            *total = total.saturating_add(delta);
        }
    }
    let mut adjustment =
        Adjustment { levels: Vec::new(), movements: Vec::new(), changes: Vec::new() };
    let mut after: BTreeMap<LevelLookup, Level> = BTreeMap::new();
    for (lookup, delta) in deltas {
        let before = snapshot.levels.get(&lookup);
        let next = next_level(store, &lookup, (before, delta), snapshot, now)?;
        if !delta.is_zero() {
            let at = (store, &lookup.0, &lookup.1);
            adjustment.movements.push(Movement::new(at, kind, delta, now));
            adjustment.levels.push((before.cloned(), next.clone()));
        }
        after.insert(lookup, next);
    }
    for ((lookup, state), delta) in named {
        let quantity_after = after.get(&lookup).map_or(0, |level| level.quantity(state));
        let (item_id, location_id) = lookup;
        adjustment.changes.push(ChangeView { item_id, location_id, state, delta, quantity_after });
    }
    Ok(adjustment)
}

/// The quantities that one change names, with the delta of each.
fn steps(
    want: &InventoryChange,
    snapshot: &StockSnapshot,
) -> Result<Vec<(LevelLookup, StockState, i64)>, Problem> {
    match want {
        InventoryChange::Adjust { lookup, state, delta, from } => {
            compare(lookup, *state, *from, snapshot)?;
            Ok(vec![(lookup.clone(), *state, *delta)])
        }
        InventoryChange::Set { lookup, state, quantity, from } => {
            compare(lookup, *state, *from, snapshot)?;
            let delta = quantity.saturating_sub(snapshot.quantity(lookup, *state));
            Ok(vec![(lookup.clone(), *state, delta)])
        }
        InventoryChange::Move { from, to, quantity } => Ok(vec![
            (from.0.clone(), from.1, quantity.saturating_neg()),
            (to.0.clone(), to.1, *quantity),
        ]),
    }
}

fn compare(
    lookup: &LevelLookup,
    state: StockState,
    from: Option<i64>,
    snapshot: &StockSnapshot,
) -> Result<(), Problem> {
    let actual = snapshot.quantity(lookup, state);
    match from {
        Some(expected) if expected != actual => Err(Code::StaleQuantity
            .with("item_id", lookup.0.as_str())
            .with("location_id", lookup.1.as_str())
            .with("state", state.as_str())
            .with("expected", expected)
            .with("actual", actual)),
        _ => Ok(()),
    }
}

/// The delta of the counters for a change of one quantity. It changes `available`; only a move changes
/// `reserved`, and there only the part that the merchant has set aside.
fn delta_of(state: StockState, quantity: i64, moves: bool) -> Delta {
    if moves && state == StockState::Reserved {
        Delta { reserved: quantity, set_aside: quantity, ..Delta::default() }
    } else {
        Delta { available: quantity, ..Delta::default() }
    }
}

fn next_level(
    store: &StoreId,
    lookup: &LevelLookup,
    (before, delta): (Option<&Level>, Delta),
    snapshot: &StockSnapshot,
    now: Timestamp,
) -> Result<Level, Problem> {
    let fresh = Level { version: 0, ..Level::open(store, &lookup.0, &lookup.1, 0, now) };
    let before = before.unwrap_or(&fresh);
    // Overselling makes `available` negative, but never `on_hand`.
    let oversell = snapshot.oversellable.contains(&lookup.0)
        && before.on_hand.saturating_add(delta.on_hand()) >= 0;
    before.after(delta, oversell, now).ok_or_else(|| {
        let delta = json!({
            "available": delta.available, "reserved": delta.reserved,
        });
        Code::InsufficientQuantity
            .with("item_id", lookup.0.as_str())
            .with("location_id", lookup.1.as_str())
            .with("available", before.available)
            .with("on_hand", before.on_hand)
            .with("change", delta)
    })
}

impl Adjustment {
    /// The variants for which a level is created.
    pub fn new_items(&self) -> BTreeSet<&VariantId> {
        let new = self.levels.iter().filter(|(before, _)| before.is_none());
        new.map(|(_, next)| &next.variant_id).collect()
    }

    /// Adds every level and its movement to a transaction: two actions for each. If a level has
    /// changed meanwhile, the transaction fails with `version_conflict`: see [`super::retry_on_conflict`].
    pub fn put_into(&self, write: Write) -> Write {
        let write = self.levels.iter().fold(write, |write, (before, next)| match before {
            None => write.create(next, Code::VersionConflict),
            Some(_) => write.replace(next, Code::VersionConflict),
        });
        let movements = self.movements.iter();
        movements.fold(write, |write, movement| write.create(movement, Code::VersionConflict))
    }

    /// Its view, for the response and for the event.
    pub fn view(
        &self,
        id: MovementId,
        (reason, reference): (&str, Option<&str>),
        kind: MovementKind,
        now: Timestamp,
    ) -> AdjustmentView {
        AdjustmentView {
            id,
            kind,
            reason: reason.to_owned(),
            reference: reference.map(str::to_owned),
            dry_run: false,
            changes: self.changes.clone(),
            ledger_ids: self.movements.iter().map(|movement| movement.id.clone()).collect(),
            created_at: now,
        }
    }

    /// The adjustment with the request's id, reason and reference on all of its movements.
    #[must_use]
    pub fn annotated(mut self, id: &MovementId, reason: &str, reference: Option<&str>) -> Self {
        for movement in &mut self.movements {
            movement.adjustment_id = Some(id.clone());
            movement.reason = Some(reason.to_owned());
            movement.reference = reference.map(str::to_owned);
        }
        self
    }
}
