//! Safe HTML and text. A value is a text, and is escaped when a template writes it, unless it is *safe*: a
//! setting of an HTML type, which was sanitized when it was saved, the rendered output of `capture`, or the
//! result of a filter that creates HTML.
//!
//! Liquid's values have no type for that, so a safe text begins with a mark: a noncharacter, which is
//! "permanently reserved for internal use" (The Unicode Standard, §23.7). External data cannot have it:
//! [`crate::value::of`] removes it from all input. A filter's result has no mark, unless the filter creates
//! HTML. An empty text needs no mark.

use std::borrow::Cow;
use std::io::Write;

use liquid_core::model::{Value, ValueView};

/// The mark at the beginning of a safe text.
const MARK: char = '\u{FDD0}';

/// Marks the text as safe HTML.
pub(crate) fn html(text: &str) -> Value {
    let text = without_mark(text);
    if text.is_empty() {
        Value::scalar(String::new())
    } else {
        Value::scalar(format!("{MARK}{text}"))
    }
}

/// Removes every mark from the text.
pub(crate) fn without_mark(text: &str) -> Cow<'_, str> {
    if text.contains(MARK) { Cow::Owned(text.replace(MARK, "")) } else { Cow::Borrowed(text) }
}

/// Whether any text in the value is marked.
pub(crate) fn is_marked(value: &dyn ValueView) -> bool {
    if let Some(array) = value.as_array() {
        array.values().any(is_marked)
    } else if let Some(object) = value.as_object() {
        object.values().any(is_marked)
    } else {
        value.is_scalar() && value.to_kstr().contains(MARK)
    }
}

/// Removes the marks from all texts of the value.
pub(crate) fn unmarked(value: Value) -> Value {
    match value {
        Value::Scalar(scalar) => {
            let text = scalar.to_kstr();
            if text.contains(MARK) {
                Value::scalar(without_mark(&text).into_owned())
            } else {
                Value::Scalar(scalar)
            }
        }
        Value::Array(items) => Value::Array(items.into_iter().map(unmarked).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, unmarked(value))).collect())
        }
        other => other,
    }
}

/// Writes a text into a page, escaped unless it is safe.
pub(crate) fn write(writer: &mut dyn Write, text: &str) -> std::io::Result<()> {
    if text.starts_with(MARK) {
        writer.write_all(without_mark(text).as_bytes())
    } else {
        writer.write_all(escaped(&without_mark(text)).as_bytes())
    }
}

/// Escapes the text for HTML content and attributes.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut html = String::with_capacity(text.len().saturating_add(16));
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    Cow::Owned(html)
}
