//! Rows of a file: of CSV, or of JSON lines.

use ground::fields::Currency;
use serde_json::Value;

use super::file::Window;
use super::finding::Finding;
use super::records::{Format, Record};
use super::{Import, ImportKind, MAX_ROWS, Place};
use crate::FileFormat;

/// Records of one page.
const RECORDS: usize = 100;
/// The same of quantities, several of which are one write.
const QUANTITIES: usize = 300;
/// Rows that are looked at for one page: more than one product has.
const ROWS: usize = 3_000;
/// What may be between two cells.
const DELIMITERS: [char; 3] = [',', ';', '\t'];
/// What a file of UTF-8 may begin with.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A row of CSV.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// From 1, which holds the names of the columns.
    pub(super) number: u64,
    /// What stands in it.
    pub(super) cells: Vec<String>,
    /// Where the next one begins, in bytes from where reading began.
    end: usize,
    /// Why it cannot be read.
    fault: Option<(&'static str, &'static str)>,
}

/// Some records, and where the next ones begin.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) records: Vec<Record>,
    pub(super) place: Place,
    /// Columns that are not read, once the header is.
    pub(super) ignored: Option<Vec<String>>,
    /// Whether there are no more.
    pub(super) is_last: bool,
}

/// What reading came to.
#[derive(Debug)]
pub(super) enum Read {
    Page(Page),
    /// It needs more of the file.
    More,
    /// Nothing can be made of the file, from there on.
    Broken(Vec<Finding>),
}

fn broken(row: u64, column: Option<&str>, code: &str, detail: &str) -> Finding {
    let (code, detail) = (code.to_owned(), detail.to_owned());
    Finding { row, column: column.map(str::to_owned), code, detail }
}

/// Reads the next page.
pub(super) fn read(import: &Import, window: &Window, currency: &Currency) -> Read {
    if import.place.row > MAX_ROWS.saturating_add(1) {
        let detail = format!("A file has at most {MAX_ROWS} rows.");
        return Read::Broken(vec![broken(import.place.row, None, "too_many_rows", &detail)]);
    }
    match import.format {
        FileFormat::Jsonl => lines(import, window),
        FileFormat::Csv if import.place.header.is_empty() => header(import, window, currency),
        FileFormat::Csv => rows(import, window, currency),
    }
}

fn most(import: &Import) -> usize {
    if import.kind == ImportKind::Inventory { QUANTITIES } else { RECORDS }
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// JSON lines; empty ones are none.
fn lines(import: &Import, window: &Window) -> Read {
    let bytes = window.from(import.place.byte);
    let mut place = import.place.clone();
    let (mut records, mut read) = (Vec::new(), 0_usize);
    if place.byte == 0 && bytes.starts_with(MARK) {
        read = MARK.len();
    }
    while records.len() < most(import) {
        let rest = bytes.get(read..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = match end {
            Some(end) => rest.get(..end).unwrap_or_default(),
            None if window.is_last && !rest.is_empty() => rest,
            None => break,
        };
        read = read.saturating_add(line.len()).saturating_add(usize::from(end.is_some()));
        if !line.trim_ascii().is_empty() {
            records.push(Record::line(place.row, json(line)));
        }
        place.row = place.row.saturating_add(1);
    }
    let is_last = window.is_last && read >= bytes.len();
    if read == 0 && !is_last {
        return Read::More;
    }
    place.byte = place.byte.saturating_add(size(read));
    Read::Page(Page { records, place, ignored: None, is_last })
}

fn json(line: &[u8]) -> Result<Value, String> {
    let read = gateway::request::parse_json(line);
    match read {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("The line is not a JSON object.".to_owned()),
        Err(problem) => Err(problem.text().replace("The body", "The line")),
    }
}

/// The first row: the names of the columns.
fn header(import: &Import, window: &Window, currency: &Currency) -> Read {
    let bytes = window.from(0);
    let skipped = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    let bytes = bytes.get(skipped..).unwrap_or_default();
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count =
        |delimiter: &char| line.iter().filter(|byte| char::from(**byte) == *delimiter).count();
    let delimiter = DELIMITERS.into_iter().rev().max_by_key(count).unwrap_or(',');
    let place = Place { row: 1, delimiter: Some(delimiter), ..import.place.clone() };
    let (rows, _) = parse(&place, bytes, window.is_last, 1);
    let Some(row) = rows.into_iter().next() else {
        if !window.is_last {
            return Read::More;
        }
        return Read::Broken(vec![broken(1, None, "empty_file", "The file is empty.")]);
    };
    if let Some((code, detail)) = row.fault {
        return Read::Broken(vec![broken(1, None, code, detail)]);
    }
    let header = row.cells.iter().map(|name| name.trim().to_owned()).collect();
    let byte = size(skipped.saturating_add(row.end));
    let place = Place { byte, row: 2, header, delimiter: Some(delimiter) };
    let format = Format::of(import.kind, &place, currency);
    let missing =
        |name: &str| broken(1, Some(name), "missing_column", "The file needs this column.");
    let missing: Vec<Finding> = format.missing().into_iter().map(missing).collect();
    if !missing.is_empty() {
        return Read::Broken(missing);
    }
    let ignored = Some(format.ignored());
    Read::Page(Page { records: Vec::new(), place, ignored, is_last: false })
}

/// Rows below the header.
fn rows(import: &Import, window: &Window, currency: &Currency) -> Read {
    let bytes = window.from(import.place.byte);
    let (rows, is_all) = parse(&import.place, bytes, window.is_last, ROWS);
    let format = Format::of(import.kind, &import.place, currency);
    let (mut records, mut read) = (Vec::new(), 0_usize);
    let mut place = import.place.clone();
    let mut left = rows.as_slice();
    while records.len() < most(import) {
        let Some(count) = format.rows_of_record(left, is_all) else { break };
        let (own, rest) = left.split_at(count.min(left.len()));
        records.extend(format.record(own).map(|record| with_faults(record, own)));
        read = own.last().map_or(read, |row| row.end);
        place.row = own.last().map_or(place.row, |row| row.number.saturating_add(1));
        left = rest;
    }
    let is_last = is_all && left.is_empty();
    if records.is_empty() && !is_last {
        return Read::More;
    }
    place.byte = if is_last { import.bytes() } else { place.byte.saturating_add(size(read)) };
    Read::Page(Page { records, place, ignored: None, is_last })
}

/// The record with what keeps its rows from being read at all.
fn with_faults(mut record: Record, rows: &[Row]) -> Record {
    let fault = |row: &Row| row.fault.map(|(code, detail)| broken(row.number, None, code, detail));
    record.faults.extend(rows.iter().filter_map(fault));
    record
}

/// The rows that are whole, at most so many, and whether these are all that are left.
fn parse(place: &Place, bytes: &[u8], is_last: bool, limit: usize) -> (Vec<Row>, bool) {
    let delimiter = place.delimiter.and_then(|one| u8::try_from(one).ok()).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(bytes);
    let (mut rows, mut number, mut record) = (Vec::new(), place.row, csv::ByteRecord::new());
    while rows.len() < limit {
        // Reading out of memory does not fail, nor does a row of another length.
        if !reader.read_byte_record(&mut record).unwrap_or(false) {
            return (rows, is_last);
        }
        let end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        if end >= bytes.len() && !is_last {
            return (rows, false);
        }
        rows.push(row(&record, place, number, end));
        number = number.saturating_add(1);
    }
    (rows, false)
}

fn row(record: &csv::ByteRecord, place: &Place, number: u64, end: usize) -> Row {
    let text = |cell: &[u8]| std::str::from_utf8(cell).map(str::to_owned).ok();
    let cells: Option<Vec<String>> = record.iter().map(text).collect();
    let is_longer = !place.header.is_empty() && record.len() > place.header.len();
    let fault = match &cells {
        None => Some(("invalid_encoding", "The row is not UTF-8.")),
        Some(_) if is_longer => Some(("too_many_cells", "The row has more cells than the first.")),
        Some(_) => None,
    };
    let lossy = || record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
    Row { number, cells: cells.unwrap_or_else(lossy), end, fault }
}
