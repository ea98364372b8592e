//! Filters that replace and remove parts of text.

use super::standard::Filters;
use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("remove", 1, 1, replace),
    ("remove_first", 1, 1, replace_first),
    ("remove_last", 1, 1, replace_last),
    ("replace", 1, 2, replace),
    ("replace_first", 1, 2, replace_first),
    ("replace_last", 2, 2, replace_last),
];

fn replace(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    replaced(input, args, usize::MAX, cx)
}

fn replace_first(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    replaced(input, args, 1, cx)
}

fn replaced(input: &Value, args: &Args, most: usize, cx: &mut Context<'_>) -> Result<Value> {
    let (text, pattern, replacement) = (input.to_text(), args.text(0), args.text(1));
    let mut result = String::new();
    let mut from: usize = 0;
    for (at, found) in text.match_indices(&*pattern).take(most) {
        let end = at.saturating_add(found.len());
        result.push_str(text.get(from..at).unwrap_or_default());
        from = end;
        let parts =
            (text.get(..at).unwrap_or_default(), found, text.get(end..).unwrap_or_default());
        push_replacement(&mut result, &replacement, parts, cx)?;
    }
    result.push_str(text.get(from..).unwrap_or_default());
    Ok(result.into())
}

/// Adds a replacement, in which a backslash begins a reference as in Ruby: to what was found (`\0`,
/// `\&`), to what is before it (`` \` ``) and after it (`\'`).
fn push_replacement(
    result: &mut String,
    replacement: &str,
    (before, found, after): (&str, &str, &str),
    cx: &mut Context<'_>,
) -> Result<()> {
    let mut rest = replacement;
    while let Some((plain, reference)) = rest.split_once('\\') {
        cx.reserve(plain.len())?;
        result.push_str(plain);
        let mut chars = reference.chars();
        let part = match chars.next() {
            Some('0' | '&') => found,
            Some('`') => before,
            Some('\'') => after,
            Some('\\') => "\\",
            Some('1'..='9') => "",
            _ => {
                result.push('\\');
                rest = reference;
                continue;
            }
        };
        cx.reserve(part.len())?;
        result.push_str(part);
        rest = chars.as_str();
    }
    cx.reserve(rest.len())?;
    result.push_str(rest);
    Ok(())
}

fn replace_last(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let text = input.to_text();
    let pattern = args.text(0);
    let Some(at) = text.rfind(&*pattern) else { return Ok(text.into_owned().into()) };
    let (before, found) = text.split_at_checked(at).unwrap_or((&text, ""));
    let after = found.strip_prefix(&*pattern).unwrap_or_default();
    let replacement = args.text(1);
    cx.reserve(text.len().saturating_add(replacement.len()))?;
    Ok([before, &replacement, after].concat().into())
}
