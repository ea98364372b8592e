//! Comma-separated values.
//!
//! **A text is never a formula.** Programs that open a file take a cell for a formula when it begins with
//! `=`, `+`, `-`, `@` or their full-width forms, or with a tab or an end of line (OWASP, *CSV
//! Injection*). Such a text is written after an apostrophe, which those programs hide, and read without
//! it. A program that separates cells by semicolons or tabs, as its language has it, finds cells within a
//! cell: what would begin one there is written after an apostrophe too. Numbers are written unchanged.

use std::borrow::Cow;

/// The characters that a formula may begin with.
const FORMULA_STARTS: [char; 8] =
    ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
/// The characters that some programs skip before a formula.
const SKIPPED: [char; 3] = ['\t', '\r', '\n'];
/// The characters after which another program may see the beginning of a cell, within a cell of ours.
const OTHER_DELIMITERS: [char; 4] = [';', '\t', '\r', '\n'];

/// The cell for a text: never a formula, nor is any part of it.
pub fn text(text: &str) -> String {
    guarded(text, is_formula(text))
}

fn is_formula(text: &str) -> bool {
    // A text that already begins with apostrophes and a formula would lose one of them when read.
    let text = text.trim_start_matches('\'');
    text.starts_with(FORMULA_STARTS) || text.starts_with(SKIPPED)
}

/// Whether the rest of a cell, behind a delimiter, is a formula for a program that separates cells by it. That
/// program reads a quotation mark there as the beginning of a quoted cell.
fn is_formula_within(rest: &str) -> bool {
    rest.trim_start_matches(['\'', '"']).starts_with(FORMULA_STARTS)
}

/// The text with an apostrophe before each part that would be a formula, and at its beginning if it needs one.
fn guarded(text: &str, at_beginning: bool) -> String {
    let mut cell = String::with_capacity(text.len());
    if at_beginning {
        cell.push('\'');
    }
    for (index, c) in text.char_indices() {
        cell.push(c);
        let rest = text.get(index.saturating_add(c.len_utf8())..).unwrap_or_default();
        if OTHER_DELIMITERS.contains(&c) && is_formula_within(rest) {
            cell.push('\'');
        }
    }
    cell
}

/// A cell without the apostrophes within it, which a reader removes first.
pub fn unguarded(cell: &str) -> Cow<'_, str> {
    if !cell.contains(OTHER_DELIMITERS) {
        return Cow::Borrowed(cell);
    }
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some((index, delimiter)) =
        rest.char_indices().find(|(_, c)| OTHER_DELIMITERS.contains(c))
    {
        let (before, after) = rest.split_at(index.saturating_add(delimiter.len_utf8()));
        text.push_str(before);
        rest = after.strip_prefix('\'').filter(|rest| is_formula_within(rest)).unwrap_or(after);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The text of an [`unguarded`] cell: the inverse of [`text`]. A formula that is a text, `="00123"`, is that
/// text.
pub fn plain(cell: &str) -> &str {
    let plain = cell.strip_prefix('\'').filter(|rest| is_formula(rest));
    plain.or_else(|| quoted_text(cell)).unwrap_or(cell)
}

/// The cell for a code, a number or a telephone number, in which an apostrophe is a sign that it is text:
/// the inverse of [`plain_code`].
pub fn code(code: &str) -> String {
    guarded(code, is_formula(code) || code.starts_with('\''))
}

/// The text of an [`unguarded`] cell of codes. Spreadsheets and Shopify write an apostrophe before those that would
/// otherwise be read as numbers: `'00123`.
pub fn plain_code(cell: &str) -> &str {
    cell.strip_prefix('\'').or_else(|| quoted_text(cell)).unwrap_or(cell)
}

/// The text of a formula like `="00123"`, by which spreadsheets are kept from reading a number.
fn quoted_text(cell: &str) -> Option<&str> {
    let text = cell.strip_prefix("=\"")?.strip_suffix('"')?;
    (!text.contains('"')).then_some(text)
}

/// Encodes rows as CSV. A cell is quoted where RFC 4180 requires it, and where another program could find a
/// delimiter or a formula in it.
pub fn rows(rows: &[Vec<String>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in rows {
        for (number, cell) in row.iter().enumerate() {
            if number > 0 {
                bytes.push(b',');
            }
            bytes.extend_from_slice(quoted(cell).as_bytes());
        }
        bytes.push(b'\n');
    }
    bytes
}

fn quoted(cell: &str) -> Cow<'_, str> {
    let is_special = |c: char| {
        matches!(c, ',' | '"') || OTHER_DELIMITERS.contains(&c) || FORMULA_STARTS.contains(&c)
    };
    if cell.contains(is_special) {
        Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_written_as_text() {
        for formula in [
            "=1+1",
            "+49 30 1234",
            "-2",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "＝1",
            "＋1",
            "－1",
            "＠A1",
            "'=1",
            "''-1",
            "'\n1",
            "'＝1",
        ] {
            let cell = text(formula);
            assert!(cell.starts_with('\'') && cell.trim_matches('\'').len() > 1, "{cell}");
            assert_eq!(plain(&unguarded(&cell)), formula);
        }
        for harmless in ["", "a=1", "1-2", "'s-Hertogenbosch", "5", "a; b", "two\r\n\nlines"] {
            assert_eq!((text(harmless).as_str(), plain(harmless)), (harmless, harmless));
        }
    }

    #[test]
    fn no_part_of_a_cell_is_a_formula_for_another_delimiter() {
        for (told, cell) in [
            ("a;=1+1", "a;'=1+1"),
            ("a\t@x;-2", "a\t'@x;'-2"),
            ("a\n=1", "a\n'=1"),
            ("a\r\n+1", "a\r\n'+1"),
            ("a;\"=1\"", "a;'\"=1\""),
            ("a;'=1", "a;''=1"),
            ("=1;=2", "'=1;'=2"),
            ("\t=1", "'\t'=1"),
            ("a;;=1", "a;;'=1"),
            ("a;\u{ff1d}1", "a;'\u{ff1d}1"),
        ] {
            assert_eq!((text(told).as_str(), code(told).as_str()), (cell, cell), "{told:?}");
            let cell = &*unguarded(cell);
            assert_eq!((plain(cell), plain_code(cell)), (told, told), "{cell:?}");
        }
        let row = ["a;b", "a\tb", "x=1", "ada@example.com", "plain"].map(str::to_owned).to_vec();
        let line = "\"a;b\",\"a\tb\",\"x=1\",\"ada@example.com\",plain\n";
        assert_eq!(String::from_utf8(rows(&[row])).unwrap(), line);
    }

    #[test]
    fn codes_lose_the_apostrophe_that_makes_them_text() {
        for (cell, text) in [
            ("'M5C1N7", "M5C1N7"),
            ("'+14165550123", "+14165550123"),
            ("=\"00123\"", "00123"),
            ("00123", "00123"),
        ] {
            assert_eq!(plain_code(cell), text);
        }
        assert_eq!((plain("'s-Hertogenbosch"), plain("=\"00123\"")), ("'s-Hertogenbosch", "00123"));
        for text in ["'00123", "=\"1\"", "+1", "AB-1", "''", ""] {
            assert_eq!(plain_code(&code(text)), text);
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let row = ["a,b", "say \"x\"", "two\nlines", ""].map(str::to_owned).to_vec();
        assert_eq!(rows(&[row]), b"\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\n");
    }
}
