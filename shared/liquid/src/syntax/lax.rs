//! Markup that is not quite Liquid: what can be understood of it.
//!
//! It is cut into *fragments*: runs of quoted strings and of characters other than whitespace, commas
//! and pipes. One that begins with a quoted string ends with it.

use std::sync::Arc;

use super::condition::{Comparison, Condition, Operator, Relation};
use super::expression::{Attributes, Expression, Root, Step};
use super::fragment::{literal, number_value};
use super::markup::Markup;
use super::variable::Filtered;
use crate::text::{is_space, is_word};
use crate::value::Value;

/// How long the fragment is with which a text begins.
fn fragment_length(text: &str) -> usize {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let quoted = quote.and_then(|quote| text.get(1..)?.find(quote));
    if let Some(length) = quoted {
        return length.saturating_add(2);
    }
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if is_space(c) || c == ',' || c == '|' {
            break;
        }
        let Some(after) = rest.get(c.len_utf8()..) else { break };
        rest = if c == '"' || c == '\'' {
            match after.split_once(c) {
                Some((_, after)) => after,
                None => break,
            }
        } else {
            after
        };
    }
    text.len().saturating_sub(rest.len())
}

/// Takes the next fragment, and what stands before it.
fn next_fragment<'s>(rest: &mut &'s str) -> Option<&'s str> {
    while let Some(c) = rest.chars().next() {
        let length = fragment_length(rest);
        let (taken, after) = rest.split_at_checked(length.max(c.len_utf8()))?;
        *rest = after;
        if length > 0 {
            return Some(taken);
        }
    }
    None
}

impl Markup<'_, '_> {
    /// Skips a word or symbol that cannot be understood.
    pub fn skip(&mut self) {
        self.skip_space();
        let length = fragment_length(self.rest);
        let first = self.peek().map_or(0, char::len_utf8);
        self.advance(length.max(first));
    }

    /// Takes the expression that a fragment is.
    pub(super) fn lax_expression(&mut self) -> Option<Expression> {
        self.skip_space();
        let length = fragment_length(self.rest);
        (length > 0).then(|| of_fragment(self.advance(length), 0))
    }

    /// Takes the whole rest: the first fragment, and what follows pipes.
    pub(super) fn lax_filtered(&mut self) -> Filtered {
        filtered(self)
    }

    /// Takes the whole rest: of each comparison the first two fragments and the operator between them.
    pub(super) fn lax_condition(&mut self) -> Option<Condition> {
        condition(self)
    }
}

/// The expression that a text is. Every text is one.
fn of_fragment(text: &str, depth: u32) -> Expression {
    let text = text.trim_matches(is_space);
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) {
            return Expression::Literal(Value::from(inner));
        }
    }
    if let Some(value) = literal(text).or_else(|| loose_number(text)) {
        return Expression::Literal(value);
    }
    if depth > 20 {
        return Expression::NIL;
    }
    let deeper = depth.saturating_add(1);
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    if let Some((first, last)) = inner.and_then(|inner| inner.rsplit_once("..")) {
        let ends = (of_fragment(first, deeper), of_fragment(last, deeper));
        return Expression::Range(Box::new(ends));
    }
    path(text, deeper)
}

/// A number, which ends at its second point.
fn loose_number(text: &str) -> Option<Value> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.chars().all(is_part) {
        return None;
    }
    if let Some(value) = number_value(text) {
        return Some(value);
    }
    let end = text.match_indices('.').nth(1).map_or(text.len(), |(at, _)| at);
    text.get(..end)?.parse().ok().map(Value::Float)
}

/// Names and brackets, whatever stands between them.
fn path(text: &str, depth: u32) -> Expression {
    let mut parts = parts(text).into_iter();
    let Some(first) = parts.next() else { return Expression::NIL };
    let steps = parts.map(|part| match bracketed(part) {
        Some(inner) => Step::Computed(of_fragment(inner, depth)),
        None => Step::named(part),
    });
    let steps: Vec<_> = steps.collect();
    match bracketed(first) {
        Some(inner) => Expression::path(Root::Computed(Box::new(of_fragment(inner, depth))), steps),
        None => Expression::path(Root::Name(Arc::from(first)), steps),
    }
}

fn bracketed(part: &str) -> Option<&str> {
    part.strip_prefix('[')?.strip_suffix(']')
}

fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c == '[' {
            bracket_length(rest)
        } else {
            let name = rest.find(|c| !is_word(c) && c != '-').unwrap_or(rest.len());
            let marked = name > 0 && rest.get(name..).is_some_and(|rest| rest.starts_with('?'));
            name.saturating_add(usize::from(marked))
        };
        let Some((part, after)) = rest.split_at_checked(length.max(c.len_utf8())) else { break };
        if length > 0 {
            parts.push(part);
        }
        rest = after;
    }
    parts
}

/// How long a bracket is with those in it; 0 if it is not closed.
fn bracket_length(text: &str) -> usize {
    let mut depth: usize = 0;
    for (place, c) in text.char_indices() {
        match c {
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place.saturating_add(1);
        }
        if depth > 40 {
            break;
        }
    }
    0
}

fn filtered(markup: &mut Markup<'_, '_>) -> Filtered {
    let mut rest = markup.rest;
    markup.rest = "";
    let base = next_fragment(&mut rest).map_or(Expression::NIL, |text| of_fragment(text, 0));
    let mut filtered = Filtered::new(base, markup.line());
    let Some((_, filters)) = rest.split_once('|') else { return filtered };
    for filter in unquoted_parts(filters, '|') {
        let Some(begin) = filter.find(is_word) else { continue };
        let named = filter.get(begin..).unwrap_or_default();
        let length = named.find(|c| !is_word(c)).unwrap_or(named.len());
        let Some((name, arguments)) = named.split_at_checked(length) else { continue };
        filtered.push(markup.language, name, filter_arguments(arguments));
    }
    filtered
}

/// The parts of a text between separators that are not quoted. A quote that is never closed separates,
/// too.
fn unquoted_parts(text: &str, separator: char) -> Vec<&str> {
    let last = ['"', '\''].map(|quote| text.rfind(quote));
    let closes = |place: usize| last.contains(&Some(place));
    let mut found = Vec::new();
    let mut quote = None;
    let mut from = 0;
    for (place, c) in text.char_indices() {
        match quote {
            Some(open) => quote = Some(open).filter(|open| *open != c),
            None if c == separator || closes(place) => {
                found.push(text.get(from..place).unwrap_or_default());
                from = place.saturating_add(1);
            }
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {}
        }
    }
    found.push(text.get(from..).unwrap_or_default());
    found
}

fn filter_arguments(text: &str) -> (Vec<Expression>, Attributes) {
    let mut positional = Vec::new();
    let mut attributes = Vec::new();
    let Some((_, arguments)) = text.split_once(':') else { return (positional, attributes) };
    for argument in unquoted_parts(arguments, ',') {
        let mut rest = argument;
        let Some(text) = next_fragment(&mut rest) else { continue };
        match attribute(argument) {
            Some((name, value)) => attributes.push((Arc::from(name), of_fragment(value, 0))),
            None => positional.push(of_fragment(text, 0)),
        }
    }
    (positional, attributes)
}

fn attribute(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once(':')?;
    let name = name.trim_matches(is_space);
    let is_name = !name.is_empty() && name.chars().all(|c| is_word(c) || c == '-');
    let mut rest = value;
    Some((name, next_fragment(&mut rest)?)).filter(|_| is_name)
}

fn condition(markup: &mut Markup<'_, '_>) -> Option<Condition> {
    let mut rest = markup.rest;
    markup.rest = "";
    let mut condition = Condition::default();
    let mut term = Vec::new();
    while let Some(text) = next_fragment(&mut rest) {
        let relation = match text {
            "and" => Relation::And,
            "or" => Relation::Or,
            _ => {
                term.push(text);
                continue;
            }
        };
        condition.push(comparison(&term)?, relation);
        term.clear();
    }
    condition.push(comparison(&term)?, Relation::Last);
    Some(condition)
}

fn is_operator(c: char) -> bool {
    c.is_ascii_lowercase() || matches!(c, '=' | '!' | '<' | '>' | '_')
}

/// A comparison of fragments. The operator may stand alone or at the begin of the second.
fn comparison(term: &[&str]) -> Option<Comparison> {
    let (first, others) = term.split_first()?;
    let glued = first.find(['=', '!', '<', '>']).filter(|place| *place > 0);
    if let Some((left, after)) = glued.and_then(|place| first.split_at_checked(place))
        && !first.starts_with(['"', '\''])
    {
        return Some(compared(left, after, others.first().copied()));
    }
    Some(match others.split_first() {
        Some((second, others)) => compared(first, second, others.first().copied()),
        None => Comparison::new(of_fragment(first, 0), None),
    })
}

fn compared(left: &str, second: &str, third: Option<&str>) -> Comparison {
    let left = of_fragment(left, 0);
    let length = second.find(|c| !is_operator(c)).unwrap_or(second.len());
    let Some((operator, right)) = second.split_at_checked(length) else {
        return Comparison::new(left, None);
    };
    if operator.is_empty() {
        return Comparison::new(left, None);
    }
    let right = if right.is_empty() { third.unwrap_or("nil") } else { right };
    Comparison::new(left, Some((Operator::named(operator), of_fragment(right, 0))))
}
