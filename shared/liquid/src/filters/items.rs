//! What filters of lists go through.

use std::borrow::Cow;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::lookup;
use crate::object::Shape;
use crate::value::Value;

/// The items of a value as filters of lists go through them: of a list, with those of lists within it;
/// of everything else that is something, the value itself.
pub fn items_of<'v>(value: &'v Value, cx: &mut Context<'_>) -> Result<Cow<'v, [Value]>> {
    match value {
        Value::Nil => Ok(Cow::Borrowed(&[])),
        Value::Array(items) => {
            cx.step(items.len())?;
            if !items.iter().any(|item| matches!(item, Value::Array(_))) {
                return Ok(Cow::Borrowed(items));
            }
            let mut flat = Vec::new();
            flatten(items, &mut flat, cx)?;
            Ok(Cow::Owned(flat))
        }
        Value::Range(first, last) => {
            let count = lookup::range_size(*first, *last);
            cx.step(count)?;
            cx.reserve(count.saturating_mul(size_of::<Value>()))?;
            Ok(Cow::Owned((*first..=*last).map(Value::Int).collect()))
        }
        Value::Object(object) if object.shape() == Shape::List => {
            let mut items = Vec::new();
            for item in object.items().into_iter().flatten() {
                cx.step(1)?;
                items.push(item);
            }
            Ok(Cow::Owned(items))
        }
        value => Ok(Cow::Borrowed(std::slice::from_ref(value))),
    }
}

fn flatten(items: &[Value], flat: &mut Vec<Value>, cx: &mut Context<'_>) -> Result<()> {
    for item in items {
        match item {
            Value::Array(inner) => {
                cx.step(inner.len())?;
                flatten(inner, flat, cx)?;
            }
            item => flat.push(item.clone()),
        }
    }
    cx.reserve(items.len().saturating_mul(size_of::<Value>()))
}

/// Whether a value is a list, and no single item.
pub(super) fn is_list(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(object) => object.shape() == Shape::List,
        _ => false,
    }
}

/// Whether a value can have members at all, be they missing.
pub(super) fn has_members(item: &Value) -> bool {
    !matches!(item, Value::Nil | Value::Bool(_) | Value::Float(_))
}

/// The member of an item by which filters select; nothing of what cannot have members.
///
/// Of a text it is the part that is looked for, of a whole number a bit, as Ruby has it.
pub(super) fn member(item: &Value, property: &Value) -> Result<Option<Value>> {
    let wrong = || {
        let property = property.to_text();
        Err(Error::argument(format!("cannot select the property '{property}'")))
    };
    match item {
        Value::Object(object) => {
            if property.is_nil() {
                return Ok(Some(Value::Nil));
            }
            let member = object.get(&property.to_text());
            match (member, object.as_value()) {
                (None, Some(scalar)) => self::member(&scalar, property),
                (member, _) => Ok(Some(member.unwrap_or_default())),
            }
        }
        Value::Str(text) | Value::Html(text) => match property {
            Value::Str(part) | Value::Html(part) => {
                Ok(Some(if text.contains(&**part) { property.clone() } else { Value::Nil }))
            }
            Value::Int(_) => Ok(Some(lookup::index_text(text, property))),
            _ => wrong(),
        },
        Value::Int(number) => match property {
            Value::Int(bit) => {
                let shift = u32::try_from(*bit).unwrap_or(63).min(63);
                Ok(Some(Value::Int((number >> shift) & 1)))
            }
            _ => wrong(),
        },
        Value::Range(..) | Value::Array(_) => Ok(Some(Value::Nil)),
        _ => Ok(None),
    }
}
