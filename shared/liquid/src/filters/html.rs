//! Filters of HTML.

use std::borrow::Cow;

use super::standard::Filters;
use super::text::like;
use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::html;
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("escape", 0, 0, escape),
    ("h", 0, 0, escape),
    ("escape_once", 0, 0, escape_once),
    ("newline_to_br", 0, 0, newline_to_br),
    ("strip_html", 0, 0, strip_html),
];

/// HTML where the page escapes, text where it does not.
fn made(text: String, cx: &Context<'_>) -> Value {
    if cx.escapes() { Value::html(text) } else { text.into() }
}

fn escape(input: &Value, _args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    match input {
        Value::Nil => Ok(Value::Nil),
        Value::Html(_) if cx.escapes() => Ok(input.clone()),
        _ => Ok(made(html::escape(input.to_text()).into_owned(), cx)),
    }
}

fn escape_once(input: &Value, _args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    Ok(made(html::escape_once(&input.to_text()), cx))
}

fn newline_to_br(input: &Value, _args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let text = if cx.escapes() { cx.escaped(input) } else { input.to_text() };
    let text = text.replace("\r\n", "\n");
    cx.reserve(text.len())?;
    Ok(made(text.replace('\n', "<br />\n"), cx))
}

fn strip_html(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    let text: Cow<'_, str> = input.to_text();
    Ok(like(input, html::strip(&text)))
}
