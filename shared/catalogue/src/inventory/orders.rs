//! Changes of stock by orders. Each step at a level is one update, with arithmetic and condition in the
//! write, and one movement: two actions of a transaction, so that an order of 40 lines fits into one. A
//! transaction must not touch a level twice, so steps of lines that share a variant are merged by level
//! ([`StockSteps`]; docs/platform.md §1).

use core_types::id::{LocationId, OrderId, StoreId, VariantId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::item::Item;
use table::{Change, Write};

use super::{Delta, Level, Movement, MovementKind};

/// A step of an order through stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockStep {
    /// Placed: from available to reserved.
    Reserve,
    /// Paid or confirmed: from reserved to committed.
    Commit,
    /// Placed and paid at once, for example by gift card: from available to committed.
    CommitAtOnce,
    /// Payment or confirmation undone: from committed back to reserved.
    Uncommit,
    /// Shipped: removed from committed.
    Fulfill,
    /// Shipment cancelled before it left: back into committed.
    UndoFulfillment,
    /// Cancelled or expired before it was paid: from reserved to available.
    ReleaseReserved,
    /// Cancelled after it was paid: from committed to available.
    ReleaseCommitted,
    /// Cancelled after it was paid, and not restocked: removed from committed.
    WriteOff,
    /// Returned: into available.
    Restock,
}

impl StockStep {
    /// Every step.
    pub const ALL: [Self; 10] = [
        Self::Reserve,
        Self::Commit,
        Self::CommitAtOnce,
        Self::Uncommit,
        Self::Fulfill,
        Self::UndoFulfillment,
        Self::ReleaseReserved,
        Self::ReleaseCommitted,
        Self::WriteOff,
        Self::Restock,
    ];

    /// The delta of the counters for this quantity.
    pub fn delta(self, quantity: u32) -> Delta {
        let (out, into) = (i64::from(quantity).saturating_neg(), i64::from(quantity));
        let (available, reserved, committed) = match self {
            Self::Reserve => (out, into, 0),
            Self::Commit => (0, out, into),
            Self::CommitAtOnce => (out, 0, into),
            Self::Uncommit => (0, into, out),
            Self::Fulfill | Self::WriteOff => (0, 0, out),
            Self::UndoFulfillment => (0, 0, into),
            Self::ReleaseReserved => (into, out, 0),
            Self::ReleaseCommitted => (into, 0, out),
            Self::Restock => (into, 0, 0),
        };
        Delta { available, reserved, committed, set_aside: 0 }
    }

    /// The counter that must be at least the quantity.
    const fn needs(self) -> Option<&'static str> {
        match self {
            Self::Reserve | Self::CommitAtOnce => Some("available"),
            Self::Commit | Self::ReleaseReserved => Some("reserved"),
            Self::Uncommit | Self::Fulfill | Self::ReleaseCommitted | Self::WriteOff => {
                Some("committed")
            }
            Self::UndoFulfillment | Self::Restock => None,
        }
    }

    const fn kind(self) -> MovementKind {
        match self {
            // The ledger names the state that the units move to.
            Self::Reserve | Self::Uncommit => MovementKind::Reserved,
            Self::Commit | Self::CommitAtOnce => MovementKind::Committed,
            Self::Fulfill => MovementKind::Fulfilled,
            Self::UndoFulfillment => MovementKind::BroughtBack,
            Self::ReleaseReserved | Self::ReleaseCommitted => MovementKind::Released,
            Self::WriteOff => MovementKind::WrittenOff,
            Self::Restock => MovementKind::Restocked,
        }
    }
}

/// The steps of an order in one transaction, merged by level.
#[derive(Debug)]
pub struct StockSteps<'a> {
    store: &'a StoreId,
    order: &'a OrderId,
    levels: Vec<LevelSteps>,
}

/// The steps at one level.
#[derive(Debug)]
struct LevelSteps {
    variant: VariantId,
    location: LocationId,
    /// The units of each kind of step.
    steps: Vec<(StockStep, u32)>,
    /// The problem if the level has less than they need; none if they are taken whatever it has.
    rejected: Option<Problem>,
}

impl<'a> StockSteps<'a> {
    /// No steps of this order yet.
    pub const fn new(store: &'a StoreId, order: &'a OrderId) -> Self {
        Self { store, order, levels: Vec::new() }
    }

    /// Adds a step of units of a tracked variant, rejected if the level does not have them. Steps that only add
    /// cannot be rejected, and create a level that does not exist.
    pub fn add(
        &mut self,
        step: StockStep,
        at: (&VariantId, &LocationId),
        quantity: u32,
        rejected: impl Into<Problem>,
    ) {
        self.push(step, at, quantity, step.needs().map(|_| rejected.into()));
    }

    /// Adds a step whatever the level has: for a variant that is sold beyond its stock. Creates a level that does
    /// not exist.
    pub fn add_beyond_stock(
        &mut self,
        step: StockStep,
        at: (&VariantId, &LocationId),
        quantity: u32,
    ) {
        self.push(step, at, quantity, None);
    }

    fn push(
        &mut self,
        step: StockStep,
        (variant, location): (&VariantId, &LocationId),
        quantity: u32,
        rejected: Option<Problem>,
    ) {
        let here =
            |level: &&mut LevelSteps| level.variant == *variant && level.location == *location;
        let Some(level) = self.levels.iter_mut().find(here) else {
            let (variant, location) = (variant.clone(), location.clone());
            self.levels.push(LevelSteps {
                variant,
                location,
                steps: vec![(step, quantity)],
                rejected,
            });
            return;
        };
        match level.steps.iter_mut().find(|(known, _)| *known == step) {
            Some((_, units)) => *units = units.saturating_add(quantity),
            None => level.steps.push((step, quantity)),
        }
        level.rejected = level.rejected.take().or(rejected);
    }

    /// Adds all steps to a transaction.
    pub fn write(self, write: Write, now: Timestamp) -> Write {
        let (store, order) = (self.store, self.order);
        self.levels.into_iter().fold(write, |write, level| level.write(write, (store, order), now))
    }
}

impl LevelSteps {
    fn write(self, write: Write, (store, order): (&StoreId, &OrderId), now: Timestamp) -> Write {
        let deltas = self.steps.iter().map(|(step, units)| step.delta(*units));
        let delta = deltas.fold(Delta::default(), Delta::plus);
        let at = (store, &self.variant, &self.location);
        let (change, rejected) = match self.rejected.clone() {
            Some(rejected) => (self.with_conditions(update_counters(delta, now)), rejected),
            None => (
                update_or_create_counters(delta, at, now),
                Problem::internal("a stock step without a condition was rejected"),
            ),
        };
        let level = key::level(store, &self.variant, &self.location);
        let write = write.update(&level, change, rejected);
        self.steps.iter().fold(write, |write, (step, units)| {
            let movement = Movement {
                order_id: Some(order.clone()),
                ..Movement::new(at, step.kind(), step.delta(*units), now)
            };
            write.create(&movement, Code::VersionConflict)
        })
    }

    /// The change on condition that each counter has what the steps need of it.
    fn with_conditions(&self, change: Change) -> Change {
        let mut needs: Vec<(&'static str, u32)> = Vec::new();
        for (step, units) in &self.steps {
            let Some(counter) = step.needs() else { continue };
            match needs.iter_mut().find(|(known, _)| *known == counter) {
                Some((_, needed)) => *needed = needed.saturating_add(*units),
                None => needs.push((counter, *units)),
            }
        }
        let condition: Vec<String> =
            needs.iter().map(|(counter, _)| format!("#{counter} >= :need_{counter}")).collect();
        let change = change.only_if(condition.join(" AND "));
        needs.iter().fold(change, |change, (counter, units)| {
            change.value(&format!(":need_{counter}"), units)
        })
    }
}

/// The update of a level that exists.
fn update_counters(delta: Delta, now: Timestamp) -> Change {
    let update = "SET #available = #available + :available, #reserved = #reserved + :reserved, \
                  #committed = #committed + :committed, #on_hand = #on_hand + :on_hand, \
                  #updated_at = :now, #version = #version + :one";
    bound(update, delta, now)
}

/// The update of a level that may not exist yet, and is then created from zero.
fn update_or_create_counters(
    delta: Delta,
    (store, variant, location): (&StoreId, &VariantId, &LocationId),
    now: Timestamp,
) -> Change {
    let update = "SET #available = if_not_exists(#available, :zero) + :available, \
                  #reserved = if_not_exists(#reserved, :zero) + :reserved, \
                  #committed = if_not_exists(#committed, :zero) + :committed, \
                  #on_hand = if_not_exists(#on_hand, :zero) + :on_hand, \
                  #held = if_not_exists(#held, :zero), \
                  #opening = if_not_exists(#opening, :zero), \
                  #store = :store, #variant = :variant, #location = :location, \
                  #entity = :entity, #index_pk = :index_pk, #index_sk = :index_sk, \
                  #created_at = if_not_exists(#created_at, :now), #updated_at = :now, \
                  #version = if_not_exists(#version, :zero) + :one";
    let (index, entry) = key::levels_of_location(store, location, variant);
    let (index_pk, index_sk) = index.key_names();
    bound(update, delta, now)
        .name("#held", "held")
        .name("#opening", "opening")
        .name("#store", "store_id")
        .name("#variant", "variant_id")
        .name("#location", "location_id")
        .name("#entity", "entity")
        .name("#created_at", "created_at")
        .name("#index_pk", index_pk)
        .name("#index_sk", index_sk)
        .value(":zero", 0)
        .value(":store", store)
        .value(":variant", variant)
        .value(":location", location)
        .value(":entity", Level::KIND)
        .value(":index_pk", entry.pk)
        .value(":index_sk", entry.sk)
}

fn bound(update: &str, delta: Delta, now: Timestamp) -> Change {
    Change::new(update)
        .name("#available", "available")
        .name("#reserved", "reserved")
        .name("#committed", "committed")
        .name("#on_hand", "on_hand")
        .name("#updated_at", "updated_at")
        .name("#version", "version")
        .value(":available", delta.available)
        .value(":reserved", delta.reserved)
        .value(":committed", delta.committed)
        .value(":on_hand", delta.on_hand())
        .value(":now", now)
        .value(":one", 1)
}
