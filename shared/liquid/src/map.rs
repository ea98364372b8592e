//! Hashes of data.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::compare;
use crate::object::{Items, Object, Shape};
use crate::value::Value;

/// A hash of data, which keeps the order of its entries.
#[derive(Clone, Default)]
pub struct Map {
    entries: Vec<(Arc<str>, Value)>,
    /// Where an entry is, once there are too many to look through.
    index: HashMap<Arc<str>, usize>,
}

/// As many entries are found faster by looking through them.
const INDEXED_FROM: usize = 12;

impl Map {
    /// A hash without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an entry, in its place if there is one of this name.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, value: Value) {
        let name = name.into();
        if let Some(place) = self.place(&name)
            && let Some(entry) = self.entries.get_mut(place)
        {
            entry.1 = value;
            return;
        }
        self.entries.push((name, value));
        self.index_entries();
    }

    /// The entries in order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    fn index_entries(&mut self) {
        let count = self.entries.len();
        if count < INDEXED_FROM {
            return;
        }
        let missing = self.index.len();
        let entries = self.entries.iter().enumerate().skip(missing);
        self.index.extend(entries.map(|(place, (name, _))| (Arc::clone(name), place)));
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.entries.iter().position(|(other, _)| &**other == name);
        }
        self.index.get(name).copied()
    }
}

impl<K: Into<Arc<str>>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (name, value) in entries {
            map.insert(name, value);
        }
        map
    }
}

impl Object for Map {
    fn get(&self, name: &str) -> Option<Value> {
        self.entries.get(self.place(name)?).map(|(_, value)| value.clone())
    }

    fn shape(&self) -> Shape {
        Shape::Hash
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new(self.entries.iter().map(|(name, value)| {
            Value::Array(Arc::from([Value::Str(Arc::clone(name)), value.clone()]))
        })))
    }

    fn size(&self) -> Option<usize> {
        Some(self.entries.len())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let any: &dyn Any = other;
        let Some(other) = any.downcast_ref::<Self>() else { return false };
        self.entries.len() == other.entries.len()
            && self.entries().all(|(name, value)| {
                other.get(name).is_some_and(|theirs| compare::equal(value, &theirs))
            })
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}

impl Value {
    /// A hash with these entries, in this order.
    pub fn map<K: Into<Arc<str>>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::object(entries.into_iter().collect::<Map>())
    }
}
