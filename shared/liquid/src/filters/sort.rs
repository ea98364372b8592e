//! Filters that sort.

use std::cmp::Ordering;

use super::array::{all_have_members, by};
use super::items::items_of;
use super::standard::Filters;
use crate::args::Args;
use crate::compare;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::value::Value;

pub(super) const FILTERS: Filters = &[("sort", 0, 1, sort), ("sort_natural", 0, 1, sort_natural)];

/// What values of a kind can be compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Other,
}

fn kind(value: &Value) -> Option<Kind> {
    Some(match &*value.resolved() {
        Value::Nil => return None,
        Value::Int(_) => Kind::Number,
        Value::Float(number) if !number.is_nan() => Kind::Number,
        Value::Str(_) | Value::Html(_) => Kind::Text,
        _ => Kind::Other,
    })
}

fn sort(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let Some(mut keyed) = keyed(input, args, cx)? else { return Ok(Value::Nil) };
    let mut kinds = keyed.iter().filter_map(|(key, _)| kind(key));
    let first = kinds.next();
    let comparable = kinds.all(|kind| Some(kind) == first && kind != Kind::Other);
    if !comparable {
        return Err(Error::argument("cannot sort values of incompatible types"));
    }
    keyed.sort_by(|(left, _), (right, _)| {
        nil_last(left, right, || compare::order(left, right).unwrap_or(Ordering::Equal))
    });
    Ok(keyed.into_iter().map(|(_, item)| item).collect())
}

fn sort_natural(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let Some(mut keyed) = keyed(input, args, cx)? else { return Ok(Value::Nil) };
    for (key, _) in &mut keyed {
        if !key.is_nil() {
            let text = key.to_text().to_ascii_lowercase();
            cx.reserve(text.len())?;
            *key = text.into();
        }
    }
    keyed.sort_by(|(left, _), (right, _)| {
        nil_last(left, right, || compare::order(left, right).unwrap_or(Ordering::Equal))
    });
    Ok(keyed.into_iter().map(|(_, item)| item).collect())
}

/// The items with what they are sorted by; nothing if an item cannot have members.
fn keyed(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Option<Vec<(Value, Value)>>> {
    let items = items_of(input, cx)?;
    let property = args.get(0).filter(|property| !property.is_nil());
    if property.is_some() && !all_have_members(&items) {
        return Ok(None);
    }
    // So many comparisons at least, each of which costs.
    let levels = usize::try_from(items.len().checked_ilog2().unwrap_or(0)).unwrap_or(64);
    cx.step(items.len().saturating_mul(levels))?;
    cx.reserve(items.len().saturating_mul(size_of::<(Value, Value)>()))?;
    items
        .iter()
        .map(|item| Ok((by(item, property)?.unwrap_or_default(), item.clone())))
        .collect::<Result<_>>()
        .map(Some)
}

fn nil_last(left: &Value, right: &Value, others: impl FnOnce() -> Ordering) -> Ordering {
    match (left.is_nil(), right.is_nil()) {
        (false, false) => others(),
        (left, right) => left.cmp(&right),
    }
}
