//! How a change looks at what it is decided over (docs/data-model.md §13).
//!
//! A read at half the price is perhaps a moment old. For a change whose write demands what was read
//! that is good enough, until something is rejected: by what was seen, or by the table. Then it is
//! decided again over what there is, and only that is answered.

use super::{Attempt, retry};
use primitives::problem::{Code, Problem};

/// How what there is is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadConsistency {
    /// At half the price, and perhaps a moment old: good enough for what a write demands again, and
    /// for no rejection.
    Eventual,
    /// As it is.
    Strong,
}

impl ReadConsistency {
    /// # Errors
    /// `version_conflict`, where an eventually consistent read has shown what no write demands: it is looked at again.
    pub fn ensure_strong(self) -> Result<(), Problem> {
        if self == Self::Strong { Ok(()) } else { Err(Code::VersionConflict.into()) }
    }
}

/// Only a first attempt reads eventually consistently ([`retry_eventual_first`]).
impl From<ReadConsistency> for Attempt {
    fn from(consistency: ReadConsistency) -> Self {
        match consistency {
            ReadConsistency::Eventual => Self::First,
            ReadConsistency::Strong => Self::Repeated,
        }
    }
}

/// Whether what was rejected over an eventually consistent read is to be decided again over what there is: not what the
/// table could not do, nor what is about the request and not about what it changes.
pub fn needs_strong_read(rejected: &Problem) -> bool {
    rejected.code.status() < 500 && rejected.code != Code::RequestInProgress
}

/// Reads, decides and writes: over an eventually consistent read first, and where that is rejected as [`retry`] does.
///
/// # Errors
/// What the last attempt ended in.
pub async fn retry_eventual_first<T, F, Fut>(mut attempt: F) -> Result<T, Problem>
where
    F: FnMut(ReadConsistency) -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    match attempt(ReadConsistency::Eventual).await {
        Err(rejected) if needs_strong_read(&rejected) => {
            retry(|| attempt(ReadConsistency::Strong)).await
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// What is answered where an eventually consistent read, and each strongly consistent read after it, comes to this; and how often it
    /// was looked.
    async fn attempted(
        outcomes: &[Result<u32, Code>],
    ) -> (Result<u32, Code>, Vec<ReadConsistency>) {
        let seen = RefCell::new(Vec::new());
        let answer = retry_eventual_first(|consistency| {
            let outcome = outcomes.get(seen.borrow().len()).copied();
            seen.borrow_mut().push(consistency);
            async move { outcome.unwrap_or(Err(Code::Internal)).map_err(Problem::from) }
        })
        .await;
        (answer.map_err(|problem| problem.code), seen.into_inner())
    }

    #[tokio::test]
    async fn what_a_glance_rejects_is_decided_again_over_what_there_is() {
        use ReadConsistency::{Eventual, Strong};
        assert_eq!(attempted(&[Ok(1)]).await, (Ok(1), vec![Eventual]));
        for rejected in [Code::NotFound, Code::VersionConflict, Code::PreconditionFailed] {
            assert_eq!(attempted(&[Err(rejected), Ok(2)]).await, (Ok(2), vec![Eventual, Strong]));
        }
        let gone = attempted(&[Err(Code::NotFound), Err(Code::NotFound)]).await;
        assert_eq!(gone, (Err(Code::NotFound), vec![Eventual, Strong]));
        // What is no rejection of what was seen is not looked at again.
        for other in [Code::Unavailable, Code::RequestInProgress] {
            assert_eq!(attempted(&[Err(other), Ok(2)]).await, (Err(other), vec![Eventual]));
        }
        assert!(Eventual.ensure_strong().is_err() && Strong.ensure_strong().is_ok());
    }
}
