//! The arguments of tags, read from left to right.

use std::sync::Arc;

use super::condition::{self, Condition};
use super::expression::Expression;
use super::fragment;
use super::lax;
use super::tokens::{is_space, is_word};
use super::variable::Filtered;
use crate::error::ParseError;
use crate::language::{Language, Mode};

type Result<T> = std::result::Result<T, ParseError>;

/// Named arguments of a tag, in order.
pub type Attributes = Vec<(Arc<str>, Expression)>;

/// How deep brackets and ranges go within each other.
const DEEPEST: u32 = 50;

/// The arguments of a tag, as far as they have not been read.
#[derive(Clone)]
pub struct Markup<'p, 's> {
    pub(super) rest: &'s str,
    pub(super) language: &'p Language,
    line: u32,
    depth: u32,
}

impl<'p, 's> Markup<'p, 's> {
    pub(crate) fn new(language: &'p Language, markup: &'s str, line: u32) -> Self {
        Self { rest: markup, language, line, depth: 0 }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'s str {
        self.rest.trim_matches(is_space)
    }

    /// Whether all has been read.
    pub fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// The line of the tag.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Whether what cannot be understood is ignored.
    pub fn is_lax(&self) -> bool {
        self.language.mode() == Mode::Lax
    }

    /// An error at the tag.
    pub fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::new(self.line, message)
    }

    /// Fails in strict mode if something is left.
    pub fn end(&self) -> Result<()> {
        if self.is_lax() || self.at_end() {
            return Ok(());
        }
        Err(self.unexpected("end of tag"))
    }

    pub(super) fn unexpected(&self, wanted: &str) -> ParseError {
        let found: String = self.rest().chars().take(20).collect();
        let found = if found.is_empty() { "end of tag" } else { &found };
        self.error(format!("Expected {wanted} but found {found}"))
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches(is_space);
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn advance(&mut self, length: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Takes a symbol, as `,` or `:`.
    pub fn take(&mut self, symbol: &str) -> bool {
        self.skip_space();
        let Some(rest) = self.rest.strip_prefix(symbol) else { return false };
        self.rest = rest;
        true
    }

    /// Takes a word, as `by` or `with`.
    pub fn keyword(&mut self, word: &str) -> bool {
        let before = self.rest;
        let taken = self.identifier() == Some(word);
        if !taken {
            self.rest = before;
        }
        taken
    }

    /// Takes a name: letters, digits, underscores and hyphens, and perhaps a question mark.
    pub fn identifier(&mut self) -> Option<&'s str> {
        self.skip_space();
        if !self.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return None;
        }
        let length = self.rest.find(|c| !is_word(c) && c != '-').unwrap_or(self.rest.len());
        let marked = self.rest.get(length..).is_some_and(|rest| rest.starts_with('?'));
        Some(self.advance(length.saturating_add(usize::from(marked))))
    }

    /// Takes the name of an argument and its colon.
    pub fn argument_name(&mut self) -> Option<&'s str> {
        let before = self.rest;
        if let Some(name) = self.identifier()
            && self.take(":")
        {
            return Some(name);
        }
        self.rest = before;
        None
    }

    /// Takes an expression without filters.
    pub fn expression(&mut self) -> Result<Expression> {
        let before = self.rest;
        match self.strict_expression() {
            Err(error) if !self.is_lax() => Err(error),
            Ok(expression) if !self.is_lax() || self.ends_fragment() => Ok(expression),
            outcome => {
                self.rest = before;
                match lax::expression(self) {
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

    /// Skips a word or symbol that cannot be understood.
    pub fn skip(&mut self) {
        lax::skip(self);
    }

    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            return Err(self.error("Nesting too deep"));
        }
        self.depth = self.depth.saturating_add(1);
        let result = parse(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    pub(super) fn strict_expression(&mut self) -> Result<Expression> {
        fragment::expression(self)
    }

    /// Takes the whole rest: an expression and its filters.
    pub fn filtered(&mut self) -> Result<Filtered> {
        Filtered::parse(self)
    }

    /// Takes the whole rest: comparisons between `and` and `or`.
    pub fn condition(&mut self) -> Result<Condition> {
        condition::parse(self)
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
