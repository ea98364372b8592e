//! Collections: products that a merchant shows together, chosen by hand or by rules.
//!
//! - A manual collection lists its products ([`Members`]) in one item of its own, so that adding,
//!   removing and reordering are one conditional write, and a list of collections stays light.
//! - An automated collection is its [`rules`](Rule), validated when it is read, over the store's
//!   products: a page of it reads a bounded number of products, and may be shorter than asked for
//!   with more to come. Keeping its members on every product write would be a write for each
//!   collection of the store, and a change of a rule one for each product.

mod rules;
mod topics;
mod view;

use std::collections::HashSet;

use core_types::event::EventSubject;
use core_types::fields::Handle;
use core_types::id::{CollectionId, ProductId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::resource::Resource;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

use crate::product::Seo;

pub use rules::{MAX_RULES, MatchMode, Rule, RuleField, RuleInput, RuleRelation, Validated, holds};
pub use topics::*;
pub use view::CollectionView;

/// Products of a manual collection.
pub const MAX_MEMBERS: usize = 1_000;

primitives::string_enum! {
    /// How a collection's products are chosen.
    CollectionKind {
        /// One by one.
        Manual = "manual",
        /// By rules.
        Automated = "automated",
    }
}

primitives::string_enum! {
    /// The order in which a storefront shows a collection unless the shopper chooses.
    SortOrder {
        /// The merchant's own; of an automated collection, the newest first.
        Manual = "manual",
        /// The newest first.
        Newest = "-created_at",
        /// The oldest first.
        Oldest = "created_at",
        /// The cheapest first.
        Cheapest = "price",
        /// The dearest first.
        Dearest = "-price",
        /// By title.
        Title = "title",
    }
}

/// A collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection {
    /// Part of the key.
    pub id: CollectionId,
    /// Part of the key.
    pub store_id: StoreId,
    /// What shoppers read.
    pub title: String,
    /// Its name in URLs, unique within the store.
    pub handle: Handle,
    /// HTML that can be put on a page as it is.
    pub description: String,
    /// How its products are chosen.
    pub kind: CollectionKind,
    /// The rules, of an automated one.
    pub rules: Vec<Rule>,
    /// Whether a product must meet all of the rules or any.
    #[serde(rename = "match_mode")]
    pub mode: MatchMode,
    /// The order in which a storefront shows it.
    pub sort_order: SortOrder,
    /// Whether shoppers see it.
    pub published: bool,
    /// Where its picture is.
    pub image_url: Option<String>,
    /// What search engines read.
    pub seo: Seo,
    /// How many products a manual one lists; those that were removed since included.
    pub products_count: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for Collection {
    const KIND: &'static str = "collection";
    fn key(&self) -> Key {
        key::collection(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        vec![key::collections_of_store(&self.store_id, self.created_at, &self.id)]
    }
}

impl Resource for Collection {
    type View = CollectionView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

impl Collection {
    /// Whether its products are chosen one by one.
    pub fn is_manual(&self) -> bool {
        self.kind == CollectionKind::Manual
    }

    /// The collection at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The claim of its handle.
    pub fn claim(&self, now: Timestamp) -> UniqueCollectionHandle {
        UniqueCollectionHandle {
            store_id: self.store_id.clone(),
            handle: self.handle.clone(),
            collection_id: self.id.clone(),
            created_at: now,
        }
    }
}

/// The one collection of a handle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueCollectionHandle {
    /// Part of the key.
    pub store_id: StoreId,
    /// The handle.
    pub handle: Handle,
    /// Whose it is.
    pub collection_id: CollectionId,
    /// When it was claimed.
    pub created_at: Timestamp,
}

impl Item for UniqueCollectionHandle {
    const KIND: &'static str = "collection_handle";
    fn key(&self) -> Key {
        key::unique_collection_handle(&self.store_id, self.handle.as_str())
    }
    fn version(&self) -> u64 {
        1
    }
}

/// The products of a manual collection, in their order, without repetitions. A product that was
/// removed from the store stays here until the list is changed; whoever reads skips it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    /// Part of the key.
    pub store_id: StoreId,
    /// Part of the key.
    pub collection_id: CollectionId,
    /// The products.
    pub product_ids: Vec<ProductId>,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for Members {
    const KIND: &'static str = "collection_members";
    fn key(&self) -> Key {
        key::collection_members(&self.store_id, &self.collection_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// What to change about the products of a manual collection: first `remove`, then `add` at the
/// end, then `reorder` to the front.
#[derive(Debug, Clone, Default)]
pub struct MembersChange {
    /// Products to take out; those that are not in it are no error.
    pub remove: Vec<ProductId>,
    /// Products to put in; those that are in it already stay where they are.
    pub add: Vec<ProductId>,
    /// The products that come first, in this order; the others follow in theirs.
    pub reorder: Vec<ProductId>,
}

impl Members {
    /// The list of a collection that is new, at version 1.
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

    /// The list at its next version after a change; none when it is the same.
    ///
    /// # Errors
    /// `validation_failed` when it would be too long, or orders what is not in it.
    pub fn apply(&self, change: &MembersChange) -> Result<Option<Self>, Problem> {
        let removed: HashSet<_> = change.remove.iter().collect();
        let kept = self.product_ids.iter().filter(|product| !removed.contains(product));
        let mut seen = HashSet::new();
        let mut listed: Vec<_> =
            kept.chain(&change.add).filter(|product| seen.insert(*product)).cloned().collect();
        if listed.len() > MAX_MEMBERS {
            let detail = format!("A collection lists at most {MAX_MEMBERS} products.");
            return Err(Problem::field("/add", "too_many", detail));
        }
        for (place, product) in change.reorder.iter().enumerate() {
            if !listed.contains(product) {
                let pointer = format!("/reorder/{place}");
                return Err(Problem::field(&pointer, "not_in_collection", "Add it first."));
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

    fn members(names: &str) -> Members {
        Members {
            store_id: StoreId::derive(&["store"]),
            collection_id: CollectionId::derive(&["collection"]),
            product_ids: ids(names),
            version: 3,
        }
    }

    fn change(remove: &str, add: &str, reorder: &str) -> MembersChange {
        MembersChange { remove: ids(remove), add: ids(add), reorder: ids(reorder) }
    }

    #[test]
    fn products_leave_join_and_move_in_one_change() {
        let after = members("a b c").apply(&change("b x", "d a d", "d c")).unwrap().unwrap();
        assert_eq!((after.product_ids, after.version), (ids("d c a"), 4));
        assert_eq!(members("a b").apply(&change("x", "a", "a b")).unwrap(), None);
    }

    #[test]
    fn what_is_not_in_it_has_no_place_in_it() {
        let rejected = members("a b").apply(&change("a", "", "b a")).unwrap_err();
        assert_eq!(rejected.errors()[0].pointer, "/reorder/1");
        let many: Vec<_> =
            (0..=MAX_MEMBERS).map(|n| ProductId::derive(&[&n.to_string()])).collect();
        let change = MembersChange { add: many, ..MembersChange::default() };
        assert_eq!(members("").apply(&change).unwrap_err().errors()[0].fault.code, "too_many");
    }
}
