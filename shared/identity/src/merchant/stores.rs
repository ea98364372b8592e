//! The stores of a merchant.

use std::collections::HashSet;

use core_types::key;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Query;
use table::item::Key;

use super::Merchant;
use crate::member::RoleGrant;
use crate::store::{MAX_STORES, Store, StoreStatus};

/// Loads the merchant's only store, and the grant on it. The account's own counter tells whether they own
/// more.
///
/// # Errors
/// `store_required`.
pub async fn only_store(
    services: &Services,
    account: &Merchant,
) -> Result<(Store, RoleGrant), Problem> {
    if account.stores > 1 {
        return Err(Code::StoreRequired.into());
    }
    // The index may lag behind a new store.
    if account.memberships.grants.is_empty()
        && let Some(newest) = &account.newest_store_id
    {
        let found: Option<Store> = services.table.get(&key::store(newest)).await?;
        if let Some(store) = found.filter(|store| is_own(store, account)) {
            return Ok((store, RoleGrant::OWNER));
        }
    }
    let stores = stores_of(services, account).await?;
    match <[(Store, RoleGrant); 1]>::try_from(stores) {
        Ok([store]) => Ok(store),
        Err(_) => Err(Code::StoreRequired.into()),
    }
}

/// Loads the stores that the merchant owns. The index only names them, because it may lag: the stores
/// themselves tell their owner and status.
///
/// # Errors
/// 503 when the table cannot be reached.
pub async fn own_stores(services: &Services, account: &Merchant) -> Result<Vec<Store>, Problem> {
    let listed = own_store_keys(services, account).await?;
    let mut stores = read_stores(services, &listed).await?;
    stores.retain(|store| is_own(store, account));
    Ok(stores)
}

/// Loads the stores that the merchant may act on, with the grants, the newest first.
///
/// # Errors
/// 503 when the table cannot be reached.
pub async fn stores_of(
    services: &Services,
    account: &Merchant,
) -> Result<Vec<(Store, RoleGrant)>, Problem> {
    let mut named: HashSet<Key> = own_store_keys(services, account).await?.into_iter().collect();
    named.extend(account.newest_store_id.iter().map(key::store));
    named.extend(account.memberships.grants.keys().map(key::store));
    let named: Vec<Key> = named.into_iter().collect();
    let stores = read_stores(services, &named).await?.into_iter();
    let mut granted: Vec<(Store, RoleGrant)> = stores
        .filter(|store| store.status != StoreStatus::Deleted)
        .filter_map(|store| account.grant_on(&store).map(|grant| (store, grant)))
        .collect();
    granted.sort_by(|(a, _), (b, _)| b.id.cmp(&a.id));
    Ok(granted)
}

/// The keys of the merchant's stores from the index.
async fn own_store_keys(services: &Services, account: &Merchant) -> Result<Vec<Key>, Problem> {
    let own = Query::list(key::list::stores_of(&account.id));
    let mut listed = services.table.keys(&own, MAX_STORES).await?;
    listed.truncate(MAX_STORES);
    Ok(listed)
}

/// Loads those of these stores that exist.
async fn read_stores(services: &Services, keys: &[Key]) -> Result<Vec<Store>, Problem> {
    let mut stores = Vec::new();
    for some in keys.chunks(MAX_STORES) {
        let mut batch = services.table.get_many(&some.iter().collect::<Vec<_>>()).await?;
        for store_key in some {
            stores.extend(batch.take::<Store>(store_key)?);
        }
    }
    Ok(stores)
}

fn is_own(store: &Store, account: &Merchant) -> bool {
    store.owner_id == account.id && store.status != StoreStatus::Deleted
}
