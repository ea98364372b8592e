//! `for`, `break` and `continue`.

use std::sync::Arc;

use super::forloop::ForLoop;
use super::segment::Segment;
use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::number;
use crate::object::Object;
use crate::syntax::{Expression, Head, Markup, Parser};
use crate::template::{Block, Flow, Render};
use crate::value::Value;

type Parsed = std::result::Result<Box<dyn Render>, ParseError>;

struct For {
    variable: Arc<str>,
    forloop: Arc<str>,
    /// What loops are continued by: the variable and the source.
    name: Arc<str>,
    source: Expression,
    options: Options,
    body: Block,
    otherwise: Block,
}

#[derive(Default)]
struct Options {
    limit: Option<Expression>,
    offset: Option<Expression>,
    continues: bool,
    reversed: bool,
}

pub(super) fn each(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    let mut markup = parser.arguments(&head);
    let (variable, source) = variable_in(&mut markup, "for")?;
    let options = options(&mut markup)?;
    let (mut body, mut end) = parser.block(&head, &["else"])?;
    let mut otherwise = Block::default();
    while end.name == "else" {
        (otherwise, end) = parser.block(&head, &["else"])?;
    }
    if body.is_blank() && otherwise.is_blank() {
        body.remove_blank_text();
        otherwise.remove_blank_text();
    }
    let name = Arc::from(format!("{variable}-{source}"));
    let forloop = Arc::from("forloop");
    Ok(Box::new(For { variable, forloop, name, source, options, body, otherwise }))
}

/// Takes `item in items`.
pub(super) fn variable_in(
    markup: &mut Markup<'_, '_>,
    tag: &str,
) -> std::result::Result<(Arc<str>, Expression), ParseError> {
    let invalid = |markup: &Markup<'_, '_>| {
        markup.error(format!(
            "Syntax Error in '{tag} loop' - Valid syntax: {tag} [item] in [collection]"
        ))
    };
    let Some(variable) = markup.identifier() else { return Err(invalid(markup)) };
    if !markup.keyword("in") || markup.at_end() {
        return Err(invalid(markup));
    }
    Ok((Arc::from(variable), markup.expression()?))
}

fn options(markup: &mut Markup<'_, '_>) -> std::result::Result<Options, ParseError> {
    let mut options = Options { reversed: markup.keyword("reversed"), ..Options::default() };
    loop {
        while markup.take(",") {}
        match markup.argument_name() {
            Some("limit") => options.limit = Some(markup.expression()?),
            Some("offset") if markup.keyword("continue") => options.continues = true,
            Some("offset") => {
                options.offset = Some(markup.expression()?);
                options.continues = false;
            }
            Some(_) if markup.is_lax() => {
                markup.expression()?;
            }
            None if markup.at_end() => return Ok(options),
            None if markup.is_lax() => markup.skip(),
            _ => {
                return Err(markup.error(
                    "Invalid attribute in for loop. Valid attributes are limit and offset",
                ));
            }
        }
    }
}

impl For {
    fn segment(&self, cx: &mut Context<'_>) -> Result<Segment> {
        let offset = if self.options.continues {
            let done = cx.frame.offsets.get(&self.name).copied().unwrap_or_default();
            i64::try_from(done).unwrap_or(i64::MAX)
        } else {
            integer(self.options.offset.as_ref(), cx)?.unwrap_or(0)
        };
        let limit = integer(self.options.limit.as_ref(), cx)?;
        let segment = Segment::of(&self.source.evaluate(cx), offset, limit, cx)?;
        let done = usize::try_from(offset).unwrap_or(0).saturating_add(segment.len());
        cx.frame.offsets.insert(Arc::clone(&self.name), done);
        Ok(segment)
    }

    fn iterate(
        &self,
        segment: &Segment,
        forloop: &ForLoop,
        cx: &mut Context<'_>,
        out: &mut String,
    ) -> Result<()> {
        // Two names have been pushed: that of the loop, and before it the variable.
        let slot = cx.frame.names.len().saturating_sub(2);
        let length = segment.len();
        for place in 0..length {
            cx.step(1)?;
            forloop.go_to(place);
            let at = if self.options.reversed {
                length.saturating_sub(place).saturating_sub(1)
            } else {
                place
            };
            if let Some((_, variable)) = cx.frame.names.get_mut(slot) {
                *variable = segment.get(at);
            }
            if self.body.render(cx, out)? == Flow::Break {
                break;
            }
        }
        Ok(())
    }
}

fn integer(expression: Option<&Expression>, cx: &Context<'_>) -> Result<Option<i64>> {
    match expression.map(|expression| expression.evaluate(cx)) {
        None | Some(Value::Nil) => Ok(None),
        Some(value) => number::strict_integer(&value).map(Some),
    }
}

impl Render for For {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let segment = self.segment(cx)?;
        if segment.len() == 0 {
            return self.otherwise.render(cx, out);
        }
        let parent = cx.frame.loops.last().cloned();
        let forloop = Arc::new(ForLoop::new(Arc::clone(&self.name), segment.len(), parent));
        cx.frame.loops.push(Arc::clone(&forloop));
        let object: Arc<dyn Object> = Arc::<ForLoop>::clone(&forloop);
        let names = [
            (Arc::clone(&self.variable), Value::Nil),
            (Arc::clone(&self.forloop), Value::Object(object)),
        ];
        let result = cx.scoped(names, |cx| self.iterate(&segment, &forloop, cx, out));
        cx.frame.loops.pop();
        result.map(|()| Flow::Next)
    }

    fn is_blank(&self) -> bool {
        self.body.is_blank() && self.otherwise.is_blank()
    }
}

struct Leave(Flow);

pub(super) fn break_loop(_head: Head<'_>, _parser: &mut Parser<'_, '_>) -> Parsed {
    Ok(Box::new(Leave(Flow::Break)))
}

pub(super) fn continue_loop(_head: Head<'_>, _parser: &mut Parser<'_, '_>) -> Parsed {
    Ok(Box::new(Leave(Flow::Continue)))
}

impl Render for Leave {
    fn render(&self, _cx: &mut Context<'_>, _out: &mut String) -> Result<Flow> {
        Ok(self.0)
    }

    fn is_blank(&self) -> bool {
        true
    }
}
