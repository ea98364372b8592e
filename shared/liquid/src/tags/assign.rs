//! `assign`, `capture`, `increment`, `decrement` and `echo`.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::syntax::{Filtered, Head, Markup, Parser};
use crate::template::{Block, Flow, Render};
use crate::value::Value;

type Parsed = std::result::Result<Box<dyn Render>, ParseError>;

struct Assign {
    name: Arc<str>,
    value: Filtered,
}

pub(super) fn assign(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    let invalid = || {
        let message = "Syntax Error in 'assign' - Valid syntax: assign [var] = [source]";
        ParseError::new(head.line, message)
    };
    let (target, source) = head.markup.split_once('=').ok_or_else(invalid)?;
    let target = target.trim_end();
    let name = target.rsplit(|c| !is_signature(c)).next().unwrap_or_default();
    if name.is_empty() {
        return Err(invalid());
    }
    let value = Markup::new(parser.language(), source, head.line).filtered()?;
    Ok(Box::new(Assign { name: Arc::from(name), value }))
}

/// What the name of a variable may have in it.
fn is_signature(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']' | '(' | ')')
}

impl Render for Assign {
    fn render(&self, cx: &mut Context<'_>, _out: &mut String) -> Result<Flow> {
        let value = self.value.evaluate(cx)?;
        cx.assign(&self.name, value);
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        true
    }
}

struct Capture {
    name: Arc<str>,
    body: Block,
}

pub(super) fn capture(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    let name = head.markup.split(|c| !is_signature(c)).find(|name| !name.is_empty());
    let Some(name) = name else {
        let message = "Syntax Error in 'capture' - Valid syntax: capture [var]";
        return Err(ParseError::new(head.line, message));
    };
    let (body, _) = parser.block(&head, &[])?;
    Ok(Box::new(Capture { name: Arc::from(name), body }))
}

impl Render for Capture {
    fn render(&self, cx: &mut Context<'_>, _out: &mut String) -> Result<Flow> {
        let mut captured = String::new();
        let flow = self.body.render(cx, &mut captured)?;
        cx.reserve(captured.len())?;
        let text = Arc::from(captured);
        let value = if cx.escapes() { Value::Html(text) } else { Value::Str(text) };
        cx.assign(&self.name, value);
        Ok(flow)
    }

    fn is_blank(&self) -> bool {
        true
    }
}

struct Count {
    name: Arc<str>,
    up: bool,
}

pub(super) fn increment(head: Head<'_>, _parser: &mut Parser<'_, '_>) -> Parsed {
    Ok(Box::new(Count { name: Arc::from(head.markup), up: true }))
}

pub(super) fn decrement(head: Head<'_>, _parser: &mut Parser<'_, '_>) -> Parsed {
    Ok(Box::new(Count { name: Arc::from(head.markup), up: false }))
}

impl Render for Count {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let counter = cx.frame.counter(&self.name);
        let before = *counter;
        *counter = if self.up { before.saturating_add(1) } else { before.saturating_sub(1) };
        let shown = if self.up { before } else { *counter };
        cx.write(&Value::Int(shown), out)?;
        Ok(Flow::Next)
    }
}

pub(super) fn echo(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    Ok(Box::new(parser.arguments(&head).filtered()?))
}
