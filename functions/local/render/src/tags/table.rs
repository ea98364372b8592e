//! `{% tablerow product in products cols: 3 limit: 6 offset: 2 %} … {% endtablerow %}`
//!
//! Each cell is a step; the items are those of a loop.

use std::io::Write;

use liquid_core::error::{Result, ResultLiquidReplaceExt};
use liquid_core::model::{KString, Object, Value, ValueCow};
use liquid_core::runtime::{Interrupt, InterruptRegister};
use liquid_core::{Expression, Language, Renderable, Runtime, TagBlock, TagTokenIter, Template};

use crate::frame::{Frame, machine};
use crate::tags::repeat::{Items, argument, forloop, number};

#[derive(Debug)]
struct TableRow {
    name: KString,
    items: Items,
    cols: Option<Expression>,
    limit: Option<Expression>,
    offset: Option<Expression>,
    body: Template,
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
    let (mut cols, mut limit, mut offset) = (None, None, None);
    while let Some(token) = arguments.next() {
        match token.as_str() {
            "cols" => cols = Some(argument(&mut arguments)?),
            "limit" => limit = Some(argument(&mut arguments)?),
            "offset" => offset = Some(argument(&mut arguments)?),
            "," => {}
            _ => return Err(token.raise_custom_error("Expected `cols`, `limit` or `offset`.")),
        }
    }
    let body = Template::new(block.parse_all(language)?);
    block.assert_empty();
    Ok(Box::new(TableRow { name, items, cols, limit, offset, body }))
}

/// Builds the object `tablerowloop`.
fn tablerowloop(round: usize, length: usize, cols: usize) -> Object {
    let count = |number: usize| Value::scalar(i64::try_from(number).unwrap_or(i64::MAX));
    let (row, col) = (round.div_euclid(cols), round.rem_euclid(cols));
    let mut row_loop = forloop(round, length, Value::Nil);
    row_loop.remove("parentloop");
    let is_last = col.saturating_add(1) == cols || round.saturating_add(1) == length;
    row_loop.extend([
        (KString::from_static("row"), count(row.saturating_add(1))),
        (KString::from_static("col"), count(col.saturating_add(1))),
        (KString::from_static("col0"), count(col)),
        (KString::from_static("col_first"), Value::scalar(col == 0)),
        (KString::from_static("col_last"), Value::scalar(is_last)),
    ]);
    row_loop
}

impl Renderable for TableRow {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let machine = machine(runtime)?;
        let items = self.items.evaluate(runtime)?;
        let at = |expression: &Option<Expression>, otherwise: usize| match expression {
            Some(given) => number(given, runtime).map(|n| usize::try_from(n).unwrap_or(0)),
            None => Ok(otherwise),
        };
        let offset = at(&self.offset, 0)?.min(items.len());
        let length = at(&self.limit, usize::MAX)?.min(items.len().saturating_sub(offset));
        // Without a number of columns, all cells are in one row.
        let cols = at(&self.cols, usize::MAX)?.max(1);
        for round in 0..length {
            machine.meter.step(1)?;
            let (row, col) = (round.div_euclid(cols), round.rem_euclid(cols));
            if col == 0 {
                write!(writer, "<tr class=\"row{}\">", row.saturating_add(1))
                    .replace("too long")?;
            }
            write!(writer, "<td class=\"col{}\">", col.saturating_add(1)).replace("too long")?;
            let inner = Value::Object(tablerowloop(round, length, cols));
            let values = vec![
                (self.name.clone(), items.get(offset.saturating_add(round))),
                (KString::from_static("tablerowloop"), ValueCow::Owned(inner)),
            ];
            self.body.render_to(writer, &Frame::within(runtime, values))?;
            let interrupt = runtime.registers().get_mut::<InterruptRegister>().reset();
            let is_left = interrupt == Some(Interrupt::Break);
            let ends_row = col.saturating_add(1) == cols || round.saturating_add(1) == length;
            write!(writer, "</td>{}", if ends_row || is_left { "</tr>\n" } else { "" })
                .replace("too long")?;
            if is_left {
                break;
            }
        }
        Ok(())
    }
}
