//! Parses the JSON of themes as Shopify does: with comments, and with commas behind last elements.

use serde_json::Value;

/// Parses a file.
///
/// # Errors
/// The problem, with its line.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "Must be UTF-8.".to_owned())?;
    let mut json = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
    // Blanks stand in for what is removed, line ends included.
    json_strip_comments::strip(&mut json).map_err(|error| format!("Must be JSON: {error}."))?;
    serde_json::from_str(&json).map_err(|error| {
        let lines = json.split_inclusive('\n').take(error.line().saturating_sub(1));
        let start = lines.map(str::len).fold(0, usize::saturating_add);
        let before = text.get(..start.saturating_add(error.column())).unwrap_or(text);
        let line = before.matches('\n').count().saturating_add(1);
        format!("Must be JSON: {error}, which is line {line} of the file.")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_last_commas_are_allowed() {
        let good = [
            "{\"a\":1}",
            "\u{feff}{\"a\":1}",
            "/*\n * x\n */\n{\"a\":1}",
            " /**//* */ {\"a\":1}\n",
            "{\"a\":1,} /* x */",
            "{\n  // x, \"b\"\n  \"a\": 1, // y\n}",
        ];
        for text in good {
            assert_eq!(parse(text.as_bytes()), Ok(json!({"a": 1})), "{text}");
        }
        let texts = "{\"a\": [\"// no comment\", \"/* nor this */\", \"\\\"//,]\",],}";
        let expected = json!({"a": ["// no comment", "/* nor this */", "\"//,]"]});
        assert_eq!(parse(texts.as_bytes()), Ok(expected));
        for text in ["", "/* {\"a\":1}", "{\"a\":1}{}", "{'a':1}", "{\"a\":NaN}", "[1,,2]"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(&[0xff]).is_err());
        assert!(parse(b"/*\n\n*/\n{\n  x").unwrap_err().contains("line 5 of the file"));
        assert!(parse("[".repeat(100_000).as_bytes()).is_err(), "its depth is bounded");
    }
}
