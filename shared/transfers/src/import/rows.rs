//! Rows of a file, bounded while they are read: no more of a row is in memory than its limit, whatever
//! the file has.

use super::Place;
use super::columns::Columns;
use crate::FileFormat;

/// The most bytes in the cells of one row.
pub const MAX_ROW: usize = 1 << 20;
/// The most columns of one file.
pub const MAX_COLUMNS: usize = 500;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a row cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowError {
    TooLarge,
    TooManyCells,
    RecordTooLarge,
    InvalidEncoding,
}

impl RowError {
    /// Its code and its detail.
    pub(super) const fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::TooLarge => ("row_too_large", "A row has at most 1 MiB."),
            Self::TooManyCells => ("too_many_cells", "The row has more cells than the first."),
            Self::RecordTooLarge => {
                ("record_too_large", "A product has at most 1,000 rows, which have 1 MiB together.")
            }
            Self::InvalidEncoding => ("invalid_encoding", "The row is not UTF-8."),
        }
    }
}

/// A cell of a column that is read.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    /// The column's place in the file, from 0.
    pub(super) place: usize,
    /// The text, without surrounding white space.
    pub(super) text: String,
}

/// A row.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The number, from 1; the first row of CSV is the header.
    pub(super) number: u64,
    /// The non-empty cells of the columns that are read.
    pub(super) cells: Vec<Cell>,
    /// The line, in a file of JSON lines.
    pub(super) line: Vec<u8>,
    /// Why it cannot be read.
    pub(super) error: Option<RowError>,
    /// The number of cells read.
    pub(super) width: usize,
    /// The number of bytes read.
    pub(super) size: usize,
    /// The offset of the next row in the file.
    pub(super) end: u64,
}

/// A reader of rows from bytes that arrive in chunks of any length.
#[derive(Debug)]
pub(super) struct Rows {
    /// None for JSON lines.
    csv: Option<csv_core::Reader>,
    output: Vec<u8>,
    filled: usize,
    ends: Vec<usize>,
    ended: usize,
    /// A row with an error, whose rest is passed over.
    rejected: Option<Row>,
    number: u64,
    byte: u64,
}

impl Rows {
    /// A reader from a place of a file on.
    pub(super) fn from(format: FileFormat, place: &Place) -> Self {
        let delimiter = place.delimiter.and_then(|one| u8::try_from(one).ok()).unwrap_or(b',');
        let csv = (format == FileFormat::Csv)
            .then(|| csv_core::ReaderBuilder::new().delimiter(delimiter).build());
        let ends = if csv.is_some() { vec![0; MAX_COLUMNS.saturating_add(1)] } else { Vec::new() };
        Self {
            csv,
            output: vec![0; MAX_ROW],
            filled: 0,
            ends,
            ended: 0,
            rejected: None,
            number: place.row,
            byte: place.byte,
        }
    }

    /// Reads to the end of a row at most. Returns how many bytes it has used, and the row that ended
    /// there. An empty input means the end of the file.
    pub(super) fn read(&mut self, input: &[u8], columns: &Columns) -> (usize, Option<Row>) {
        match self.csv.take() {
            Some(mut csv) => {
                let read = self.record(&mut csv, input, columns);
                self.csv = Some(csv);
                read
            }
            None => self.line(input),
        }
    }

    fn record(
        &mut self,
        csv: &mut csv_core::Reader,
        input: &[u8],
        columns: &Columns,
    ) -> (usize, Option<Row>) {
        use csv_core::ReadRecordResult as Found;

        let (mut used, is_end) = (0_usize, input.is_empty());
        loop {
            let rest = input.get(used..).unwrap_or_default();
            if rest.is_empty() && !is_end {
                return (used, None);
            }
            // The rest of a rejected row is written to the same buffer again and again.
            let output = self.output.get_mut(self.filled..).unwrap_or_default();
            let ends = self.ends.get_mut(self.ended..).unwrap_or_default();
            let (found, read, written, ended) = csv.read_record(rest, output, ends);
            used = used.saturating_add(read);
            self.byte = self.byte.saturating_add(size(read));
            if self.rejected.is_none() {
                self.filled = self.filled.saturating_add(written);
                self.ended = self.ended.saturating_add(ended);
            }
            match found {
                Found::OutputFull => self.reject(RowError::TooLarge, columns),
                Found::OutputEndsFull => self.reject(RowError::TooManyCells, columns),
                Found::Record => return (used, Some(self.finish(columns))),
                Found::InputEmpty if is_end => return (used, None),
                Found::InputEmpty => {}
                Found::End => return (used, None),
            }
        }
    }

    /// Reads a line; the last one may end with the file.
    fn line(&mut self, input: &[u8]) -> (usize, Option<Row>) {
        let end = input.iter().position(|byte| *byte == b'\n');
        let text = end.and_then(|end| input.get(..end)).unwrap_or(input);
        let used = text.len().saturating_add(usize::from(end.is_some()));
        self.byte = self.byte.saturating_add(size(used));
        if self.rejected.is_none() {
            let filled = self.filled.saturating_add(text.len());
            match self.output.get_mut(self.filled..filled) {
                Some(space) => {
                    space.copy_from_slice(text);
                    self.filled = filled;
                }
                None => self.reject(RowError::TooLarge, &Columns::default()),
            }
        }
        let is_whole = end.is_some() || (input.is_empty() && self.is_within_row());
        (used, is_whole.then(|| self.finish(&Columns::default())))
    }

    fn is_within_row(&self) -> bool {
        self.filled > 0 || self.rejected.is_some()
    }

    /// Rejects the row and passes over its rest; the cells read so far stay.
    fn reject(&mut self, error: RowError, columns: &Columns) {
        let row = Row { error: Some(error), line: Vec::new(), ..self.row(columns) };
        self.rejected.get_or_insert(row);
        (self.filled, self.ended) = (0, 0);
    }

    fn finish(&mut self, columns: &Columns) -> Row {
        let row = match self.rejected.take() {
            Some(row) => row,
            None => self.row(columns),
        };
        (self.filled, self.ended) = (0, 0);
        let row = Row { number: self.number, end: self.byte, ..row };
        self.number = self.number.saturating_add(1);
        row
    }

    /// The row read so far.
    fn row(&self, columns: &Columns) -> Row {
        let bytes = self.output.get(..self.filled).unwrap_or_default();
        if self.ends.is_empty() {
            let is_first = self.number == 1;
            let bytes = bytes.strip_prefix(MARK).filter(|_| is_first).unwrap_or(bytes);
            return Row { line: bytes.to_vec(), size: bytes.len(), ..Row::default() };
        }
        let ends = self.ends.get(..self.ended).unwrap_or_default();
        let (cells, is_text) = columns.cells(bytes, ends);
        let error = match (is_text, columns.width()) {
            (false, _) => Some(RowError::InvalidEncoding),
            (true, Some(width)) if ends.len() > width => Some(RowError::TooManyCells),
            _ => None,
        };
        Row { cells, error, width: ends.len(), size: bytes.len(), ..Row::default() }
    }
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
