//! Fields of text, and of closed sets of words.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};

use super::Violation;
use crate::problem::FieldErrors;

/// A value that is parsed from text: in a body, a query or a path.
pub trait FromText: Sized {
    /// The expected value, for the message about a value that is not even text.
    const EXPECTS: &'static str;

    /// Parses the text.
    fn from_text(text: &str) -> Result<Self, Violation>;
}

/// Makes a [`FromText`] type usable as a request field.
#[macro_export]
macro_rules! text_field {
    ($($name:ty),*) => {$(
        impl deserr::Deserr<$crate::fields::FieldErrors> for $name {
            fn deserialize_from_value<V: deserr::IntoValue>(
                value: deserr::Value<V>,
                location: deserr::ValuePointerRef<'_>,
            ) -> Result<Self, $crate::fields::FieldErrors> {
                let parsed = match value {
                    deserr::Value::String(text) => {
                        <$name as $crate::fields::FromText>::from_text(&text)
                    }
                    _ => Err($crate::fields::Violation::new("invalid_type", format!(
                        "Must be {}.", <$name as $crate::fields::FromText>::EXPECTS))),
                };
                parsed.map_err(|violation| $crate::fields::FieldErrors::at(location, violation))
            }
        }
    )*};
}

/// Defines a closed set of words: an enum that is a request field, a path parameter, a stored attribute
/// and a JSON value alike.
#[macro_export]
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$doc])*
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),* }

        impl $name {
            /// Every word.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::fields::FromText for $name {
            const EXPECTS: &'static str = concat!("one of", $(" ", $word),*);
            fn from_text(text: &str) -> Result<Self, $crate::fields::Violation> {
                match text {
                    $($word => Ok($name::$variant),)*
                    _ => Err($crate::fields::Violation::new("invalid_choice", concat!("Must be one of:", $(" ", $word),*, "."))),
                }
            }
        }
        $crate::text_field!($name);
    };
}

/// A number of things, as in a sentence: `1 character`, `2 characters`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Text of `MIN` to `MAX` characters, trimmed, without control characters except line feed and tab.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Text<const MIN: usize, const MAX: usize>(String);

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> From<Text<MIN, MAX>> for String {
    fn from(text: Text<MIN, MAX>) -> Self {
        text.0
    }
}

impl<const MIN: usize, const MAX: usize> FromText for Text<MIN, MAX> {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let text = text.trim();
        let length = text.chars().count();
        if length < MIN {
            let detail = format!("Must have at least {}.", counted(MIN, "character"));
            return Err(Violation::new("too_short", detail));
        }
        if length > MAX {
            let detail = format!("Must have at most {}.", counted(MAX, "character"));
            return Err(Violation::new("too_long", detail));
        }
        if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            return Err(Violation::new(
                "invalid_characters",
                "Must not contain control characters.",
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl<const MIN: usize, const MAX: usize> Deserr<FieldErrors> for Text<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let parsed = match value {
            Value::String(text) => Self::from_text(&text),
            _ => Err(Violation::new("invalid_type", "Must be a string.")),
        };
        parsed.map_err(|violation| FieldErrors::at(location, violation))
    }
}

/// A credential or other text that is compared or returned byte by byte: 1 to `MAX` characters, exactly as
/// sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact<const MAX: usize>(String);

impl<const MAX: usize> Exact<MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deserr<FieldErrors> for Exact<MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let violation = match value {
            Value::String(text) if (1..=MAX).contains(&text.chars().count()) => {
                return Ok(Self(text));
            }
            Value::String(_) => {
                Violation::new("invalid_length", format!("Must have 1 to {MAX} characters."))
            }
            _ => Violation::new("invalid_type", "Must be a string."),
        };
        Err(FieldErrors::at(location, violation))
    }
}
