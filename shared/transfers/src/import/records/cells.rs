//! Conversion of cells to the body of a request.

use core_types::fields::Currency;
use core_types::money::Money;
use serde_json::{Map, Value, json};

use super::notation::{Decimals, Number};
use super::record::{FieldSource, Record, Unpriced};
use crate::import::columns::{Columns, Slot};
use crate::import::finding::{Finding, Severity};
use crate::import::rows::SheetRow;

/// A record under construction.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    columns: &'a Columns,
    findings: Vec<Finding>,
    sources: Vec<FieldSource>,
    pub(super) unpriced: Unpriced,
    /// The names of the record's category and of those above it.
    pub(super) category: Vec<String>,
}

impl<'a> Reading<'a> {
    pub(super) fn of(columns: &'a Columns) -> Self {
        let (findings, sources, category) = (Vec::new(), Vec::new(), Vec::new());
        Self { columns, findings, sources, unpriced: Unpriced::default(), category }
    }

    /// The text of a row in a column, with the column's name; none when the cell is empty.
    pub(super) fn cell<'r>(&self, row: &'r SheetRow, column: Slot) -> Option<(&'r str, &'a str)> {
        let (text, name) = self.raw(row, column)?;
        Some((crate::csv::plain(text), name))
    }

    /// As [`Self::cell`], of a column of codes and numbers.
    pub(super) fn code<'r>(&self, row: &'r SheetRow, column: Slot) -> Option<(&'r str, &'a str)> {
        let (text, name) = self.raw(row, column)?;
        Some((crate::csv::plain_code(text), name))
    }

    fn raw<'r>(&self, row: &'r SheetRow, column: Slot) -> Option<(&'r str, &'a str)> {
        self.all(row, column).next()
    }

    /// The texts of a row in all columns with this slot, with their names.
    pub(super) fn all<'r>(
        &self,
        row: &'r SheetRow,
        column: Slot,
    ) -> impl Iterator<Item = (&'r str, &'a str)> {
        let columns = self.columns;
        let cells = row.cells.iter().filter(move |cell| columns.slot(cell.place) == Some(column));
        cells.map(|cell| (cell.text.as_str(), columns.name(cell.place)))
    }

    /// Whether the file has this column.
    pub(super) fn has(&self, column: Slot) -> bool {
        self.columns.first(column).is_some()
    }

    /// The name of the first column with this slot.
    pub(super) fn name(&self, column: Slot) -> &'a str {
        self.columns.first(column).unwrap_or_default()
    }

    /// Moves the sources of an array's elements, of which `order` has the numbers in their new order.
    pub(super) fn reorder(&mut self, at: &str, order: &[usize]) {
        let prefix = format!("{at}/");
        for (pointer, ..) in &mut self.sources {
            let Some(rest) = pointer.strip_prefix(&prefix) else { continue };
            let (number, below) = rest.split_once('/').unwrap_or((rest, ""));
            let number: Option<usize> = number.parse().ok();
            let Some(now) = order.iter().position(|before| Some(*before) == number) else {
                continue;
            };
            let slash = if below.is_empty() { "" } else { "/" };
            *pointer = format!("{prefix}{now}{slash}{below}");
        }
    }

    /// Records the column that a missing member of the body would come from: its findings are reported
    /// there.
    pub(super) fn would_come(&mut self, pointer: &str, row: u64, column: Slot) {
        if let Some(column) = self.columns.first(column) {
            self.source(pointer, row, column);
        }
    }

    /// Records the source of a member of the body.
    pub(super) fn source(&mut self, pointer: &str, row: u64, column: &str) {
        self.sources.push((pointer.to_owned(), row, column.to_owned()));
    }

    /// Adds a warning about a cell that is left out or changed.
    pub(super) fn warn(&mut self, row: u64, column: &str, code: &str, detail: &str) {
        self.findings.push(Finding::warning((row, Some(column)), code, detail));
    }

    /// Adds a warning about a whole row.
    pub(super) fn warn_of_row(&mut self, row: u64, code: &str, detail: &str) {
        self.findings.push(Finding::warning((row, None), code, detail));
    }

    /// Makes errors of the warnings so far: the record cannot do without these cells.
    pub(super) fn escalate(&mut self) {
        for finding in &mut self.findings {
            finding.severity = Severity::Error;
        }
    }

    /// Adds an error about a row, or about a cell of it.
    pub(super) fn reject(&mut self, row: u64, column: Option<&str>, code: &str, detail: &str) {
        self.findings.push(Finding::error((row, column), code, detail));
    }

    /// Reads a boolean: `true` or `false`, `yes` or `no`, `1` or `0`.
    pub(super) fn flag(&mut self, row: u64, cell: (&str, &str)) -> Option<bool> {
        self.flag_or(row, cell, "The value was ignored.")
    }

    /// As [`Self::flag`]; the warning says what becomes of a cell that is neither.
    pub(super) fn flag_or(
        &mut self,
        row: u64,
        (cell, column): (&str, &str),
        then: &str,
    ) -> Option<bool> {
        match cell.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" | "1" => Some(true),
            "false" | "no" | "n" | "0" => Some(false),
            _ => {
                let detail = format!("Must be `true` or `false`. {then}");
                self.warn(row, column, "invalid_boolean", &detail);
                None
            }
        }
    }

    /// Reads a number, multiplied by `10^places`. Its further decimals are rounded.
    pub(super) fn rounded(
        &mut self,
        row: u64,
        (cell, column): (&str, &str),
        places: usize,
    ) -> Option<i64> {
        let number = self.read(cell).and_then(|number| number.rounded(places));
        if number.is_none() {
            let detail = format!("Must be a number{}. The value was ignored.", self.unclear(cell));
            self.warn(row, column, "invalid_number", &detail);
        }
        number
    }

    /// Reads a whole number; a decimal point may be followed by zeroes.
    pub(super) fn number(&mut self, row: u64, (cell, column): (&str, &str)) -> Option<i64> {
        let number = self.read(cell).and_then(|number| number.with_decimals(0));
        if number.is_none() {
            let unclear = self.unclear(cell);
            let detail = format!("Must be a whole number{unclear}. The value was ignored.");
            self.warn(row, column, "invalid_number", &detail);
        }
        number
    }

    fn read(&self, cell: &str) -> Option<Number> {
        Number::of(cell, self.columns.decimals())
    }

    /// The detail of a finding about a cell that may be either of two numbers.
    fn unclear(&self, cell: &str) -> &'static str {
        let is_number = |sign: char| Number::of(&cell.replace(sign, ""), Decimals::Point).is_some();
        let is_one = self.read(cell).is_none() && (is_number(',') || is_number('.'));
        if is_one {
            ", and it must be clear whether its point or comma separates thousands"
        } else {
            ""
        }
    }

    /// Reads a quantity of stock. One below zero is stock that was sold beyond what there was: none is left.
    pub(super) fn quantity(&mut self, row: u64, cell: (&str, &str)) -> Option<i64> {
        let number = self.number(row, cell)?;
        Some(self.not_negative(row, cell.1, number))
    }

    /// The quantity, or none in place of a negative one, with a warning.
    pub(super) fn not_negative(&mut self, row: u64, column: &str, number: i64) -> i64 {
        if number < 0 {
            let detail = format!("Stock cannot be negative: 0 was imported instead of {number}.");
            self.warn(row, column, "negative_quantity", &detail);
        }
        number.max(0)
    }

    /// Reads an amount in major units, like `1299.00`, as the money object of a request.
    pub(super) fn money(
        &mut self,
        row: u64,
        (cell, column): (&str, &str),
        (currency, then): (&Currency, &str),
    ) -> Option<Value> {
        let amount = minor_units(cell, self.columns.decimals(), currency);
        if amount.is_none() {
            let decimals = Money::zero(currency).exponent();
            let unclear = self.unclear(cell);
            let detail = format!(
                "Must be an amount in {currency}, in digits with a point before at most {decimals} \
                 decimals{unclear}. {then}"
            );
            self.warn(row, column, "invalid_price", &detail);
        }
        amount.map(|amount| json!({"amount": amount, "currency": currency}))
    }

    /// Adds a text member to a body, if the cell is not empty.
    pub(super) fn text(
        &mut self,
        body: &mut Map<String, Value>,
        member: (&str, &str),
        row: &SheetRow,
        column: Slot,
    ) {
        let cell = self.cell(row, column);
        self.put(body, member, row, (column, cell));
    }

    /// As [`Self::text`], of a column of codes.
    pub(super) fn code_text(
        &mut self,
        body: &mut Map<String, Value>,
        member: (&str, &str),
        row: &SheetRow,
        column: Slot,
    ) {
        let cell = self.code(row, column);
        self.put(body, member, row, (column, cell));
    }

    fn put(
        &mut self,
        body: &mut Map<String, Value>,
        (at, member): (&str, &str),
        row: &SheetRow,
        (column, cell): (Slot, Option<(&str, &str)>),
    ) {
        let pointer = format!("{at}/{member}");
        match cell {
            Some((cell, column)) => {
                self.source(&pointer, row.number, column);
                body.insert(member.to_owned(), cell.into());
            }
            None => self.would_come(&pointer, row.number, column),
        }
    }

    /// The record of rows of which nothing can be imported.
    pub(super) fn rejected(self, row: u64) -> Record {
        Record { findings: self.findings, ..Record::rejected(row) }
    }

    /// The record.
    pub(super) fn record(self, row: u64, body: Map<String, Value>) -> Record {
        let Self { findings, mut sources, unpriced, category, .. } = self;
        // A member without a column is reported for the row.
        sources.push((String::new(), row, String::new()));
        let body = Value::Object(body);
        let rejected = Record::rejected(row);
        Record { body, findings, sources, may_leave_out: true, unpriced, category, ..rejected }
    }
}

/// An amount in minor units.
fn minor_units(text: &str, decimals: Decimals, currency: &Currency) -> Option<i64> {
    let exponent = usize::from(Money::zero(currency).exponent());
    let number = Number::of(text, decimals).filter(|number| !number.is_negative)?;
    number.with_decimals(exponent)
}

/// The words of a cell between commas.
pub(super) fn words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// The slot of the column with this name, ignoring case.
pub(super) fn slot_of<C>(name: &str, all: &[(C, &[&str])]) -> Option<Slot> {
    let is_it =
        |(_, names): &(C, &[&str])| names.iter().any(|one| one.eq_ignore_ascii_case(name.trim()));
    all.iter().position(is_it).map(|index| Slot { index, is_repeated: false })
}

/// The slot of a column: its index among all of its kind.
pub(super) fn slot<C: PartialEq>(column: &C, all: &[(C, &[&str])]) -> Slot {
    let index = all.iter().position(|(known, _)| known == column).unwrap_or(usize::MAX);
    Slot { index, is_repeated: false }
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn amounts_have_the_decimals_of_their_currency() {
        let currency = |code: &str| Currency::from_text(code).unwrap();
        for (text, code, amount) in [
            ("19.99", "EUR", Some(1_999)),
            ("19.9", "EUR", Some(1_990)),
            ("19,90", "EUR", Some(1_990)),
            ("19", "EUR", Some(1_900)),
            ("19.990", "EUR", Some(1_999)),
            ("19.999", "EUR", None),
            ("1299", "JPY", Some(1_299)),
            ("1299.00", "JPY", Some(1_299)),
            ("1299.5", "JPY", None),
            ("1.234", "KWD", Some(1_234)),
            ("1,299.00", "EUR", Some(129_900)),
            ("", "EUR", None),
            ("-1", "EUR", None),
            ("99999999999999999999", "EUR", None),
        ] {
            let read = minor_units(text, Decimals::Point, &currency(code));
            assert_eq!(read, amount, "{text} {code}");
        }
    }
}
