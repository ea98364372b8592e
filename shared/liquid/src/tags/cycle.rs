//! `cycle`.

use std::fmt::Write;

use crate::context::Context;
use crate::error::{ParseError, Result};
use crate::syntax::{Expression, Head, Parser};
use crate::template::{Flow, Render};
use crate::value::Value;

struct Cycle {
    /// Those of the same name go on from one another.
    name: Option<Expression>,
    /// The name of those without one: their values, if they are the same everywhere.
    key: Option<String>,
    values: Vec<Expression>,
}

pub(super) fn cycle<'s>(
    head: Head<'s>,
    parser: &mut Parser<'_, 's>,
) -> std::result::Result<Box<dyn Render>, ParseError> {
    let mut markup = parser.arguments(&head);
    if markup.at_end() {
        return Err(markup.error(
            "Syntax Error in 'cycle' - Valid syntax: cycle [name :] var [, var2, var3 ...]",
        ));
    }
    let first = markup.expression()?;
    let (name, mut values) =
        if markup.take(":") { (Some(first), Vec::new()) } else { (None, vec![first]) };
    if name.is_some() && !markup.at_end() {
        values.push(markup.expression()?);
    }
    while markup.take(",") && !markup.at_end() {
        values.push(markup.expression()?);
    }
    markup.end()?;
    let constant = !values.iter().any(|value| matches!(value, Expression::Path(_)));
    let key = constant.then(|| {
        let mut key = String::new();
        for value in &values {
            // Writing to a string does not fail.
            let _ = write!(key, ",{value}");
        }
        key
    });
    Ok(Box::new(Cycle { name, key, values }))
}

impl Render for Cycle {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let key = match (&self.name, &self.key) {
            (Some(name), _) => format!("{:?}", name.evaluate(cx)),
            (None, Some(key)) => key.clone(),
            // A cycle of variables goes on by itself.
            (None, None) => format!("{:p}", std::ptr::from_ref(self)),
        };
        let place = cx.frame.cycles.get(&key).copied().unwrap_or_default();
        let value = self.values.get(place).map_or(Value::Nil, |value| value.evaluate(cx));
        cx.write(&value, out)?;
        let next = place.saturating_add(1);
        cx.frame.cycles.insert(key, if next < self.values.len() { next } else { 0 });
        Ok(Flow::Next)
    }
}
