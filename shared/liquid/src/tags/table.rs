//! `tablerow`.

use std::fmt::Write;
use std::sync::Arc;

use super::each::variable_in;
use super::forloop::ForLoop;
use super::segment::Segment;
use crate::context::Context;
use crate::error::{Error, ParseError, Result};
use crate::number;
use crate::object::Object;
use crate::syntax::{Attributes, Expression, Head, Parser};
use crate::template::{Block, Flow, Render};
use crate::value::Value;

struct TableRow {
    variable: Arc<str>,
    tablerowloop: Arc<str>,
    source: Expression,
    attributes: Attributes,
    body: Block,
}

pub(super) fn table_row<'s>(
    head: Head<'s>,
    parser: &mut Parser<'_, 's>,
) -> std::result::Result<Box<dyn Render>, ParseError> {
    let mut markup = parser.arguments(&head);
    let (variable, source) = variable_in(&mut markup, "tablerow")?;
    let attributes = markup.attributes()?;
    let (body, _) = parser.block(&head, &[])?;
    let tablerowloop = Arc::from("tablerowloop");
    Ok(Box::new(TableRow { variable, tablerowloop, source, attributes, body }))
}

impl TableRow {
    fn attribute(&self, name: &str, cx: &Context<'_>) -> Result<Option<i64>> {
        let found = self.attributes.iter().rev().find(|(other, _)| &**other == name);
        let Some((_, expression)) = found else { return Ok(None) };
        let value = expression.evaluate(cx);
        match &*value.resolved() {
            Value::Bool(_) | Value::Array(_) | Value::Range(..) | Value::Object(_) => {
                Err(Error::argument("invalid integer"))
            }
            value => Ok(Some(number::loose_integer(value))),
        }
    }

    fn rows(
        &self,
        segment: &Segment,
        columns: usize,
        cx: &mut Context<'_>,
        out: &mut String,
    ) -> Result<()> {
        let length = segment.len();
        let table = Arc::new(ForLoop::table(length, columns));
        let object: Arc<dyn Object> = Arc::<ForLoop>::clone(&table);
        for place in 0..length {
            cx.step(1)?;
            table.go_to(place);
            let column = place.checked_rem(columns).unwrap_or(0).saturating_add(1);
            let names = [
                (Arc::clone(&self.variable), segment.get(place)),
                (Arc::clone(&self.tablerowloop), Value::Object(Arc::clone(&object))),
            ];
            let _ = write!(out, "<td class=\"col{column}\">");
            let flow = cx.scoped(names, |cx| self.body.render(cx, out))?;
            out.push_str("</td>");
            if flow == Flow::Break {
                break;
            }
            if column == columns && place.saturating_add(1) < length {
                let row = place.checked_div(columns).unwrap_or(0).saturating_add(2);
                let _ = write!(out, "</tr>\n<tr class=\"row{row}\">");
            }
            cx.check_output(out)?;
        }
        Ok(())
    }
}

impl Render for TableRow {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let source = self.source.evaluate(cx);
        if !source.is_truthy() {
            return Ok(Flow::Next);
        }
        let offset = self.attribute("offset", cx)?.unwrap_or(0);
        let limit = self.attribute("limit", cx)?;
        let segment = Segment::of(&source, offset, limit, cx)?;
        let columns = match self.attribute("cols", cx)? {
            None => segment.len().max(1),
            // A row of no columns never ends.
            Some(columns) => {
                usize::try_from(columns).ok().filter(|columns| *columns > 0).unwrap_or(usize::MAX)
            }
        };
        out.push_str("<tr class=\"row1\">\n");
        self.rows(&segment, columns, cx, out)?;
        out.push_str("</tr>\n");
        Ok(Flow::Next)
    }

    fn is_blank(&self) -> bool {
        self.body.is_blank()
    }
}
