//! JSON as people read it: indented, colored, its members in the order in which they came.

use std::fmt::Write as _;

use crate::secret::MASK;

/// Members whose values are credentials of this platform.
const CREDENTIALS: [&str; 4] = ["access_token", "refresh_token", "mfa_token", "preview_token"];

/// The JSON with credentials masked.
pub fn compact(text: &str) -> String {
    rewrite(text, None)
}

/// The JSON indented by two blanks, with credentials masked.
pub fn pretty(text: &str, color: bool) -> String {
    rewrite(text, Some(color))
}

/// A token of JSON.
enum Token<'a> {
    /// A string with its quotes.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Word(&'a str),
    Mark(char),
}

struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let rest = self.0.trim_start();
        let first = rest.chars().next()?;
        let length = match first {
            '"' => text_length(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest.find(|c: char| ",]}:".contains(c) || c.is_whitespace()).unwrap_or(rest.len()),
        };
        let (token, rest) = rest.split_at(length.max(1));
        self.0 = rest;
        Some(match first {
            '"' => Token::Text(token),
            '{' | '}' | '[' | ']' | ',' | ':' => Token::Mark(first),
            _ => Token::Word(token),
        })
    }
}

/// The bytes of a string with its quotes.
fn text_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return place.saturating_add(1),
            _ => {}
        }
    }
    text.len()
}

/// Writes the tokens again, compact without a style.
fn rewrite(text: &str, style: Option<bool>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut tokens = Tokens(text).peekable();
    let mut key = None;
    let line = |out: &mut String, depth: usize| {
        if style.is_some() {
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        }
    };
    while let Some(token) = tokens.next() {
        match token {
            Token::Mark(open @ ('{' | '[')) => {
                out.push(open);
                if let Some(Token::Mark(close @ ('}' | ']'))) = tokens.peek() {
                    out.push(*close);
                    tokens.next();
                } else {
                    depth = depth.saturating_add(1);
                    line(&mut out, depth);
                }
                key = None;
            }
            Token::Mark(close @ ('}' | ']')) => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(close);
            }
            Token::Mark(',') => {
                out.push(',');
                line(&mut out, depth);
                key = None;
            }
            Token::Mark(mark) => out.push_str(if style.is_some() { ": " } else { mark_text(mark) }),
            Token::Text(name) if matches!(tokens.peek(), Some(Token::Mark(':'))) => {
                key = Some(name.trim_matches('"'));
                paint(&mut out, style, "34", name);
            }
            Token::Text(_) if key.is_some_and(|key| CREDENTIALS.contains(&key)) => {
                let _ = write!(out, "\"{MASK}\"");
            }
            Token::Text(text) => paint(&mut out, style, "32", text),
            Token::Word(word) => paint(&mut out, style, "33", word),
        }
    }
    out
}

fn mark_text(mark: char) -> &'static str {
    if mark == ':' { ":" } else { "" }
}

fn paint(out: &mut String, style: Option<bool>, code: &str, text: &str) {
    if style == Some(true) {
        let _ = write!(out, "\u{1b}[{code}m{text}\u{1b}[0m");
    } else {
        out.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_in_the_order_in_which_it_came() {
        let text = r#"{"z":1,"a":[true,null,"x\"y"],"e":{},"l":[]}"#;
        let expected = "{\n  \"z\": 1,\n  \"a\": [\n    true,\n    null,\n    \"x\\\"y\"\n  ],\n  \
                        \"e\": {},\n  \"l\": []\n}";
        assert_eq!(pretty(text, false), expected);
        assert_eq!(compact(expected), text);
    }

    #[test]
    fn a_credential_is_masked_at_any_depth() {
        let text = r#"{"session":{"access_token":"mst_1","token_type":"Bearer"}}"#;
        let expected = r#"{"session":{"access_token":"[hidden]","token_type":"Bearer"}}"#;
        assert_eq!(compact(text), expected);
        assert!(pretty(text, true).contains("\u{1b}[34m\"session\"\u{1b}[0m"));
    }

    #[test]
    fn what_is_no_json_ends_nevertheless() {
        for text in ["\"open", "{\"a\"", "nul", "", "}}}}", "é\u{0}"] {
            let _ = (pretty(text, true), compact(text));
        }
    }
}
