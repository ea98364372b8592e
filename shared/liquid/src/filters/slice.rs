//! Filters that take a part of a value.

use super::items::{is_list, items_of};
use super::standard::Filters;
use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::lookup;
use crate::number;
use crate::text::is_space;
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("first", 0, 0, first),
    ("last", 0, 0, last),
    ("size", 0, 0, size),
    ("slice", 1, 2, slice),
    ("truncate", 0, 2, truncate),
    ("truncatewords", 0, 2, truncate_words),
];

fn first(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(lookup::first(&input.resolved()))
}

fn last(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(lookup::last(&input.resolved()))
}

fn size(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(lookup::size(&input.resolved()).unwrap_or(0).into())
}

fn slice(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let input = input.resolved();
    let offset = args.integer(0, 0)?;
    let length = match args.get(1) {
        None | Some(Value::Nil) => 1,
        Some(length) => number::strict_integer(length)?,
    };
    if is_list(&input) {
        let items = items_of(&input, cx)?;
        let part = part(items.len(), offset, length);
        return Ok(part.map_or_else(
            || Value::from(Vec::new()),
            |(from, count)| items.iter().skip(from).take(count).cloned().collect(),
        ));
    }
    let text = input.to_text();
    let part = part(text.chars().count(), offset, length);
    let (from, count) = part.unwrap_or((0, 0));
    Ok(text.chars().skip(from).take(count).collect::<String>().into())
}

/// Where a part begins and how long it is; nothing if it would begin outside.
fn part(size: usize, offset: i64, length: i64) -> Option<(usize, usize)> {
    let length = usize::try_from(length).ok()?;
    let from = match usize::try_from(offset) {
        Ok(from) => from,
        Err(_) => size.checked_sub(usize::try_from(offset.unsigned_abs()).ok()?)?,
    };
    (from <= size).then_some((from, length))
}

fn truncate(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    if input.is_nil() {
        return Ok(Value::Nil);
    }
    let text = input.to_text();
    let length = usize::try_from(args.integer(0, 50)?).unwrap_or(0);
    let end = args.get(1).map_or("...".into(), Value::to_text);
    if text.chars().count() <= length {
        return Ok(text.into_owned().into());
    }
    let kept = length.saturating_sub(end.chars().count());
    let mut truncated: String = text.chars().take(kept).collect();
    truncated.push_str(&end);
    Ok(truncated.into())
}

fn truncate_words(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    if input.is_nil() {
        return Ok(Value::Nil);
    }
    let text = input.to_text();
    let words = usize::try_from(args.integer(0, 15)?).unwrap_or(0).max(1);
    let end = args.get(1).map_or("...".into(), Value::to_text);
    let mut all = text.split(is_space).filter(|word| !word.is_empty());
    let kept: Vec<&str> = all.by_ref().take(words).collect();
    if all.next().is_none() {
        return Ok(text.into_owned().into());
    }
    let mut truncated = kept.join(" ");
    truncated.push_str(&end);
    Ok(truncated.into())
}
