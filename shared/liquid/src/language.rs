//! Which tags and filters there are.

use std::collections::HashMap;
use std::sync::Arc;

use crate::args::Args;
use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::syntax::{Head, Parser};
use crate::value::Value;

/// A filter. Functions and closures of this signature are filters.
pub trait Filter: Send + Sync {
    /// The value that the input becomes.
    fn apply(&self, input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value>;
}

impl<F> Filter for F
where
    F: Fn(&Value, &Args, &mut Context<'_>) -> Result<Value> + Send + Sync,
{
    fn apply(&self, input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
        self(input, args, cx)
    }
}

/// A tag: it parses its arguments, and its body if it has one, to what renders it.
pub trait Tag: Send + Sync {
    /// Parses a tag that begins with `head`. Of a block it takes the body and the end, too.
    fn parse<'s>(
        &self,
        head: Head<'s>,
        parser: &mut Parser<'_, 's>,
    ) -> std::result::Result<Box<dyn Render>, ParseError>;
}

impl<F> Tag for F
where
    F: for<'s> Fn(
            Head<'s>,
            &mut Parser<'_, 's>,
        ) -> std::result::Result<Box<dyn Render>, ParseError>
        + Send
        + Sync,
{
    fn parse<'s>(
        &self,
        head: Head<'s>,
        parser: &mut Parser<'_, 's>,
    ) -> std::result::Result<Box<dyn Render>, ParseError> {
        self(head, parser)
    }
}

/// How rendering goes on after a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// With the next node.
    Next,
    /// After the innermost loop.
    Break,
    /// With the next iteration of the innermost loop.
    Continue,
}

/// A parsed tag.
pub trait Render: Send + Sync {
    /// Writes what the tag is. What it has written stays if it fails.
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow>;

    /// Whether it never writes anything. Blocks of nothing but blank tags and whitespace lose the
    /// whitespace.
    fn is_blank(&self) -> bool {
        false
    }
}

/// What is made of markup that is not quite Liquid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What can be understood is used, and the rest ignored, as online stores do.
    #[default]
    Lax,
    /// It is an error.
    Strict,
}

/// Tags and filters by name. A template keeps those that it uses.
#[derive(Clone)]
pub struct Language {
    tags: HashMap<Box<str>, Arc<dyn Tag>>,
    filters: HashMap<Box<str>, Arc<dyn Filter>>,
    mode: Mode,
    ignore_unknown_tags: bool,
}

impl Language {
    /// A language without tags and filters.
    pub fn empty() -> Self {
        Self {
            tags: HashMap::new(),
            filters: HashMap::new(),
            mode: Mode::Lax,
            ignore_unknown_tags: false,
        }
    }

    /// The tags and filters of Liquid itself.
    pub fn standard() -> Self {
        let mut language = Self::empty();
        crate::tags::register(&mut language);
        crate::filters::register(&mut language);
        language
    }

    /// Adds a filter, in place of another of this name.
    pub fn add_filter(&mut self, name: &str, filter: impl Filter + 'static) -> &mut Self {
        self.filters.insert(name.into(), Arc::new(filter));
        self
    }

    /// Adds a tag or block, in place of another of this name.
    pub fn add_tag(&mut self, name: &str, tag: impl Tag + 'static) -> &mut Self {
        self.tags.insert(name.into(), Arc::new(tag));
        self
    }

    /// Sets what is made of markup that is not quite Liquid.
    pub fn set_mode(&mut self, mode: Mode) -> &mut Self {
        self.mode = mode;
        self
    }

    /// Leaves tags out that the language does not have, and names them in
    /// [`Template::warnings`](crate::Template::warnings). They are errors otherwise.
    pub fn ignore_unknown_tags(&mut self, ignore: bool) -> &mut Self {
        self.ignore_unknown_tags = ignore;
        self
    }

    /// The filter of a name.
    pub fn filter(&self, name: &str) -> Option<&Arc<dyn Filter>> {
        self.filters.get(name)
    }

    /// The tag of a name.
    pub fn tag(&self, name: &str) -> Option<&Arc<dyn Tag>> {
        self.tags.get(name)
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn ignores_unknown_tags(&self) -> bool {
        self.ignore_unknown_tags
    }
}

impl Default for Language {
    fn default() -> Self {
        Self::standard()
    }
}
