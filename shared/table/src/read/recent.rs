//! A cache of parsed items. The caller's and the store's items are read with every request and rarely
//! change. They are read as ever; attributes that are the same as before are not inflated and parsed
//! again.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::item;
use crate::item::{Attributes, Item, Key};
use primitives::problem::Problem;

/// The size of the cache (our choice): some ten kilobytes an item. A full cache is cleared.
const MOST: usize = 250;

/// The memory of a process for recently read items. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent(Arc<Mutex<Items>>);

type Items = HashMap<(TypeId, Key), (Attributes, Arc<dyn Any + Send + Sync>)>;

impl Recent {
    /// Parses the attributes of an item, or returns the item that they were parsed to before.
    pub(super) fn parse<T>(&self, key: &Key, attributes: Attributes) -> Result<T, Problem>
    where
        T: Item + Clone + 'static,
    {
        let name = (TypeId::of::<T>(), key.clone());
        if let Some(known) = self.known(&name, &attributes) {
            return Ok(known);
        }
        let item: T = item::parse(attributes.clone())?;
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() >= MOST && !items.contains_key(&name) {
            items.clear();
        }
        items.insert(name, (attributes, Arc::new(item.clone())));
        Ok(item)
    }

    fn known<T: Clone + 'static>(
        &self,
        name: &(TypeId, Key),
        attributes: &Attributes,
    ) -> Option<T> {
        let items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, known) = items.get(name).filter(|(before, _)| before == attributes)?;
        known.downcast_ref().cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use aws_sdk_dynamodb::types::AttributeValue;
    use serde::{Deserialize, Deserializer, Serialize};

    use super::*;
    use crate::item::attributes;

    thread_local! {
        /// The number of notes parsed; each test has a thread of its own.
        static PARSED: Cell<usize> = const { Cell::new(0) };
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Note {
        id: usize,
        #[serde(deserialize_with = "counted")]
        version: u64,
    }

    fn counted<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        PARSED.set(PARSED.get().saturating_add(1));
        u64::deserialize(deserializer)
    }

    impl Item for Note {
        const KIND: &'static str = "Note";

        fn key(&self) -> Key {
            Key::new(format!("NOTE#{}", self.id), "A")
        }

        fn version(&self) -> u64 {
            self.version
        }
    }

    fn remembered(recent: &Recent) -> usize {
        recent.0.lock().unwrap().len()
    }

    #[test]
    fn a_recent_item_is_parsed_from_its_current_attributes() {
        let (recent, note) = (Recent::default(), Note { id: 1, version: 1 });
        let read = |attributes: &Attributes| recent.parse::<Note>(&note.key(), attributes.clone());
        let mut stored = attributes(&note).unwrap();
        for _ in 0..3 {
            assert_eq!(read(&stored).unwrap(), note);
        }
        assert_eq!(PARSED.get(), 1, "what is as it was is not parsed again");
        stored.insert("version".to_owned(), AttributeValue::N("2".to_owned()));
        assert_eq!(read(&stored).unwrap(), Note { version: 2, ..note.clone() });
        assert_eq!(PARSED.get(), 2);
        stored.remove("id");
        assert!(read(&stored).is_err(), "what cannot be read is not what was");
        assert_eq!(remembered(&recent), 1);
    }

    #[test]
    fn it_never_grows_beyond_its_bound() {
        let recent = Recent::default();
        let see = |id: usize| {
            let note = Note { id, version: 1 };
            assert_eq!(
                recent.parse::<Note>(&note.key(), attributes(&note).unwrap()).unwrap(),
                note
            );
            remembered(&recent)
        };
        for id in 0..MOST {
            assert_eq!(see(id), id + 1);
        }
        assert_eq!(see(0), MOST, "what is known already is no loss");
        assert_eq!(see(MOST), 1);
    }
}
