//! Quotes of a file: the reader of CSV forgives those that are not closed, or closed too early, and then
//! takes the rows that follow for text of one cell.

/// The state within a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum QuoteState {
    /// Before its first byte.
    #[default]
    Start,
    /// In a cell without quotes, or behind text after its closing quote.
    Plain,
    /// Between its quotes.
    Quoted,
    /// After a quote that closes it, or is the first of two.
    Quote,
    /// After its closing quote, and blanks behind that.
    Closed,
}

/// Follows the quotes of the bytes that the reader has used.
#[derive(Debug, Default)]
pub(super) struct Quotes {
    state: QuoteState,
    /// The number of the cell in its row, from 0.
    cell: usize,
    has_lines: bool,
    is_misplaced: bool,
    /// The first cell of one line with text after its closing quote.
    reopened: Option<usize>,
}

impl Quotes {
    /// Follows the next bytes.
    pub(super) fn follow(&mut self, bytes: &[u8], delimiter: u8) {
        for byte in bytes {
            self.state = self.after(*byte, delimiter);
            if self.state == QuoteState::Start {
                self.cell = if *byte == delimiter { self.cell.saturating_add(1) } else { 0 };
            }
        }
    }

    fn after(&mut self, byte: u8, delimiter: u8) -> QuoteState {
        let is_end = byte == delimiter || matches!(byte, b'\r' | b'\n');
        match self.state {
            QuoteState::Quoted => {
                self.has_lines |= matches!(byte, b'\r' | b'\n');
                if byte == b'"' { QuoteState::Quote } else { QuoteState::Quoted }
            }
            QuoteState::Quote if byte == b'"' => QuoteState::Quoted,
            QuoteState::Quote | QuoteState::Closed if byte == b' ' => QuoteState::Closed,
            QuoteState::Quote | QuoteState::Closed if !is_end => {
                // `"5 inch` up to the next quote of the file, many rows below, is no cell.
                self.is_misplaced |= self.has_lines;
                if !self.has_lines {
                    self.reopened.get_or_insert(self.cell);
                }
                QuoteState::Plain
            }
            QuoteState::Start if byte == b'"' => {
                self.has_lines = false;
                QuoteState::Quoted
            }
            _ if is_end => QuoteState::Start,
            _ => QuoteState::Plain,
        }
    }

    /// Whether a quoted cell is still open.
    pub(super) fn is_open(&self) -> bool {
        self.state == QuoteState::Quoted
    }

    /// Whether text followed the closing quote of a cell of several lines, since the last call.
    pub(super) fn take_misplaced(&mut self) -> bool {
        std::mem::take(&mut self.is_misplaced)
    }

    /// The first cell of one line with text after its closing quote, since the last call.
    pub(super) fn take_reopened(&mut self) -> Option<usize> {
        self.reopened.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_quote_and_text_behind_one_are_seen() {
        for (text, is_open, is_misplaced, reopened) in [
            ("a,b\n", false, false, None),
            ("a,\"b\nc\"\n", false, false, None),
            ("a,\"b \"\"c\"\" d\"\n", false, false, None),
            ("a,12\" pipe\n", false, false, None),
            ("a,\"12\" pipe\n", false, false, Some(1)),
            ("\"a\"b,\"c\"d\n", false, false, Some(0)),
            ("a,b\n\"c\"d,e\n", false, false, Some(0)),
            ("a,\"b\" \n", false, false, None),
            ("a,\"b\"  c\n", false, false, Some(1)),
            ("a,\"12 pipe\nb,c\n", true, false, None),
            ("a,\"12 pipe\nb,\"c\"\n", false, true, None),
            ("a,\"", true, false, None),
            ("a,\"\"", false, false, None),
        ] {
            let mut quotes = Quotes::default();
            quotes.follow(text.as_bytes(), b',');
            assert_eq!(
                (quotes.is_open(), quotes.take_misplaced(), quotes.take_reopened()),
                (is_open, is_misplaced, reopened),
                "{text}"
            );
        }
    }
}
