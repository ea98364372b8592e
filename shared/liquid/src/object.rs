//! Objects: hashes of data, and what a host makes when it is asked.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::template::Template;
use crate::value::Value;

/// The items of an object, in order.
pub type Items<'a> = Box<dyn Iterator<Item = Value> + 'a>;

/// What an object is to loops, filters and comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// Members by name; neither iterated nor counted.
    #[default]
    Object,
    /// Members by name, iterated as pairs of name and value.
    Hash,
    /// A list, whose items may be made one by one.
    List,
}

/// Something with members that are made when a template asks for them.
///
/// Only [`Object::get`] has to be written. Filters of a host find their own type again with
/// [`Value::downcast`].
pub trait Object: Any + Send + Sync {
    /// The member of this name; `None` if there is no such member.
    fn get(&self, name: &str) -> Option<Value>;

    /// What loops and filters see in it.
    fn shape(&self) -> Shape {
        Shape::Object
    }

    /// The items of a list, or the pairs (arrays of name and value) of a hash.
    fn items(&self) -> Option<Items<'_>> {
        None
    }

    /// The item of a list at an index, which is never negative.
    fn item(&self, index: usize) -> Option<Value> {
        self.items()?.nth(index)
    }

    /// A part of a list, for hosts that load a page at a time.
    fn slice(&self, offset: usize, limit: Option<usize>) -> Option<Items<'_>> {
        let items = self.items()?.skip(offset);
        Some(match limit {
            Some(limit) => Box::new(items.take(limit)),
            None => Box::new(items),
        })
    }

    /// How many items or pairs there are.
    fn size(&self) -> Option<usize> {
        self.items().map(Iterator::count)
    }

    /// The scalar that it is in output, filters, conditions and comparisons.
    fn as_value(&self) -> Option<Value> {
        None
    }

    /// What output prints of an object that is no scalar.
    fn text(&self) -> String {
        String::new()
    }

    /// The template that `render` renders of it: a block of an app.
    fn partial(&self) -> Option<Arc<Template>> {
        None
    }

    /// Whether it equals another object, where both are no scalars and not the same one.
    fn equals(&self, _other: &dyn Object) -> bool {
        false
    }
}

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
                other.get(name).is_some_and(|theirs| crate::compare::equal(value, &theirs))
            })
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries()).finish()
    }
}
