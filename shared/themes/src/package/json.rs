//! Parses the JSON files of themes, which may begin with a comment, as Shopify's tools write one.

use serde_json::Value;

/// Parses a file.
///
/// # Errors
/// The problem, with the line in the file.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "Must be UTF-8.".to_owned())?;
    let json = without_comments(text);
    serde_json::from_str(json).map_err(|error| {
        let before = text.get(..text.len().saturating_sub(json.len())).unwrap_or_default();
        let lines = before.matches('\n').count();
        let line = error.line().saturating_add(lines);
        format!("Must be JSON: {error}, which is line {line} of the file.")
    })
}

/// Skips a byte order mark, whitespace and comments. An unclosed comment is not skipped.
fn without_comments(text: &str) -> &str {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        match comment.split_once("*/") {
            Some((_, behind)) => rest = behind.trim_start(),
            None => return rest,
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_are_allowed_before_json_alone() {
        let good = [
            "{\"a\":1}",
            "\u{feff}{\"a\":1}",
            "/*\n * x\n */\n{\"a\":1}",
            " /**//* */ {\"a\":1}\n",
        ];
        for text in good {
            assert_eq!(parse(text.as_bytes()), Ok(json!({"a": 1})), "{text}");
        }
        for text in
            ["", "/* {\"a\":1}", "{\"a\":1} /* x */", "{\"a\":1}{}", "{'a':1}", "{\"a\":NaN}"]
        {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(&[0xff]).is_err());
        assert!(parse(b"/*\n\n*/\n{\n  x").unwrap_err().contains("line 5 of the file"));
        assert!(parse("[".repeat(100_000).as_bytes()).is_err(), "its depth is bounded");
    }
}
