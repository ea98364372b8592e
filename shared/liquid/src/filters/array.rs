//! Filters of lists.

use std::collections::HashSet;
use std::sync::Arc;

use super::items::{has_members, is_list, items_of, member};
use super::standard::Filters;
use super::text::joined;
use crate::args::Args;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::number::{self, Number};
use crate::object::Shape;
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("compact", 0, 1, compact),
    ("concat", 1, 1, concat),
    ("join", 0, 1, join),
    ("map", 1, 1, map),
    ("reverse", 0, 0, reverse),
    ("sum", 0, 1, sum),
    ("uniq", 0, 1, uniq),
];

/// The member by an argument that may be missing: then the item itself. `None` of an item that cannot
/// have members.
pub(super) fn by(item: &Value, property: Option<&Value>) -> Result<Option<Value>> {
    match property {
        None | Some(Value::Nil) => Ok(Some(item.clone())),
        Some(property) => member(item, property),
    }
}

fn compact(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let mut kept = Vec::new();
    for item in items_of(input, cx)?.iter() {
        let Some(value) = by(item, args.get(0))? else { return Ok(Value::Nil) };
        if !value.is_nil() {
            kept.push(item.clone());
        }
    }
    Ok(kept.into())
}

fn concat(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let other = args.get(0).filter(|other| is_list(other));
    let Some(other) = other else {
        return Err(Error::argument("concat filter requires an array argument"));
    };
    let mut all = items_of(input, cx)?.into_owned();
    match other {
        Value::Array(items) => {
            cx.step(items.len())?;
            cx.reserve(items.len().saturating_mul(size_of::<Value>()))?;
            all.extend(items.iter().cloned());
        }
        other => all.extend(items_of(other, cx)?.into_owned()),
    }
    Ok(all.into())
}

fn join(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let glue = args.get(0).cloned().unwrap_or_else(|| " ".into());
    let items = items_of(input, cx)?;
    let between = items.iter().enumerate().flat_map(|(place, item)| {
        let glue = (place > 0).then_some(&glue);
        glue.into_iter().chain([item])
    });
    joined(between, cx)
}

fn map(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let nil = Value::Nil;
    let property = args.get(0).unwrap_or(&nil);
    let items = items_of(input, cx)?;
    let members = items.iter().map(|item| Ok(member(item, property)?.unwrap_or_default()));
    members.collect::<Result<Vec<_>>>().map(Value::from)
}

fn reverse(input: &Value, _args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    Ok(items_of(input, cx)?.iter().rev().cloned().collect())
}

fn sum(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let mut sum = Number::Int(0);
    for item in items_of(input, cx)?.iter() {
        sum = number::add(sum, number::of(&by(item, args.get(0))?.unwrap_or_default()));
    }
    Ok(sum.into())
}

fn uniq(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for item in items_of(input, cx)?.iter() {
        let Some(value) = by(item, args.get(0))? else { return Ok(Value::Nil) };
        let key = key(&value);
        cx.reserve(key.len())?;
        if seen.insert(key) {
            kept.push(item.clone());
        }
    }
    Ok(kept.into())
}

/// A text that only equal values have: that of an object says which one it is.
fn key(value: &Value) -> String {
    match &*value.resolved() {
        Value::Object(object) if object.shape() != Shape::Hash => {
            format!("{:p}", Arc::as_ptr(object))
        }
        other => format!("{other:?}"),
    }
}

/// Whether all items can have members.
pub(super) fn all_have_members(items: &[Value]) -> bool {
    items.iter().all(has_members)
}
