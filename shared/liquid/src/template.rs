//! Parsed templates.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{Error, ParseError, Result};
use crate::language::{Flow, Language};
use crate::limits::Usage;
use crate::runtime::Runtime;
use crate::syntax::{Block, Parser};

/// A parsed template. It does not change, and may be kept and shared between threads.
pub struct Template {
    name: Arc<str>,
    block: Block,
    warnings: Vec<ParseError>,
    source_bytes: usize,
}

/// A page, and what went wrong in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The page.
    pub output: String,
    /// Failures that were printed or passed over.
    pub errors: Vec<Error>,
    /// What it took.
    pub usage: Usage,
}

impl Template {
    /// Parses a template of Liquid's own tags and filters, without a name.
    pub fn parse(source: &str) -> std::result::Result<Self, ParseError> {
        Self::parse_in(&Language::standard(), "", source)
    }

    /// Parses a template of a language. Errors of the page call it by its name.
    pub fn parse_in(
        language: &Language,
        name: &str,
        source: &str,
    ) -> std::result::Result<Self, ParseError> {
        let mut parser = Parser::new(language, source);
        let block = parser.document()?;
        let warnings = parser.into_warnings();
        Ok(Self { name: Arc::from(name), block, warnings, source_bytes: source.len() })
    }

    /// The name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How long its source was: about what it takes in a cache, several times over.
    pub fn source_bytes(&self) -> usize {
        self.source_bytes
    }

    /// Unknown tags that were left out.
    pub fn warnings(&self) -> &[ParseError] {
        &self.warnings
    }

    /// Renders a page.
    pub fn render(&self, runtime: &Runtime<'_>) -> Result<Rendered> {
        let mut cx = Context::new(runtime);
        let mut output = String::new();
        let _ended = self.render_in(&mut cx, &mut output)?;
        let usage = cx.usage();
        Ok(Rendered { output, errors: cx.into_errors(), usage })
    }

    /// Renders within a page, with the variables that it has.
    pub fn render_in(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let outer = std::mem::replace(&mut cx.frame.template, Arc::clone(&self.name));
        let flow = self.block.render(cx, out);
        cx.frame.template = outer;
        flow
    }
}
