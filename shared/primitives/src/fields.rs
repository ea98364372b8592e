//! The types of request fields, and the collection of their errors.

mod path;

use std::borrow::Cow;
use std::ops::ControlFlow;

use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, MergeWithError, Sequence, Value, ValueKind,
    ValuePointerRef,
};

use crate::problem::FieldError;
pub use crate::problem::FieldErrors;
pub use path::{FromPath, PathDescription};

/// The most bytes of a member's name in an error: more than any valid name has.
pub const MAX_NAME: usize = 256;

/// The error of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The machine-readable name, like `required` or `password_too_short`.
    pub code: &'static str,
    /// One sentence for a person.
    pub detail: Cow<'static, str>,
}

impl Violation {
    /// A violation of this code.
    pub fn new(code: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, detail: detail.into() }
    }
}

impl FieldErrors {
    /// One error at `location`.
    pub fn at(location: ValuePointerRef<'_>, violation: Violation) -> Self {
        Self::from((pointer(location), violation))
    }

    /// Adds an error at `location`, whose pointer is only built if the error is named.
    pub fn add_at(&mut self, location: ValuePointerRef<'_>, violation: impl FnOnce() -> Violation) {
        self.add(|| FieldError::at(pointer(location), violation()));
    }
}

/// A name in a pointer (RFC 6901 §3).
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// RFC 6901. A name may be as long as a body: it is cut to the length of an error's pointer.
fn pointer(location: ValuePointerRef<'_>) -> String {
    fn write(location: ValuePointerRef<'_>, text: &mut String) {
        match location {
            ValuePointerRef::Origin => {}
            ValuePointerRef::Key { key, prev } => {
                write(*prev, text);
                text.push('/');
                match key.get(..key.floor_char_boundary(MAX_NAME)) {
                    Some(start) if start.len() < key.len() => {
                        text.push_str(&escaped(start));
                        text.push('…');
                    }
                    _ => text.push_str(&escaped(key)),
                }
            }
            ValuePointerRef::Index { index, prev } => {
                write(*prev, text);
                text.push('/');
                text.push_str(&index.to_string());
            }
        }
    }
    let mut text = String::new();
    write(location, &mut text);
    text
}

impl MergeWithError<FieldErrors> for FieldErrors {
    fn merge(
        own: Option<Self>,
        other: FieldErrors,
        _: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let all = match own {
            None => other,
            Some(mut all) => {
                all.merge(other);
                all
            }
        };
        ControlFlow::Continue(all)
    }
}

impl DeserializeError for FieldErrors {
    fn error<V: IntoValue>(
        own: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let mut all = own.unwrap_or_default();
        match error {
            ErrorKind::MissingField { field } => all.add_at(location.push_key(field), || {
                Violation::new("required", "This field is required.")
            }),
            ErrorKind::UnknownKey { key, accepted } => {
                all.add_at(location.push_key(key), || unknown_field(accepted));
            }
            ErrorKind::UnknownValue { accepted, .. } => all.add_at(location, || {
                Violation::new("invalid_choice", format!("Must be one of {}.", accepted.join(", ")))
            }),
            ErrorKind::IncorrectValueKind { accepted, .. } => all.add_at(location, || {
                Violation::new("invalid_type", format!("Must be {}.", kinds(accepted)))
            }),
            ErrorKind::BadSequenceLen { expected, .. } => all.add_at(location, || {
                Violation::new("invalid_length", format!("Must have {expected} elements."))
            }),
            ErrorKind::Unexpected { msg } => {
                all.add_at(location, || Violation::new("invalid_value", msg));
            }
        }
        ControlFlow::Continue(all)
    }
}

fn unknown_field(known: &[&str]) -> Violation {
    let detail = match known {
        [] => "Unknown field; this object has no fields.".to_owned(),
        known => format!("Unknown field; the fields are {}.", known.join(", ")),
    };
    Violation::new("unknown_field", detail)
}

fn kinds(accepted: &[ValueKind]) -> String {
    let names = accepted.iter().map(|kind| match kind {
        ValueKind::Null => "null",
        ValueKind::Boolean => "a boolean",
        ValueKind::Integer | ValueKind::NegativeInteger => "an integer",
        ValueKind::Float => "a number",
        ValueKind::String => "a string",
        ValueKind::Sequence => "an array",
        ValueKind::Map => "an object",
    });
    names.collect::<Vec<_>>().join(" or ")
}

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

/// A list of at most `MAX` elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtMost<T, const MAX: usize>(pub Vec<T>);

impl<T: Deserr<FieldErrors>, const MAX: usize> Deserr<FieldErrors> for AtMost<T, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        if let Value::Sequence(items) = &value
            && items.len() > MAX
        {
            let detail = format!("Must have at most {}.", counted(MAX, "element"));
            return Err(FieldErrors::at(location, Violation::new("too_many", detail)));
        }
        Vec::deserialize_from_value(value, location).map(Self)
    }
}

/// A field that must be there, and may be `null`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nullable<T>(pub Option<T>);

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for Nullable<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::Null => Ok(Self(None)),
            value => T::deserialize_from_value(value, location).map(|value| Self(Some(value))),
        }
    }
}

/// One field of a partial update: omitted, set to `null`, or given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// Omitted: the field stays unchanged.
    #[default]
    Keep,
    /// `null`: the field is cleared.
    Clear,
    /// A new value.
    Set(T),
}

impl<T> Patch<T> {
    /// Applies this to an optional field.
    pub fn apply<U: From<T>>(self, field: &mut Option<U>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value.into()),
        }
    }
}

impl<T: Deserr<FieldErrors>> Deserr<FieldErrors> for Patch<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        match value {
            Value::Null => Ok(Self::Clear),
            value => T::deserialize_from_value(value, location).map(Self::Set),
        }
    }
}

#[cfg(test)]
mod tests;
