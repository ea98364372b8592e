//! Rows of a file, bounded while they are read: no more of a row is in memory than its limit, whatever
//! the file has.

mod quotes;

use super::ImportPosition;
use super::columns::Columns;
use crate::FileFormat;
use quotes::Quotes;

/// The most bytes in the cells of one row.
pub const MAX_ROW: usize = 1 << 20;
/// The most columns of one file.
pub const MAX_COLUMNS: usize = 500;

/// The byte order mark of UTF-8.
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a row cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowError {
    TooLarge,
    TooManyCells,
    RecordTooLarge,
    InvalidEncoding,
    UnclosedQuote,
    MisplacedQuote,
}

impl RowError {
    /// Its code and its detail.
    pub(super) const fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::TooLarge => ("row_too_large", "A row must have at most 1 MiB."),
            Self::TooManyCells => ("too_many_cells", "The row has more cells than the header row."),
            Self::RecordTooLarge => (
                "record_too_large",
                "A product must have at most 1,000 rows, of at most 1 MiB together.",
            ),
            Self::InvalidEncoding => ("invalid_encoding", "The row must be UTF-8."),
            Self::UnclosedQuote => (
                "unclosed_quote",
                "A quote that this row opens is not closed: the rest of the file was not read.",
            ),
            Self::MisplacedQuote => (
                "misplaced_quote",
                "Text follows the closing quote of a cell with several lines: some rows may not have been read.",
            ),
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
pub(super) struct SheetRow {
    /// The number, from 1; the first row of CSV is the header.
    pub(super) number: u64,
    /// The non-empty cells of the columns that are read.
    pub(super) cells: Vec<Cell>,
    /// The line, in a file of JSON lines.
    pub(super) line: Vec<u8>,
    /// Why it cannot be read.
    pub(super) error: Option<RowError>,
    /// The place of the first column whose cell has text after its closing quote.
    pub(super) reopened: Option<usize>,
    /// The number of cells read.
    pub(super) width: usize,
    /// The number of bytes read.
    pub(super) size: usize,
    /// Whether all of its cells are empty, and those of ignored columns too.
    pub(super) is_blank: bool,
    /// The number of blank rows so far.
    pub(super) blank: u64,
    /// Its offset in the file.
    pub(super) begin: u64,
    /// The offset of the next row in the file.
    pub(super) end: u64,
}

/// A reader of rows from bytes that arrive in chunks of any length.
#[derive(Debug)]
pub(super) struct RowReader {
    /// None for JSON lines.
    csv: Option<csv_core::Reader>,
    output: Vec<u8>,
    filled: usize,
    ends: Vec<usize>,
    ended: usize,
    /// A row with an error, whose rest is passed over.
    rejected: Option<SheetRow>,
    /// A row that has ended with a carriage return, to which a line feed may belong.
    ended_row: Option<SheetRow>,
    /// Whether the last byte was a carriage return, to which a line feed may belong.
    is_after_return: bool,
    is_within: bool,
    begin: u64,
    delimiter: u8,
    quotes: Quotes,
    number: u64,
    blank: u64,
    byte: u64,
}

impl RowReader {
    /// A reader from a place of a file on.
    pub(super) fn from(format: FileFormat, place: &ImportPosition) -> Self {
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
            ended_row: None,
            // Progress that was stored without the number of blank rows may be before a line feed.
            is_after_return: place.blank.is_none() && place.byte > 0,
            is_within: false,
            begin: place.byte,
            delimiter,
            quotes: Quotes::default(),
            number: place.row,
            blank: place.blank.unwrap_or(0),
            byte: place.byte,
        }
    }

    /// Reads to the end of a row at most. Returns how many bytes it has used, and the row that ended
    /// there. An empty input means the end of the file.
    pub(super) fn read(&mut self, input: &[u8], columns: &Columns) -> (usize, Option<SheetRow>) {
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
    ) -> (usize, Option<SheetRow>) {
        use csv_core::ReadRecordResult as Found;

        let (mut used, is_end) = (self.skip_line_ends(input), input.is_empty());
        if let Some(row) = self.ended_row.take() {
            return (used, Some(SheetRow { end: self.byte, ..row }));
        }
        loop {
            let rest = input.get(used..).unwrap_or_default();
            if rest.is_empty() && !is_end {
                return (used, None);
            }
            // The rest of a rejected row is written to the same buffer again and again.
            let output = self.output.get_mut(self.filled..).unwrap_or_default();
            let ends = self.ends.get_mut(self.ended..).unwrap_or_default();
            let (found, read, written, ended) = csv.read_record(rest, output, ends);
            let bytes = rest.get(..read).unwrap_or_default();
            self.quotes.follow(bytes, self.delimiter);
            if !self.is_within && read > 0 {
                (self.is_within, self.begin) = (true, self.byte);
            }
            used = used.saturating_add(read);
            self.byte = self.byte.saturating_add(size(read));
            if self.rejected.is_none() {
                self.filled = self.filled.saturating_add(written);
                self.ended = self.ended.saturating_add(ended);
            }
            match found {
                Found::OutputFull => self.reject(RowError::TooLarge, columns),
                Found::OutputEndsFull => self.reject(RowError::TooManyCells, columns),
                Found::Record => {
                    let row = self.finish(columns);
                    if bytes.last() != Some(&b'\r') {
                        return (used, Some(row));
                    }
                    self.ended_row = Some(row);
                    self.is_after_return = true;
                    let rest = input.get(used..).unwrap_or_default();
                    if rest.is_empty() {
                        return (used, None);
                    }
                    used = used.saturating_add(self.skip_line_end(rest));
                    let row = self.ended_row.take();
                    return (used, row.map(|row| SheetRow { end: self.byte, ..row }));
                }
                Found::InputEmpty if is_end => return (used, None),
                Found::InputEmpty => {}
                Found::End => return (used, None),
            }
        }
    }

    /// Passes over the line feed that belongs to a carriage return. Returns how many bytes it has used.
    fn skip_line_end(&mut self, input: &[u8]) -> usize {
        let is_rest = std::mem::take(&mut self.is_after_return) && input.first() == Some(&b'\n');
        self.byte = self.byte.saturating_add(u64::from(is_rest));
        usize::from(is_rest)
    }

    /// Passes over blank lines before a row, and counts them as rows. Returns how many bytes it has used.
    fn skip_line_ends(&mut self, input: &[u8]) -> usize {
        if input.is_empty() {
            return 0;
        }
        let mut used = self.skip_line_end(input);
        if self.is_within || self.ended_row.is_some() {
            return used;
        }
        while let Some(byte @ (b'\r' | b'\n')) = input.get(used) {
            self.is_after_return = *byte == b'\r';
            (self.number, self.blank) =
                (self.number.saturating_add(1), self.blank.saturating_add(1));
            self.byte = self.byte.saturating_add(1);
            used = used.saturating_add(1);
            let rest = input.get(used..).unwrap_or_default();
            if self.is_after_return && !rest.is_empty() {
                used = used.saturating_add(self.skip_line_end(rest));
            }
        }
        used
    }

    /// Reads a line; the last one may end with the file.
    fn line(&mut self, input: &[u8]) -> (usize, Option<SheetRow>) {
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
        let row = SheetRow { error: Some(error), line: Vec::new(), ..self.row(columns) };
        self.rejected.get_or_insert(row);
        (self.filled, self.ended) = (0, 0);
    }

    fn finish(&mut self, columns: &Columns) -> SheetRow {
        let row = match self.rejected.take() {
            Some(row) => row,
            None => self.row(columns),
        };
        (self.filled, self.ended, self.is_within) = (0, 0, false);
        let misplaced = self.quotes.take_misplaced().then_some(RowError::MisplacedQuote);
        let reopened = self.quotes.take_reopened();
        let unclosed = self.quotes.is_open().then_some(RowError::UnclosedQuote);
        let error = unclosed.or(row.error).or(misplaced);
        let is_blank = row.is_blank && error.is_none();
        self.blank = self.blank.saturating_add(u64::from(is_blank));
        let (number, blank) = (self.number, self.blank);
        let (begin, end) = (self.begin, self.byte);
        self.number = self.number.saturating_add(1);
        SheetRow { number, error, reopened, is_blank, blank, begin, end, ..row }
    }

    /// The row read so far.
    fn row(&self, columns: &Columns) -> SheetRow {
        let bytes = self.output.get(..self.filled).unwrap_or_default();
        if self.ends.is_empty() {
            let is_first = self.number == 1;
            let bytes = bytes.strip_prefix(MARK).filter(|_| is_first).unwrap_or(bytes);
            let (is_blank, size) = (bytes.trim_ascii().is_empty(), bytes.len());
            return SheetRow { line: bytes.to_vec(), is_blank, size, ..SheetRow::default() };
        }
        let ends = self.ends.get(..self.ended).unwrap_or_default();
        let (cells, is_text) = columns.cells(bytes, ends);
        let error = match (is_text, columns.width()) {
            (false, _) => Some(RowError::InvalidEncoding),
            (true, Some(width)) if has_more(bytes, ends, width) => Some(RowError::TooManyCells),
            _ => None,
        };
        let is_blank = bytes.trim_ascii().is_empty();
        let (width, size) = (ends.len(), bytes.len());
        SheetRow { cells, error, width, size, is_blank, ..SheetRow::default() }
    }
}

/// Whether a row has text behind the last column.
fn has_more(bytes: &[u8], ends: &[usize], width: usize) -> bool {
    let end = width.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0);
    ends.len() > width && !bytes.get(end..).unwrap_or_default().trim_ascii().is_empty()
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
