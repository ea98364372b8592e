//! JSON files of themes: JSON, with a comment before it as Shopify's tools write one.

use serde_json::Value;

/// Reads a file.
///
/// # Errors
/// What is wrong, and in which line of the file.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "It is not UTF-8.".to_owned())?;
    let json = without_comments(text);
    serde_json::from_str(json).map_err(|error| {
        let before = text.get(..text.len().saturating_sub(json.len())).unwrap_or_default();
        let lines = before.matches('\n').count();
        let line = error.line().saturating_add(lines);
        format!("It is not JSON: {error}, which is line {line} of the file.")
    })
}

/// The text behind a byte order mark, blanks and comments; the whole where a comment is not closed.
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
    fn a_comment_may_stand_before_json_and_nowhere_else() {
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
