//! Changes of stock by orders. Each step is one update, with arithmetic and condition in the write, and
//! one movement: two actions of a transaction, so that an order of 40 lines fits into one. A transaction
//! must not touch a level twice, so an order merges lines of the same variant first
//! (docs/platform.md §1).

use core_types::id::{LocationId, OrderId, StoreId, VariantId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use table::item::Item;
use table::{Change, Write};

use super::{Delta, Level, Movement, MovementKind};

/// A line of an order, at the location that fulfils it.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The store.
    pub store: &'a StoreId,
    /// The variant, which is tracked: others have no levels.
    pub variant: &'a VariantId,
    /// The location.
    pub location: &'a LocationId,
    /// The quantity.
    pub quantity: u32,
    /// The order.
    pub order: &'a OrderId,
}

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
    Fulfil,
    /// Shipment cancelled before it left: back into committed.
    BringBack,
    /// Cancelled or expired before it was paid: from reserved to available.
    ReleaseReserved,
    /// Cancelled after it was paid: from committed to available.
    ReleaseCommitted,
    /// Returned: into available.
    Restock,
}

impl StockStep {
    /// Every step.
    pub const ALL: [Self; 9] = [
        Self::Reserve,
        Self::Commit,
        Self::CommitAtOnce,
        Self::Uncommit,
        Self::Fulfil,
        Self::BringBack,
        Self::ReleaseReserved,
        Self::ReleaseCommitted,
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
            Self::Fulfil => (0, 0, out),
            Self::BringBack => (0, 0, into),
            Self::ReleaseReserved => (into, out, 0),
            Self::ReleaseCommitted => (into, 0, out),
            Self::Restock => (into, 0, 0),
        };
        Delta { available, reserved, committed, held: 0 }
    }

    /// The counter that must be at least the quantity.
    const fn needs(self) -> Option<&'static str> {
        match self {
            Self::Reserve | Self::CommitAtOnce => Some("available"),
            Self::Commit | Self::ReleaseReserved => Some("reserved"),
            Self::Uncommit | Self::Fulfil | Self::ReleaseCommitted => Some("committed"),
            Self::BringBack | Self::Restock => None,
        }
    }

    const fn kind(self) -> MovementKind {
        match self {
            Self::Reserve | Self::Uncommit => MovementKind::Reserved,
            Self::Commit | Self::CommitAtOnce => MovementKind::Committed,
            Self::Fulfil => MovementKind::Fulfilled,
            Self::BringBack => MovementKind::BroughtBack,
            Self::ReleaseReserved | Self::ReleaseCommitted => MovementKind::Released,
            Self::Restock => MovementKind::Restocked,
        }
    }
}

/// Adds one step of one line to a transaction, rejected if the level does not have the quantity. Steps
/// that only add cannot be rejected, and create a level that does not exist.
pub fn apply(
    write: Write,
    step: StockStep,
    line: &Line<'_>,
    rejected: impl Into<Problem>,
    now: Timestamp,
) -> Write {
    let Some(counter) = step.needs() else { return oversell(write, step, line, now) };
    let change = moved(step.delta(line.quantity), now)
        .only_if("#need >= :need")
        .name("#need", counter)
        .value(":need", line.quantity);
    put(write, step, line, (change, rejected.into()), now)
}

/// Adds one step of one line to a transaction, whatever the level has: for a variant that is sold
/// beyond its stock. Creates a level that does not exist.
pub fn oversell(write: Write, step: StockStep, line: &Line<'_>, now: Timestamp) -> Write {
    let change = moved_or_opened(step.delta(line.quantity), line, now);
    let rejected = Problem::internal("a step without a condition");
    put(write, step, line, (change, rejected), now)
}

fn put(
    write: Write,
    step: StockStep,
    line: &Line<'_>,
    (change, rejected): (Change, Problem),
    now: Timestamp,
) -> Write {
    let at = (line.store, line.variant, line.location);
    let movement = Movement {
        order_id: Some(line.order.clone()),
        ..Movement::new(at, step.kind(), step.delta(line.quantity), now)
    };
    let level = key::level(line.store, line.variant, line.location);
    write.update(&level, change, rejected).create(&movement, Code::VersionConflict)
}

/// The update of a level that exists.
fn moved(delta: Delta, now: Timestamp) -> Change {
    let update = "SET #available = #available + :available, #reserved = #reserved + :reserved, \
                  #committed = #committed + :committed, #on_hand = #on_hand + :on_hand, \
                  #updated_at = :now, #version = #version + :one";
    bound(update, delta, now)
}

/// The update of a level that may not exist yet, and is then created from zero.
fn moved_or_opened(delta: Delta, line: &Line<'_>, now: Timestamp) -> Change {
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
    let (index, entry) = key::levels_of_location(line.store, line.location, line.variant);
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
        .value(":store", line.store)
        .value(":variant", line.variant)
        .value(":location", line.location)
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
