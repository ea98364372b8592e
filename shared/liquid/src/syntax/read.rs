//! Expressions and named arguments, as far as the mode understands them.

use std::sync::Arc;

use super::expression::{Attributes, Expression};
use super::markup::Markup;
use crate::error::ParseError;
use crate::text::is_space;

type Result<T> = std::result::Result<T, ParseError>;

impl Markup<'_, '_> {
    /// Takes an expression without filters.
    pub fn expression(&mut self) -> Result<Expression> {
        let before = self.rest;
        match self.strict_expression() {
            Err(error) if !self.is_lax() => Err(error),
            Ok(expression) if !self.is_lax() || self.ends_fragment() => Ok(expression),
            outcome => {
                self.rest = before;
                match self.lax_expression() {
                    Some(expression) => Ok(expression),
                    None => outcome.and_then(|_| Err(self.unexpected("an expression"))),
                }
            }
        }
    }

    /// Whether an expression may end here.
    fn ends_fragment(&self) -> bool {
        self.peek().is_none_or(|c| {
            is_space(c)
                || matches!(c, ',' | '|' | ':' | ')' | ']' | '\'' | '"')
                || self.rest.starts_with("..")
        })
    }

    /// Takes the whole rest: named arguments, with or without commas.
    pub fn attributes(&mut self) -> Result<Attributes> {
        let mut attributes = Vec::new();
        loop {
            while self.take(",") {}
            if self.at_end() {
                return Ok(attributes);
            }
            if let Some(name) = self.argument_name() {
                attributes.push((Arc::from(name), self.expression()?));
            } else if self.is_lax() {
                self.skip();
            } else {
                return Err(self.unexpected("a named argument"));
            }
        }
    }
}
