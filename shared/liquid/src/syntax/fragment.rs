//! Expressions, by the book.

use std::sync::Arc;

use super::expression::{Expression, Root, Step};
use super::markup::Markup;
use crate::error::ParseError;
use crate::text::is_word;
use crate::value::Value;

type Result<T> = std::result::Result<T, ParseError>;

impl Markup<'_, '_> {
    /// Takes an expression without filters, by the book.
    pub(super) fn strict_expression(&mut self) -> Result<Expression> {
        expression(self)
    }
}

fn expression(markup: &mut Markup<'_, '_>) -> Result<Expression> {
    markup.skip_space();
    match markup.peek() {
        Some(quote @ ('"' | '\'')) => string(markup, quote),
        Some('(') => markup.deeper(range),
        Some('[') => {
            let name = markup.deeper(bracket)?;
            let steps = steps(markup)?;
            Ok(Expression::path(Root::Computed(Box::new(name)), steps))
        }
        Some(c) if c.is_ascii_digit() || c == '-' => number(markup),
        _ => {
            let Some(name) = markup.identifier() else {
                return Err(markup.unexpected("an expression"));
            };
            let steps = steps(markup)?;
            Ok(named(name, steps))
        }
    }
}

/// A literal by name, or a path that begins with a name.
fn named(name: &str, steps: Vec<Step>) -> Expression {
    if steps.is_empty()
        && let Some(value) = literal(name)
    {
        return Expression::Literal(value);
    }
    Expression::path(Root::Name(Arc::from(name)), steps)
}

pub(super) fn literal(name: &str) -> Option<Value> {
    Some(match name {
        "nil" | "null" | "" => Value::Nil,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "blank" => Value::Blank,
        "empty" => Value::Empty,
        _ => return None,
    })
}

fn string(markup: &mut Markup<'_, '_>, quote: char) -> Result<Expression> {
    markup.advance(1);
    let Some(length) = markup.rest.find(quote) else {
        return Err(markup.unexpected("the end of a string"));
    };
    let text = markup.advance(length);
    markup.advance(1);
    Ok(Expression::Literal(Value::from(text)))
}

fn range(markup: &mut Markup<'_, '_>) -> Result<Expression> {
    markup.advance(1);
    let first = expression(markup)?;
    if !markup.take("..") {
        return Err(markup.unexpected("dotdot"));
    }
    let last = expression(markup)?;
    if !markup.take(")") {
        return Err(markup.unexpected("close_round"));
    }
    Ok(Expression::Range(Box::new((first, last))))
}

fn bracket(markup: &mut Markup<'_, '_>) -> Result<Expression> {
    markup.advance(1);
    let inner = expression(markup)?;
    if markup.take("]") { Ok(inner) } else { Err(markup.unexpected("close_square")) }
}

fn number(markup: &mut Markup<'_, '_>) -> Result<Expression> {
    let length = number_length(markup.rest);
    let text = markup.advance(length);
    let follows = markup.peek().is_some_and(|c| is_word(c) || c == '-');
    match number_value(text) {
        Some(value) if !follows => Ok(Expression::Literal(value)),
        _ => Err(markup.unexpected("a number")),
    }
}

fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with('-'));
    let whole = text.get(sign..).map_or(0, digits);
    let end = sign.saturating_add(whole);
    let fraction = text.get(end..).and_then(|rest| rest.strip_prefix('.')).map_or(0, digits);
    if whole == 0 || fraction == 0 {
        return end;
    }
    end.saturating_add(1).saturating_add(fraction)
}

/// The number that a text is, if it is nothing else.
pub(super) fn number_value(text: &str) -> Option<Value> {
    if text.is_empty() || text == "-" || number_length(text) != text.len() {
        return None;
    }
    if text.contains('.') {
        return text.parse().ok().map(Value::Float);
    }
    match text.parse() {
        Ok(whole) => Some(Value::Int(whole)),
        Err(_) => text.parse().ok().map(Value::Float),
    }
}

fn steps(markup: &mut Markup<'_, '_>) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    loop {
        let before = markup.rest;
        markup.skip_space();
        if markup.rest.starts_with('[') {
            steps.push(Step::Computed(markup.deeper(bracket)?));
        } else if markup.rest.starts_with('.') && !markup.rest.starts_with("..") {
            markup.advance(1);
            let Some(name) = markup.identifier() else { return Err(markup.unexpected("id")) };
            steps.push(Step::named(name));
        } else {
            markup.rest = before;
            return Ok(steps);
        }
    }
}
