//! Versions of objects, which grow by 1 with each write.

use crate::problem::{Code, Problem};

/// The version that a caller expects an object to have, if any: a precondition of its change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExpectedVersion(Option<u64>);

impl ExpectedVersion {
    /// Any version.
    pub const ANY: Self = Self(None);

    /// Exactly this version.
    pub const fn of(version: u64) -> Self {
        Self(Some(version))
    }

    /// Ensures that the object has the expected version.
    ///
    /// # Errors
    /// `precondition_failed` with its `current_version`.
    pub fn check(self, version: u64) -> Result<(), Problem> {
        match self.0 {
            Some(expected) if expected != version => {
                Err(Code::PreconditionFailed.with("current_version", version))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_the_expected_version_or_any() {
        assert!(ExpectedVersion::ANY.check(7).is_ok() && ExpectedVersion::of(7).check(7).is_ok());
        let rejected = ExpectedVersion::of(6).check(7).map_err(|problem| problem.code);
        assert_eq!(rejected, Err(Code::PreconditionFailed));
    }
}
