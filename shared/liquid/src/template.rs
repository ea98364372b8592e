//! Parsed templates, and how they are rendered.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;
use crate::error::{Error, ErrorKind, ParseError, Result};
use crate::limits::Usage;
use crate::runtime::Runtime;
use crate::text::is_space;

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
    pub(crate) fn new(
        name: &str,
        block: Block,
        warnings: Vec<ParseError>,
        source_bytes: usize,
    ) -> Self {
        Self { name: Arc::from(name), block, warnings, source_bytes }
    }

    /// A template that could not be parsed: rendering it is the failure.
    pub fn broken(name: &str, error: &ParseError) -> Self {
        let mut failure = Error::new(ErrorKind::Syntax, error.message.clone());
        failure.template = Arc::from(name);
        failure.line = error.line.max(1);
        let mut block = Block::default();
        block.push(Node::Tag(Box::new(Broken(failure)), error.line));
        Self::new(name, block, Vec::new(), 0)
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
        flow.map_err(|error| error.located(&self.name, 1))
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("name", &self.name).finish_non_exhaustive()
    }
}

struct Broken(Error);

impl Render for Broken {
    fn render(&self, _cx: &mut Context<'_>, _out: &mut String) -> Result<Flow> {
        Err(self.0.clone())
    }
}

/// What stands between the begin and the end of a block: text, outputs and tags in order.
#[derive(Default)]
pub struct Block {
    nodes: Vec<Node>,
    solid: bool,
}

pub(crate) enum Node {
    Text(Box<str>),
    Tag(Box<dyn Render>, u32),
}

impl Block {
    pub(crate) fn push(&mut self, node: Node) {
        let blank = match &node {
            Node::Text(text) => text.chars().all(is_space),
            Node::Tag(tag, _) => tag.is_blank(),
        };
        self.solid |= !blank;
        self.nodes.push(node);
    }

    /// Whether it writes nothing but whitespace.
    pub fn is_blank(&self) -> bool {
        !self.solid
    }

    /// Takes the text out of a block that is nothing but whitespace otherwise.
    pub fn remove_blank_text(&mut self) {
        if !self.solid {
            self.nodes.retain(|node| !matches!(node, Node::Text(_)));
        }
    }

    /// Writes it, and stops at `break` and `continue`.
    pub fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        // Text has no line: a bound that it reaches is named by the tag before it.
        let mut line = 0;
        let result = cx.nested(|cx| {
            for node in &self.nodes {
                if let Node::Tag(_, at) = node {
                    line = *at;
                }
                cx.step(1)?;
                let flow = node.render(cx, out)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            Ok(Flow::Next)
        });
        match result {
            Err(error) if line > 0 => Err(error.located(&cx.frame.template, line)),
            result => result,
        }
    }
}

impl Node {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        match self {
            Self::Text(text) => {
                out.push_str(text);
                cx.check_output(out)?;
                Ok(Flow::Next)
            }
            Self::Tag(tag, line) => match tag.render(cx, out) {
                Err(error) => cx.failed(error, (*line, tag.is_blank()), out),
                flow => flow,
            },
        }
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
