//! The ceiling of a store's unfinished imports and exports.
//!
//! An item of the store lists those that were created and may not have ended. Whoever creates the next one
//! reads them, and replaces the list by those that are still unfinished, on condition that it is unchanged.
//! So nothing has to be taken off the list where one ends, and none is left on it: neither by a crash nor by
//! the expiry of an item.

use core_types::id::StoreId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::Write;
use table::item::{Item, Key};

/// An import or an export, of which a store has a limited number at once.
pub trait Limited: Item {
    /// The most that are unfinished at once on a store.
    const LIMIT: usize;
    /// The problem when that number is reached.
    const REACHED: Code;
    /// The list of a store.
    const LIST: TransferList;

    /// Its id.
    fn id(&self) -> &str;

    /// The store.
    fn store_id(&self) -> &StoreId;

    /// The key of the one with this id.
    fn key_of(id: &str) -> Key;

    /// Whether it counts towards the limit.
    fn counts(&self, now: Timestamp) -> bool;
}

/// The kind of transfer that a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferList {
    /// Imports that were not started, or whose dry run has ended.
    Imports,
    /// Exports.
    Exports,
}

/// The unfinished imports or exports of a store, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "unfinished_transfers", key = Self::key_of(self.list, &self.store_id))]
struct Unfinished {
    store_id: StoreId,
    list: TransferList,
    ids: Vec<String>,
    version: u64,
}

impl Unfinished {
    fn key_of(list: TransferList, store: &StoreId) -> Key {
        match list {
            TransferList::Imports => key::imports_unfinished(store),
            TransferList::Exports => key::exports_unfinished(store),
        }
    }
}

async fn load<T: Limited>(
    services: &Services,
    store: &StoreId,
) -> Result<(Option<Unfinished>, Vec<T>), Problem> {
    let list: Option<Unfinished> = services.table.get(&Unfinished::key_of(T::LIST, store)).await?;
    let ids = list.as_ref().map(|list| list.ids.as_slice()).unwrap_or_default();
    if ids.is_empty() {
        return Ok((list, Vec::new()));
    }
    let keys: Vec<Key> = ids.iter().map(|id| T::key_of(id)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let (now, mut found) = (services.clock.now(), Vec::new());
    for key in &keys {
        // One that cannot be read has failed, and must block none that follow.
        found.extend(batch.take::<T>(key).ok().flatten().filter(|it| it.counts(now)));
    }
    Ok((list, found))
}

/// Loads the unfinished ones of a store, oldest first.
///
/// # Errors
/// 503.
pub async fn of_store<T: Limited>(services: &Services, store: &StoreId) -> Result<Vec<T>, Problem> {
    load(services, store).await.map(|(_, found)| found)
}

/// The write that creates one more.
///
/// # Errors
/// [`Limited::REACHED`] when the store has reached its number; 503. The write ends in `version_conflict` when
/// another is created at the same moment.
pub async fn create<T: Limited>(services: &Services, item: &T) -> Result<Write, Problem> {
    let (before, found) = load::<T>(services, item.store_id()).await?;
    if found.len() >= T::LIMIT {
        return Err(T::REACHED.with("limit", T::LIMIT));
    }
    let ids = found.iter().chain([item]).map(|it| it.id().to_owned()).collect();
    let list = Unfinished {
        store_id: item.store_id().clone(),
        list: T::LIST,
        ids,
        version: before.map_or(1, |before| before.version.saturating_add(1)),
    };
    let write = services.table.write().create(item, Code::VersionConflict);
    Ok(write.create_or_replace(&list, Code::VersionConflict))
}
