//! Categories: the tree in which a store classifies its products.
//!
//! A store has at most [`MAX_CATEGORIES`], so its whole tree is one query, and changes of its shape are
//! validated over [`Tree`]. They are serialized by one item, [`TreeGuard`]: concurrent moves cannot form
//! a cycle, and no child is added to a parent that is being deleted.

mod create;
mod drain;
mod topics;

use std::collections::{HashMap, HashSet};

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::Handle;
use core_types::id::{CategoryId, StoreId};
use core_types::key;
use core_types::sample_id;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Query, ReadConsistency};

pub use create::{CategoryInput, begin_guarded_write, ensure};
pub use drain::CategoryDrain;
pub use topics::*;

/// The most categories of one store (our choice).
pub const MAX_CATEGORIES: usize = 500;
/// The most levels of the tree (our choice).
pub const MAX_DEPTH: usize = 6;

/// A category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "category", key = key::category(&self.store_id, &self.id))]
pub struct Category {
    /// Part of the key.
    pub id: CategoryId,
    /// Part of the key.
    pub store_id: StoreId,
    /// The parent category; null at the first level.
    pub parent_id: Option<CategoryId>,
    /// The name that shoppers see.
    pub name: String,
    /// Its name in URLs, unique within the store.
    pub handle: Handle,
    /// Its position among its siblings; the name decides among equals.
    pub position: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

/// The item that serializes changes of a tree's shape and of its handles.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "category_tree", key = key::category_tree(&self.store_id))]
pub struct TreeGuard {
    /// Part of the key.
    pub store_id: StoreId,
    /// The number of such changes.
    pub version: u64,
}

impl TreeGuard {
    /// Loads the guard of a store; at version 0 before the first category.
    pub async fn load(services: &Services, store: &StoreId) -> Result<Self, Problem> {
        let present = services.table.get(&key::category_tree(store)).await?;
        Ok(present.unwrap_or_else(|| Self { store_id: store.clone(), version: 0 }))
    }

    /// The guard after a change.
    #[must_use]
    pub fn changed(&self) -> Self {
        Self { version: self.version.saturating_add(1), ..self.clone() }
    }
}

fn categories(store: &StoreId) -> Query {
    Query::partition(key::store(store).pk).begins_with(key::CATEGORIES)
}

/// The categories of a store, as a tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    by_id: HashMap<CategoryId, Category>,
    children: HashMap<Option<CategoryId>, Vec<CategoryId>>,
}

impl Tree {
    /// Loads the tree of a store, in one query.
    pub async fn load(services: &Services, store: &StoreId) -> Result<Self, Problem> {
        Ok(Self::of(services.table.all(&categories(store), MAX_CATEGORIES).await?))
    }

    /// As [`Tree::load`], by an eventually consistent read at half the cost.
    pub async fn get_eventually(services: &Services, store: &StoreId) -> Result<Self, Problem> {
        Ok(Self::of(
            services
                .table
                .all(&categories(store).with_consistency(ReadConsistency::Eventual), MAX_CATEGORIES)
                .await?,
        ))
    }

    /// Loads the tree of a store by an eventually consistent read, repeated strongly consistent if it
    /// does not have a category with this handle.
    pub async fn with(
        services: &Services,
        store: &StoreId,
        handle: &Handle,
    ) -> Result<Self, Problem> {
        let seen = Self::get_eventually(services, store).await?;
        if seen.find(handle).is_some() { Ok(seen) } else { Self::load(services, store).await }
    }

    /// The tree of these categories, with siblings in order.
    pub fn of(mut all: Vec<Category>) -> Self {
        all.sort_by(|a, b| (a.position, &a.name, &a.id).cmp(&(b.position, &b.name, &b.id)));
        let mut tree = Self::default();
        for category in all {
            let siblings = tree.children.entry(category.parent_id.clone()).or_default();
            siblings.push(category.id.clone());
            tree.by_id.insert(category.id.clone(), category);
        }
        tree
    }

    /// The number of categories.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The category with this id.
    pub fn get(&self, id: &CategoryId) -> Option<&Category> {
        self.by_id.get(id)
    }

    /// The category with this handle.
    pub fn find(&self, handle: &Handle) -> Option<&Category> {
        self.by_id.values().find(|category| category.handle == *handle)
    }

    /// The children of a category, or the categories of the first level, in order.
    pub fn children(&self, parent: Option<&CategoryId>) -> impl Iterator<Item = &Category> {
        let ids = self.children.get(&parent.cloned()).map(Vec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|id| self.by_id.get(id))
    }

    /// The ancestors of a category, the topmost first.
    pub fn ancestors(&self, category: &Category) -> Vec<&Category> {
        let mut above = Vec::new();
        let mut next = category.parent_id.as_ref();
        while let Some(parent) = next.and_then(|id| self.by_id.get(id)) {
            above.push(parent);
            // The bound keeps a request from hanging on a corrupt tree.
            next = parent.parent_id.as_ref().filter(|_| above.len() < MAX_DEPTH);
        }
        above.reverse();
        above
    }

    /// The ids of a category and its descendants: a category's products are those of its subtree.
    pub fn subtree(&self, id: &CategoryId) -> HashSet<CategoryId> {
        let mut found = HashSet::new();
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            if self.by_id.contains_key(next) && found.insert(next.clone()) {
                open.extend(self.children.get(&Some(next.clone())).into_iter().flatten());
            }
        }
        found
    }

    /// All categories with their levels from 1, in preorder: parents before children, siblings in order.
    pub fn walk(&self) -> Vec<(&Category, usize)> {
        let mut found = Vec::new();
        let mut open: Vec<(&Category, usize)> =
            self.children(None).map(|category| (category, 1)).collect();
        open.reverse();
        while let Some((category, level)) = open.pop() {
            found.push((category, level));
            let mut below: Vec<_> = self
                .children(Some(&category.id))
                .map(|child| (child, level.saturating_add(1)))
                .collect();
            below.reverse();
            open.append(&mut below);
        }
        found
    }

    /// The number of levels of a category's subtree, including its own.
    fn height(&self, id: &CategoryId) -> usize {
        let below = self.children(Some(id)).map(|child| self.height(&child.id)).max();
        below.unwrap_or(0).saturating_add(1)
    }

    /// Validates the position of a new or moved category.
    ///
    /// # Errors
    /// `validation_failed` for an unknown parent or too many levels; `cycle`; `category_limit`.
    pub fn admit(&self, category: &Category) -> Result<(), Problem> {
        let is_new = !self.by_id.contains_key(&category.id);
        if is_new && self.len() >= MAX_CATEGORIES {
            return Err(Code::CategoryLimit.with("limit", MAX_CATEGORIES));
        }
        let Some(parent) = &category.parent_id else { return Ok(()) };
        let Some(parent) = self.by_id.get(parent) else {
            let detail = "There is no such category in the store.";
            return Err(Problem::field("/parent_id", "unknown_category", detail));
        };
        if self.subtree(&category.id).contains(&parent.id) {
            return Err(Code::Cycle.into());
        }
        let above = self.ancestors(parent).len().saturating_add(1);
        let own = if is_new { 1 } else { self.height(&category.id) };
        if above.saturating_add(own) > MAX_DEPTH {
            let detail = format!("The category tree must have at most {MAX_DEPTH} levels.");
            return Err(Problem::field("/parent_id", "too_deep", detail));
        }
        Ok(())
    }

    /// Whether no other category has this handle.
    pub fn is_free(&self, handle: &str, id: &CategoryId) -> bool {
        self.by_id.values().all(|other| other.handle.as_str() != handle || other.id == *id)
    }
}

/// A category.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CategoryView {
    /// The id.
    pub id: CategoryId,
    /// The parent category; null at the first level.
    pub parent_id: Option<CategoryId>,
    /// The name that shoppers see.
    pub name: String,
    /// Its name in URLs.
    pub handle: Handle,
    /// Its position among its siblings; the name decides among equals.
    pub position: u32,
    /// Its level in the tree, from 1.
    pub level: usize,
    /// Its ancestors, the topmost first.
    pub path: Vec<CategoryId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The version, for `If-Match`.
    pub version: u64,
}

impl CategoryView {
    /// The view of a category, which `tree` need not contain yet.
    pub fn of(category: &Category, tree: &Tree) -> Self {
        let path: Vec<_> =
            tree.ancestors(category).into_iter().map(|above| above.id.clone()).collect();
        Self {
            id: category.id.clone(),
            parent_id: category.parent_id.clone(),
            name: category.name.clone(),
            handle: category.handle.clone(),
            position: category.position,
            level: path.len().saturating_add(1),
            path,
            created_at: category.created_at,
            updated_at: category.updated_at,
            version: category.version,
        }
    }
}

impl Example for CategoryView {
    fn example() -> Self {
        Self {
            id: sample_id!(CategoryId),
            parent_id: None,
            name: "Kitchen".into(),
            handle: sample("kitchen"),
            position: 0,
            level: 1,
            path: Vec::new(),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = EXAMPLE_TIME;

    fn id(name: &str) -> CategoryId {
        CategoryId::derive(&[name])
    }

    fn category(name: &str, parent: Option<&str>, position: u32) -> Category {
        Category {
            id: id(name),
            store_id: StoreId::derive(&["store"]),
            parent_id: parent.map(id),
            name: name.into(),
            handle: sample(name),
            position,
            created_at: NOW,
            updated_at: NOW,
            version: 1,
        }
    }

    /// a → (c → d), b
    fn tree() -> Tree {
        Tree::of(vec![
            category("d", Some("c"), 0),
            category("c", Some("a"), 1),
            category("b", Some("a"), 2),
            category("a", None, 0),
        ])
    }

    #[test]
    fn a_walk_lists_parents_first_and_siblings_in_order() {
        let tree = tree();
        let ordered: Vec<_> = tree
            .walk()
            .into_iter()
            .map(|(category, level)| (category.name.clone(), level))
            .collect();
        let expected = [("a", 1), ("c", 2), ("d", 3), ("b", 2)];
        assert_eq!(ordered, expected.map(|(name, level)| (name.to_owned(), level)));
        assert_eq!(tree.subtree(&id("c")), HashSet::from([id("c"), id("d")]));
        let view = CategoryView::of(tree.get(&id("d")).unwrap(), &tree);
        assert_eq!((view.path, view.level), (vec![id("a"), id("c")], 3));
    }

    #[test]
    fn a_category_is_never_moved_below_itself() {
        let tree = tree();
        let moved = |name: &str, parent: &str| tree.admit(&category(name, Some(parent), 0));
        assert!(moved("d", "b").is_ok() && moved("b", "d").is_ok());
        for parent in ["a", "c", "d"] {
            assert_eq!(moved("a", parent).unwrap_err().code, Code::Cycle, "{parent}");
        }
        assert_eq!(moved("a", "x").unwrap_err().errors()[0].violation.code, "unknown_category");
    }

    #[test]
    fn the_tree_has_a_maximum_depth_and_size() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let chain = names.iter().enumerate().map(|(place, name)| {
            category(name, place.checked_sub(1).and_then(|above| names.get(above)).copied(), 0)
        });
        let tree = Tree::of(chain.collect());
        let rejected = tree.admit(&category("g", Some("f"), 0)).unwrap_err();
        assert_eq!(rejected.errors()[0].violation.code, "too_deep");
        assert!(tree.admit(&category("g", Some("e"), 0)).is_ok());
        let many = (0..MAX_CATEGORIES).map(|n| category(&format!("n{n}"), None, 0));
        let full = Tree::of(many.collect());
        assert_eq!(full.admit(&category("g", None, 0)).unwrap_err().code, Code::CategoryLimit);
        assert!(full.admit(&category("n1", Some("n2"), 0)).is_ok());
    }
}
