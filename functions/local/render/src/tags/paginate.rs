//! `{% paginate collection.products by 12 %} … {% endpaginate %}`
//!
//! Within the block the named array has only the items of this page, and `paginate` describes the other
//! pages. Only an array is paginated.

use std::io::Write;

use liquid_core::error::{Error, Result};
use liquid_core::model::{KString, Object, ScalarCow, Value, ValueCow, ValueView};
use liquid_core::{Expression, Language, Renderable, Runtime, TagBlock, TagTokenIter, Template};

use crate::frame::{Frame, machine};
use crate::machine::Machine;
use crate::tags::repeat::{argument, number};
use crate::value::{object, weight};

/// Items of a page at most.
const LARGEST: usize = 250;
/// Pages that are listed on either side of this one at most.
const WIDEST: usize = 20;
/// Pages that are listed on either side by default.
const WINDOW: usize = 2;

#[derive(Debug)]
struct Paginate {
    items: Expression,
    by: Expression,
    window: Option<Expression>,
    body: Template,
}

/// Parses the block.
pub(crate) fn parse(
    mut arguments: TagTokenIter<'_>,
    mut block: TagBlock<'_, '_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    let items = arguments.expect_next("Expected a list of items.")?.expect_value().into_result()?;
    arguments.expect_next("Expected `by`.")?.expect_str("by").into_result()?;
    let by = arguments.expect_next("Expected a number.")?.expect_value().into_result()?;
    let mut window = None;
    while let Some(token) = arguments.next() {
        match token.as_str() {
            "window_size" => window = Some(argument(&mut arguments)?),
            "," => {}
            _ => return Err(token.raise_custom_error("Expected `window_size`.")),
        }
    }
    let body = Template::new(block.parse_all(language)?);
    block.assert_empty();
    Ok(Box::new(Paginate { items, by, window, body }))
}

/// The current page and the number of pages, counted from 1.
#[derive(Debug, Clone, Copy)]
struct Pages {
    current: usize,
    count: usize,
}

impl Pages {
    fn of(items: usize, size: usize, wanted: usize) -> Self {
        let count = items.div_ceil(size).max(1);
        Self { current: wanted.clamp(1, count), count }
    }

    /// The numbers of the listed pages: the first, the last, and those around this one; none for a gap.
    fn named(self, window: usize) -> Vec<Option<usize>> {
        let from = self.current.saturating_sub(window).max(1);
        let to = self.current.saturating_add(window).min(self.count);
        let mut all: Vec<Option<usize>> = Vec::new();
        if from > 1 {
            all.push(Some(1));
        }
        if from > 2 {
            all.push(None);
        }
        all.extend((from..=to).map(Some));
        if to.saturating_add(1) < self.count {
            all.push(None);
        }
        if to < self.count {
            all.push(Some(self.count));
        }
        all
    }
}

fn count(number: usize) -> Value {
    Value::scalar(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A link to a page, or its title without a link.
fn part(machine: &Machine, title: String, page: Option<usize>) -> Value {
    Value::Object(object([
        ("title", Value::scalar(title)),
        ("url", page.map_or(Value::Nil, |page| Value::scalar(machine.address_of(page)))),
        ("is_link", Value::scalar(page.is_some())),
    ]))
}

/// Builds the object `paginate`.
fn described(
    machine: &Machine,
    pages: Pages,
    (items, size): (usize, usize),
    window: usize,
) -> Object {
    let Pages { current, count: last } = pages;
    let parts = pages.named(window).into_iter().map(|page| match page {
        Some(page) => part(machine, page.to_string(), (page != current).then_some(page)),
        None => part(machine, "…".to_owned(), None),
    });
    let previous = (current > 1).then(|| current.saturating_sub(1));
    let next = (current < last).then(|| current.saturating_add(1));
    let alongside = |title: &str, page: Option<usize>| match page {
        Some(page) => part(machine, title.to_owned(), Some(page)),
        None => Value::Nil,
    };
    object([
        ("parts", Value::Array(parts.collect())),
        ("previous", alongside("‹", previous)),
        ("next", alongside("›", next)),
        ("current_page", count(current)),
        ("current_offset", count(current.saturating_sub(1).saturating_mul(size))),
        ("items", count(items)),
        ("page_size", count(size)),
        ("pages", count(last)),
    ])
}

/// Copies a value with the value at a path below it replaced. The copy is counted.
fn with(
    machine: &Machine,
    value: &dyn ValueView,
    path: &[ScalarCow<'_>],
    new: Value,
) -> Result<Value> {
    let Some((first, rest)) = path.split_first() else { return Ok(new) };
    machine.meter.hold(weight(value))?;
    let name = first.to_kstr().into_string();
    let mut fields = match value.to_value() {
        Value::Object(fields) => fields,
        // An unknown name has no items on any page.
        Value::Nil => Object::new(),
        _ => return Err(Error::with_msg("what is paginated is a name, or a field of an object")),
    };
    let inner = fields.remove(name.as_str()).unwrap_or_default();
    fields.insert(KString::from_string(name), with(machine, &inner, rest, new)?);
    Ok(Value::Object(fields))
}

impl Renderable for Paginate {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let machine = machine(runtime)?;
        let Expression::Variable(variable) = &self.items else {
            return Err(Error::with_msg("what is paginated has no name"));
        };
        let path = variable.evaluate(runtime)?;
        let found = runtime.get(&path)?;
        let items: Vec<Value> = match found.as_array() {
            Some(array) => {
                machine.meter.hold(weight(found.as_view()))?;
                array.values().map(ValueView::to_value).collect()
            }
            None => Vec::new(),
        };
        let size = usize::try_from(number(&self.by, runtime)?).unwrap_or(0);
        if size == 0 || size > LARGEST {
            return Err(Error::with_msg(format!("a page has 1 to {LARGEST} items")));
        }
        let window = match &self.window {
            Some(window) => usize::try_from(number(window, runtime)?).unwrap_or(0).min(WIDEST),
            None => WINDOW,
        };
        let total = items.len();
        let pages = Pages::of(total, size, machine.place.page);
        let skipped = pages.current.saturating_sub(1).saturating_mul(size);
        let of_page: Value = Value::Array(items.into_iter().skip(skipped).take(size).collect());
        let (root, rest) = path.split_first().ok_or_else(|| Error::with_msg("no name"))?;
        let whole = runtime.get(std::slice::from_ref(root))?;
        let whole = with(&machine, whole.as_view(), rest, of_page)?;
        let described = described(&machine, pages, (total, size), window);
        let values = vec![
            (KString::from_string(root.to_kstr().into_string()), ValueCow::Owned(whole)),
            (KString::from_static("paginate"), ValueCow::Owned(Value::Object(described))),
        ];
        self.body.render_to(writer, &Frame::within(runtime, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_listed_around_this_one() {
        let named = |items, wanted| {
            let pages = Pages::of(items, 10, wanted);
            let all = pages.named(2).into_iter();
            all.map(|page| page.map_or("…".to_owned(), |page| page.to_string()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(named(0, 1), "1");
        assert_eq!(named(10, 7), "1");
        assert_eq!(named(95, 5), "1 … 3 4 5 6 7 … 10");
        assert_eq!(named(95, 4), "1 2 3 4 5 6 … 10");
        assert_eq!(named(95, 99), "1 … 8 9 10");
    }
}
