//! Drains of deleted categories: products that still have the category lose it.
//!
//! The deletion of a category is one transaction, however many products it has. The transaction writes
//! this item, which is due a minute later, when the index has every product that got the category
//! before. The sweep goes through the store's products from the newest to the oldest, in batches, and
//! stores its position here. A batch is idempotent.

use std::time::Duration;

use core_types::id::{CategoryId, StoreId};
use core_types::key::{self, IndexKey};
use primitives::clock::{DAY, MINUTE, Timestamp};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::outbox::DueKind;
use table::{Change, Query};

use super::Category;
use crate::product::Product;

/// A generous bound on the delay of an index behind the table.
const SETTLED: Duration = MINUTE;
/// The retention of a completed drain.
const RETENTION: Duration = DAY.saturating_mul(30);

/// The drain of a deleted category.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CategoryDrain {
    /// Part of the key.
    pub store_id: StoreId,
    /// The category that was deleted.
    pub category_id: CategoryId,
    /// The index sort key of the last product that was processed.
    #[serde(rename = "place")]
    pub position: Option<String>,
    /// Whether products remain to be processed.
    pub is_open: bool,
    /// When the category was deleted.
    pub created_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for CategoryDrain {
    const KIND: &'static str = "category_emptying";
    fn key(&self) -> Key {
        key::category_drain(&self.store_id, &self.category_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let due = DueKind::Category.mark(self.category_id.as_str(), self.due_at());
        if self.is_open { vec![due] } else { Vec::new() }
    }
    fn forget_at(&self) -> Option<Timestamp> {
        (!self.is_open).then(|| self.created_at.plus(RETENTION))
    }
}

impl CategoryDrain {
    /// The drain of a category that is being deleted.
    pub fn of(category: &Category, now: Timestamp) -> Self {
        Self {
            store_id: category.store_id.clone(),
            category_id: category.id.clone(),
            position: None,
            is_open: true,
            created_at: now,
            version: 1,
        }
    }

    /// The time from which the sweep processes it.
    fn due_at(&self) -> Timestamp {
        self.created_at.plus(SETTLED)
    }

    /// Whether the sweep may process it.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.is_open && self.due_at() <= now
    }

    /// The query for the store's remaining products, the newest first.
    pub fn rest(&self) -> Query {
        let high = self.position.clone().unwrap_or_else(|| "~".to_owned());
        let all = Query::list(key::list::products_of_store(&self.store_id));
        all.between("0", high).newest_first()
    }

    /// The drain at its next version, after a batch that ended with the product `last`; `is_open` says
    /// whether products remain.
    #[must_use]
    pub fn past(&self, last: Option<&Product>, is_open: bool) -> Self {
        let position =
            |last: &Product| key::products_of_store(&last.store_id, last.created_at, &last.id).1.sk;
        let position = last.map(position).or_else(|| self.position.clone());
        Self { position, is_open, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The update of a product, and of its summary, that removes the category on condition that they
    /// still have it. It makes a new version without an event: the deletion of the category announced
    /// it. The outlines in the handle's claim and in related products stay until the product changes:
    /// no other product has the category, so it does not affect similarity.
    pub fn change(&self, now: Timestamp) -> Change {
        Change::new("SET #version = #version + :one, updated_at = :now REMOVE category_id")
            .only_if("category_id = :category")
            .name("#version", "version")
            .value(":one", 1)
            .value(":now", now)
            .value(":category", &self.category_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::tests::product;
    use core_types::event::EXAMPLE_TIME;

    #[test]
    fn a_drain_begins_after_a_minute_and_stores_its_position() {
        let drain = CategoryDrain {
            store_id: StoreId::derive(&["store"]),
            category_id: CategoryId::derive(&["cups"]),
            position: None,
            is_open: true,
            created_at: EXAMPLE_TIME,
            version: 1,
        };
        let later = EXAMPLE_TIME.plus(SETTLED);
        assert!(!drain.is_due(EXAMPLE_TIME) && drain.is_due(later));
        let half = drain.past(Some(&product()), true);
        let position = product().indexes()[0].1.sk.clone();
        assert_eq!((half.position.as_ref(), half.version), (Some(&position), 2));
        assert!(half.is_due(later) && half.forget_at().is_none());
        // The last batch may be empty.
        let done = half.past(None, false);
        assert_eq!((done.position.as_ref(), done.indexes().len()), (Some(&position), 0));
        assert!(!done.is_due(later) && done.forget_at().is_some());
    }
}
