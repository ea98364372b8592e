//! Lookup items, for objects that are named by an id alone and keyed by something else.
//!
//! An index would find them too, but it is eventually consistent: a client that was just given an id would
//! get 404. The lookup item is written in the transaction that creates the object, deleted in the one that
//! deletes it, and read consistently.

use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::Query;
use table::item::{Item, Key};

use crate::key::IndexKey;

/// A lookup item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "pointer", key = Key::from(&self.from), version = 1)]
pub struct LookupItem {
    /// Its own key, derived from the id.
    from: StoredKey,
    /// The key of the object.
    to: StoredKey,
}

/// The stored form of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredKey {
    partition: String,
    sort: String,
}

impl From<Key> for StoredKey {
    fn from(key: Key) -> Self {
        Self { partition: key.pk, sort: key.sk }
    }
}

impl From<&StoredKey> for Key {
    fn from(place: &StoredKey) -> Self {
        Self::new(&place.partition, &place.sort)
    }
}

impl LookupItem {
    /// A lookup item at `from` for the object at `to`, which never moves.
    pub fn new(from: Key, to: Key) -> Self {
        Self { from: from.into(), to: to.into() }
    }

    /// Reads the object's key from the lookup item at `from`. For an object without a lookup item, it is the
    /// key that is `listed` in an index.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn follow(services: &Services, from: &Key, listed: IndexKey) -> Result<Key, Problem> {
        let found: Option<Self> = services.table.get(from).await?;
        if let Some(pointer) = found {
            return Ok(Key::from(&pointer.to));
        }
        let (index, entry) = listed;
        let query = Query::index(index, entry.pk).between(&entry.sk, &entry.sk);
        let found = services.table.keys(&query, 1).await?;
        found.into_iter().next().ok_or_else(|| Code::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_item_is_at_the_key_of_its_id_and_names_another_key() {
        let (from, to) = (Key::new("SUB#1", "A"), Key::new("APP#2", "SUB#1"));
        let pointer = LookupItem::new(from.clone(), to.clone());
        assert_eq!((pointer.key(), Key::from(&pointer.to)), (from, to));
    }
}
