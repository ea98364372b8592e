//! Objects: what a host makes when it is asked.

use std::any::Any;

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

    /// Whether it equals `empty`, where it has no items to count.
    fn is_empty(&self) -> bool {
        false
    }

    /// The scalar that it is in output, filters, conditions and comparisons.
    fn as_value(&self) -> Option<Value> {
        None
    }

    /// What output prints of an object that is no scalar.
    fn text(&self) -> String {
        String::new()
    }

    /// Whether it equals another object, where both are no scalars and not the same one.
    fn equals(&self, _other: &dyn Object) -> bool {
        false
    }
}
