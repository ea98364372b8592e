//! Filters that select items by a member.

use std::ops::ControlFlow;

use super::items::{items_of, member};
use super::standard::Filters;
use crate::args::Args;
use crate::compare;
use crate::context::Context;
use crate::error::Result;
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("find", 1, 2, find),
    ("find_index", 1, 2, find_index),
    ("has", 1, 2, has),
    ("reject", 1, 2, reject),
    ("where", 1, 2, select),
];

/// Tells of each item whether it matches. `None` if one cannot have members.
fn search<T>(
    input: &Value,
    args: &Args,
    cx: &mut Context<'_>,
    mut found: impl FnMut(usize, &Value, bool) -> ControlFlow<T>,
) -> Result<Option<ControlFlow<T>>> {
    let nil = Value::Nil;
    let property = args.get(0).unwrap_or(&nil);
    let target = args.get(1).filter(|target| !target.is_nil());
    let items = items_of(input, cx)?;
    for (place, item) in items.iter().enumerate() {
        let Some(value) = member(item, property)? else { return Ok(None) };
        let matches = match target {
            Some(target) => compare::equal(&value, target),
            None => value.is_truthy(),
        };
        if let ControlFlow::Break(result) = found(place, item, matches) {
            return Ok(Some(ControlFlow::Break(result)));
        }
    }
    Ok(Some(ControlFlow::Continue(())))
}

fn first<T>(matches: bool, result: impl FnOnce() -> T) -> ControlFlow<T> {
    if matches { ControlFlow::Break(result()) } else { ControlFlow::Continue(()) }
}

fn find(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let found = search(input, args, cx, |_, item, matches| first(matches, || item.clone()))?;
    Ok(found.and_then(ControlFlow::break_value).unwrap_or_default())
}

fn find_index(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let found = search(input, args, cx, |place, _, matches| first(matches, || place))?;
    Ok(found.and_then(ControlFlow::break_value).into())
}

fn has(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let found = search(input, args, cx, |_, _, matches| first(matches, || ()))?;
    Ok(found.map(|found| found.is_break()).into())
}

fn select(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    kept(input, args, cx, true)
}

fn reject(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    kept(input, args, cx, false)
}

fn kept(input: &Value, args: &Args, cx: &mut Context<'_>, matching: bool) -> Result<Value> {
    let mut kept = Vec::new();
    let searched = search::<()>(input, args, cx, |_, item, matches| {
        if matches == matching {
            kept.push(item.clone());
        }
        ControlFlow::Continue(())
    })?;
    Ok(searched.map(|_| Value::from(kept)).unwrap_or_default())
}
