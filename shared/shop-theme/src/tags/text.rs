//! Styles, scripts and schemas.

use std::sync::Arc;

use liquid::{Block, Context, Flow, Head, Parser, Render, Result};

use super::arguments::Parsed;
use crate::notes::Notes;

/// `{% style %}`: a style element, with Liquid in it.
struct Style(Block);

pub(super) fn style<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let (body, _) = parser.block(&head, &[])?;
    Ok(Box::new(Style(body)))
}

impl Render for Style {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        out.push_str("<style data-shopify>");
        let flow = self.0.render(cx, out)?;
        out.push_str("</style>");
        Ok(flow)
    }
}

/// A text that goes into the head of the page once.
struct Hoisted {
    text: Arc<str>,
    is_script: bool,
}

pub(super) fn stylesheet<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let text = Arc::from(parser.raw_block(&head)?.trim());
    Ok(Box::new(Hoisted { text, is_script: false }))
}

pub(super) fn javascript<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let text = Arc::from(parser.raw_block(&head)?.trim());
    Ok(Box::new(Hoisted { text, is_script: true }))
}

impl Render for Hoisted {
    fn render(&self, cx: &mut Context<'_>, _: &mut String) -> Result<Flow> {
        if self.text.is_empty() {
            return Ok(Flow::Next);
        }
        let notes = cx.register::<Notes>();
        if notes.seen.insert(self.text.as_ptr().addr()) {
            let list = if self.is_script { &mut notes.scripts } else { &mut notes.styles };
            list.push(Arc::clone(&self.text));
        }
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        true
    }
}

/// `{% schema %}`, which is for editors.
struct Schema;

pub(super) fn schema<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    parser.raw_block(&head)?;
    Ok(Box::new(Schema))
}

impl Render for Schema {
    fn render(&self, _: &mut Context<'_>, _: &mut String) -> Result<Flow> {
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        true
    }
}
