//! Conversion of cells to the body of a request.

use core_types::fields::Currency;
use core_types::money::Money;
use serde_json::{Map, Value, json};

use super::Record;
use crate::import::columns::{Columns, Slot};
use crate::import::finding::Finding;
use crate::import::rows::Row;

/// A record under construction.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    columns: &'a Columns,
    faults: Vec<Finding>,
    sources: Vec<(String, u64, String)>,
}

impl<'a> Reading<'a> {
    pub(super) const fn of(columns: &'a Columns) -> Self {
        Self { columns, faults: Vec::new(), sources: Vec::new() }
    }

    /// The text of a row in a column, with the column's name; none when the cell is empty.
    pub(super) fn cell<'r>(&self, row: &'r Row, column: Slot) -> Option<(&'r str, &'a str)> {
        let found = row.cells.iter().find(|cell| self.columns.slot(cell.place) == Some(column))?;
        Some((crate::csv::plain(&found.text), self.columns.name(found.place)))
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

    pub(super) fn fault(&mut self, row: u64, column: &str, code: &str, detail: &str) {
        let (code, detail) = (code.to_owned(), detail.to_owned());
        self.faults.push(Finding { row, column: Some(column.to_owned()), code, detail });
    }

    /// Reads a boolean: `true` or `false`, `yes` or `no`, `1` or `0`.
    pub(super) fn flag(&mut self, row: u64, (cell, column): (&str, &str)) -> Option<bool> {
        match cell.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => {
                self.fault(row, column, "invalid_boolean", "Must be `true` or `false`.");
                None
            }
        }
    }

    /// Reads a whole number; a decimal point may be followed by zeroes.
    pub(super) fn number(&mut self, row: u64, (cell, column): (&str, &str)) -> Option<i64> {
        let (whole, decimals) = cell.split_once('.').unwrap_or((cell, ""));
        let number = whole.parse().ok().filter(|_| decimals.bytes().all(|digit| digit == b'0'));
        if number.is_none() {
            self.fault(row, column, "invalid_number", "Must be a whole number.");
        }
        number
    }

    /// Reads an amount in major units, like `1299.00`, as the money object of a request.
    pub(super) fn money(
        &mut self,
        row: u64,
        (cell, column): (&str, &str),
        currency: &Currency,
    ) -> Value {
        let amount = minor_units(cell, currency);
        if amount.is_none() {
            let decimals = Money::zero(currency).exponent();
            let detail = format!(
                "Must be an amount in {currency}, in digits with a point before at most {decimals} \
                 decimals."
            );
            self.fault(row, column, "invalid_price", &detail);
        }
        json!({"amount": amount.unwrap_or(0), "currency": currency})
    }

    /// Adds a text member to a body, if the cell is not empty.
    pub(super) fn text(
        &mut self,
        body: &mut Map<String, Value>,
        (at, member): (&str, &str),
        row: &Row,
        column: Slot,
    ) {
        let pointer = format!("{at}/{member}");
        match self.cell(row, column) {
            Some((cell, column)) => {
                self.source(&pointer, row.number, column);
                body.insert(member.to_owned(), cell.into());
            }
            None => self.would_come(&pointer, row.number, column),
        }
    }

    /// The record.
    pub(super) fn record(self, row: u64, body: Map<String, Value>) -> Record {
        let Self { faults, mut sources, .. } = self;
        // A member without a column is reported for the row.
        sources.push((String::new(), row, String::new()));
        Record { row, body: Value::Object(body), faults, sources }
    }
}

/// An amount in minor units.
fn minor_units(text: &str, currency: &Currency) -> Option<i64> {
    let exponent = usize::from(Money::zero(currency).exponent());
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let decimals = decimals.trim_end_matches('0');
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(decimals) || decimals.len() > exponent {
        return None;
    }
    format!("{whole}{decimals:0<exponent$}").parse().ok()
}

/// The slot of the column with this name, ignoring case.
pub(super) fn slot_of<C>(name: &str, all: &[(C, &[&str])]) -> Option<Slot> {
    let is_it =
        |(_, names): &(C, &[&str])| names.iter().any(|one| one.eq_ignore_ascii_case(name.trim()));
    all.iter().position(is_it).map(Slot)
}

/// The slot of a column: its index among all of its kind.
pub(super) fn slot<C: PartialEq>(column: &C, all: &[(C, &[&str])]) -> Slot {
    Slot(all.iter().position(|(known, _)| known == column).unwrap_or(usize::MAX))
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
            ("19", "EUR", Some(1_900)),
            ("19.990", "EUR", Some(1_999)),
            ("19.999", "EUR", None),
            ("1299", "JPY", Some(1_299)),
            ("1299.00", "JPY", Some(1_299)),
            ("1299.5", "JPY", None),
            ("1.234", "KWD", Some(1_234)),
            ("", "EUR", None),
            (".5", "EUR", None),
            ("-1", "EUR", None),
            ("1,299.00", "EUR", None),
            ("1e3", "EUR", None),
            ("99999999999999999999", "EUR", None),
        ] {
            assert_eq!(minor_units(text, &currency(code)), amount, "{text} {code}");
        }
    }
}
