//! Text on one line, and sender names of mails.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use icu_properties::props::{EnumeratedProperty, GeneralCategory};
use primitives::fields::{FieldErrors, Text, Violation};
use primitives::schema;
use schemars::{JsonSchema, json_schema};

/// Text on one line, for names in lists and headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<const MIN: usize, const MAX: usize>(Text<MIN, MAX>);

primitives::inline_schema!([const MIN: usize, const MAX: usize] Line<MIN, MAX>, format!("Line{MIN}To{MAX}"), |_generator| {
    let pattern = if MIN == 0 { schema::LINE_OR_EMPTY } else { schema::LINE };
    json_schema!({"type": "string", "minLength": MIN, "maxLength": MAX, "pattern": pattern})
});

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
            let violation =
                Violation::new("invalid_characters", "Must not contain control characters.");
            return Err(FieldErrors::at(location, violation));
        }
        if MIN > 0 && !text.as_str().chars().any(is_visible) {
            let violation =
                Violation::new("invalid_characters", "Must contain a visible character.");
            return Err(FieldErrors::at(location, violation));
        }
        Ok(Self(text))
    }
}

/// The name of a store, wherever it is entered.
pub type StoreName = Line<1, 200>;
/// The name of a person with an account, wherever it is entered.
pub type PersonName = Line<1, 200>;

/// A name that a mail has as its sender (RFC 5322 §3.4, `display-name`). It must not look like an address,
/// because many mail programs display the name alone.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub struct DisplayName<const MIN: usize, const MAX: usize>(Line<MIN, MAX>);

impl<const MIN: usize, const MAX: usize> From<DisplayName<MIN, MAX>> for String {
    fn from(name: DisplayName<MIN, MAX>) -> Self {
        name.0.into()
    }
}

impl<const MIN: usize, const MAX: usize> Deserr<FieldErrors> for DisplayName<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let line = Line::<MIN, MAX>::deserialize_from_value(value, location)?;
        if line.0.as_str().chars().any(misleads) {
            let detail = "Must not contain @ < > \" or invisible characters.";
            return Err(FieldErrors::at(location, Violation::new("invalid_characters", detail)));
        }
        Ok(Self(line))
    }
}

/// Whether a character could make a sender's name pass for an address or for another name: the delimiters of
/// addresses and their full-width forms, invisible characters, and changes of the text's direction.
pub fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '@' | '<' | '>' | '"' | '\u{ff20}' | '\u{fe6b}' | '\u{ff1c}' | '\u{ff1e}')
        || matches!(c, '\u{2028}' | '\u{2029}')
        || is_format(c)
        || is_blank_letter(c)
}

/// Whether a character is displayed as nothing, although it is a letter or a symbol: the fillers of Hangul, and
/// the empty Braille pattern.
const fn is_blank_letter(c: char) -> bool {
    matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}')
}

/// Whether a character is displayed by itself: it is neither blank nor a mark on another.
fn is_visible(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, Unassigned};
    let is_part =
        matches!(GeneralCategory::for_char(c), NonspacingMark | EnclosingMark | Unassigned);
    !is_part && !c.is_whitespace() && !c.is_control() && !is_format(c) && !is_blank_letter(c)
}

/// Whether a character is invisible (Unicode general category Cf): joiners, direction marks, soft hyphens.
pub fn is_format(c: char) -> bool {
    GeneralCategory::for_char(c) == GeneralCategory::Format
}
