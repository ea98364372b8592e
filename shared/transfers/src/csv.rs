//! Comma-separated values.
//!
//! **A text is never a formula.** Programs that open a file take a cell for a formula when it begins with
//! `=`, `+`, `-`, `@` or their full-width forms, or with a tab or an end of line (OWASP, *CSV
//! Injection*). Such a text is written after an apostrophe, which those programs hide, and read without
//! it. Numbers are written unchanged.

/// The characters that a formula may begin with.
const FORMULA_STARTS: [char; 11] =
    ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\t', '\r', '\n'];

/// The cell for a text: never a formula.
pub fn text(text: &str) -> String {
    if is_formula(text) { format!("'{text}") } else { text.to_owned() }
}

fn is_formula(text: &str) -> bool {
    // A text that already begins with apostrophes and a formula would lose one of them when read.
    text.trim_start_matches('\'').starts_with(FORMULA_STARTS)
}

/// The text of a cell: the inverse of [`text`]. A formula that is a text, `="00123"`, is that text.
pub fn plain(cell: &str) -> &str {
    let plain = cell.strip_prefix('\'').filter(|rest| is_formula(rest));
    plain.or_else(|| quoted_text(cell)).unwrap_or(cell)
}

/// The cell for a code, a number or a telephone number, in which an apostrophe is a sign that it is text:
/// the inverse of [`plain_code`].
pub fn code(code: &str) -> String {
    if is_formula(code) || code.starts_with('\'') { format!("'{code}") } else { code.to_owned() }
}

/// The text of a cell of codes. Spreadsheets and Shopify write an apostrophe before those that would
/// otherwise be read as numbers: `'00123`.
pub fn plain_code(cell: &str) -> &str {
    cell.strip_prefix('\'').or_else(|| quoted_text(cell)).unwrap_or(cell)
}

/// The text of a formula like `="00123"`, by which spreadsheets are kept from reading a number.
fn quoted_text(cell: &str) -> Option<&str> {
    let text = cell.strip_prefix("=\"")?.strip_suffix('"')?;
    (!text.contains('"')).then_some(text)
}

/// Encodes rows as CSV.
pub fn rows(rows: &[Vec<String>]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in rows {
        // Writing into memory does not fail, and rows may differ in length.
        let _ = writer.write_record(row);
    }
    writer.into_inner().unwrap_or_default()
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
            assert_eq!(cell, format!("'{formula}"));
            assert_eq!(plain(&cell), formula);
        }
        for harmless in ["", "a=1", "1-2", "'s-Hertogenbosch", "5"] {
            assert_eq!((text(harmless).as_str(), plain(harmless)), (harmless, harmless));
        }
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
