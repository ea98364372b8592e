//! Rows that later rows of a file belong to: WooCommerce's variable products, whose variations may be anywhere
//! below them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rows::Row;

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

/// The rows so far that others may belong to, by what those name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parents(BTreeMap<String, Parent>);

impl Parents {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a row, as far as there is room.
    pub(super) fn add(&mut self, key: String, row: &Row, has_children: bool) {
        if self.0.len() < MAX_PARENTS && key.len() <= MAX_KEY {
            self.0.insert(key, Parent { byte: row.begin, row: row.number, has_children });
        }
    }

    /// The row of this key, to which a row belongs, as it was before.
    pub(super) fn of_child(&mut self, key: &str) -> Option<Parent> {
        let parent = self.0.get_mut(key)?;
        let before = *parent;
        parent.has_children = true;
        Some(before)
    }

    /// The numbers of the rows to which no row belongs.
    pub(super) fn childless(&self) -> impl Iterator<Item = u64> {
        self.0.values().filter(|parent| !parent.has_children).map(|parent| parent.row)
    }
}
