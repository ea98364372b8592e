//! What a loop goes through.

use std::sync::Arc;

use crate::context::Context;
use crate::error::Result;
use crate::lookup;
use crate::object::Shape;
use crate::value::Value;

/// The items of a value between an offset and a limit.
pub(super) enum Segment {
    Array { items: Arc<[Value]>, from: usize, count: usize },
    Range { first: i64, count: usize },
}

impl Segment {
    pub(super) fn of(
        value: &Value,
        offset: i64,
        limit: Option<i64>,
        cx: &mut Context<'_>,
    ) -> Result<Self> {
        // A negative offset takes from the limit what is before the first item.
        let end = limit.map(|limit| usize::try_from(limit.saturating_add(offset)).unwrap_or(0));
        let from = usize::try_from(offset).unwrap_or(0);
        let count = |size: usize| end.map_or(size, |end| end.min(size)).saturating_sub(from);
        Ok(match value {
            Value::Array(items) => {
                Self::Array { items: Arc::clone(items), from, count: count(items.len()) }
            }
            Value::Range(first, last) => {
                let skipped = i64::try_from(from).unwrap_or(i64::MAX);
                let count = count(lookup::range_size(*first, *last));
                Self::Range { first: first.saturating_add(skipped), count }
            }
            Value::Str(text) | Value::Html(text) if !text.is_empty() => {
                Self::Array { items: Arc::from([value.clone()]), from, count: count(1) }
            }
            Value::Object(object) => match object.as_value() {
                Some(scalar) => return Self::of(&scalar, offset, limit, cx),
                None if object.shape() == Shape::Object => Self::none(),
                None => {
                    let limit = end.map(|end| end.saturating_sub(from));
                    let mut items = Vec::new();
                    for item in object.slice(from, limit).into_iter().flatten() {
                        cx.step(1)?;
                        items.push(item);
                    }
                    Self::Array { count: items.len(), items: Arc::from(items), from: 0 }
                }
            },
            _ => Self::none(),
        })
    }

    fn none() -> Self {
        Self::Range { first: 0, count: 0 }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Array { count, .. } | Self::Range { count, .. } => *count,
        }
    }

    pub(super) fn get(&self, place: usize) -> Value {
        match self {
            Self::Array { items, from, .. } => {
                items.get(from.saturating_add(place)).cloned().unwrap_or_default()
            }
            Self::Range { first, .. } => {
                Value::Int(first.saturating_add(i64::try_from(place).unwrap_or(i64::MAX)))
            }
        }
    }
}
