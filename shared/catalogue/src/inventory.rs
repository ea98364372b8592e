//! Stock: how much of a variant is where, and everything that moves it (docs/conventions.md §13).
//!
//! A [`Level`] counts one variant at one location: `on_hand = available + committed + reserved`.
//! No counter changes without the three staying in balance, because every change is a [`Delta`],
//! which has no `on_hand` of its own. Orders change levels in place by the builders of
//! [`orders`](self) — [`reserve`], [`commit`], [`fulfil`] and their likes — whose arithmetic and
//! conditions are in the write itself, so no number of parallel orders oversells. What people
//! manual change is decided over the level as read and written under its version: the answer
//! says how much there is afterwards.
//!
//! Every change appends its [`Movement`] in the same transaction (our choice: the table's design
//! would also allow an event consumer to append it later). That is one action more per line, and
//! in return a level and its ledger never differ, not even for a moment.

mod adjustment;
mod orders;
mod samples;
mod topics;
mod view;

use core_types::id::{LocationId, MovementId, OrderId, StoreId, VariantId};
use core_types::key::{self, IndexKey};
use primitives::clock::Timestamp;
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::{ReadConsistency, needs_strong_read, retry};
use tokio::sync::Mutex;

pub use adjustment::{Adjustment, InventoryChange, LevelLookup, MAX_LEVELS, StockSnapshot, plan};
pub use orders::{Line, StockStep, apply, oversell};
pub use topics::*;
pub use view::{AdjustmentView, ChangeView, LevelView, MovementView, Quantities};

/// The most of a variant that may be at a location.
pub const MAX_QUANTITY: i64 = 1_000_000_000;

primitives::string_enum! {
    /// What a quantity counts.
    StockState {
        /// Can be sold.
        Available = "available",
        /// Set aside: for orders that are not paid yet, or by the merchant.
        Reserved = "reserved",
        /// Belongs to orders that are paid and not yet shipped.
        Committed = "committed",
        /// Lies there: the sum of the other three.
        OnHand = "on_hand",
    }
}

primitives::string_enum! {
    /// What moved stock.
    MovementKind {
        /// A manual change.
        Adjusted = "adjusted",
        /// A manual count.
        Set = "set",
        /// A manual move, between states or locations.
        Moved = "moved",
        /// An order was placed, or is to be paid anew.
        Reserved = "reserved",
        /// An order was paid or confirmed.
        Committed = "committed",
        /// An order was shipped.
        Fulfilled = "fulfilled",
        /// A shipment was called back.
        BroughtBack = "brought_back",
        /// An order was cancelled or expired.
        Released = "released",
        /// Goods came back.
        Restocked = "restocked",
    }
}

/// How the counters of a level change together; `on_hand` changes by their sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Delta {
    /// To what can be sold.
    pub available: i64,
    /// To what is set aside.
    pub reserved: i64,
    /// To what belongs to paid orders.
    pub committed: i64,
    /// To the part of `reserved` that was set aside by the merchant.
    #[serde(default)]
    pub held: i64,
}

impl Delta {
    /// What this does to `on_hand`.
    pub fn on_hand(self) -> i64 {
        self.available.saturating_add(self.reserved).saturating_add(self.committed)
    }

    /// Whether it does nothing.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Both, one after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            available: self.available.saturating_add(other.available),
            reserved: self.reserved.saturating_add(other.reserved),
            committed: self.committed.saturating_add(other.committed),
            held: self.held.saturating_add(other.held),
        }
    }
}

/// How much of a variant is at a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Part of the key.
    pub store_id: StoreId,
    /// The variant; the API calls it the item.
    pub variant_id: VariantId,
    /// Part of the key.
    pub location_id: LocationId,
    /// Can be sold; negative only where the variant is sold beyond its stock.
    pub available: i64,
    /// Belongs to orders that are paid and not yet shipped.
    pub committed: i64,
    /// Set aside.
    pub reserved: i64,
    /// `available + committed + reserved`.
    pub on_hand: i64,
    /// The part of `reserved` that was set aside by the merchant: orders' stock cannot be moved away.
    #[serde(default)]
    pub held: i64,
    /// What it began with; its ledger begins after that.
    #[serde(default)]
    pub opening: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for Level {
    const KIND: &'static str = "level";
    fn key(&self) -> Key {
        key::level(&self.store_id, &self.variant_id, &self.location_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        vec![key::levels_of_location(&self.store_id, &self.location_id, &self.variant_id)]
    }
}

impl Level {
    /// A new level that begins with this much to sell: one action in the transaction that makes
    /// the variant. The ledger's beginning is [`Level::opening`], so it needs no movement.
    pub fn open(
        store: &StoreId,
        variant: &VariantId,
        location: &LocationId,
        quantity: i64,
        now: Timestamp,
    ) -> Self {
        Self {
            store_id: store.clone(),
            variant_id: variant.clone(),
            location_id: location.clone(),
            available: quantity,
            committed: 0,
            reserved: 0,
            on_hand: quantity,
            held: 0,
            opening: quantity,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// What it counts in this state.
    pub fn quantity(&self, state: StockState) -> i64 {
        match state {
            StockState::Available => self.available,
            StockState::Reserved => self.reserved,
            StockState::Committed => self.committed,
            StockState::OnHand => self.on_hand,
        }
    }

    /// The level at its next version after `delta`; none when a counter would fall below zero or
    /// rise above [`MAX_QUANTITY`]. What can be sold may fall below zero if `oversell`.
    #[must_use]
    pub fn after(&self, delta: Delta, oversell: bool, now: Timestamp) -> Option<Self> {
        let next = Self {
            available: self.available.checked_add(delta.available)?,
            committed: self.committed.checked_add(delta.committed)?,
            reserved: self.reserved.checked_add(delta.reserved)?,
            on_hand: self.on_hand.checked_add(delta.on_hand())?,
            held: self.held.checked_add(delta.held)?,
            updated_at: now,
            version: self.version.saturating_add(1),
            ..self.clone()
        };
        // Below zero already, because the variant is sold beyond its stock, it may rise to less
        // than zero; it may not fall further.
        let sellable = next.available >= 0 || oversell || delta.available >= 0;
        let counted = next.committed >= 0 && next.held >= 0 && next.held <= next.reserved;
        let bounded = next.on_hand <= MAX_QUANTITY && next.available <= MAX_QUANTITY;
        (sellable && counted && (bounded || delta.on_hand() <= 0)).then_some(next)
    }

    /// The counters as a sum of changes from nothing.
    pub fn counters(&self) -> Delta {
        Delta {
            available: self.available,
            reserved: self.reserved,
            committed: self.committed,
            held: self.held,
        }
    }
}

/// A movement of stock: an entry in the ledger of a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Movement {
    /// Part of the key.
    pub id: MovementId,
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
    pub variant_id: VariantId,
    /// Part of the key.
    pub location_id: LocationId,
    /// What moved it.
    pub kind: MovementKind,
    /// How the counters changed.
    pub delta: Delta,
    /// The manual request that it is part of.
    pub adjustment_id: Option<MovementId>,
    /// The order that it is part of.
    pub order_id: Option<OrderId>,
    /// Why, in the caller's words.
    pub reason: Option<String>,
    /// What the caller knows it by.
    pub reference: Option<String>,
    /// Who moved it.
    pub actor: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// Always 1: a ledger is only appended to.
    pub version: u64,
}

impl Item for Movement {
    const KIND: &'static str = "movement";
    fn key(&self) -> Key {
        key::movement(&self.store_id, &self.variant_id, &self.location_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Movement {
    /// A movement at this level, by whoever makes the current request.
    pub(crate) fn new(
        (store, variant, location): (&StoreId, &VariantId, &LocationId),
        kind: MovementKind,
        delta: Delta,
        now: Timestamp,
    ) -> Self {
        Self {
            id: MovementId::mint(now),
            store_id: store.clone(),
            variant_id: variant.clone(),
            location_id: location.clone(),
            kind,
            delta,
            adjustment_id: None,
            order_id: None,
            reason: None,
            reference: None,
            actor: Context::current().map(|context| context.principal()).filter(|p| !p.is_empty()),
            created_at: now,
            version: 1,
        }
    }
}

/// Where a line of an order is taken from, and how many from each: from as few online locations as
/// hold all of it, `most` at most, and of those from the first by priority. Where there is not
/// enough and the variant is sold beyond its stock, all of it from the first online location that
/// has it at all, or else the first. None where it cannot be had. `levels` may be in any order.
pub fn allocate(
    levels: &[Level],
    online: &[LocationId],
    quantity: u32,
    continue_selling: bool,
    most: usize,
) -> Option<Vec<(LocationId, u32)>> {
    let level_at = |location: &&LocationId| levels.iter().find(|l| l.location_id == **location);
    let there = |location: &LocationId| {
        let available = level_at(&location).map_or(0, |level| level.available);
        u32::try_from(available).unwrap_or(0).min(quantity)
    };
    let stock: Vec<_> = online.iter().map(|at| (at, there(at))).filter(|one| one.1 > 0).collect();
    let any = || online.iter().find(|location| level_at(location).is_some()).or(online.first());
    split(&stock, quantity, most).or_else(|| {
        let beyond = continue_selling.then(any).flatten()?;
        Some(vec![(beyond.clone(), quantity)])
    })
}

/// Splits a quantity over as few of these locations as hold it; of several such choices, it is the
/// one that begins first.
fn split(
    stock: &[(&LocationId, u32)],
    quantity: u32,
    most: usize,
) -> Option<Vec<(LocationId, u32)>> {
    let amounts = |stock: &[(&LocationId, u32)]| stock.iter().map(|one| one.1).collect::<Vec<_>>();
    let all = amounts(stock);
    let mut sites = (1..=most.min(stock.len())).find(|n| largest(all.clone(), *n) >= quantity)?;
    let (mut left, mut parts) = (quantity, Vec::new());
    for (at, (location, available)) in stock.iter().enumerate() {
        if sites == 0 {
            break;
        }
        let later = stock.get(at.saturating_add(1)..).unwrap_or_default();
        let rest = largest(amounts(later), sites.saturating_sub(1));
        if available.saturating_add(rest) >= left {
            let part = left.min(*available);
            parts.push(((*location).clone(), part));
            (left, sites) = (left.saturating_sub(part), sites.saturating_sub(1));
        }
    }
    Some(parts)
}

/// The sum of the `count` largest.
fn largest(mut amounts: Vec<u32>, count: usize) -> u32 {
    amounts.sort_unstable_by(|one, other| other.cmp(one));
    amounts.into_iter().take(count).fold(0, u32::saturating_add)
}

/// Rounds of [`retry`] for a change that competes with orders, which change levels and balances
/// in place and so never wait for it. Together they end well within the idempotency lease.
const ROUNDS: u32 = 3;

/// Whose turn it is among the requests of this process that met a conflict.
static TURN: Mutex<()> = Mutex::const_new(());

/// Runs a read-decide-write on busy levels or balances again while it ends in `version_conflict`.
///
/// Who meets a conflict waits for their turn: in a local system, which serves many requests in one
/// process, a crowd at one level is a queue. A Lambda environment serves one request at a time;
/// there the turn is free, and the waits of [`retry`] spread the crowd. Not to be nested: there is
/// one turn.
///
/// # Errors
/// What the last attempt ended in.
pub async fn persist<T, F, Fut>(mut attempt: F) -> Result<T, Problem>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    match attempt().await {
        Err(problem) if problem.code == Code::VersionConflict => {}
        outcome => return outcome,
    }
    let _turn = TURN.lock().await;
    let mut round = 1;
    loop {
        match retry(&mut attempt).await {
            Err(problem) if problem.code == Code::VersionConflict && round < ROUNDS => {
                round = round.saturating_add(1);
            }
            outcome => return outcome,
        }
    }
}

/// The same, over an eventually consistent read first (docs/data-model.md §13).
///
/// # Errors
/// What the last attempt ended in.
pub async fn persist_eventual_first<T, F, Fut>(mut attempt: F) -> Result<T, Problem>
where
    F: FnMut(ReadConsistency) -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    match attempt(ReadConsistency::Eventual).await {
        Err(rejected) if needs_strong_read(&rejected) => {
            persist(|| attempt(ReadConsistency::Strong)).await
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests;
