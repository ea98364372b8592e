//! Where the item of an id is: for what is named by its id alone, and keyed by something else.
//!
//! An index would find it too, but a moment late, and whoever was just given an id is answered 404
//! then. A pointer is put in the transaction that makes the item, deleted in the one that deletes it,
//! and read consistently.

use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::Query;
use serde::{Deserialize, Serialize};

use crate::key::IndexKey;

/// A pointer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// Its own key, which follows from the id.
    from: Place,
    /// The key of the item.
    to: Place,
}

/// A key, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    partition: String,
    sort: String,
}

impl From<Key> for Place {
    fn from(key: Key) -> Self {
        Self { partition: key.pk, sort: key.sk }
    }
}

impl From<&Place> for Key {
    fn from(place: &Place) -> Self {
        Self::new(&place.partition, &place.sort)
    }
}

impl Pointer {
    /// A pointer at `from` that leads to the item at `to`, which never moves.
    pub fn new(from: Key, to: Key) -> Self {
        Self { from: from.into(), to: to.into() }
    }

    /// The key that the pointer at `from` leads to; of an item from before there were pointers, the one
    /// that is `listed` in an index.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn follow(app: &App, from: &Key, listed: IndexKey) -> Result<Key, Problem> {
        let found: Option<Self> = app.table.get(from).await?;
        if let Some(pointer) = found {
            return Ok(Key::from(&pointer.to));
        }
        let (index, entry) = listed;
        let query = Query::index(index, entry.pk).between(&entry.sk, &entry.sk);
        let found = app.table.keys(&query, 1).await?;
        found.into_iter().next().ok_or_else(|| Code::NotFound.into())
    }
}

impl Item for Pointer {
    const KIND: &'static str = "pointer";
    fn key(&self) -> Key {
        Key::from(&self.from)
    }
    fn version(&self) -> u64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_lies_where_its_id_says_and_names_another_place() {
        let (from, to) = (Key::new("SUB#1", "A"), Key::new("APP#2", "SUB#1"));
        let pointer = Pointer::new(from.clone(), to.clone());
        assert_eq!((pointer.key(), Key::from(&pointer.to)), (from, to));
    }
}
