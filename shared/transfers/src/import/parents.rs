//! Rows that later rows of a file belong to: WooCommerce's variable products, whose variations may be anywhere
//! below them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The most rows that are known.
const MAX_PARENTS: usize = 500;
/// The most bytes of a key.
const MAX_KEY: usize = 100;

/// A row that others may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its offset in the file.
    pub byte: u64,
    /// Its number.
    pub row: u64,
    /// Whether a row belongs to it.
    pub has_children: bool,
}

/// The rows so far that others may belong to, by what those name: a row may have several names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parents(BTreeMap<String, Parent>);

impl Parents {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a row under its keys, as far as there is room.
    pub(super) fn add(&mut self, keys: Vec<String>, parent: Parent) {
        let limit = MAX_PARENTS.saturating_mul(keys.len());
        if self.0.len() >= limit {
            return;
        }
        for key in keys.into_iter().filter(|key| key.len() <= MAX_KEY) {
            self.0.insert(key, parent);
        }
    }

    /// The row of this key, to which a row belongs, as it was before.
    pub(super) fn of_child(&mut self, key: &str) -> Option<Parent> {
        let before = *self.0.get(key)?;
        for parent in self.0.values_mut().filter(|parent| parent.row == before.row) {
            parent.has_children = true;
        }
        Some(before)
    }

    /// The numbers of the rows to which no row belongs.
    pub(super) fn childless(&self) -> impl Iterator<Item = u64> {
        let childless = self.0.values().filter(|parent| !parent.has_children);
        childless.map(|parent| parent.row).collect::<BTreeSet<u64>>().into_iter()
    }
}
