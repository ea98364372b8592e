//! Typed inputs: a request, a file or a stored text, read into a type that names every field error at
//! once. They are `deserr` types, because serde stops at the first error.

mod any_json;
mod json;

use deserr::Deserr;
use serde_json::Value;

use crate::fields::FieldErrors;
use crate::problem::{FieldError, Problem};

pub use any_json::AnyJson;
pub use json::parse as parse_json;
pub use primitives_macros::request;

/// Reads `T` from a value, and names every invalid field.
///
/// # Errors
/// `validation_failed`.
pub fn read<T: Deserr<FieldErrors>>(value: Value) -> Result<T, Problem> {
    deserr::deserialize::<T, Value, FieldErrors>(value).map_err(Problem::invalid)
}

/// A body, or a query, without fields.
#[derive(Debug, Clone, Deserr, schemars::JsonSchema)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub struct NoFields {}

/// The fields of an input, each of which may be well formed or not.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a>(&'a Value);

impl<'a> Given<'a> {
    /// The fields of this value.
    pub const fn of(value: &'a Value) -> Self {
        Self(value)
    }

    /// Whether a field is present, well formed or not.
    pub fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// Whether all of them are well formed, so that `T` can be validated as a whole by a handler with
    /// further rules.
    pub fn is<T: Deserr<FieldErrors>>(&self) -> bool {
        read::<T>(self.0.clone()).is_ok()
    }

    /// The number of elements of a list, well formed or not.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.0.get(name)?.as_array().map(Vec::len)
    }

    /// A field that is present and well formed.
    pub fn get<T: Deserr<FieldErrors>>(&self, name: &str) -> Option<T> {
        read(self.0.get(name).filter(|value| !value.is_null())?.clone()).ok()
    }
}

/// Rules between the fields of an input. They are checked for the fields that are well formed, so that
/// an error in one does not hide those of others.
pub trait Rules {
    /// The violations of the rules.
    fn violations(given: Given<'_>) -> Vec<FieldError>;
}
