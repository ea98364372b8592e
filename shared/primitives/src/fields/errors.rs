//! The errors of fields: each with a code, a sentence and the pointer to its field.

use std::borrow::Cow;
use std::ops::ControlFlow;

use deserr::{DeserializeError, ErrorKind, IntoValue, MergeWithError, ValueKind, ValuePointerRef};

use crate::problem::{FieldError, FieldErrors};

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
