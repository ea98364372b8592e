//! Executing a manual change of stock: read, decide, write.

use gateway::idempotency::Commit;
use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{
    Adjustment, AdjustmentView, INVENTORY_ADJUSTED, InventoryChange, Level, LevelLookup,
    MAX_LEVELS, MovementKind, StockSnapshot, persist, plan,
};
use crate::location::Location;
use crate::product::Sellable;
use core_types::event::Event;
use core_types::id::{LocationId, MovementId, VariantId};
use core_types::key;
use gateway::reply::Json;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::Fault;
use primitives::problem::{Code, FieldError, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Condition, Write};

/// A request, whatever it asks for.
pub struct Asked {
    /// What its movements are called.
    pub kind: MovementKind,
    /// Why, in the caller's words.
    pub reason: String,
    /// What the caller knows it by.
    pub reference: Option<String>,
    /// Whether it is only to be said what it would come to.
    pub dry_run: bool,
    /// What changes: at most [`MAX_LEVELS`] levels.
    pub wanted: Vec<InventoryChange>,
    /// What says that it is done, where a request could come twice: put with it, and only once.
    pub mark: Option<Mark>,
}

/// That a change is made: an item of this key, until then.
#[derive(Debug, Clone)]
pub struct Mark {
    /// Where.
    pub key: Key,
    /// When it is forgotten.
    pub forgotten_at: Timestamp,
}

#[derive(Debug, Serialize, Deserialize)]
struct Done {
    #[serde(rename = "PK")]
    pk: String,
    #[serde(rename = "SK")]
    sk: String,
    forgotten_at: Timestamp,
    version: u64,
}

impl Item for Done {
    const KIND: &'static str = "done";
    fn key(&self) -> Key {
        Key::new(&self.pk, &self.sk)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.forgotten_at)
    }
}

impl Asked {
    /// Adds the mark, if there is to be one: whoever finds it there has done this already.
    fn marked(&self, write: Write) -> Write {
        write.also(self.mark.as_ref(), |write, mark| {
            let (pk, sk) = (mark.key.pk.clone(), mark.key.sk.clone());
            let done = Done { pk, sk, forgotten_at: mark.forgotten_at, version: 1 };
            write.create(&done, Code::IdempotencyKeyReused)
        })
    }
}

/// Decides and writes. Levels that orders change meanwhile are read again.
///
/// # Errors
/// `insufficient_quantity`, `stale_quantity`, `item_not_tracked`, `location_inactive`; `unknown_item`,
/// `unknown_location`, `too_few` and `too_many` as faults of their fields; `idempotency_key_reused` when
/// its mark is there.
pub async fn execute(
    services: &Services,
    store: &Store,
    asked: &Asked,
) -> Result<Json<AdjustmentView>, Problem> {
    let lookups: BTreeSet<&LevelLookup> =
        asked.wanted.iter().flat_map(InventoryChange::lookups).collect();
    if lookups.is_empty() {
        return Err(Problem::field("/changes", "too_few", "Name at least one change."));
    }
    if lookups.len() > MAX_LEVELS {
        let detail = format!("The changes may touch at most {MAX_LEVELS} levels.");
        return Err(Problem::field("/changes", "too_many", detail));
    }
    let note = (asked.reason.as_str(), asked.reference.as_deref());
    let terms = Terms::read(services, store, asked, &lookups).await?;
    persist(|| async {
        let now = services.clock.now();
        let decide = async || {
            let levels = read_levels(services, store, &lookups).await?;
            let snapshot = StockSnapshot { levels, oversold: terms.oversold.clone() };
            let adjustment = plan(&store.id, (&asked.wanted, &snapshot), asked.kind, now)?;
            check_locations(&adjustment, &terms.locations)?;
            Ok::<_, Problem>(adjustment)
        };
        let mut adjustment = decide().await?;
        if needed(&adjustment) > MAX_ACTIONS && !asked.dry_run {
            open(services, store, asked, &adjustment, now).await?;
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
        ensure_items(adjustment.put_into(asked.marked(services.table.write())), store, asked, items)
            .also(changes.then_some(event), Write::emit)
            .answer(Json::new(&view), now)
            .await
    })
    .await
}

/// A fault of the change of this number.
pub fn fault(number: usize, field: &str, code: &'static str, detail: &'static str) -> FieldError {
    FieldError { pointer: format!("/changes/{number}/{field}"), fault: Fault::new(code, detail) }
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
    services: &Services,
    store: &Store,
    asked: &Asked,
    adjustment: &Adjustment,
    now: Timestamp,
) -> Result<(), Problem> {
    let missing = adjustment.levels.iter().filter(|(before, _)| before.is_none());
    let write = missing.fold(services.table.write(), |write, (_, next)| {
        let empty = Level::open(&store.id, &next.variant_id, &next.location_id, 0, now);
        write.create(&empty, Code::VersionConflict)
    });
    ensure_items(write, store, asked, adjustment.new_items()).commit().await
}

/// Demands that these items are still there. It is of those alone that get a new level: a level
/// goes with its item, so who changes one that is there finds it gone.
fn ensure_items<'a>(
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
        services: &Services,
        store: &Store,
        asked: &Asked,
        lookups: &BTreeSet<&LevelLookup>,
    ) -> Result<Self, Problem> {
        let items: BTreeSet<&VariantId> = lookups.iter().map(|(item, _)| item).collect();
        let at: BTreeSet<&LocationId> = lookups.iter().map(|(_, location)| location).collect();
        let sellables = items.iter().map(|item| key::sellable(&store.id, item));
        let locations = at.iter().map(|at| key::location(&store.id, at));
        let keys: Vec<Key> = sellables.chain(locations).collect();
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
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
    services: &Services,
    store: &Store,
    lookups: &BTreeSet<&LevelLookup>,
) -> Result<BTreeMap<LevelLookup, Level>, Problem> {
    let key = |(item, location): &&LevelLookup| key::level(&store.id, item, location);
    let keys: Vec<Key> = lookups.iter().map(key).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut levels = BTreeMap::new();
    for (lookup, key) in lookups.iter().zip(&keys) {
        levels.extend(batch.take::<Level>(key)?.map(|level| ((*lookup).clone(), level)));
    }
    Ok(levels)
}

/// The change that names an item that there is not; a foreign one is an unknown one.
fn unknown_item(asked: &Asked, item: &VariantId) -> Problem {
    let detail = "There is no such item.";
    Problem::invalid(vec![fault(
        position(asked, |lookup| lookup.0 == *item),
        "item_id",
        "unknown_item",
        detail,
    )])
}

/// The change that names a location that there is not.
fn unknown_location(asked: &Asked, location: &LocationId) -> Problem {
    let number = position(asked, |lookup| lookup.1 == *location);
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
fn position(asked: &Asked, names: impl Fn(&LevelLookup) -> bool) -> usize {
    let first = asked.wanted.iter().position(|want| want.lookups().into_iter().any(&names));
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
