//! Subdomains: each belongs to one store at a time.

use core_types::fields::Subdomain;
use core_types::id::StoreId;
use core_types::key;
use primitives::clock::{DAY, Timestamp};
use serde::{Deserialize, Serialize};
use table::Condition;
use table::item::Item;

use super::Store;

/// A store's claim to a subdomain, present or recent.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "unique_subdomain", key = key::unique_subdomain(self.subdomain.as_str()))]
#[item(forget_at = self.moved_until.map(|until| until.plus(DAY)))]
pub struct UniqueSubdomain {
    /// The claimed subdomain.
    pub subdomain: Subdomain,
    /// The store.
    pub store_id: StoreId,
    /// Set when the store has changed its subdomain: until then nobody else may claim the former one, so
    /// that links still lead to the store.
    pub moved_until: Option<Timestamp>,
    /// The store's version when the claim was written.
    pub version: u64,
}

impl UniqueSubdomain {
    /// The claim of `store` to its subdomain.
    pub fn of(store: &Store) -> Self {
        Self {
            subdomain: store.subdomain.clone(),
            store_id: store.id.clone(),
            moved_until: None,
            version: store.version,
        }
    }

    /// The claim of a store to its former subdomain.
    pub fn moved(store: &Store, until: Timestamp) -> Self {
        Self { moved_until: Some(until), ..Self::of(store) }
    }

    /// The condition to claim a subdomain: it is free, or the claim of a former store has lapsed, or the
    /// store itself had it before. TTL may be days late, so the time is compared here.
    pub fn is_free_for(store: &StoreId, now: Timestamp) -> Condition {
        let moved_back = "(store_id = :store AND attribute_exists(moved_until))";
        let lapsed = "moved_until <= :now";
        Condition::new(format!("attribute_not_exists(PK) OR {lapsed} OR {moved_back}"))
            .value(":store", store)
            .value(":now", now)
    }

    /// The condition to release a claim: the store holds it.
    pub fn is_held_by(store: &StoreId) -> Condition {
        Condition::new("store_id = :store AND attribute_not_exists(moved_until)")
            .value(":store", store)
    }
}
