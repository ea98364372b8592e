//! Comma-separated values.
//!
//! **A text is never a formula.** A program that opens a file takes a cell that begins with `=`, `+`, `-`,
//! `@` or their full-width forms for one, and one that begins with a tab or an end of line (OWASP, *CSV
//! Injection*): such a text is written behind an apostrophe, which those programs do not show, and read
//! without it. Numbers are written as they are.

/// What a formula may begin with.
const BEGINNINGS: [char; 11] =
    ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\t', '\r', '\n'];

/// A text as it stands in a cell: no formula.
pub fn text(text: &str) -> String {
    if is_formula(text) { format!("'{text}") } else { text.to_owned() }
}

fn is_formula(text: &str) -> bool {
    // What stands behind apostrophes already would lose one of them when it is read.
    text.trim_start_matches('\'').starts_with(BEGINNINGS)
}

/// The text that was written into a cell so.
pub fn plain(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(cell)
}

/// Rows as a file has them.
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
    fn what_a_program_would_take_for_a_formula_is_a_text() {
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
    fn cells_are_quoted_where_they_must_be() {
        let row = ["a,b", "say \"x\"", "two\nlines", ""].map(str::to_owned).to_vec();
        assert_eq!(rows(&[row]), b"\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\n");
    }
}
