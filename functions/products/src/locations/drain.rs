//! Draining a location: everything that lies there moves to another one.
//!
//! The location is closing by then, so that no checkout that begins takes from it and nothing
//! comes to it. Whether orders wait for its stock is validated over each level as it is, in the
//! transaction that empties it: an order that was faster is seen, and one that is slower finds
//! nothing there and is taken from elsewhere.
//!
//! Only an item that is sold beyond its stock is given out where there is nothing, too: a checkout
//! of one that chose the location before it was closing, and is written after it has gone, waits
//! there. It is fulfilled from there, or cancelled, as any other.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use catalogue::inventory::{
    INVENTORY_ADJUSTED, InventoryChange, Level, LevelLookup, MovementKind, StockSnapshot,
    StockState, persist, plan,
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

/// Levels found at a time.
const PAGE: usize = 500;
/// Queries that look for them before it is asked how late it is.
const TRIPS: u32 = 20;
/// Levels that one transaction moves: for each, two levels and two movements.
const AT_ONCE: usize = 19;
/// How long one request goes on: well within what a request may take, and within the lease on its
/// idempotency key.
const LONGEST: Duration = Duration::from_secs(8);
/// Items that a rejection names.
const NAMED: usize = 20;
/// What the ledger gives as the reason.
const REASON: &str = "location_deactivated";

/// Whether a location can be emptied, as far as an index tells that may be a moment behind: the
/// rejection that costs nothing, before anything changes.
///
/// # Errors
/// `location_has_stock`.
pub async fn foresee(services: &Services, from: &Location, moves: bool) -> Result<(), Problem> {
    let query = levels_of(from);
    let hinders = |level: &Level| if moves { waited_for(level) } else { holds(level) };
    let mut start = None;
    loop {
        let found = services.table.page(&query, NAMED, start, hinders).await?;
        match found.items.as_slice() {
            [] => {}
            levels if moves => return Err(orders_wait(levels)),
            levels => return Err(Code::LocationHasStock.with("items", named(levels))),
        }
        start = found.next;
        if start.is_none() {
            return Ok(());
        }
    }
}

/// Moves everything at `from` to the other location; or finds that there is nothing. It is gone
/// through again until nothing is found, since the levels are listed by an index that may be a
/// moment behind.
///
/// # Errors
/// `location_has_stock`; `location_inactive`, when the other one closes meanwhile;
/// `location_emptying` when there is more than one request can move.
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
            let found = services.table.page(&query, PAGE, start, holds).await?;
            for levels in found.items.chunks(AT_ONCE) {
                let Some(to) = to else {
                    return Err(Code::LocationHasStock.with("items", named(levels)));
                };
                again |= persist(|| async { move_over(services, levels, to).await }).await?;
                in_time(services.clock.now(), end)?;
            }
            start = found.next;
            if start.is_none() {
                break;
            }
            in_time(services.clock.now(), end)?;
        }
    }
    Ok(())
}

/// The levels of a location, whether anything is left of them or not: a merchant who looks at
/// what lies there wants to see what is sold out too.
fn levels_of(location: &Location) -> Query {
    let probe = VariantId::derive(&[]);
    Query::partition_of(key::levels_of_location(&location.store_id, &location.id, &probe))
        .looking_ahead(PAGE, TRIPS)
}

fn in_time(now: Timestamp, end: Timestamp) -> Result<(), Problem> {
    if now < end {
        return Ok(());
    }
    Err(Problem::from(Code::LocationEmptying).header(header::RETRY_AFTER, "1"))
}

fn holds(level: &Level) -> bool {
    !level.counters().is_nothing()
}

/// Whether orders wait for what lies there, or for what does not.
fn waited_for(level: &Level) -> bool {
    level.committed != 0 || level.reserved != level.held || level.available < 0
}

fn orders_wait<'a>(levels: impl IntoIterator<Item = &'a Level>) -> Problem {
    let detail = "Orders wait for stock of this location; fulfil or cancel them first.";
    Code::LocationHasStock.detail(detail).with("items", named(levels))
}

/// The first items of these levels, for an answer.
fn named<'a>(levels: impl IntoIterator<Item = &'a Level>) -> Vec<&'a str> {
    levels.into_iter().take(NAMED).map(|level| level.variant_id.as_str()).collect()
}

/// Moves what these levels hold to the other location, in one transaction. Says whether there was
/// anything.
async fn move_over(services: &Services, levels: &[Level], to: &Location) -> Result<bool, Problem> {
    let now = services.clock.now();
    let known = read(services, levels, to).await?;
    let at = |level: &Level| known.get(&(level.variant_id.clone(), level.location_id.clone()));
    let waiting: Vec<&Level> =
        levels.iter().filter_map(at).filter(|level| waited_for(level)).collect();
    if !waiting.is_empty() {
        return Err(orders_wait(waiting));
    }
    let mut wanted = Vec::new();
    for current in levels.iter().filter_map(at) {
        let from = (current.variant_id.clone(), current.location_id.clone());
        let to = (current.variant_id.clone(), to.id.clone());
        let parts =
            [(StockState::Available, current.available), (StockState::Reserved, current.held)];
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
    let snapshot = StockSnapshot { levels: known, oversold: Vec::new() };
    let id = MovementId::mint(now);
    let adjustment = plan(&to.store_id, (&wanted, &snapshot), MovementKind::Moved, now)?
        .annotated(&id, REASON, None);
    let view = adjustment.view(id, (REASON, None), MovementKind::Moved, now);
    let open =
        Condition::new("active = :yes AND closing = :no").value(":yes", true).value(":no", false);
    let closed = Code::LocationInactive.with("location_id", to.id.as_str());
    let demand = |write: Write, item: &VariantId| {
        let exists = Condition::new("attribute_exists(PK)");
        write.check(&key::sellable(&to.store_id, item), exists, Code::VersionConflict)
    };
    let write = adjustment.put_into(services.table.write());
    let write = adjustment.new_items().into_iter().fold(write, demand);
    write
        .check(&key::location(&to.store_id, &to.id), open, closed)
        .emit(Event::new(&INVENTORY_ADJUSTED, view.about(&to.store_id), &view, now))
        .commit()
        .await?;
    Ok(true)
}

/// These levels as they are, and those of the same items at the other location; one round trip.
/// What is no longer sold is on its way out, and its levels with it.
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
    let mut known = BTreeMap::new();
    for key in &keys {
        if let Some(level) = batch.take::<Level>(key)?
            && items.contains(&level.variant_id)
        {
            known.insert((level.variant_id.clone(), level.location_id.clone()), level);
        }
    }
    Ok(known)
}
