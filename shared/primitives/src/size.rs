//! The size limit of a response. Lambda returns a response as one JSON document, in which the body is a
//! string: its quotes, backslashes and line ends are escaped, or all of it is base64.

/// The most bytes of an uploaded file (docs/conventions.md §1).
pub const LARGE_BODY_LIMIT: usize = 4 << 20;
/// The most bytes of a response, as a function returns it: Lambda's limit for a synchronous invocation, 6
/// MB.
pub const ANSWER_LIMIT: usize = 6 << 20;
/// The bytes, as returned, at which a page of a list ends (our choice). The rest is for the other members
/// of the list, its headers, and a cursor.
pub const PAGE_LIMIT: usize = 5_000_000;

/// The bytes at which a page for the bridge ends: it passes on a mebibyte.
pub const BRIDGED_PAGE_LIMIT: usize = 900_000;

/// The most bytes of one byte within a JSON string.
pub const WIDEST: usize = 6;

/// Shortens a text of more than `most` bytes, with an ellipsis.
pub fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
}

/// The bytes of a text within a JSON string, without the quotes around it.
pub fn escaped_len(text: &[u8]) -> usize {
    text.iter().fold(0, |sum: usize, byte| sum.saturating_add(width(*byte)))
}

/// Whether a text fits into `limit` bytes within a JSON string. Only a long text has to be counted.
pub fn fits_escaped(text: &[u8], limit: usize) -> bool {
    text.len().saturating_mul(WIDEST) <= limit || escaped_len(text) <= limit
}

/// The bytes of a byte within a JSON string (RFC 8259 §7), as `serde_json` writes it.
fn width(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => WIDEST,
        _ => 1,
    }
}

/// The bytes of this many bytes in base64.
pub fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_counted_size_is_the_written_size() {
        let every: String = (0..=0x2_ff_u32).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\"quoted\" \\ and\nbroken", "caf\u{e9} \u{1F600}", &every] {
            let written = Value::from(text).to_string();
            let length = written.len() - 2;
            assert_eq!(escaped_len(text.as_bytes()), length, "{text}");
            assert!(fits_escaped(text.as_bytes(), length), "{text}");
            assert!(length == 0 || !fits_escaped(text.as_bytes(), length - 1), "{text}");
            let inner = json!({"text": text, "list": [1, null]}).to_string();
            let nested = Value::from(inner.as_str()).to_string();
            assert_eq!(escaped_len(inner.as_bytes()), nested.len() - 2, "{text}");
        }
        for size in 0..10 {
            assert_eq!(base64_len(size), BASE64_STANDARD.encode(vec![0; size]).len());
        }
    }

    #[test]
    fn an_image_of_the_largest_size_can_be_sent_and_received() {
        // With three quarters of a megabyte to spare for headers and the rest of the document.
        let image = base64_len(LARGE_BODY_LIMIT);
        assert!(image + 640 * 1024 < ANSWER_LIMIT, "{image}");
    }
}
