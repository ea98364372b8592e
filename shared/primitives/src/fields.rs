//! The types of request fields, and the collection of their errors.

mod errors;
mod optional;
mod path;
mod scalar;
mod text;

pub use crate::problem::FieldErrors;
pub use errors::{MAX_NAME, Violation, escaped};
pub use optional::{AtMost, Nullable, Patch};
pub use path::{FromPath, PathDescription};
pub use scalar::{Flag, Int, Written};
pub use text::{Exact, FromText, Text, counted};

#[cfg(test)]
mod tests;
