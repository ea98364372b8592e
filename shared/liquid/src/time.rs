//! Dates.

use jiff::Zoned;

use crate::value::Value;

/// The time that a value is.
pub fn parse(_value: &Value, _now: &Zoned) -> Option<Zoned> {
    None
}

/// A time in the directives of `strftime`.
pub fn format(_time: &Zoned, format: &str) -> String {
    format.into()
}
