//! The beginning of a file: what separates its cells, the names of its columns, and how its numbers are written.

use primitives::problem::Problem;

use super::{ReadOutcome, RecordPage, Sheet, decimals};
use crate::import::file::ByteSource;
use crate::import::finding::Finding;
use crate::import::records::{Format, has_decimal_comma};
use crate::import::rows::{MARK, MAX_COLUMNS, RowError, RowReader, SheetRow};

/// The supported delimiters.
const DELIMITERS: [char; 3] = [',', ';', '\t'];
/// The bytes of the first row from which the delimiter is detected.
const SAMPLE: usize = 1 << 16;
/// The bytes behind it in which decimal commas are looked for.
const BEGINNING: usize = 1 << 20;

impl<S: ByteSource> Sheet<S> {
    /// Reads the first row: the names of the columns.
    pub(super) async fn header(&mut self) -> Result<ReadOutcome, Problem> {
        while !self.is_end && self.bytes.len() < SAMPLE && !self.bytes.contains(&b'\n') {
            self.read_more().await?;
        }
        self.begin();
        let Some(row) = self.next(true).await? else {
            let empty = Finding::error((1, None), "empty_file", "The file is empty.");
            return Ok(ReadOutcome::Unreadable(vec![empty]));
        };
        if let Some(broken) = unreadable(&row) {
            return Ok(ReadOutcome::Unreadable(vec![broken]));
        }
        self.go_on_after(&row);
        let names: Vec<String> = row.cells.into_iter().map(|cell| cell.text).collect();
        self.columns = Format::columns(self.kind, &names);
        self.place.has_decimal_commas =
            self.place.delimiter == Some(';') || self.has_decimal_commas().await?;
        self.columns = std::mem::take(&mut self.columns).with_decimals(decimals(&self.place));
        let found = Format::findings(self.kind, &self.columns, &names, row.number);
        if found.iter().any(Finding::is_error) {
            return Ok(ReadOutcome::Unreadable(found));
        }
        self.place.header = self.columns.header_names();
        let (ignored, count) = self.columns.ignored();
        let warnings = found.into_iter().chain(ignored_columns(&ignored, count, row.number));
        let warnings = warnings.collect();
        let (ignored, locations) = (Some((ignored, count)), Format::locations(&self.columns));
        let page = RecordPage::of(Vec::new(), self.place.clone());
        Ok(ReadOutcome::Page(RecordPage { ignored, warnings, locations, ..page }))
    }

    /// Whether a cell in the beginning of the file, behind the header, has a decimal comma.
    async fn has_decimal_commas(&mut self) -> Result<bool, Problem> {
        while !self.is_end && self.bytes.len().saturating_sub(self.used) < BEGINNING {
            self.read_more().await?;
        }
        let mut rest = self.bytes.get(self.used..).unwrap_or_default();
        rest = rest.get(..BEGINNING).unwrap_or(rest);
        let mut rows = RowReader::from(self.format, &self.place);
        while !rest.is_empty() {
            let (used, row) = rows.read(rest, &self.columns);
            rest = rest.get(used..).unwrap_or_default();
            let cells = row.map(|row| row.cells).unwrap_or_default();
            if cells.iter().any(|cell| has_decimal_comma(crate::csv::plain_code(&cell.text))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finds the delimiter of cells: the one that a first line `sep=;` names, as spreadsheets write it, or
    /// the one that occurs most in the first row.
    fn begin(&mut self) {
        self.used = if self.bytes.starts_with(MARK) { MARK.len() } else { 0 };
        let rest = self.bytes.get(self.used..).unwrap_or_default();
        let (line, end) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => (rest.get(..end).unwrap_or_default(), end.saturating_add(1)),
            None => (rest, rest.len()),
        };
        if let Some(delimiter) = declared_delimiter(line) {
            self.place.delimiter = Some(delimiter);
            self.place.row = self.place.row.saturating_add(1);
            self.place.blank = self.place.blank.map(|blank| blank.saturating_add(1));
            self.used = self.used.saturating_add(end);
        } else {
            let sample = rest.get(..SAMPLE).unwrap_or(rest);
            self.place.delimiter = Some(delimiter(sample));
        }
        self.place.byte = u64::try_from(self.used).unwrap_or(u64::MAX);
        self.rows = RowReader::from(self.format, &self.place);
    }
}

/// The finding about a first row that cannot be read.
fn unreadable(row: &SheetRow) -> Option<Finding> {
    let error = row.error.or((row.width > MAX_COLUMNS).then_some(RowError::TooManyCells))?;
    let at = (row.number, None);
    Some(match error {
        RowError::TooManyCells => {
            let detail = format!("A file must have at most {MAX_COLUMNS} columns.");
            Finding::error(at, "too_many_columns", &detail)
        }
        _ => Finding::error(at, error.text().0, error.text().1),
    })
}

/// Warnings that name the ignored columns, the last one with the number of those that are not named.
fn ignored_columns(names: &[String], count: u64, row: u64) -> Vec<Finding> {
    let named = names.iter().filter(|name| !name.is_empty()).map(|name| {
        let detail = "The column is not imported.";
        Finding::warning((row, Some(name)), "ignored_column", detail)
    });
    let rest = count.saturating_sub(u64::try_from(names.len()).unwrap_or(u64::MAX));
    let rest = (rest > 0).then(|| {
        let detail = match rest {
            1 => "One more column is not imported.".to_owned(),
            rest => format!("{rest} more columns are not imported."),
        };
        Finding::warning((row, None), "ignored_column", &detail)
    });
    named.chain(rest).collect()
}

/// The delimiter that a line `sep=;` names.
fn declared_delimiter(line: &[u8]) -> Option<char> {
    let text = std::str::from_utf8(line).ok()?.trim_end_matches('\r').trim_matches('"');
    let (name, delimiter) = text.split_at_checked("sep=".len())?;
    let is_named = |known: &char| delimiter == known.to_string();
    DELIMITERS.into_iter().find(is_named).filter(|_| name.eq_ignore_ascii_case("sep="))
}

/// The delimiter that occurs most in the first row that is not blank.
fn delimiter(sample: &[u8]) -> char {
    let line = sample.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let line = line.unwrap_or_default();
    let count =
        |delimiter: &char| line.iter().filter(|byte| char::from(**byte) == *delimiter).count();
    DELIMITERS.into_iter().rev().max_by_key(count).unwrap_or(',')
}
