//! Filters of text.

use super::standard::Filters;
use crate::args::Args;
use crate::compare;
use crate::context::Context;
use crate::error::Result;
use crate::text::is_space;
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("append", 1, 1, append),
    ("capitalize", 0, 0, capitalize),
    ("default", 0, 2, default),
    ("downcase", 0, 0, downcase),
    ("lstrip", 0, 0, lstrip),
    ("prepend", 1, 1, prepend),
    ("rstrip", 0, 0, rstrip),
    ("split", 1, 1, split),
    ("squish", 0, 0, squish),
    ("strip", 0, 0, strip),
    ("strip_newlines", 0, 0, strip_newlines),
    ("upcase", 0, 0, upcase),
];

/// Values one after another. It is HTML if the page escapes and one of them is.
pub(super) fn joined<'v>(
    values: impl Iterator<Item = &'v Value> + Clone,
    cx: &mut Context<'_>,
) -> Result<Value> {
    let html = cx.escapes() && values.clone().any(|value| matches!(value, Value::Html(_)));
    let mut text = String::new();
    for value in values {
        let part = if html { cx.escaped(value) } else { value.to_text() };
        cx.reserve(part.len())?;
        text.push_str(&part);
    }
    Ok(if html { Value::html(text) } else { text.into() })
}

/// A part of a text, which is HTML if the text is.
pub(super) fn like(input: &Value, text: impl Into<std::sync::Arc<str>>) -> Value {
    match input {
        Value::Html(_) => Value::Html(text.into()),
        _ => Value::Str(text.into()),
    }
}

fn append(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    joined([input].into_iter().chain(args.get(0)), cx)
}

fn prepend(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    joined(args.get(0).into_iter().chain([input]), cx)
}

fn capitalize(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    let text = input.to_text();
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return Ok("".into()) };
    let mut capitalized: String = first.to_uppercase().collect();
    capitalized.push_str(&chars.as_str().to_lowercase());
    Ok(capitalized.into())
}

fn downcase(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(input.to_text().to_lowercase().into())
}

fn upcase(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(input.to_text().to_uppercase().into())
}

fn squish(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    if input.is_nil() {
        return Ok(Value::Nil);
    }
    let text = input.to_text();
    let words: Vec<&str> = text.split(is_space).filter(|word| !word.is_empty()).collect();
    Ok(like(input, words.join(" ")))
}

fn strip(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(like(input, input.to_text().trim_matches(is_space)))
}

fn lstrip(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(like(input, input.to_text().trim_start_matches(is_space)))
}

fn rstrip(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(like(input, input.to_text().trim_end_matches(is_space)))
}

fn strip_newlines(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(like(input, input.to_text().replace("\r\n", "").replace('\n', "")))
}

fn default(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    let allows_false = args.named("allow_false").is_some_and(Value::is_truthy);
    let missing = if allows_false { input.is_nil() } else { !input.is_truthy() };
    if missing || compare::is_empty(&input.resolved()) {
        return Ok(args.get(0).cloned().unwrap_or_else(|| "".into()));
    }
    Ok(input.clone())
}

fn split(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let text = input.to_text();
    let separator = args.text(0);
    let mut parts: Vec<&str> = match &*separator {
        " " => text.split(is_space).filter(|part| !part.is_empty()).collect(),
        "" => {
            cx.reserve(text.len().saturating_mul(size_of::<Value>()))?;
            let ends = text.char_indices().map(|(at, c)| (at, at.saturating_add(c.len_utf8())));
            ends.filter_map(|(from, to)| text.get(from..to)).collect()
        }
        separator => text.split(separator).collect(),
    };
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    cx.reserve(parts.len().saturating_mul(size_of::<Value>()).saturating_add(text.len()))?;
    cx.step(parts.len())?;
    Ok(parts.into_iter().map(Value::from).collect())
}
