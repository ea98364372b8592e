//! Drains a location: moves all of its stock to another one.
//!
//! The location is closing, so new checkouts do not take stock from it and none is added. The transaction
//! that empties a level also checks that no orders wait for it: an earlier order rejects the
//! transaction, and a later one finds no stock there and is allocated elsewhere.
//!
//! The exception is an item that is sold beyond its stock: a checkout that chose the location before it was
//! closing, and is written after the drain, waits there. It is fulfilled from there, or cancelled, as
//! any other.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use catalogue::inventory::{
    INVENTORY_ADJUSTED, InventoryChange, Level, LevelLookup, MovementKind, StockSnapshot,
    StockState, plan, retry_on_conflict,
};
use catalogue::location::Location;
use catalogue::product::Sellable;
use core_types::event::Event;
use core_types::id::{MovementId, VariantId};
use core_types::key;
use http::header;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{Condition, Query, Write};

/// Levels that one query inspects.
const PAGE: usize = 500;
/// Queries in a row before the time is checked.
const TRIPS: u32 = 20;
/// Levels that one transaction moves: for each, two levels and two movements.
const AT_ONCE: usize = 19;
/// The time in which one request moves stock: well within the timeout of a request, and within the lease
/// of its idempotency key.
const LONGEST: Duration = Duration::from_secs(8);
/// The most items that a rejection names.
const MAX_LISTED_ITEMS: usize = 20;
/// The reason in the ledger.
const REASON: &str = "location_deactivated";

/// Checks over the index, which is eventually consistent, that a location can be emptied. So most requests
/// that would fail are rejected before anything changes.
///
/// # Errors
/// `location_has_stock`.
pub async fn ensure_can_be_emptied(
    services: &Services,
    from: &Location,
    moves: bool,
) -> Result<(), Problem> {
    let query = levels_of(from);
    let hinders =
        |level: &Level| if moves { is_reserved_for_orders(level) } else { has_stock(level) };
    let mut start = None;
    loop {
        let found = services.table.page(&query, MAX_LISTED_ITEMS, start, hinders).await?;
        match found.items.as_slice() {
            [] => {}
            levels if moves => return Err(reserved_for_orders(levels)),
            levels => return Err(Code::LocationHasStock.with("items", first_items(levels))),
        }
        start = found.next;
        if start.is_none() {
            return Ok(());
        }
    }
}

/// Moves all stock at `from` to the other location, or ensures that there is none. The levels are listed by
/// an index, which is eventually consistent, so this is repeated until a pass moves nothing.
///
/// # Errors
/// `location_has_stock`; `location_inactive`, when the other location closes meanwhile;
/// `location_emptying` when one request cannot move all of it.
pub async fn drain(
    services: &Services,
    from: &Location,
    to: Option<&Location>,
) -> Result<(), Problem> {
    let query = levels_of(from);
    let end = services.clock.now().plus(LONGEST);
    let mut again = true;
    while again {
        again = false;
        let mut start = None;
        loop {
            let found = services.table.page(&query, PAGE, start, has_stock).await?;
            for levels in found.items.chunks(AT_ONCE) {
                let Some(to) = to else {
                    return Err(Code::LocationHasStock.with("items", first_items(levels)));
                };
                again |=
                    retry_on_conflict(|| async { move_levels(services, levels, to).await }).await?;
                ensure_in_time(services.clock.now(), end)?;
            }
            start = found.next;
            if start.is_none() {
                break;
            }
            ensure_in_time(services.clock.now(), end)?;
        }
    }
    Ok(())
}

/// The query for all levels of a location. The index has sold-out levels too, because merchants list them.
fn levels_of(location: &Location) -> Query {
    Query::list(key::list::levels_of_location(&location.store_id, &location.id))
        .with_scan_limit(PAGE, TRIPS)
}

fn ensure_in_time(now: Timestamp, end: Timestamp) -> Result<(), Problem> {
    if now < end {
        return Ok(());
    }
    Err(Problem::from(Code::LocationEmptying).header(header::RETRY_AFTER, "1"))
}

fn has_stock(level: &Level) -> bool {
    !level.counters().is_zero()
}

/// Whether orders wait for stock of this level, present or oversold.
fn is_reserved_for_orders(level: &Level) -> bool {
    level.committed != 0 || level.reserved != level.set_aside || level.available < 0
}

fn reserved_for_orders<'a>(levels: impl IntoIterator<Item = &'a Level>) -> Problem {
    let detail =
        "Orders have reserved or committed stock at this location: fulfil or cancel them first.";
    Code::LocationHasStock.detail(detail).with("items", first_items(levels))
}

/// The first items of these levels, for a response.
fn first_items<'a>(levels: impl IntoIterator<Item = &'a Level>) -> Vec<&'a str> {
    levels.into_iter().take(MAX_LISTED_ITEMS).map(|level| level.variant_id.as_str()).collect()
}

/// Moves the stock of these levels to the other location, in one transaction. Returns whether there was
/// any.
async fn move_levels(
    services: &Services,
    levels: &[Level],
    to: &Location,
) -> Result<bool, Problem> {
    let now = services.clock.now();
    let stored = read(services, levels, to).await?;
    let at = |level: &Level| stored.get(&(level.variant_id.clone(), level.location_id.clone()));
    let waiting: Vec<&Level> =
        levels.iter().filter_map(at).filter(|level| is_reserved_for_orders(level)).collect();
    if !waiting.is_empty() {
        return Err(reserved_for_orders(waiting));
    }
    let mut wanted = Vec::new();
    for current in levels.iter().filter_map(at) {
        let from = (current.variant_id.clone(), current.location_id.clone());
        let to = (current.variant_id.clone(), to.id.clone());
        let parts =
            [(StockState::Available, current.available), (StockState::Reserved, current.set_aside)];
        let parts = parts.into_iter().filter(|(_, quantity)| *quantity > 0);
        wanted.extend(parts.map(|(state, quantity)| InventoryChange::Move {
            from: (from.clone(), state),
            to: (to.clone(), state),
            quantity,
        }));
    }
    if wanted.is_empty() {
        return Ok(false);
    }
    let snapshot = StockSnapshot { levels: stored, oversellable: Vec::new() };
    let id = MovementId::mint(now);
    let adjustment = plan(&to.store_id, (&wanted, &snapshot), MovementKind::Moved, now)?
        .annotated(&id, REASON, None);
    let view = adjustment.view(id, (REASON, None), MovementKind::Moved, now);
    let open =
        Condition::new("active = :yes AND closing = :no").value(":yes", true).value(":no", false);
    let closed = Code::LocationInactive.with("location_id", to.id.as_str());
    let ensure_item = |write: Write, item: &VariantId| {
        let exists = Condition::new("attribute_exists(PK)");
        write.check(&key::sellable(&to.store_id, item), exists, Code::VersionConflict)
    };
    let write = adjustment.put_into(services.table.write());
    let write = adjustment.new_items().into_iter().fold(write, ensure_item);
    write
        .check(&key::location(&to.store_id, &to.id), open, closed)
        .emit(Event::new(&INVENTORY_ADJUSTED, view.subject_of(&to.store_id), &view, now))
        .commit()
        .await?;
    Ok(true)
}

/// Loads these levels, and those of the same items at the other location, in one round trip. Levels of
/// items without a sellable are left out: they are being deleted.
async fn read(
    services: &Services,
    levels: &[Level],
    to: &Location,
) -> Result<BTreeMap<LevelLookup, Level>, Problem> {
    let keys: Vec<_> = levels
        .iter()
        .flat_map(|level| [&level.location_id, &to.id].map(|at| (&level.variant_id, at)))
        .map(|(variant, at)| key::level(&to.store_id, variant, at))
        .collect();
    let sold: Vec<_> =
        levels.iter().map(|level| key::sellable(&to.store_id, &level.variant_id)).collect();
    let mut batch = services.table.get_many(&keys.iter().chain(&sold).collect::<Vec<_>>()).await?;
    let mut items = BTreeSet::new();
    for key in &sold {
        items.extend(batch.take::<Sellable>(key)?.map(|sellable| sellable.variant_id));
    }
    let mut levels_found = BTreeMap::new();
    for key in &keys {
        if let Some(level) = batch.take::<Level>(key)?
            && items.contains(&level.variant_id)
        {
            levels_found.insert((level.variant_id.clone(), level.location_id.clone()), level);
        }
    }
    Ok(levels_found)
}
