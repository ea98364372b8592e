//! Expressions with filters.

use std::sync::Arc;

use super::expression::{Attributes, Expression};
use super::markup::Markup;
use crate::args::Args;
use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::filter::{Filter, Grammar};
use crate::template::{Flow, Render};
use crate::value::Value;

/// An expression and its filters.
pub struct Filtered {
    base: Expression,
    filters: Vec<Call>,
    line: u32,
}

struct Call {
    name: Box<str>,
    filter: Option<Arc<dyn Filter>>,
    positional: Vec<Expression>,
    named: Attributes,
}

impl Filtered {
    pub(super) fn new(base: Expression, line: u32) -> Self {
        Self { base, filters: Vec::new(), line }
    }

    pub(super) fn push(
        &mut self,
        language: &dyn Grammar,
        name: &str,
        (positional, named): (Vec<Expression>, Attributes),
    ) {
        let filter = language.filter(name).cloned();
        self.filters.push(Call { name: name.into(), filter, positional, named });
    }

    fn parse(markup: &mut Markup<'_, '_>) -> std::result::Result<Self, ParseError> {
        let before = markup.clone();
        match Self::strict(markup) {
            Err(_) if markup.is_lax() => {
                *markup = before;
                Ok(markup.lax_filtered())
            }
            outcome => outcome,
        }
    }

    fn strict(markup: &mut Markup<'_, '_>) -> std::result::Result<Self, ParseError> {
        if markup.at_end() {
            return Ok(Self::new(Expression::NIL, markup.line()));
        }
        let mut filtered = Self::new(markup.strict_expression()?, markup.line());
        while markup.take("|") {
            let Some(name) = markup.identifier() else { return Err(markup.unexpected("id")) };
            let mut arguments = (Vec::new(), Vec::new());
            if markup.take(":") {
                strict_arguments(markup, &mut arguments)?;
            }
            filtered.push(markup.language, name, arguments);
        }
        if markup.at_end() { Ok(filtered) } else { Err(markup.unexpected("end_of_string")) }
    }

    /// The expression before the filters.
    pub fn base(&self) -> &Expression {
        &self.base
    }

    /// Whether there are no filters.
    pub fn is_plain(&self) -> bool {
        self.filters.is_empty()
    }

    /// The value in a page.
    pub fn evaluate(&self, cx: &mut Context<'_>) -> Result<Value> {
        let mut value = self.base.evaluate(cx);
        for call in &self.filters {
            value = call.apply(&value, self.line, cx)?;
        }
        Ok(value)
    }
}

impl Markup<'_, '_> {
    /// Takes the whole rest: an expression and its filters.
    pub fn filtered(&mut self) -> std::result::Result<Filtered, ParseError> {
        Filtered::parse(self)
    }
}

/// As an output or `echo`.
impl Render for Filtered {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let value = self.evaluate(cx)?;
        cx.write(&value, out)?;
        Ok(Flow::Next)
    }
}

fn strict_arguments(
    markup: &mut Markup<'_, '_>,
    (positional, named): &mut (Vec<Expression>, Attributes),
) -> std::result::Result<(), ParseError> {
    loop {
        if let Some(name) = markup.argument_name() {
            named.push((Arc::from(name), markup.strict_expression()?));
        } else {
            positional.push(markup.strict_expression()?);
        }
        if !markup.take(",") {
            return Ok(());
        }
    }
}

impl Call {
    fn apply(&self, input: &Value, line: u32, cx: &mut Context<'_>) -> Result<Value> {
        cx.step(input.weight())?;
        let Some(filter) = &self.filter else {
            cx.undefined_filter(&self.name, line)?;
            return Ok(input.clone());
        };
        let positional = self.positional.iter().map(|argument| argument.evaluate(cx)).collect();
        let named = self.named.iter();
        let named = named.map(|(name, value)| (Arc::clone(name), value.evaluate(cx))).collect();
        let output = filter.apply(input, &Args::new(positional, named), cx)?;
        match &output {
            Value::Str(text) | Value::Html(text) => cx.reserve(text.len())?,
            Value::Array(items) => cx.reserve(items.len().saturating_mul(size_of::<Value>()))?,
            _ => {}
        }
        Ok(output)
    }
}
