//! `include` and `render`.

use std::sync::Arc;

use super::forloop::ForLoop;
use super::segment::Segment;
use crate::context::Context;
use crate::error::{Error, ErrorKind, ParseError, Result};

use crate::object::{Object, Shape};
use crate::syntax::{Attributes, Expression, Head, Markup, Parser};
use crate::template::{Flow, Render, Template};
use crate::value::Value;

type Parsed = std::result::Result<Box<dyn Render>, ParseError>;

/// A partial, what is given to it, and under which name.
struct Partial {
    name: Expression,
    given: Option<Expression>,
    each: bool,
    alias: Option<Arc<str>>,
    attributes: Attributes,
}

impl Partial {
    fn parse(markup: &mut Markup<'_, '_>) -> std::result::Result<Self, ParseError> {
        let name = markup.expression()?;
        let each = word(markup, "for");
        let given = each || word(markup, "with");
        let given = if given { Some(markup.expression()?) } else { None };
        let alias = if word(markup, "as") { markup.identifier().map(Arc::from) } else { None };
        Ok(Self { name, given, each, alias, attributes: markup.attributes()? })
    }

    /// The template, and the name by which it is known.
    fn template(&self, cx: &Context<'_>) -> Result<(Arc<Template>, Arc<str>)> {
        let value = self.name.evaluate(cx);
        if matches!(value, Value::Object(_))
            && let Some(template) = cx.partial_of(&value)
        {
            let name = Arc::clone(template.name());
            return Ok((template, name));
        }
        let value = value.resolved();
        let Some(name) = value.as_str() else {
            return Err(Error::argument("Argument error in tag 'include' - Illegal template name"));
        };
        Ok((cx.partial(name)?, Arc::from(name)))
    }

    /// The name of what is given.
    fn variable(&self, template: &str) -> Arc<str> {
        let own = || Arc::from(template.rsplit('/').next().unwrap_or(template));
        self.alias.clone().unwrap_or_else(own)
    }

    fn arguments(&self, cx: &Context<'_>) -> Vec<(Arc<str>, Value)> {
        let arguments = self.attributes.iter();
        arguments.map(|(name, value)| (Arc::clone(name), value.evaluate(cx))).collect()
    }
}

/// Takes a word that is not the name of an argument.
fn word(markup: &mut Markup<'_, '_>, word: &str) -> bool {
    let before = markup.clone();
    if markup.argument_name().is_some() {
        *markup = before;
        return false;
    }
    markup.keyword(word)
}

struct Include(Partial);

pub(super) fn include(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    Ok(Box::new(Include(Partial::parse(&mut parser.arguments(&head))?)))
}

impl Render for Include {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        if cx.frame.rendered {
            let message = "include usage is not allowed in this context";
            return Err(Error::new(ErrorKind::Disabled, message));
        }
        let (template, name) = self.0.template(cx)?;
        let variable = self.0.variable(&name);
        let given = match &self.0.given {
            Some(given) => given.evaluate(cx),
            None => cx.get(&name),
        };
        let arguments = self.0.arguments(cx);
        cx.scoped(arguments, |cx| {
            if !is_list(&given) {
                return cx.scoped([(variable, given)], |cx| template.render_in(cx, out));
            }
            let segment = Segment::of(&given, 0, None, cx)?;
            for place in 0..segment.len() {
                let names = [(Arc::clone(&variable), segment.get(place))];
                let flow = cx.scoped(names, |cx| template.render_in(cx, out))?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            Ok(Flow::Next)
        })
    }
}

fn is_list(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(object) => object.shape() == Shape::List,
        _ => false,
    }
}

struct RenderPartial {
    partial: Partial,
    forloop: Arc<str>,
}

pub(super) fn render(head: Head<'_>, parser: &mut Parser<'_, '_>) -> Parsed {
    let mut markup = parser.arguments(&head);
    let partial = Partial::parse(&mut markup)?;
    let text = partial.name.literal().map(Value::is_text);
    if text == Some(false) || matches!(partial.name, Expression::Range(_)) {
        return Err(
            markup.error("Syntax error in tag 'render' - Template name must be a quoted string")
        );
    }
    Ok(Box::new(RenderPartial { partial, forloop: Arc::from("forloop") }))
}

/// Renders a partial that sees nothing but these variables.
fn alone(
    template: &Template,
    variables: Vec<(Arc<str>, Value)>,
    cx: &mut Context<'_>,
    out: &mut String,
) -> Result<()> {
    cx.isolated(variables, |cx| {
        cx.frame.rendered = true;
        template.render_in(cx, out).map(|_| ())
    })
}

impl RenderPartial {
    fn variables(
        &self,
        variable: &Arc<str>,
        given: Value,
        cx: &Context<'_>,
    ) -> Vec<(Arc<str>, Value)> {
        let mut variables = self.partial.arguments(cx);
        if !given.is_nil() {
            variables.push((Arc::clone(variable), given));
        }
        variables
    }
}

fn is_iterable(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Range(..) => true,
        Value::Object(object) => object.shape() != Shape::Object,
        _ => false,
    }
}

impl Render for RenderPartial {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let (template, name) = self.partial.template(cx)?;
        let variable = self.partial.variable(&name);
        let given = self.partial.given.as_ref().map(|given| given.evaluate(cx));
        let given = given.unwrap_or_default();
        if !self.partial.each || !is_iterable(&given) {
            let variables = self.variables(&variable, given, cx);
            alone(&template, variables, cx, out)?;
            return Ok(Flow::Next);
        }
        let segment = Segment::of(&given, 0, None, cx)?;
        let forloop = Arc::new(ForLoop::new(Arc::clone(&name), segment.len(), None));
        let object: Arc<dyn Object> = Arc::<ForLoop>::clone(&forloop);
        for place in 0..segment.len() {
            cx.step(1)?;
            forloop.go_to(place);
            let mut variables =
                vec![(Arc::clone(&self.forloop), Value::Object(Arc::clone(&object)))];
            variables.extend(self.variables(&variable, segment.get(place), cx));
            alone(&template, variables, cx, out)?;
        }
        Ok(Flow::Next)
    }
}
