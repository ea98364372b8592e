//! Members of values.

use crate::object::{Object, Shape};
use crate::value::Value;

/// A name that is computed where there is no such member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Size,
    First,
    Last,
}

impl Command {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "size" => Self::Size,
            "first" => Self::First,
            "last" => Self::Last,
            _ => return None,
        })
    }
}

/// The member of a name, or what `size`, `first` and `last` are of it.
pub(crate) fn member(value: &Value, name: &str, command: Option<Command>) -> Value {
    if let Value::Object(object) = value {
        if let Some(member) = object.get(name) {
            return member;
        }
        if let Some(scalar) = object.as_value() {
            return member(&scalar, name, command);
        }
    }
    command.map_or(Value::Nil, |command| computed(value, command))
}

fn computed(value: &Value, command: Command) -> Value {
    match command {
        Command::Size => size(value).map_or(Value::Nil, Value::from),
        Command::First => first(value),
        Command::Last => last(value),
    }
}

/// The item at an index, or the member of a name.
pub(crate) fn index(value: &Value, key: &Value) -> Value {
    match (value, key) {
        (_, Value::Object(object)) => match object.as_value() {
            Some(key) => index(value, &key),
            None => Value::Nil,
        },
        (Value::Object(object), Value::Int(at)) if object.shape() == Shape::List => {
            place(*at, || object.size().unwrap_or(0))
                .and_then(|at| object.item(at))
                .unwrap_or_default()
        }
        (Value::Object(object), _) if !key.is_nil() => {
            object.get(&key.to_text()).unwrap_or_default()
        }
        (Value::Array(items), Value::Int(at)) => {
            place(*at, || items.len()).and_then(|at| items.get(at)).cloned().unwrap_or_default()
        }
        _ => Value::Nil,
    }
}

/// A place from the begin, or from the end if it is negative.
fn place(at: i64, size: impl Fn() -> usize) -> Option<usize> {
    if let Ok(at) = usize::try_from(at) {
        return Some(at);
    }
    size().checked_sub(usize::try_from(at.unsigned_abs()).ok()?)
}

/// How many items, entries or characters there are.
pub(crate) fn size(value: &Value) -> Option<usize> {
    match value {
        Value::Str(text) | Value::Html(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Range(first, last) => Some(range_size(*first, *last)),
        Value::Object(object) if object.shape() != Shape::Object => object.size(),
        // Ruby's whole numbers have a size: their bytes.
        Value::Int(_) => Some(8),
        _ => None,
    }
}

/// How many numbers there are in a range.
pub(crate) fn range_size(first: i64, last: i64) -> usize {
    if last < first {
        return 0;
    }
    usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX).saturating_add(1)
}

/// The first item, pair or character.
pub(crate) fn first(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.first().cloned().unwrap_or_default(),
        Value::Range(first, last) if first <= last => Value::Int(*first),
        Value::Str(text) | Value::Html(text) => character(text.chars().next()),
        Value::Object(object) => first_of(&**object),
        _ => Value::Nil,
    }
}

fn first_of(object: &dyn Object) -> Value {
    object.slice(0, Some(1)).and_then(|mut items| items.next()).unwrap_or_default()
}

/// The last item or character. A hash has none.
pub(crate) fn last(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.last().cloned().unwrap_or_default(),
        Value::Range(first, last) if first <= last => Value::Int(*last),
        Value::Str(text) | Value::Html(text) => character(text.chars().next_back()),
        Value::Object(object) if object.shape() == Shape::List => {
            let last = object.size().and_then(|size| size.checked_sub(1));
            last.and_then(|at| object.item(at)).unwrap_or_default()
        }
        _ => Value::Nil,
    }
}

fn character(character: Option<char>) -> Value {
    Value::from(character.map(String::from).unwrap_or_default())
}

/// The character of a text at an index.
pub(crate) fn index_text(text: &str, key: &Value) -> Value {
    let Value::Int(at) = key else { return Value::Nil };
    let at = place(*at, || text.chars().count());
    Value::from(at.and_then(|at| text.chars().nth(at)).map(String::from))
}
