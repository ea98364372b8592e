//! Sections, groups of sections, blocks and layouts.

use liquid::{Attributes, Context, Error, Expression, Flow, Head, Parser, Render, Result};

use super::arguments::{Parsed, arguments, shop, values};
use crate::block;
use crate::limits::Finding;
use crate::notes;
use crate::notes::Notes;
use crate::section;

/// `{% section 'header' %}` and `{% sections 'header-group' %}`.
struct Placed {
    name: Expression,
    is_group: bool,
}

pub(super) fn section<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let name = parser.arguments(&head).expression()?;
    Ok(Box::new(Placed { name, is_group: false }))
}

pub(super) fn sections<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let name = parser.arguments(&head).expression()?;
    Ok(Box::new(Placed { name, is_group: true }))
}

impl Render for Placed {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let Some(shop) = shop(cx) else { return Ok(Flow::Next) };
        let name = self.name.evaluate(cx).to_text().into_owned();
        let rendered = cx.nested(|cx| {
            let rendered = if self.is_group {
                section::group(cx, &shop, &name, out)
            } else {
                section::single(cx, &shop, &name, out)
            };
            rendered.map_err(|finding| host_error(&finding))
        });
        rendered.map(|()| Flow::Next)
    }
}

/// A finding as a failure of a tag. A limit stays one.
fn host_error(finding: &Finding) -> Error {
    use crate::limits::FindingCode as Code;
    use liquid::Exceeded as Limit;
    match finding.code {
        Code::TooManySteps => Error::limit(Limit::Steps),
        Code::OutputTooLarge => Error::limit(Limit::Output),
        Code::MemoryExceeded => Error::limit(Limit::Memory),
        Code::NestedTooDeep => Error::limit(Limit::Depth),
        Code::TooSlow => Error::limit(Limit::Time),
        _ => Error::host(format!("{}: {}", finding.path, finding.message)),
    }
}

/// `{% layout 'bare' %}`, or `{% layout none %}`.
struct Layout(Option<Expression>);

pub(super) fn layout<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let mut markup = parser.arguments(&head);
    let name =
        if matches!(markup.rest(), "none" | "false") { None } else { Some(markup.expression()?) };
    Ok(Box::new(Layout(name)))
}

impl Render for Layout {
    fn render(&self, cx: &mut Context<'_>, _: &mut String) -> Result<Flow> {
        let name = self.0.as_ref().map(|name| name.evaluate(cx).to_text().into_owned());
        cx.register::<Notes>().layout = name.map_or(notes::Layout::Bare, notes::Layout::Named);
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        true
    }
}

/// `{% content_for 'blocks' %}` and `{% content_for 'block', type: 'text', id: 'title' %}`.
struct ContentFor {
    is_static: bool,
    named: Attributes,
}

pub(super) fn content_for<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let mut markup = parser.arguments(&head);
    let what = markup.expression()?;
    let (_, named) = arguments(&mut markup)?;
    let is_static = what.literal().is_some_and(|what| what.to_text() == "block");
    Ok(Box::new(ContentFor { is_static, named }))
}

impl Render for ContentFor {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let Some(shop) = shop(cx) else { return Ok(Flow::Next) };
        let given = values(&self.named, cx);
        if self.is_static {
            block::static_block(cx, &shop, &given, out)
        } else {
            block::all_blocks(cx, &shop, &given, out)
        }
    }
}
