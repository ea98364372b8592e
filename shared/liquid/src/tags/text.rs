//! Comments, raw text, lines of tags, and what is shown when it changes.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::syntax::{Head, Parser};
use crate::template::{Block, Flow, Render};

type Parsed = std::result::Result<Box<dyn Render>, ParseError>;

struct Nothing;

/// A comment that keeps the whitespace around it, if it says anything.
struct Documentation {
    blank: bool,
}

impl Render for Documentation {
    fn render(&self, _cx: &mut Context<'_>, _out: &mut String) -> Result<Flow> {
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        self.blank
    }
}

impl Render for Nothing {
    fn render(&self, _cx: &mut Context<'_>, _out: &mut String) -> Result<Flow> {
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        true
    }
}

pub(super) fn comment(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    parser.skip_comment(&head)?;
    Ok(Box::new(Nothing))
}

pub(super) fn inline_comment(head: Head<'_>, _parser: &mut Parser<'_, '_>) -> Parsed {
    let further = head.markup.lines().skip(1).map(str::trim_start);
    if further.into_iter().all(|line| line.is_empty() || line.starts_with('#')) {
        return Ok(Box::new(Nothing));
    }
    let message = "Syntax error in tag '#' - Each line of comments must be prefixed by the '#' \
                   character";
    Err(ParseError::new(head.line, message))
}

pub(super) fn doc(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    if !head.markup.is_empty() {
        let message = "Syntax Error in 'doc' - Valid syntax: {% doc %}{% enddoc %}";
        return Err(ParseError::new(head.line, message));
    }
    let text = parser.raw_block(&head)?;
    let mut tags = text.split("{%").skip(1);
    let is_doc = |tag: &str| {
        let tag = tag.strip_prefix('-').unwrap_or(tag).trim_start();
        let after = tag.strip_prefix("doc").map(str::trim_start);
        after.is_some_and(|after| after.starts_with("%}") || after.starts_with("-%}"))
    };
    if tags.any(is_doc) {
        let message = "Syntax Error in 'doc' - Nested doc tags are not allowed";
        return Err(ParseError::new(head.line, message));
    }
    Ok(Box::new(Documentation { blank: text.is_empty() }))
}

struct Raw(Box<str>);

pub(super) fn raw(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    if !head.markup.is_empty() {
        let message = "Syntax Error in 'raw' - Valid syntax: raw";
        return Err(ParseError::new(head.line, message));
    }
    Ok(Box::new(Raw(parser.raw_block(&head)?.into())))
}

impl Render for Raw {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        out.push_str(&self.0);
        cx.check_output(out)?;
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        self.0.is_empty()
    }
}

struct Lines(Block);

pub(super) fn liquid<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    Ok(Box::new(Lines(parser.lines(&head)?)))
}

impl Render for Lines {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        self.0.render(cx, out)
    }

    fn is_blank(&self) -> bool {
        self.0.is_blank()
    }
}

struct IfChanged(Block);

pub(super) fn if_changed(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    Ok(Box::new(IfChanged(parser.block(&head, &[])?.0)))
}

impl Render for IfChanged {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let mut text = String::new();
        let flow = self.0.render(cx, &mut text)?;
        cx.reserve(text.len())?;
        if cx.frame.changed.as_deref() != Some(&*text) {
            out.push_str(&text);
            cx.check_output(out)?;
            cx.frame.changed = Some(Arc::from(text));
        }
        Ok(flow)
    }

    fn is_blank(&self) -> bool {
        self.0.is_blank()
    }
}
