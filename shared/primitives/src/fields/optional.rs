//! Fields around others: lists, nullable fields, and those of partial updates.

use deserr::{Deserr, IntoValue, Sequence, Value, ValuePointerRef};

use super::{Violation, counted};
use crate::problem::FieldErrors;

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
