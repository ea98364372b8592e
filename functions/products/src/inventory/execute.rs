//! Executing a manual change of stock: read, decide, write.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::inventory::{
    Adjustment, AdjustmentView, INVENTORY_ADJUSTED, InventoryChange, Level, LevelLocator,
    MAX_LEVELS, MovementKind, StockSnapshot, persist, plan,
};
use catalogue::location::Location;
use catalogue::product::Sellable;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Key;
use gateway::problem::{Code, Problem};
use gateway::reply::Json;
use gateway::table::{Condition, Write};
use ground::event::Event;
use ground::id::{LocationId, MovementId, VariantId};
use ground::key;
use identity::store::Store;

use super::changes::fault;

/// A request, whatever it asks for.
pub(super) struct Asked {
    pub(super) kind: MovementKind,
    pub(super) reason: String,
    pub(super) reference: Option<String>,
    pub(super) dry_run: bool,
    pub(super) wanted: Vec<InventoryChange>,
}

/// Decides and writes. Levels that orders change meanwhile are read again.
pub(super) async fn execute(
    app: &App,
    store: &Store,
    asked: &Asked,
) -> Result<Json<AdjustmentView>, Problem> {
    let locators: BTreeSet<&LevelLocator> =
        asked.wanted.iter().flat_map(InventoryChange::locators).collect();
    if locators.is_empty() {
        return Err(Problem::field("/changes", "too_few", "Name at least one change."));
    }
    if locators.len() > MAX_LEVELS {
        let detail = format!("The changes may touch at most {MAX_LEVELS} levels.");
        return Err(Problem::field("/changes", "too_many", detail));
    }
    let note = (asked.reason.as_str(), asked.reference.as_deref());
    let terms = Terms::read(app, store, asked, &locators).await?;
    persist(|| async {
        let now = app.clock.now();
        let decide = async || {
            let levels = read_levels(app, store, &locators).await?;
            let snapshot = StockSnapshot { levels, oversold: terms.oversold.clone() };
            let adjustment = plan(&store.id, (&asked.wanted, &snapshot), asked.kind, now)?;
            check_locations(&adjustment, &terms.locations)?;
            Ok::<_, Problem>(adjustment)
        };
        let mut adjustment = decide().await?;
        if needed(&adjustment) > MAX_ACTIONS && !asked.dry_run {
            open(app, store, asked, &adjustment, now).await?;
            adjustment = decide().await?;
        }
        let id = MovementId::mint(now);
        let adjustment = adjustment.annotated(&id, note.0, note.1);
        let view = adjustment.view(id, note, asked.kind, now);
        if asked.dry_run {
            let nothing = AdjustmentView { dry_run: true, ledger_ids: Vec::new(), ..view };
            return Ok(Json::new(&nothing));
        }
        let changes = !adjustment.movements.is_empty();
        let event = Event::new(&INVENTORY_ADJUSTED, view.about(&store.id), &view, now);
        let items = adjustment.new_items();
        demand_items(adjustment.put_into(app.table.write()), store, asked, items)
            .also(changes.then_some(event), Write::emit)
            .answer(Json::new(&view), now)
            .await
    })
    .await
}

/// Actions that one transaction takes.
const MAX_ACTIONS: usize = 100;

/// The actions that a change takes: two for each level, one for each item that gets its first
/// stock somewhere, the event, and the idempotency record.
fn needed(adjustment: &Adjustment) -> usize {
    let levels = adjustment.levels.len().saturating_mul(2);
    levels.saturating_add(adjustment.new_items().len()).saturating_add(2)
}

/// Makes the levels that there are not yet, with nothing in them, where there are too many to be
/// made together with what comes into them. An empty level does no harm.
async fn open(
    app: &App,
    store: &Store,
    asked: &Asked,
    adjustment: &Adjustment,
    now: Timestamp,
) -> Result<(), Problem> {
    let missing = adjustment.levels.iter().filter(|(before, _)| before.is_none());
    let write = missing.fold(app.table.write(), |write, (_, next)| {
        let empty = Level::open(&store.id, &next.variant_id, &next.location_id, 0, now);
        write.create(&empty, Code::VersionConflict)
    });
    demand_items(write, store, asked, adjustment.new_items()).commit().await
}

/// Demands that these items are still there. It is of those alone that get a new level: a level
/// goes with its item, so who changes one that is there finds it gone.
fn demand_items<'a>(
    write: Write,
    store: &Store,
    asked: &Asked,
    items: impl IntoIterator<Item = &'a VariantId>,
) -> Write {
    items.into_iter().fold(write, |write, item| {
        let exists = Condition::new("attribute_exists(PK)");
        write.check(&key::sellable(&store.id, item), exists, unknown_item(asked, item))
    })
}

/// What a request is decided over beside its levels.
struct Terms {
    /// The items that are sold beyond their stock.
    oversold: Vec<VariantId>,
    /// The locations it names.
    locations: BTreeMap<LocationId, Location>,
}

impl Terms {
    /// At most 45 items and 45 locations: one round trip.
    async fn read(
        app: &App,
        store: &Store,
        asked: &Asked,
        locators: &BTreeSet<&LevelLocator>,
    ) -> Result<Self, Problem> {
        let items: BTreeSet<&VariantId> = locators.iter().map(|(item, _)| item).collect();
        let at: BTreeSet<&LocationId> = locators.iter().map(|(_, location)| location).collect();
        let sellables = items.iter().map(|item| key::sellable(&store.id, item));
        let locations = at.iter().map(|at| key::location(&store.id, at));
        let keys: Vec<Key> = sellables.chain(locations).collect();
        let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let mut terms = Self { oversold: Vec::new(), locations: BTreeMap::new() };
        for item in items {
            let sellable: Option<Sellable> = batch.take(&key::sellable(&store.id, item))?;
            let sellable = sellable.ok_or_else(|| unknown_item(asked, item))?;
            if !sellable.tracked {
                return Err(Code::ItemNotTracked.with("item_id", item.as_str()));
            }
            if sellable.continues_selling(store) {
                terms.oversold.push(item.clone());
            }
        }
        for at in at {
            let location: Option<Location> = batch.take(&key::location(&store.id, at))?;
            let location = location.ok_or_else(|| unknown_location(asked, at))?;
            terms.locations.insert(at.clone(), location);
        }
        Ok(terms)
    }
}

/// Those of these levels that exist; one round trip.
async fn read_levels(
    app: &App,
    store: &Store,
    locators: &BTreeSet<&LevelLocator>,
) -> Result<BTreeMap<LevelLocator, Level>, Problem> {
    let key = |(item, location): &&LevelLocator| key::level(&store.id, item, location);
    let keys: Vec<Key> = locators.iter().map(key).collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut levels = BTreeMap::new();
    for (locator, key) in locators.iter().zip(&keys) {
        levels.extend(batch.take::<Level>(key)?.map(|level| ((*locator).clone(), level)));
    }
    Ok(levels)
}

/// The change that names an item that there is not; a foreign one is an unknown one.
fn unknown_item(asked: &Asked, item: &VariantId) -> Problem {
    let detail = "There is no such item.";
    Problem::invalid(vec![fault(
        position(asked, |locator| locator.0 == *item),
        "item_id",
        "unknown_item",
        detail,
    )])
}

/// The change that names a location that there is not.
fn unknown_location(asked: &Asked, location: &LocationId) -> Problem {
    let number = position(asked, |locator| locator.1 == *location);
    let field =
        match asked.wanted.get(number) {
            Some(InventoryChange::Move { from, to, .. }) if from.0 != to.0 => {
                if from.0.1 == *location { "from_location" } else { "to_location" }
            }
            _ => "location_id",
        };
    let detail = "There is no such location.";
    Problem::invalid(vec![fault(number, field, "unknown_location", detail)])
}

/// The index of the first change that names such a level.
fn position(asked: &Asked, names: impl Fn(&LevelLocator) -> bool) -> usize {
    let first = asked.wanted.iter().position(|want| want.locators().into_iter().any(&names));
    first.unwrap_or_default()
}

/// Nothing comes to a location that is not in use; what lies there may still go.
fn check_locations(
    adjustment: &Adjustment,
    locations: &BTreeMap<LocationId, Location>,
) -> Result<(), Problem> {
    for (before, next) in &adjustment.levels {
        let grows = next.on_hand > before.as_ref().map_or(0, |level| level.on_hand);
        let open = locations.get(&next.location_id).is_some_and(Location::is_open);
        if grows && !open {
            return Err(Code::LocationInactive.with("location_id", next.location_id.as_str()));
        }
    }
    Ok(())
}
