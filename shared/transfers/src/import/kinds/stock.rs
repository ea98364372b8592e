//! Import of quantities: several in one transaction, with an idempotency record, so that a repetition
//! does not undo a sale in between.

use std::collections::{HashMap, HashSet};

use catalogue::inventory::{InventoryChange, MAX_QUANTITY, MovementKind, StockState};
use catalogue::location::{self, Location};
use catalogue::product::{
    MAX_OPTIONS, Product, Sellable, Sku, UniqueProductHandle, UniqueSku, Variant,
};
use catalogue::workflows::adjust_stock::{IdempotencyEntry, InventoryRequest, execute};
use catalogue::workflows::save_product::Customs;
use core_types::fields::{Country, Handle, HsCode};
use core_types::id::{LocationId, ProductId, VariantId};
use core_types::key;
use identity::store::Store;
use primitives::fields::{AtMost, Int, Text};
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{CommitOnly, Query};

use super::declarations::Declarations;
use super::work::{ParsedRecords, RecordOutcome, RecordResult, Work, read_all, rejected};
use crate::import::records::Record;

/// The most quantities of one transaction: each takes three actions, where no level exists yet.
const TOGETHER: usize = 30;
/// The most locations of one store that are loaded.
const MAX_LOCATIONS: usize = 1_000;

/// A quantity to set.
#[request]
#[derive(Debug, Clone)]
struct Quantity {
    /// The item, by SKU.
    sku: Option<Sku>,
    /// The item, by id.
    item_id: Option<VariantId>,
    /// The product of the item, by handle.
    product_handle: Option<Handle>,
    /// The item's values of the options of that product.
    option_values: Option<AtMost<Text<1, 60>, MAX_OPTIONS>>,
    /// The location, by name.
    location: Option<Text<1, 100>>,
    /// The location, by id; the store's first one, if neither is given.
    location_id: Option<LocationId>,
    /// The item's code of the Harmonized System, for customs.
    hs_code: Option<HsCode>,
    /// The country in which the item was made, for customs.
    country_of_origin: Option<Country>,
    /// The quantity available for sale.
    available: Option<Int<0, MAX_QUANTITY>>,
    /// The quantity on hand.
    on_hand: Option<Int<0, MAX_QUANTITY>>,
}

/// The locations and items that the quantities of a page refer to.
struct StockContext {
    locations: Vec<Location>,
    home: LocationId,
    skus: HashMap<String, VariantId>,
    /// Items by the handle of their product and their option values.
    chosen: HashMap<(String, Vec<String>), VariantId>,
    sellables: HashMap<VariantId, Sellable>,
}

impl Quantity {
    /// The product's handle and the option values by which the item is found, in lower case.
    fn choice(&self) -> Option<(String, Vec<String>)> {
        let values = self.option_values.iter().flat_map(|values| &values.0);
        let values = values.map(|value| value.as_str().to_lowercase()).collect();
        Some((self.product_handle.as_ref()?.as_str().to_owned(), values))
    }

    /// The customs data of the row.
    fn customs(&self) -> Customs {
        let (hs_code, country_of_origin) = (self.hs_code.clone(), self.country_of_origin.clone());
        Customs { hs_code, country_of_origin }
    }
}

impl StockContext {
    /// Loads them, in three round trips for a hundred items.
    async fn of(work: &Work<'_>, parsed: &[&Quantity]) -> Result<Self, Problem> {
        let (services, store) = (work.services, work.store);
        let locations = locations(services, store).await?;
        let home = location::home(services, store).await?;
        let skus: HashSet<String> = parsed
            .iter()
            .filter_map(|it| it.sku.clone())
            .map(|sku| String::from(sku).to_lowercase())
            .collect();
        let keys: Vec<Key> = skus.iter().map(|sku| UniqueSku::key_of(&store.id, sku)).collect();
        let chosen = chosen(work, parsed).await?;
        let (skus_found, sellables) = (HashMap::new(), HashMap::new());
        let mut known = Self { locations, home, skus: skus_found, chosen, sellables };
        for keys in keys.chunks(100) {
            let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
            for key in keys {
                let claim: Option<UniqueSku> = batch.take(key)?;
                known.skus.extend(claim.map(|it| (it.sku.to_lowercase(), it.variant_id)));
            }
        }
        let named = parsed.iter().filter_map(|it| it.item_id.clone());
        let found = known.skus.values().chain(known.chosen.values()).cloned();
        let items: HashSet<VariantId> = found.chain(named).collect();
        let items: Vec<VariantId> = items.into_iter().collect();
        for items in items.chunks(100) {
            let keys: Vec<Key> = items.iter().map(|id| key::sellable(&store.id, id)).collect();
            let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
            for (id, key) in items.iter().zip(&keys) {
                let found: Option<Sellable> = batch.take(key)?;
                known.sellables.extend(found.map(|sellable| (id.clone(), sellable)));
            }
        }
        Ok(known)
    }

    /// The item of a change.
    fn sellable(&self, change: &InventoryChange) -> Option<&Sellable> {
        let item = change.lookups().into_iter().next().map(|(item, _)| item);
        item.and_then(|item| self.sellables.get(item))
    }

    /// The change of a row; all its field errors otherwise.
    fn change(&self, parsed: &Quantity) -> Result<InventoryChange, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut reject = |at: &str, code, detail: &'static str| {
            errors.push(FieldError::new(at, code, detail));
        };
        let by_sku = parsed.sku.clone().map(|sku| self.skus.get(&String::from(sku).to_lowercase()));
        let by_choice = parsed.choice().map(|choice| self.chosen.get(&choice));
        // An id may be of the store that exported the file. Shopify's files name the product and its
        // options; a SKU may be on several items there.
        let by_id = parsed.item_id.as_ref().filter(|id| self.sellables.contains_key(*id));
        let item = by_id.or(by_choice.flatten()).or(by_sku.flatten());
        let named = match parsed {
            Quantity { item_id: Some(_), .. } => "/item_id",
            Quantity { sku: None, product_handle: Some(_), .. } => "/product_handle",
            _ => "/sku",
        };
        match item.map(|id| self.sellables.get(id)) {
            Some(Some(sellable)) if sellable.tracked => {}
            Some(_) => reject(named, "item_not_tracked", "The item's inventory is not tracked."),
            None if named == "/sku" && parsed.sku.is_none() => {
                reject(named, "required", "A SKU or an item id is required.");
            }
            None => reject(named, "unknown_item", "There is no such item."),
        }
        let by_name = |name: &str| self.locations.iter().find(|it| is_named(it, name));
        let by_location = |id: &LocationId| self.locations.iter().find(|it| it.id == *id);
        let named = parsed.location.as_ref().map(|name| by_name(name.as_str()));
        let (at, location) = match (&parsed.location_id, named) {
            (Some(id), named) => {
                ("/location_id", by_location(id).or(named.flatten()).map(|it| &it.id))
            }
            (None, Some(named)) => ("/location", named.map(|it| &it.id)),
            (None, None) => ("/location", Some(&self.home)),
        };
        if location.is_none() {
            reject(at, "unknown_location", "There is no such location.");
        }
        let quantity = match (parsed.available, parsed.on_hand) {
            (Some(Int(quantity)), None) => Some((StockState::Available, quantity)),
            (None, Some(Int(quantity))) => Some((StockState::OnHand, quantity)),
            (None, None) => {
                reject("/available", "required", "A quantity is required.");
                None
            }
            (Some(_), Some(_)) => {
                reject("/on_hand", "not_applicable", "Only one quantity is allowed in a row.");
                None
            }
        };
        match (item, location, quantity) {
            (Some(item), Some(location), Some((state, quantity))) if errors.is_empty() => {
                let lookup = (item.clone(), location.clone());
                Ok(InventoryChange::Set { lookup, state, quantity, from: None })
            }
            _ => Err(errors),
        }
    }
}

/// Loads the locations of a store.
async fn locations(services: &Services, store: &Store) -> Result<Vec<Location>, Problem> {
    let all = Query::partition(key::store(&store.id).pk).begins_with(key::LOCATIONS);
    services.table.all(&all, MAX_LOCATIONS).await
}

/// Whether a location has this name, regardless of case.
fn is_named(location: &Location, name: &str) -> bool {
    location.name.to_lowercase() == name.trim().to_lowercase()
}

/// Those of these names that no location of the store has.
///
/// # Errors
/// 503.
pub(in crate::import) async fn unknown_locations(
    services: &Services,
    store: &Store,
    names: &[String],
) -> Result<Vec<String>, Problem> {
    let known = locations(services, store).await?;
    let is_unknown = |name: &&String| !known.iter().any(|location| is_named(location, name));
    Ok(names.iter().filter(is_unknown).cloned().collect())
}

/// Finds the items of products that are named by handle, in three round trips for a hundred of them.
async fn chosen(
    work: &Work<'_>,
    parsed: &[&Quantity],
) -> Result<HashMap<(String, Vec<String>), VariantId>, Problem> {
    let (services, store) = (work.services, &work.store.id);
    let handles: HashSet<&str> =
        parsed.iter().filter_map(|it| it.product_handle.as_ref()).map(Handle::as_str).collect();
    let keys: Vec<Key> =
        handles.iter().map(|handle| key::unique_product_handle(store, handle)).collect();
    let claims: Vec<UniqueProductHandle> = load(services, &keys).await?;
    let keys: Vec<Key> = claims.iter().map(|it| key::product(store, &it.product_id)).collect();
    let products: Vec<Product> = load(services, &keys).await?;
    let of = |product: &Product| -> Vec<Key> {
        product.variant_ids.iter().map(|id| key::variant(store, &product.id, id)).collect()
    };
    let keys: Vec<Key> = products.iter().flat_map(of).collect();
    let variants: Vec<Variant> = load(services, &keys).await?;
    let handles: HashMap<&ProductId, &Handle> =
        products.iter().map(|product| (&product.id, &product.handle)).collect();
    let item = |variant: Variant| {
        let handle = handles.get(&variant.product_id)?.as_str().to_owned();
        let values = variant.options.iter().map(|value| value.to_lowercase()).collect();
        Some(((handle, values), variant.id))
    };
    Ok(variants.into_iter().filter_map(item).collect())
}

/// Loads items, a hundred in one round trip. Those that do not exist are left out.
async fn load<T: Item>(services: &Services, keys: &[Key]) -> Result<Vec<T>, Problem> {
    let mut all = Vec::new();
    for keys in keys.chunks(100) {
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        for key in keys {
            all.extend(batch.take::<T>(key)?);
        }
    }
    Ok(all)
}

pub(super) async fn apply(
    work: &Work<'_>,
    records: Vec<Record>,
) -> Result<Vec<RecordOutcome>, Problem> {
    let parsed: ParsedRecords<Quantity> = read_all(records);
    let sound: Vec<&Quantity> = parsed.iter().filter_map(|(_, parsed)| parsed.as_ref()).collect();
    let known = StockContext::of(work, &sound).await?;
    let are_any = sound.iter().any(|parsed| !parsed.customs().is_empty());
    let mut declarations = Declarations::of(work, are_any).await?;
    let (mut outcomes, mut open) = (Vec::new(), Vec::new());
    for (mut record, parsed) in parsed {
        let Some(parsed) = parsed else {
            outcomes.push(RecordOutcome::of(record, RecordResult::Failed));
            continue;
        };
        match known.change(&parsed) {
            Ok(change) => {
                declarations.add(&mut record, parsed.customs(), known.sellable(&change));
                open.push((record, change));
            }
            Err(errors) => {
                let findings = errors.iter().filter_map(|error| record.finding(error)).collect();
                outcomes.push(RecordOutcome::failed(record, findings));
            }
        }
    }
    declarations.write(work).await?;
    for together in distinct(open) {
        outcomes.extend(set(work, together).await?);
    }
    Ok(each_once(outcomes))
}

/// The outcomes, with one finding for what the records of one row share.
fn each_once(mut outcomes: Vec<RecordOutcome>) -> Vec<RecordOutcome> {
    let mut seen = HashSet::new();
    for outcome in &mut outcomes {
        outcome
            .findings
            .retain(|found| seen.insert((found.row, found.column.clone(), found.code.clone())));
    }
    outcomes
}

type RecordChange = (Record, InventoryChange);

/// Splits the changes into transactions, in order. No transaction has a level twice, so that the last row
/// of a file wins.
fn distinct(changes: Vec<RecordChange>) -> Vec<Vec<RecordChange>> {
    let mut all: Vec<Vec<RecordChange>> = Vec::new();
    let mut levels = HashSet::new();
    for change in changes {
        let level: Vec<_> = change.1.lookups().into_iter().cloned().collect();
        let is_new = levels.insert(level.clone());
        match all.last_mut() {
            Some(last) if is_new && last.len() < TOGETHER => last.push(change),
            _ => {
                levels = HashSet::from([level]);
                all.push(vec![change]);
            }
        }
    }
    all
}

/// Sets quantities in one transaction. If it is rejected, each is set by itself.
async fn set(work: &Work<'_>, changes: Vec<RecordChange>) -> Result<Vec<RecordOutcome>, Problem> {
    match write(work, &changes, 'T').await {
        Ok(()) => {
            let updated = |(record, _)| RecordOutcome::of(record, RecordResult::Updated);
            return Ok(changes.into_iter().map(updated).collect());
        }
        Err(problem) if problem.code.status() >= 500 => return Err(problem),
        Err(_) => {}
    }
    let mut outcomes = Vec::new();
    for change in changes {
        let written = write(work, std::slice::from_ref(&change), 'O').await;
        outcomes.push(match written {
            Ok(()) => RecordOutcome::of(change.0, RecordResult::Updated),
            Err(problem) => rejected(change.0, &problem)?,
        });
    }
    Ok(outcomes)
}

async fn write(work: &Work<'_>, changes: &[RecordChange], how: char) -> Result<(), Problem> {
    let import = work.import;
    let (row, number) = changes.first().map_or((0, 0), |(first, _)| (first.row, first.number));
    let place = key::import_rows_done(&import.id, row);
    let entry = IdempotencyEntry {
        key: Key::new(place.pk, format!("{}#{}{how}{number}", place.sk, import.runs)),
        forgotten_at: import.expires_at(),
    };
    let parsed = InventoryRequest {
        kind: MovementKind::Set,
        reason: "import".to_owned(),
        reference: Some(import.id.to_string()),
        dry_run: import.dry_run,
        wanted: changes.iter().map(|(_, change)| change.clone()).collect(),
        idempotency: Some(entry).filter(|_| !import.dry_run),
    };
    match execute(work.services, work.store, &parsed, &CommitOnly).await {
        // Done by an interrupted step.
        Err(problem) if problem.code == Code::IdempotencyKeyReused => Ok(()),
        outcome => outcome,
    }
}
