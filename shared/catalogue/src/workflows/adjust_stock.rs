//! Executes manual changes of stock: reads, decides, writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{
    Adjustment, AdjustmentView, INVENTORY_ADJUSTED, InventoryChange, Level, LevelLookup,
    MAX_LEVELS, MovementKind, StockSnapshot, plan, retry_on_conflict,
};
use crate::location::Location;
use crate::product::Sellable;
use core_types::event::Event;
use core_types::id::{LocationId, MovementId, VariantId};
use core_types::key;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, FieldError, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Completion, Condition, Write};

/// A request that adjusts, sets or moves stock.
pub struct InventoryRequest {
    /// The kind of its movements.
    pub kind: MovementKind,
    /// The reason, in the caller's words.
    pub reason: String,
    /// The caller's reference, such as the number of a delivery.
    pub reference: Option<String>,
    /// Whether it only returns the result, and writes nothing.
    pub dry_run: bool,
    /// The changes, of at most [`MAX_LEVELS`] levels.
    pub wanted: Vec<InventoryChange>,
    /// The idempotency record that a repeatable request writes with its changes, so that it is executed once.
    pub idempotency: Option<IdempotencyEntry>,
}

/// The key and the expiry of an idempotency record: the item whose creation fails the second time.
#[derive(Debug, Clone)]
pub struct IdempotencyEntry {
    /// The key.
    pub key: Key,
    /// When the record expires.
    pub forgotten_at: Timestamp,
}

#[derive(Debug, Serialize, Deserialize, Item)]
#[item(kind = "done", key = Key::new(&self.pk, &self.sk), forget_at = Some(self.forgotten_at))]
struct ExecutedRequest {
    #[serde(rename = "PK")]
    pk: String,
    #[serde(rename = "SK")]
    sk: String,
    forgotten_at: Timestamp,
    version: u64,
}

impl InventoryRequest {
    /// Adds the creation of the idempotency record, if there is one; it fails if the request was executed already.
    fn create_idempotency_record(&self, write: Write) -> Write {
        write.when_some(self.idempotency.as_ref(), |write, record| {
            let (pk, sk) = (record.key.pk.clone(), record.key.sk.clone());
            let done = ExecutedRequest { pk, sk, forgotten_at: record.forgotten_at, version: 1 };
            write.create(&done, Code::IdempotencyKeyReused)
        })
    }
}

/// Executes a request. If orders change its levels meanwhile, they are read and decided again.
///
/// # Errors
/// `insufficient_quantity`, `stale_quantity`, `item_not_tracked`, `location_inactive`; `unknown_item`,
/// `unknown_location`, `too_few` and `too_many` as field errors; `idempotency_key_reused` when
/// its idempotency record exists.
pub async fn execute<C: Completion<AdjustmentView>>(
    services: &Services,
    store: &Store,
    request: &InventoryRequest,
    completion: &C,
) -> Result<C::Output, Problem> {
    let lookups: BTreeSet<&LevelLookup> =
        request.wanted.iter().flat_map(InventoryChange::lookups).collect();
    if lookups.is_empty() {
        return Err(Problem::field("/changes", "too_few", "Must have at least one change."));
    }
    if lookups.len() > MAX_LEVELS {
        let detail = format!("The changes must affect at most {MAX_LEVELS} stock levels.");
        return Err(Problem::field("/changes", "too_many", detail));
    }
    let note = (request.reason.as_str(), request.reference.as_deref());
    let data = StockData::read(services, store, request, &lookups).await?;
    retry_on_conflict(|| async {
        let now = services.clock.now();
        let decide = async || {
            let levels = read_levels(services, store, &lookups).await?;
            let snapshot = StockSnapshot { levels, oversellable: data.oversellable.clone() };
            let adjustment = plan(&store.id, (&request.wanted, &snapshot), request.kind, now)?;
            ensure_locations(&adjustment, &data.locations)?;
            Ok::<_, Problem>(adjustment)
        };
        let mut adjustment = decide().await?;
        if action_count(&adjustment) > MAX_ACTIONS && !request.dry_run {
            create_missing_levels(services, store, request, &adjustment, now).await?;
            adjustment = decide().await?;
        }
        let id = MovementId::mint(now);
        let adjustment = adjustment.annotated(&id, note.0, note.1);
        let view = adjustment.view(id, note, request.kind, now);
        if request.dry_run {
            let nothing = AdjustmentView { dry_run: true, ledger_ids: Vec::new(), ..view };
            return Ok(completion.unchanged(&nothing));
        }
        let changes = !adjustment.movements.is_empty();
        let event = Event::new(&INVENTORY_ADJUSTED, view.subject_of(&store.id), &view, now);
        let items = adjustment.new_items();
        let write = adjustment.put_into(request.create_idempotency_record(services.table.write()));
        let write = ensure_items(write, store, request, items);
        let write = write.when_some(changes.then_some(event), Write::emit);
        completion.commit(write, &view, now).await
    })
    .await
}

/// A field error of the change with this index.
pub fn violation(
    number: usize,
    field: &str,
    code: &'static str,
    detail: &'static str,
) -> FieldError {
    FieldError::new(format!("/changes/{number}/{field}"), code, detail)
}

/// The most actions of one transaction.
const MAX_ACTIONS: usize = 100;

/// The actions of an adjustment: two for each level, one for each item with a new level, the event,
/// and the idempotency record.
fn action_count(adjustment: &Adjustment) -> usize {
    let levels = adjustment.levels.len().saturating_mul(2);
    levels.saturating_add(adjustment.new_items().len()).saturating_add(2)
}

/// Creates missing levels as empty ones, in a transaction of their own, if the adjustment does not fit
/// into one transaction with them. An empty level is harmless.
async fn create_missing_levels(
    services: &Services,
    store: &Store,
    request: &InventoryRequest,
    adjustment: &Adjustment,
    now: Timestamp,
) -> Result<(), Problem> {
    let missing = adjustment.levels.iter().filter(|(before, _)| before.is_none());
    let write = missing.fold(services.table.write(), |write, (_, next)| {
        let empty = Level::open(&store.id, &next.variant_id, &next.location_id, 0, now);
        write.create(&empty, Code::VersionConflict)
    });
    ensure_items(write, store, request, adjustment.new_items()).commit().await
}

/// Ensures that items with a new level still exist. Existing levels need no check: they are deleted
/// with their item, which fails the write of the level.
fn ensure_items<'a>(
    write: Write,
    store: &Store,
    request: &InventoryRequest,
    items: impl IntoIterator<Item = &'a VariantId>,
) -> Write {
    items.into_iter().fold(write, |write, item| {
        let exists = Condition::new("attribute_exists(PK)");
        write.check(&key::sellable(&store.id, item), exists, unknown_item(request, item))
    })
}

/// The data that a request is decided over, apart from levels.
struct StockData {
    /// The items that are sold beyond their stock.
    oversellable: Vec<VariantId>,
    /// The locations that it names.
    locations: BTreeMap<LocationId, Location>,
}

impl StockData {
    /// Loads at most 45 items and 45 locations, in one round trip.
    async fn read(
        services: &Services,
        store: &Store,
        request: &InventoryRequest,
        lookups: &BTreeSet<&LevelLookup>,
    ) -> Result<Self, Problem> {
        let items: BTreeSet<&VariantId> = lookups.iter().map(|(item, _)| item).collect();
        let at: BTreeSet<&LocationId> = lookups.iter().map(|(_, location)| location).collect();
        let sellables = items.iter().map(|item| key::sellable(&store.id, item));
        let locations = at.iter().map(|at| key::location(&store.id, at));
        let keys: Vec<Key> = sellables.chain(locations).collect();
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let mut data = Self { oversellable: Vec::new(), locations: BTreeMap::new() };
        for item in items {
            let sellable: Option<Sellable> = batch.take(&key::sellable(&store.id, item))?;
            let sellable = sellable.ok_or_else(|| unknown_item(request, item))?;
            if !sellable.tracked {
                return Err(Code::ItemNotTracked.with("item_id", item.as_str()));
            }
            if sellable.continues_selling(store) {
                data.oversellable.push(item.clone());
            }
        }
        for at in at {
            let location: Option<Location> = batch.take(&key::location(&store.id, at))?;
            let location = location.ok_or_else(|| unknown_location(request, at))?;
            data.locations.insert(at.clone(), location);
        }
        Ok(data)
    }
}

/// Loads those of the levels that exist, in one round trip.
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

/// The field error of the first change that names this item, which the store does not have.
fn unknown_item(request: &InventoryRequest, item: &VariantId) -> Problem {
    let number = position(request, |lookup| lookup.0 == *item);
    let detail = "There is no such inventory item in the store.";
    Problem::invalid(vec![violation(number, "item_id", "unknown_item", detail)])
}

/// The field error of the first change that names this location, which the store does not have.
fn unknown_location(request: &InventoryRequest, location: &LocationId) -> Problem {
    let number = position(request, |lookup| lookup.1 == *location);
    let field =
        match request.wanted.get(number) {
            Some(InventoryChange::Move { from, to, .. }) if from.0 != to.0 => {
                if from.0.1 == *location { "from_location" } else { "to_location" }
            }
            _ => "location_id",
        };
    let detail = "There is no such location in the store.";
    Problem::invalid(vec![violation(number, field, "unknown_location", detail)])
}

/// The index of the first change with a level for which `names` holds.
fn position(request: &InventoryRequest, names: impl Fn(&LevelLookup) -> bool) -> usize {
    let first = request.wanted.iter().position(|want| want.lookups().into_iter().any(&names));
    first.unwrap_or_default()
}

/// Ensures that no stock is added at a location that is not open. It may still be removed there.
fn ensure_locations(
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
