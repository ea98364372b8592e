//! Rows with cells set by the names of their columns.

use std::fmt::Display;

/// A row under construction.
#[derive(Debug, Clone)]
pub(super) struct ExportRow {
    columns: &'static [&'static str],
    cells: Vec<String>,
}

impl ExportRow {
    /// An empty row of these columns.
    pub(super) fn of(columns: &'static [&'static str]) -> Self {
        Self { columns, cells: vec![String::new(); columns.len()] }
    }

    fn put(mut self, column: &str, value: String) -> Self {
        let place = self.columns.iter().position(|name| *name == column);
        debug_assert!(place.is_some(), "there is no column {column}");
        if let Some(cell) = place.and_then(|place| self.cells.get_mut(place)) {
            *cell = value;
        }
        self
    }

    /// Sets a text that a person has written, which never becomes a formula.
    pub(super) fn text(self, column: &str, text: &str) -> Self {
        self.put(column, crate::csv::text(text))
    }

    /// Sets a code or a telephone number, in which a leading apostrophe is not text.
    pub(super) fn code(self, column: &str, code: Option<&str>) -> Self {
        match code {
            Some(code) => self.put(column, crate::csv::code(code)),
            None => self,
        }
    }

    /// Sets such a text, if there is one.
    pub(super) fn some(self, column: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(column, text),
            None => self,
        }
    }

    /// Sets a value of the system's own: a number, a time, an id or a constant.
    pub(super) fn value(self, column: &str, value: impl Display) -> Self {
        self.put(column, format!("{value}"))
    }

    /// The cells.
    pub(super) fn cells(self) -> Vec<String> {
        self.cells
    }
}

/// The header row.
pub(super) fn names(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|name| (*name).to_owned()).collect()
}
