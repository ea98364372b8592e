//! The arguments of tags, read from left to right.

use crate::error::ParseError;
use crate::filter::{Grammar, Mode};
use crate::text::{is_space, is_word};

type Result<T> = std::result::Result<T, ParseError>;

/// How deep brackets and ranges go within each other.
const DEEPEST: u32 = 50;

/// The arguments of a tag, as far as they have not been read.
#[derive(Clone)]
pub struct Markup<'p, 's> {
    pub(super) rest: &'s str,
    pub(super) language: &'p dyn Grammar,
    line: u32,
    depth: u32,
}

impl<'p, 's> Markup<'p, 's> {
    pub(crate) fn new(language: &'p dyn Grammar, markup: &'s str, line: u32) -> Self {
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

    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            return Err(self.error("Nesting too deep"));
        }
        self.depth = self.depth.saturating_add(1);
        let result = parse(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }
}
