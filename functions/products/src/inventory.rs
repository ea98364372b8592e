//! Handlers of stock levels and of their ledgers. The API calls a variant whose stock is tracked an item:
//! an inventory item has the id of its variant, and none of its own.

mod changes;
mod verify;

use axum::extract::State;
use callers::StoreAccess;
use catalogue::inventory::{Level, LevelView, Movement, MovementView};
use catalogue::location;
use core_types::id::{LocationId, VariantId};
use core_types::key;
use core_types::resource;
use core_types::scope::ReadInventory;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::Page;
use gateway::request::{Path, Query};
use primitives::fields::{FieldErrors, FromText, Violation};
use primitives::input::request;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use table::Query as TableQuery;
use table::item::Key;

pub use changes::{adjust_levels, move_levels, set_levels};
pub use verify::verify_ledger;

/// The most ids of each kind in a query.
const MAX_IDS: usize = 50;
/// The most levels that a list of given items reads.
const MAX_LEVELS: usize = 1_000;
/// Levels read in one round trip.
const BATCH: usize = 100;

/// Ids, separated by commas.
#[derive(Debug)]
struct Ids<T>(Vec<T>);

primitives::inline_schema!([T] Ids<T>, "Ids", |_generator| {
    schemars::json_schema!({"type": "string", "pattern": r"[^\s,]", "description": "Separated by commas."})
});

impl<T: FromText + PartialEq> Deserr<FieldErrors> for Ids<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let Value::String(text) = value else {
            let violation = Violation::new("invalid_type", "Must be ids separated by commas.");
            return Err(FieldErrors::at(location, violation));
        };
        let mut ids = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let id =
                T::from_text(part).map_err(|violation| FieldErrors::at(location, violation))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.is_empty() || ids.len() > MAX_IDS {
            let detail = format!("Must be 1 to {MAX_IDS} ids separated by commas.");
            return Err(FieldErrors::at(location, Violation::new("invalid_length", detail)));
        }
        Ok(Self(ids))
    }
}

/// Filters of a list of levels: by items, by locations, or by both. By default all are listed.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only levels of these items: 1 to 50 ids, which are ids of variants, separated by commas.
    item_ids: Option<Ids<VariantId>>,
    /// Only levels at these locations: 1 to 50 ids, separated by commas.
    location_ids: Option<Ids<LocationId>>,
}

/// `GET /v1/inventory/levels` (`listInventoryLevels`): List inventory levels.
///
/// Items times locations may be at most 1,000. Without items, the levels of the given locations, or of all,
/// are listed location by location.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadInventory>,
    State(app): State<App>,
    Query(input): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<LevelView>, Problem> {
    let store = &caller.store.id;
    let locations = if let Some(locations) = input.location_ids {
        locations.0
    } else {
        let all = location::all(&app, store).await?;
        all.into_iter().map(|location| location.id).collect()
    };
    let Some(Ids(items)) = input.item_ids else {
        let query = |location: &LocationId| {
            TableQuery::list(key::list::levels_of_location(store, location))
        };
        let queries: Vec<_> = locations.iter().map(query).collect();
        let view = |level: Level| LevelView::from(&level);
        return paging.query_many(&app, &queries, |_: &Level| true, view).await;
    };
    let at = |item| locations.iter().map(move |location| key::level(store, item, location));
    let keys: Vec<Key> = items.iter().flat_map(at).collect();
    if keys.len() > MAX_LEVELS {
        let detail =
            format!("The number of items times that of locations must be at most {MAX_LEVELS}.");
        return Err(Problem::field("/item_ids", "too_many", detail));
    }
    let mut levels = Vec::new();
    for keys in keys.chunks(BATCH) {
        let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        for key in keys {
            levels.extend(batch.take::<Level>(key)?.as_ref().map(LevelView::from));
        }
    }
    paging.slice(&app, levels, |view| view.id.clone()).await
}

/// The query for the movements of a level.
fn movements_of(level: &Level) -> TableQuery {
    let partition = key::movements_of(&level.store_id, &level.variant_id);
    TableQuery::partition(partition).begins_with(format!("{}#", level.location_id))
}

/// The extras of a list of movements.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LedgerExtras {
    /// The available quantity when the level was created.
    #[serde(rename = "opening")]
    initial_available: i64,
}

/// `GET /v1/inventory/levels/{item}/{location}/ledger` (`listInventoryMovements`):
/// List stock movements of a level.
///
/// Movements come newest first. `opening` is the quantity with which the level was created.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list_movements(
    caller: StoreAccess<ReadInventory>,
    State(app): State<App>,
    Path((item, location)): Path<(VariantId, LocationId)>,
    paging: Paging,
) -> Result<Page<MovementView, LedgerExtras>, Problem> {
    let key = key::level(&caller.store.id, &item, &location);
    let level: Level = resource::load(&app, &key).await?;
    let view = |movement: Movement| MovementView::from(&movement);
    let query = movements_of(&level).newest_first();
    let extras = LedgerExtras { initial_available: level.initial_available };
    paging.with_extras(extras).query(&app, &query, |_| true, view).await
}
