//! Pages of a file: some records, and the place of the next ones.

mod header;

use std::collections::VecDeque;

use primitives::problem::Problem;
use serde_json::Value;

use super::columns::Columns;
use super::file::ByteSource;
use super::finding::Finding;
use super::parents::Parent;
use super::records::{CellSettings, Decimals, Format, Record, Relation};
use super::rows::{MAX_COLUMNS, MAX_ROW, RowError, RowReader, SheetRow};
use super::{Import, ImportKind, ImportPosition, MAX_ROWS};
use crate::FileFormat;

/// The most records of one page.
const RECORDS: usize = 100;
/// The most quantities of one page; several of them are one write.
const QUANTITIES: usize = 300;
/// The number of cells after which a page ends.
const CELLS: usize = 100_000;
/// The number of bytes after which a page ends.
const BYTES: usize = MAX_ROW;
/// The most rows of one product.
const ROWS_OF_RECORD: usize = 1_000;

/// Some records, and the place of the next ones.
#[derive(Debug)]
pub(super) struct RecordPage {
    pub(super) records: Vec<Record>,
    pub(super) place: ImportPosition,
    /// The first ignored columns and the number of all, on the page of the header.
    pub(super) ignored: Option<(Vec<String>, u64)>,
    /// Warnings about columns, on the page of the header.
    pub(super) warnings: Vec<Finding>,
    /// The names of the locations that are columns, on the page of the header.
    pub(super) locations: Vec<String>,
    /// Whether it is the last page.
    pub(super) is_last: bool,
}

impl RecordPage {
    fn of(records: Vec<Record>, place: ImportPosition) -> Self {
        let (warnings, locations) = (Vec::new(), Vec::new());
        Self { records, place, ignored: None, warnings, locations, is_last: false }
    }
}

/// The result of reading.
#[derive(Debug)]
pub(super) enum ReadOutcome {
    Page(RecordPage),
    /// The rest of the file cannot be read.
    Unreadable(Vec<Finding>),
}

/// A file that is being read. It holds the rows of one page at most.
#[derive(Debug)]
pub(super) struct Sheet<S> {
    source: S,
    /// Bytes of the source; those from `used` on are not read yet.
    bytes: Vec<u8>,
    used: usize,
    is_end: bool,
    /// The size of the file, in bytes.
    total: u64,
    kind: ImportKind,
    format: FileFormat,
    place: ImportPosition,
    columns: Columns,
    rows: RowReader,
    /// Rows read ahead to find the end of a record.
    ahead: VecDeque<SheetRow>,
    is_one_by_one: bool,
}

impl<S: ByteSource> Sheet<S> {
    /// The file of an import, from the import's place on.
    pub(super) fn of(import: &Import, source: S) -> Self {
        let (kind, format, place) = (import.kind, import.format, import.progress.place.clone());
        let columns = Format::columns(kind, &place.header).with_decimals(decimals(&place));
        let rows = RowReader::from(format, &place);
        Self {
            source,
            bytes: Vec::new(),
            used: 0,
            is_end: false,
            total: import.bytes(),
            kind,
            format,
            place,
            columns,
            rows,
            ahead: VecDeque::new(),
            is_one_by_one: false,
        }
    }

    /// The file in pages of one record.
    pub(super) fn one_by_one(self) -> Self {
        Self { is_one_by_one: true, ..self }
    }

    /// Reads the next page.
    ///
    /// # Errors
    /// Those of the source.
    pub(super) async fn page(&mut self, settings: &CellSettings) -> Result<ReadOutcome, Problem> {
        if self.format == FileFormat::Csv && self.place.header.is_empty() {
            return self.header().await;
        }
        let (mut records, mut cells, mut bytes) = (Vec::new(), 0_usize, 0_usize);
        while records.len() < self.page_size() && cells < CELLS && bytes < BYTES {
            let rows = self.record().await?;
            let Some(last) = rows.last() else {
                return Ok(match self.too_many() {
                    Some(broken) if records.is_empty() => broken,
                    Some(_) => self.full(records),
                    None => self.last(records),
                });
            };
            self.go_on_after(last);
            let last = last.number;
            cells = rows.iter().fold(cells, |sum, row| sum.saturating_add(row.width));
            bytes = rows.iter().fold(bytes, |sum, row| sum.saturating_add(row.size));
            let (rows, parent) = self.with_parent(rows).await?;
            let warned_row = parent.filter(|parent| parent.has_children).map(|parent| parent.row);
            let own = self.read(&rows, settings).into_iter();
            records
                .extend(own.map(|it| it.adding(parent.map(|_| last)).with_warnings_of(warned_row)));
        }
        Ok(self.full(records))
    }

    /// The rows of a record, behind the row that they belong to if that is further up in the file. Returns
    /// that one, as it was before.
    async fn with_parent(
        &mut self,
        mut rows: Vec<SheetRow>,
    ) -> Result<(Vec<SheetRow>, Option<Parent>), Problem> {
        let first = rows.first().filter(|_| self.format == FileFormat::Csv);
        match first.and_then(|row| Format::relation(self.kind, &self.columns, row)) {
            Some(Relation::Parent(keys)) => {
                let has_children = rows.len() > 1;
                if let Some(row) = rows.first() {
                    let parent = Parent { byte: row.begin, row: row.number, has_children };
                    self.place.parents.add(keys, parent);
                }
            }
            Some(Relation::ChildOf(key)) => {
                let parent = self.place.parents.of_child(&key);
                if let Some(parent) = parent
                    && let Some(row) = self.row_at(parent).await?
                {
                    rows.insert(0, row);
                    return Ok((rows, Some(parent)));
                }
            }
            None => {}
        }
        Ok((rows, None))
    }

    /// Reads a row that was read before.
    async fn row_at(&self, parent: Parent) -> Result<Option<SheetRow>, Problem> {
        let Parent { byte, row, .. } = parent;
        let (delimiter, blank) = (self.place.delimiter, Some(0));
        let place = ImportPosition { byte, row, delimiter, blank, ..ImportPosition::default() };
        let (mut source, mut rows) = (self.source.at(byte), RowReader::from(self.format, &place));
        loop {
            let bytes = source.next().await?;
            let mut used = 0_usize;
            while used < bytes.len() || bytes.is_empty() {
                let rest = bytes.get(used..).unwrap_or_default();
                let (more, row) = rows.read(rest, &self.columns);
                if row.is_some() || bytes.is_empty() {
                    return Ok(row);
                }
                used = used.saturating_add(more);
            }
        }
    }

    fn go_on_after(&mut self, row: &SheetRow) {
        self.place.byte = row.end;
        self.place.row = row.number.saturating_add(1);
        self.place.blank = Some(row.blank);
    }

    const fn page_size(&self) -> usize {
        match self.kind {
            _ if self.is_one_by_one => 1,
            ImportKind::Inventory => QUANTITIES,
            _ => RECORDS,
        }
    }

    fn full(&self, records: Vec<Record>) -> ReadOutcome {
        let place = self.place.clone();
        ReadOutcome::Page(RecordPage::of(records, place))
    }

    fn last(&self, mut records: Vec<Record>) -> ReadOutcome {
        records.extend(self.place.parents.childless().map(Record::childless));
        let place = ImportPosition { byte: self.total, ..self.place.clone() };
        ReadOutcome::Page(RecordPage { is_last: true, ..RecordPage::of(records, place) })
    }

    fn too_many(&self) -> Option<ReadOutcome> {
        let row = self.ahead.front().filter(|row| self.is_beyond(row))?;
        let detail = format!("A file must have at most {MAX_ROWS} rows, not counting blank ones.");
        Some(ReadOutcome::Unreadable(vec![Finding::error(
            (row.number, None),
            "too_many_rows",
            &detail,
        )]))
    }

    fn is_beyond(&self, row: &SheetRow) -> bool {
        let max_rows = MAX_ROWS.saturating_add(u64::from(self.format == FileFormat::Csv));
        row.number.saturating_sub(row.blank) > max_rows
    }

    /// The records of these rows.
    fn read(&self, rows: &[SheetRow], settings: &CellSettings) -> Vec<Record> {
        let Some(first) = rows.first() else { return Vec::new() };
        let mut records = match (self.format, first.error) {
            (FileFormat::Jsonl, None) => {
                vec![Record::line(self.kind, first.number, json(&first.line))]
            }
            (FileFormat::Jsonl, Some(_)) => vec![Record::rejected(first.number)],
            // A truncated row does not tell its whole request.
            (FileFormat::Csv, _) if rows.iter().any(is_cut) => vec![Record::rejected(first.number)],
            (FileFormat::Csv, _) => Format::of(self.kind, &self.columns, settings).records(rows),
        };
        let finding = |row: &SheetRow| {
            let (code, detail) = row.error?.text();
            Some(Finding::error((row.number, None), code, detail))
        };
        let findings: Vec<Finding> = rows.iter().filter_map(finding).collect();
        // A row that cannot be read is none of several records.
        records.truncate(if findings.is_empty() { records.len() } else { 1 });
        let reopened: Vec<Finding> = rows.iter().filter_map(|row| self.reopened(row)).collect();
        for record in &mut records {
            record.findings.extend(findings.iter().chain(&reopened).cloned());
        }
        records
    }

    /// The warning about a cell of the row that goes on after its closing quote.
    fn reopened(&self, row: &SheetRow) -> Option<Finding> {
        let place = row.reopened.filter(|place| self.columns.slot(*place).is_some())?;
        let detail = "Text follows the closing quote of the cell. It was imported without quotes.";
        let at = (row.number, Some(self.columns.name(place)));
        Some(Finding::warning(at, "misplaced_quote", detail))
    }

    /// Reads the rows of the next record; none at the end. Rows beyond the limits of a record are passed
    /// over.
    async fn record(&mut self) -> Result<Vec<SheetRow>, Problem> {
        let Some(first) = self.row().await? else { return Ok(Vec::new()) };
        let mut rows = vec![first];
        let keys = self.shared_keys(&rows);
        if keys.is_empty() {
            return Ok(rows);
        }
        let mut size = rows.iter().fold(0_usize, |sum, row| sum.saturating_add(row.size));
        while let Some(row) = self.row().await? {
            if !Format::continues(self.kind, &self.columns, &keys, &row) {
                self.ahead.push_back(row);
                break;
            }
            size = size.saturating_add(row.size);
            if rows.len() < ROWS_OF_RECORD && size <= MAX_ROW {
                rows.push(row);
            } else if let Some(last) = rows.last_mut() {
                last.error.get_or_insert(RowError::RecordTooLarge);
                (last.end, last.number) = (row.end, row.number);
            }
        }
        Ok(rows)
    }

    /// The keys of which the rows of one product or customer share one.
    fn shared_keys(&self, rows: &[SheetRow]) -> Vec<String> {
        let first = rows.first().filter(|_| self.format == FileFormat::Csv);
        first.map(|row| Format::shared_keys(self.kind, &self.columns, row)).unwrap_or_default()
    }

    /// Reads the next row within the limit of rows; blank ones are skipped.
    async fn row(&mut self) -> Result<Option<SheetRow>, Problem> {
        if let Some(row) = self.ahead.pop_front() {
            return Ok(self.or_put_back(row));
        }
        while let Some(row) = self.next(false).await? {
            if !row.is_blank {
                return Ok(self.or_put_back(row));
            }
        }
        Ok(None)
    }

    fn or_put_back(&mut self, row: SheetRow) -> Option<SheetRow> {
        if !self.is_beyond(&row) {
            return Some(row);
        }
        self.ahead.push_front(row);
        None
    }

    /// Reads the next row of the file.
    async fn next(&mut self, is_header: bool) -> Result<Option<SheetRow>, Problem> {
        let unknown = Columns::unknown();
        loop {
            let columns = if is_header { &unknown } else { &self.columns };
            let rest = self.bytes.get(self.used..).unwrap_or_default();
            // The reader takes an empty input for the end of the file.
            if rest.is_empty() && !self.is_end {
                self.read_more().await?;
                continue;
            }
            let is_over = rest.is_empty();
            let (used, row) = self.rows.read(rest, columns);
            self.used = self.used.saturating_add(used);
            if row.is_some() || is_over {
                return Ok(row);
            }
        }
    }

    /// Reads more of the file, behind the bytes not read yet.
    async fn read_more(&mut self) -> Result<(), Problem> {
        let more = self.source.next().await?;
        self.is_end = more.is_empty();
        if self.used >= self.bytes.len() {
            self.bytes = more;
        } else {
            self.bytes.drain(..self.used);
            self.bytes.extend(more);
        }
        self.used = 0;
        Ok(())
    }

    /// Leaves out the columns of these names. The page is that of the header.
    pub(super) fn leave_out(&mut self, names: &[String], page: &mut RecordPage) {
        self.columns = std::mem::take(&mut self.columns).without(names);
        self.place.header = self.columns.header_names();
        page.place = self.place.clone();
    }
}

/// The sign before decimals in a file that is read from this place on.
fn decimals(place: &ImportPosition) -> Decimals {
    if place.has_decimal_commas { Decimals::Comma } else { Decimals::Point }
}

/// Whether a part of the row, or a row after it of the same record, was passed over.
fn is_cut(row: &SheetRow) -> bool {
    let cut = [
        RowError::TooLarge,
        RowError::RecordTooLarge,
        RowError::UnclosedQuote,
        RowError::MisplacedQuote,
    ];
    row.error.is_some_and(|error| cut.contains(&error)) || row.width > MAX_COLUMNS
}

fn json(line: &[u8]) -> Result<Value, String> {
    let read = primitives::input::parse_json(line);
    match read {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("The line is not a JSON object.".to_owned()),
        Err(problem) => Err(problem.text().replace("The body", "The line")),
    }
}

#[cfg(test)]
mod tests;
