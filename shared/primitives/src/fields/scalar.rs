//! Fields of numbers and booleans, which a query has as text.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};

use super::{FromText, Violation};
use crate::problem::FieldErrors;

/// A value as text although JSON has a type for it: a number or a boolean in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written<T>(pub T);

impl<T: FromText> Deserr<FieldErrors> for Written<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let parsed = match value {
            Value::String(text) => T::from_text(&text),
            _ => Err(Violation::new("invalid_type", format!("Must be {}.", T::EXPECTS))),
        };
        parsed.map(Self).map_err(|violation| FieldErrors::at(location, violation))
    }
}

/// An integer of `MIN` to `MAX`: a number in JSON, and in a query [`Written`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Int<const MIN: i64, const MAX: i64>(pub i64);

impl<const MIN: i64, const MAX: i64> Int<MIN, MAX> {
    fn in_bounds(number: Option<i64>) -> Result<Self, Violation> {
        let number = number.filter(|number| (MIN..=MAX).contains(number)).map(Self);
        let detail = || format!("Must be an integer from {MIN} to {MAX}.");
        number.ok_or_else(|| Violation::new("out_of_range", detail()))
    }
}

impl<const MIN: i64, const MAX: i64> FromText for Int<MIN, MAX> {
    const EXPECTS: &'static str = "an integer";

    fn from_text(text: &str) -> Result<Self, Violation> {
        Self::in_bounds(text.parse().ok())
    }
}

impl<const MIN: i64, const MAX: i64> Deserr<FieldErrors> for Int<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let validated = match value {
            Value::Integer(number) => Self::in_bounds(i64::try_from(number).ok()),
            Value::NegativeInteger(number) => Self::in_bounds(Some(number)),
            _ => Err(Violation::new("invalid_type", "Must be an integer.")),
        };
        validated.map_err(|violation| FieldErrors::at(location, violation))
    }
}

/// A boolean: `true` or `false` in JSON, and in a query [`Written`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flag(pub bool);

impl FromText for Flag {
    const EXPECTS: &'static str = "a boolean";

    fn from_text(text: &str) -> Result<Self, Violation> {
        match text {
            "true" => Ok(Self(true)),
            "false" => Ok(Self(false)),
            _ => Err(Violation::new("invalid_type", "Must be `true` or `false`.")),
        }
    }
}

impl Deserr<FieldErrors> for Flag {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::Boolean(flag) => Ok(Self(flag)),
            _ => {
                Err(FieldErrors::at(location, Violation::new("invalid_type", "Must be a boolean.")))
            }
        }
    }
}
