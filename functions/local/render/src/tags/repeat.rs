//! `{% for item in items limit: 4 offset: 2 reversed %} … {% else %} … {% endfor %}`
//!
//! Each iteration is a step. A range is never expanded: `(1..1000000000)` takes no memory, and ends at the
//! limit.

use std::io::Write;

use liquid_core::error::{Error, Result};
use liquid_core::model::{KString, Object, Value, ValueCow, ValueView};
use liquid_core::parser::{BlockElement, TagToken, TryMatchToken};
use liquid_core::runtime::{Interrupt, InterruptRegister};
use liquid_core::{Expression, Language, Renderable, Runtime, TagBlock, TagTokenIter, Template};

use crate::frame::{Frame, machine};
use crate::value::{object, weight};

/// The items of a loop.
#[derive(Debug)]
pub(crate) enum Items {
    Values(Expression),
    Range(Expression, Expression),
}

/// The evaluated items of a loop.
pub(crate) enum Evaluated<'v> {
    Array(ValueCow<'v>),
    /// The first number, and the count of numbers.
    Range(i64, usize),
    One(ValueCow<'v>),
    None,
}

#[derive(Debug)]
struct For {
    name: KString,
    items: Items,
    limit: Option<Expression>,
    offset: Option<Expression>,
    reversed: bool,
    body: Template,
    otherwise: Option<Template>,
}

/// Parses the block.
pub(crate) fn parse(
    mut arguments: TagTokenIter<'_>,
    mut block: TagBlock<'_, '_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    let name = arguments.expect_next("Expected a name.")?.expect_identifier().into_result()?;
    let name = KString::from_ref(name);
    arguments.expect_next("Expected `in`.")?.expect_str("in").into_result()?;
    let items = Items::parse(arguments.expect_next("Expected a list of items.")?)?;
    let (mut limit, mut offset, mut reversed) = (None, None, false);
    while let Some(token) = arguments.next() {
        match token.as_str() {
            "limit" => limit = Some(argument(&mut arguments)?),
            "offset" => offset = Some(argument(&mut arguments)?),
            "reversed" => reversed = true,
            "," => {}
            _ => return Err(token.raise_custom_error("Expected `limit`, `offset` or `reversed`.")),
        }
    }
    let (mut body, mut otherwise) = (Vec::new(), None);
    while let Some(element) = block.next()? {
        match element {
            BlockElement::Tag(tag) if tag.name() == "else" => {
                otherwise = Some(Template::new(block.parse_all(language)?));
                break;
            }
            element => body.push(element.parse(&mut block, language)?),
        }
    }
    block.assert_empty();
    let body = Template::new(body);
    Ok(Box::new(For { name, items, limit, offset, reversed, body, otherwise }))
}

/// Parses the value of `limit` or `offset`.
pub(crate) fn argument(arguments: &mut TagTokenIter<'_>) -> Result<Expression> {
    arguments.expect_next("Expected `:`.")?.expect_str(":").into_result()?;
    arguments.expect_next("Expected a number.")?.expect_value().into_result()
}

impl Items {
    pub(crate) fn parse(token: TagToken<'_>) -> Result<Self> {
        match token.expect_value() {
            TryMatchToken::Matches(values) => Ok(Self::Values(values)),
            TryMatchToken::Fails(token) => match token.expect_range() {
                TryMatchToken::Matches((first, last)) => Ok(Self::Range(first, last)),
                TryMatchToken::Fails(token) => Err(token.raise_error()),
            },
        }
    }

    pub(crate) fn evaluate<'v>(&'v self, runtime: &'v dyn Runtime) -> Result<Evaluated<'v>> {
        match self {
            Self::Range(first, last) => {
                let (first, last) = (number(first, runtime)?, number(last, runtime)?);
                let length = last.saturating_sub(first).saturating_add(1);
                Ok(Evaluated::Range(first, usize::try_from(length).unwrap_or(0)))
            }
            Self::Values(values) => {
                let value = values.evaluate(runtime)?;
                if value.is_array() {
                    Ok(Evaluated::Array(value))
                } else if let Some(fields) = value.as_object() {
                    // An object has no order, but a page must be the same each time.
                    let mut fields: Vec<_> = fields.iter().collect();
                    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
                    let pairs = fields.into_iter().map(|(name, value)| {
                        Value::array([Value::scalar(name.into_owned()), value.to_value()])
                    });
                    let pairs = Value::array(pairs);
                    machine(runtime)?.meter.hold(weight(&pairs))?;
                    Ok(Evaluated::Array(ValueCow::Owned(pairs)))
                } else if value.is_scalar() && !value.to_kstr().is_empty() {
                    Ok(Evaluated::One(value))
                } else {
                    Ok(Evaluated::None)
                }
            }
        }
    }
}

impl Evaluated<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Array(values) => {
                let length = values.as_array().map_or(0, liquid_core::model::ArrayView::size);
                usize::try_from(length).unwrap_or(0)
            }
            Self::Range(_, length) => *length,
            Self::One(_) => 1,
            Self::None => 0,
        }
    }

    pub(crate) fn get(&self, place: usize) -> ValueCow<'_> {
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        match self {
            Self::Array(values) => {
                let found = values.as_array().and_then(|array| array.get(place));
                found.map_or(ValueCow::Owned(Value::Nil), ValueCow::Borrowed)
            }
            Self::Range(first, _) => ValueCow::Owned(Value::scalar(first.saturating_add(place))),
            Self::One(value) => ValueCow::Borrowed(value.as_view()),
            Self::None => ValueCow::Owned(Value::Nil),
        }
    }
}

pub(crate) fn number(expression: &Expression, runtime: &dyn Runtime) -> Result<i64> {
    let value = expression.evaluate(runtime)?;
    let number = value.as_scalar().and_then(|scalar| scalar.to_integer());
    number.ok_or_else(|| Error::with_msg(format!("a whole number is expected, in `{expression}`")))
}

/// Builds the object `forloop`.
pub(crate) fn forloop(round: usize, length: usize, parent: Value) -> Object {
    let index = i64::try_from(round).unwrap_or(i64::MAX);
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let left = length.saturating_sub(index);
    object([
        ("length", Value::scalar(length)),
        ("index", Value::scalar(index.saturating_add(1))),
        ("index0", Value::scalar(index)),
        ("rindex", Value::scalar(left)),
        ("rindex0", Value::scalar(left.saturating_sub(1))),
        ("first", Value::scalar(index == 0)),
        ("last", Value::scalar(left == 1)),
        ("parentloop", parent),
    ])
}

impl Renderable for For {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let machine = machine(runtime)?;
        let items = self.items.evaluate(runtime)?;
        let at = |expression: &Option<Expression>, otherwise: usize| match expression {
            Some(given) => number(given, runtime).map(|n| usize::try_from(n).unwrap_or(0)),
            None => Ok(otherwise),
        };
        let offset = at(&self.offset, 0)?.min(items.len());
        let length = at(&self.limit, usize::MAX)?.min(items.len().saturating_sub(offset));
        if length == 0 {
            return self
                .otherwise
                .as_ref()
                .map_or(Ok(()), |other| other.render_to(writer, runtime));
        }
        let parent = outer_loop(runtime);
        for round in 0..length {
            machine.meter.step(1)?;
            let place =
                if self.reversed { length.saturating_sub(round).saturating_sub(1) } else { round };
            let forloop = Value::Object(forloop(round, length, parent.clone()));
            let frame = Frame::within(
                runtime,
                vec![
                    (self.name.clone(), items.get(offset.saturating_add(place))),
                    (KString::from_static("forloop"), ValueCow::Owned(forloop)),
                ],
            );
            self.body.render_to(writer, &frame)?;
            let interrupt = runtime.registers().get_mut::<InterruptRegister>().reset();
            if interrupt == Some(Interrupt::Break) {
                break;
            }
        }
        Ok(())
    }
}

/// The object `forloop` of the enclosing loop, without its own parent, which would be copied each time.
fn outer_loop(runtime: &dyn Runtime) -> Value {
    let found = runtime.try_get(&[liquid_core::model::ScalarCow::new("forloop")]);
    let mut outer = found.map_or(Value::Nil, ValueCow::into_owned);
    if let Some(fields) = outer.as_object_mut() {
        fields.remove("parentloop");
    }
    outer
}
