//! Text on one line.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use gateway::request::{Fault, FieldErrors, Text};

/// Text on one line: a name that stands in the header of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<const MIN: usize, const MAX: usize>(Text<MIN, MAX>);

impl<const MIN: usize, const MAX: usize> From<Line<MIN, MAX>> for String {
    fn from(line: Line<MIN, MAX>) -> Self {
        line.0.into()
    }
}

impl<const MIN: usize, const MAX: usize> Deserr<FieldErrors> for Line<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let text = Text::<MIN, MAX>::deserialize_from_value(value, location)?;
        if text.as_str().chars().any(char::is_control) {
            let fault = Fault::new("invalid_characters", "Must not hold control characters.");
            return Err(FieldErrors::at(location, fault));
        }
        Ok(Self(text))
    }
}
