//! Emptying a location: everything that lies there moves to another one.

use std::collections::BTreeMap;

use commerce::event::{Event, INVENTORY_ADJUSTED};
use commerce::id::MovementId;
use commerce::inventory::{Ground, Level, MovementKind, StockState, Wanted, persist, plan};
use commerce::key;
use commerce::location::Location;
use gateway::app::App;
use gateway::problem::{Code, Problem};
use gateway::table::Query;

/// Levels that one request moves.
const MOST: usize = 500;
/// Levels that one transaction moves: for each, two levels and two movements.
const AT_ONCE: usize = 20;
/// What the ledger gives as the reason.
const REASON: &str = "location_deactivated";

/// Moves everything at `from` to the other location; or finds that there is nothing.
///
/// The levels of a location are listed by an index that may be a moment behind: stock that came in
/// that moment stays where it is, to be seen there and moved by hand. Nothing is taken from a
/// location that is not in use.
///
/// # Errors
/// `location_has_stock`.
pub async fn empty(app: &App, from: &Location, to: Option<&Location>) -> Result<(), Problem> {
    let probe = commerce::id::VariantId::derive(&[]);
    let (index, place) = key::levels_of_location(&from.store_id, &from.id, &probe);
    let query = Query::index(index, place.pk);
    let holds = |level: &Level| !level.counters().is_nothing();
    let found = app.table.page(&query, MOST, None, holds).await?;
    if found.items.is_empty() && found.next.is_none() {
        return Ok(());
    }
    let Some(to) = to else {
        return Err(Code::LocationHasStock.with("items", named(found.items.iter())));
    };
    let waited_for = |level: &&Level| {
        level.committed != 0 || level.reserved != level.held || level.available < 0
    };
    let waited_for: Vec<&Level> = found.items.iter().filter(waited_for).collect();
    if !waited_for.is_empty() {
        let detail = "Orders wait for stock of this location; fulfil or cancel them first.";
        let items = named(waited_for.into_iter());
        return Err(Code::LocationHasStock.detail(detail).with("items", items));
    }
    for levels in found.items.chunks(AT_ONCE) {
        persist(|| async { move_over(app, levels, to).await }).await?;
    }
    if found.next.is_some() {
        let detail = "Much of the stock has moved; repeat the request to move the rest.";
        return Err(Code::LocationHasStock.detail(detail).with("moved", found.items.len()));
    }
    Ok(())
}

/// The first items of these levels, for an answer.
fn named<'a>(levels: impl Iterator<Item = &'a Level>) -> Vec<&'a str> {
    levels.take(20).map(|level| level.variant_id.as_str()).collect()
}

/// Moves what these levels hold to the other location, in one transaction.
async fn move_over(app: &App, levels: &[Level], to: &Location) -> Result<(), Problem> {
    let now = app.clock.now();
    let keys: Vec<_> = levels
        .iter()
        .flat_map(|level| [&level.location_id, &to.id].map(|at| (&level.variant_id, at)))
        .map(|(variant, at)| key::level(&to.store_id, variant, at))
        .collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut known = BTreeMap::new();
    for level in &keys {
        if let Some(level) = batch.take::<Level>(level)? {
            known.insert((level.variant_id.clone(), level.location_id.clone()), level);
        }
    }
    let mut wanted = Vec::new();
    for level in levels {
        let from = (level.variant_id.clone(), level.location_id.clone());
        let to = (level.variant_id.clone(), to.id.clone());
        let Some(current) = known.get(&from) else { continue };
        let parts =
            [(StockState::Available, current.available), (StockState::Reserved, current.held)];
        let parts = parts.into_iter().filter(|(_, quantity)| *quantity > 0);
        wanted.extend(parts.map(|(state, quantity)| Wanted::Move {
            from: (from.clone(), state),
            to: (to.clone(), state),
            quantity,
        }));
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let ground = Ground { levels: known, oversold: Vec::new() };
    let id = MovementId::mint(now);
    let adjustment =
        plan(&to.store_id, (&wanted, &ground), MovementKind::Moved, now)?.said(&id, REASON, None);
    let view = adjustment.view(id, (REASON, None), MovementKind::Moved, now);
    adjustment
        .put_into(app.table.write())
        .emit(Event::new(&INVENTORY_ADJUSTED, view.about(&to.store_id), &view, now))
        .commit()
        .await
}
