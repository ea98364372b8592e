//! Values as text.

use std::fmt::{self, Write};

use crate::object::Shape;
use crate::value::Value;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_text(self, f)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_inspected(self, f)
    }
}

/// The text of a value, as filters see it. Output prints the items of a list one after another instead.
fn write_text(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Nil | Value::Blank | Value::Empty => Ok(()),
        Value::Bool(value) => write!(f, "{value}"),
        Value::Int(number) => write!(f, "{number}"),
        Value::Float(number) => f.write_str(&float(*number)),
        Value::Str(text) | Value::Html(text) => f.write_str(text),
        Value::Array(_) => write_inspected(value, f),
        Value::Range(first, last) => write!(f, "{first}..{last}"),
        Value::Object(object) => match object.as_value() {
            Some(value) => write_text(&value, f),
            None if object.shape() == Shape::Object => f.write_str(&object.text()),
            None => write_inspected(value, f),
        },
    }
}

/// The text of a value within a hash.
fn write_inspected(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Nil => f.write_str("nil"),
        Value::Str(text) | Value::Html(text) => write_quoted(text, f),
        Value::Array(items) => write_list(&mut items.iter().cloned(), f),
        Value::Object(object) if object.shape() == Shape::List => {
            write_list(&mut object.items().into_iter().flatten(), f)
        }
        Value::Object(object) if object.shape() == Shape::Hash => {
            f.write_char('{')?;
            for (place, pair) in object.items().into_iter().flatten().enumerate() {
                let Value::Array(pair) = pair else { continue };
                let [name, value] = &*pair else { continue };
                f.write_str(if place > 0 { ", " } else { "" })?;
                write_inspected(name, f)?;
                f.write_str("=>")?;
                write_inspected(value, f)?;
            }
            f.write_char('}')
        }
        _ => write_text(value, f),
    }
}

fn write_list(items: &mut dyn Iterator<Item = Value>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('[')?;
    for (place, item) in items.enumerate() {
        f.write_str(if place > 0 { ", " } else { "" })?;
        write_inspected(&item, f)?;
    }
    f.write_char(']')
}

fn write_quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            _ => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

/// A number with a fraction: with an exponent from 10^16 on, and below 10^-4.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number.is_sign_negative() { "-Infinity" } else { "Infinity" }.into();
    }
    let size = number.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        let plain = number.to_string();
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}e{sign}{exponent:0>2}")
}

/// Adds a whole number to a text.
pub(crate) fn push_int(out: &mut String, number: i64) {
    // Writing to a string does not fail.
    let _ = write!(out, "{number}");
}
