//! The field errors of one request: all of them are counted, and as many are named as fit.

use std::ops::Deref;

use super::FieldError;
use crate::fields::Violation;
use crate::size::{cut, escaped_len};

/// The most field errors of one problem that are named (docs/conventions.md §2).
pub const MAX_ERRORS: usize = 100;
/// The most bytes of their pointers and details, as JSON.
const MAX_BYTES: usize = 48 << 10;
/// The most bytes of a pointer.
const MAX_POINTER: usize = 300;
/// The most bytes of a detail.
const MAX_DETAIL: usize = 1_000;

/// Field errors. Errors beyond the limits are only counted, without memory for each: a body of a mebibyte
/// may have a hundred thousand of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldErrors {
    named: Vec<FieldError>,
    bytes: usize,
    more: usize,
}

impl FieldErrors {
    /// Whether further errors are counted only.
    pub fn is_full(&self) -> bool {
        self.more > 0 || self.named.len() >= MAX_ERRORS
    }

    /// The number of errors that are not named.
    pub fn more(&self) -> usize {
        self.more
    }

    /// Whether there are none. Those that are only counted are errors too.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.more == 0
    }

    /// Adds an error, which is only built if it is named.
    pub fn add(&mut self, error: impl FnOnce() -> FieldError) {
        if self.is_full() {
            self.more = self.more.saturating_add(1);
        } else {
            self.name(error());
        }
    }

    /// Adds an error.
    pub fn push(&mut self, error: FieldError) {
        self.add(|| error);
    }

    /// Adds the errors of another part of the request.
    pub fn merge(&mut self, other: Self) {
        self.extend(other.named);
        self.more = self.more.saturating_add(other.more);
    }

    /// The same errors, changed by `change`; at most `most` are named.
    #[must_use]
    pub fn at_most(&self, most: usize, change: impl Fn(&FieldError) -> FieldError) -> Self {
        let mut errors: Self = self.named.iter().take(most).map(change).collect();
        let left_out = self.named.len().saturating_sub(most);
        errors.more = errors.more.saturating_add(left_out).saturating_add(self.more);
        errors
    }

    fn name(&mut self, mut error: FieldError) {
        cut(&mut error.pointer, MAX_POINTER);
        if error.violation.detail.len() > MAX_DETAIL {
            cut(error.violation.detail.to_mut(), MAX_DETAIL);
        }
        let texts = [error.pointer.as_bytes(), error.violation.detail.as_bytes()];
        let size = texts.into_iter().map(escaped_len).fold(0, usize::saturating_add);
        let bytes = self.bytes.saturating_add(size);
        if bytes > MAX_BYTES {
            self.more = self.more.saturating_add(1);
        } else {
            self.bytes = bytes;
            self.named.push(error);
        }
    }
}

/// The errors that are named.
impl Deref for FieldErrors {
    type Target = [FieldError];

    fn deref(&self) -> &[FieldError] {
        &self.named
    }
}

impl Extend<FieldError> for FieldErrors {
    fn extend<I: IntoIterator<Item = FieldError>>(&mut self, errors: I) {
        errors.into_iter().for_each(|error| self.push(error));
    }
}

impl FromIterator<FieldError> for FieldErrors {
    fn from_iter<I: IntoIterator<Item = FieldError>>(errors: I) -> Self {
        let mut all = Self::default();
        all.extend(errors);
        all
    }
}

impl From<Vec<FieldError>> for FieldErrors {
    fn from(errors: Vec<FieldError>) -> Self {
        errors.into_iter().collect()
    }
}

impl From<(String, Violation)> for FieldErrors {
    fn from((pointer, violation): (String, Violation)) -> Self {
        Self::from(vec![FieldError::at(pointer, violation)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(pointer: &str, detail: &str) -> FieldError {
        FieldError::new(pointer, "invalid_value", detail.to_owned())
    }

    #[test]
    fn errors_beyond_a_hundred_are_counted_and_not_written() {
        let mut errors = FieldErrors::default();
        let mut written = 0;
        for _ in 0..250 {
            errors.add(|| {
                written += 1;
                error("/a", "b")
            });
        }
        assert_eq!((errors.len(), errors.more(), written), (100, 150, 100));
        let mut all: FieldErrors = std::iter::repeat_n(error("/a", "b"), 60).collect();
        all.merge(errors);
        assert_eq!((all.len(), all.more()), (100, 210));
        let few = all.at_most(7, Clone::clone);
        assert_eq!((few.len(), few.more()), (7, 303));
        assert!(!all.at_most(0, Clone::clone).is_empty());
    }

    #[test]
    fn errors_are_bounded_by_their_bytes_in_json() {
        let long = error(&"\u{1}".repeat(5_000), &"é".repeat(5_000));
        let errors: FieldErrors = std::iter::repeat_n(long, 200).collect();
        assert_eq!(errors.len() + errors.more(), 200);
        let json = |error: &FieldError| serde_json::json!([error.pointer, error.violation.detail]);
        let bytes: usize = errors.iter().map(|error| json(error).to_string().len()).sum();
        assert!((40_000..64_000).contains(&bytes), "{bytes}");
        assert!(errors[0].pointer.ends_with('…') && errors[0].violation.detail.ends_with('…'));
        let exact: FieldErrors = [error(&"a".repeat(300), "b")].into_iter().collect();
        assert_eq!(exact[0].pointer, "a".repeat(300));
    }
}
