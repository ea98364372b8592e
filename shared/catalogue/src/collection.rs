//! Collections: groups of products, selected manually or by rules.
//!
//! - A manual collection lists its products ([`CollectionProducts`]) in an item of its own. So adding, removing and
//!   reordering are one conditional write, and the collections themselves stay small.
//! - An automated collection has [`rules`](Rule), evaluated over the store's products when it is read. A
//!   page reads a bounded number of products, and may be shorter than its limit although more follow.
//!   Stored members would cost a write for each collection when a product changes, and a write for
//!   each product when a rule changes.

mod rules;
mod topics;
mod view;

use std::collections::HashSet;

use core_types::event::EventSubject;
use core_types::fields::Handle;
use core_types::id::{CollectionId, ProductId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use table::item::Item;

use crate::product::Seo;

pub use rules::{
    ComparableProduct, MAX_RULES, MatchMode, Rule, RuleField, RuleInput, RuleRelation,
    matches_rules,
};
pub use topics::*;
pub use view::CollectionView;

/// The most products of a manual collection.
pub const MAX_MEMBERS: usize = 1_000;

primitives::string_enum! {
    /// The kind of a collection: how its products are selected.
    CollectionKind {
        /// Listed one by one.
        Manual = "manual",
        /// Selected by rules.
        Automated = "automated",
    }
}

primitives::string_enum! {
    /// The sort order of a collection on a storefront, unless the shopper chooses another.
    SortOrder {
        /// The merchant's order; of an automated collection, the newest first.
        Manual = "manual",
        /// The newest first.
        Newest = "-created_at",
        /// The oldest first.
        Oldest = "created_at",
        /// The cheapest first.
        PriceAscending = "price",
        /// The dearest first.
        PriceDescending = "-price",
        /// By title.
        Title = "title",
    }
}

/// A collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "collection", key = key::collection(&self.store_id, &self.id))]
#[item(indexes = vec![key::collections_of_store(&self.store_id, self.created_at, &self.id)])]
pub struct Collection {
    /// Part of the key.
    pub id: CollectionId,
    /// Part of the key.
    pub store_id: StoreId,
    /// The title that shoppers see.
    pub title: String,
    /// Its name in URLs, unique within the store.
    pub handle: Handle,
    /// Sanitized HTML: safe to embed in a page unchanged.
    pub description: String,
    /// The way in which its products are selected.
    pub kind: CollectionKind,
    /// The rules of an automated collection.
    pub rules: Vec<Rule>,
    /// Whether a product must meet all of the rules or any.
    #[serde(rename = "match_mode")]
    pub mode: MatchMode,
    /// The sort order on a storefront.
    pub sort_order: SortOrder,
    /// Whether shoppers see it.
    pub published: bool,
    /// The address of its image.
    pub image_url: Option<String>,
    /// The title and the description for search engines.
    pub seo: Seo,
    /// The number of products that a manual collection lists, including products deleted since.
    pub products_count: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Resource for Collection {
    type View = CollectionView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

impl Collection {
    /// Whether its products are listed one by one.
    pub fn is_manual(&self) -> bool {
        self.kind == CollectionKind::Manual
    }

    /// The collection at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The claim for its handle.
    pub fn claim(&self, now: Timestamp) -> UniqueCollectionHandle {
        UniqueCollectionHandle {
            store_id: self.store_id.clone(),
            handle: self.handle.clone(),
            collection_id: self.id.clone(),
            created_at: now,
        }
    }
}

/// The claim of a handle by a collection.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "collection_handle")]
#[item(key = key::unique_collection_handle(&self.store_id, self.handle.as_str()), version = 1)]
pub struct UniqueCollectionHandle {
    /// Part of the key.
    pub store_id: StoreId,
    /// The handle.
    pub handle: Handle,
    /// The collection.
    pub collection_id: CollectionId,
    /// When it was claimed.
    pub created_at: Timestamp,
}

/// The products of a manual collection, in order, without duplicates. A deleted product stays listed
/// until it is removed here; readers skip it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "collection_members")]
#[item(key = key::collection_members(&self.store_id, &self.collection_id))]
pub struct CollectionProducts {
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
    pub collection_id: CollectionId,
    /// The products.
    pub product_ids: Vec<ProductId>,
    /// From 1, one more with each write.
    pub version: u64,
}

/// A change of the products of a manual collection: first `remove`, then `add` at the end, then
/// `reorder` to the front.
#[derive(Debug, Clone, Default)]
pub struct CollectionProductsChange {
    /// Products to remove; those that are not listed are ignored.
    pub remove: Vec<ProductId>,
    /// Products to add; those that are listed already keep their position.
    pub add: Vec<ProductId>,
    /// The products that come first, in this order; the others follow in their current order.
    pub reorder: Vec<ProductId>,
}

impl CollectionProducts {
    /// The list of a new collection, at version 1, without duplicates.
    pub fn new(collection: &Collection, product_ids: Vec<ProductId>) -> Self {
        let mut seen = HashSet::new();
        let product_ids =
            product_ids.into_iter().filter(|product| seen.insert(product.clone())).collect();
        Self {
            store_id: collection.store_id.clone(),
            collection_id: collection.id.clone(),
            product_ids,
            version: 1,
        }
    }

    /// The list at its next version after a change; none when nothing changes.
    ///
    /// # Errors
    /// `validation_failed` when it would be too long, or `reorder` has a product that is not listed.
    pub fn apply(&self, change: &CollectionProductsChange) -> Result<Option<Self>, Problem> {
        let removed: HashSet<_> = change.remove.iter().collect();
        let remaining = self.product_ids.iter().filter(|product| !removed.contains(product));
        let mut seen = HashSet::new();
        let mut listed: Vec<_> =
            remaining.chain(&change.add).filter(|product| seen.insert(*product)).cloned().collect();
        if listed.len() > MAX_MEMBERS {
            let detail = format!("A manual collection can have at most {MAX_MEMBERS} products.");
            return Err(Problem::field("/add", "too_many", detail));
        }
        for (index, product) in change.reorder.iter().enumerate() {
            if !listed.contains(product) {
                let pointer = format!("/reorder/{index}");
                return Err(Problem::field(
                    &pointer,
                    "not_in_collection",
                    "Must be a product of the collection: add it first.",
                ));
            }
        }
        if !change.reorder.is_empty() {
            let mut seen = HashSet::new();
            let order = change.reorder.iter().chain(&listed);
            listed = order.filter(|product| seen.insert(*product)).cloned().collect();
        }
        if listed == self.product_ids {
            return Ok(None);
        }
        let version = self.version.saturating_add(1);
        Ok(Some(Self { product_ids: listed, version, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &str) -> Vec<ProductId> {
        names.split_whitespace().map(|name| ProductId::derive(&[name])).collect()
    }

    fn members(names: &str) -> CollectionProducts {
        CollectionProducts {
            store_id: StoreId::derive(&["store"]),
            collection_id: CollectionId::derive(&["collection"]),
            product_ids: ids(names),
            version: 3,
        }
    }

    fn change(remove: &str, add: &str, reorder: &str) -> CollectionProductsChange {
        CollectionProductsChange { remove: ids(remove), add: ids(add), reorder: ids(reorder) }
    }

    #[test]
    fn one_change_removes_adds_and_reorders_products() {
        let after = members("a b c").apply(&change("b x", "d a d", "d c")).unwrap().unwrap();
        assert_eq!((after.product_ids, after.version), (ids("d c a"), 4));
        assert_eq!(members("a b").apply(&change("x", "a", "a b")).unwrap(), None);
    }

    #[test]
    fn reordering_an_unlisted_product_and_exceeding_the_limit_are_rejected() {
        let rejected = members("a b").apply(&change("a", "", "b a")).unwrap_err();
        assert_eq!(rejected.errors()[0].pointer, "/reorder/1");
        let many: Vec<_> =
            (0..=MAX_MEMBERS).map(|n| ProductId::derive(&[&n.to_string()])).collect();
        let change = CollectionProductsChange { add: many, ..CollectionProductsChange::default() };
        assert_eq!(members("").apply(&change).unwrap_err().errors()[0].violation.code, "too_many");
    }
}
