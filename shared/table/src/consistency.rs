//! Decisions over reads, and their repetition (docs/data-model.md §13).
//!
//! An eventually consistent read costs half and may miss the last writes. It suffices for a change whose
//! write has a condition on the values read, until something is rejected: by a rule over these values, or
//! by the table. Then the change is decided again over a strongly consistent read, and only that decision
//! is answered.

use std::time::Duration;

use super::back_off;
use primitives::problem::{Code, Problem};

/// The attempts of a transaction, or a decision, that meets conflicts.
pub(super) const ATTEMPTS: u32 = 9;
pub(super) const BASE: Duration = Duration::from_millis(25);
pub(super) const CAP: Duration = Duration::from_millis(500);

/// DynamoDB's read consistency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadConsistency {
    /// Half the units, and perhaps a moment old: for values that the write's condition checks again. No
    /// request is rejected because of it.
    Eventual,
    /// Every write that has succeeded is seen.
    Strong,
}

impl ReadConsistency {
    /// Requires a strongly consistent read, for a decision that no condition of a write checks.
    ///
    /// # Errors
    /// `version_conflict`, which repeats an eventually consistent attempt.
    pub fn ensure_strong(self) -> Result<(), Problem> {
        if self == Self::Strong { Ok(()) } else { Err(Code::VersionConflict.into()) }
    }
}

/// The number of an attempt at a change. The first one may assume values that no write requires. If they
/// were wrong, the write is rejected, and a repeated attempt reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// The first one.
    First,
    /// One after a rejection.
    Repeated,
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

/// Whether a rejection over an eventually consistent read is decided again over a strongly consistent one.
/// It is not if the table failed, or if the request itself is invalid.
pub fn needs_strong_read(rejected: &Problem) -> bool {
    rejected.code.status() < 500 && rejected.code != Code::RequestInProgress
}

/// Reads, decides and writes: over an eventually consistent read first, and once that is rejected over strongly
/// consistent reads, as [`retry`] does.
///
/// # Errors
/// That of the last attempt.
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

/// Repeats `attempt` while it ends in `version_conflict`: for reading, deciding and writing where several
/// requests change the same item. Bounded, with full jitter.
///
/// # Errors
/// That of the last attempt.
pub async fn retry<T, F, Fut>(attempt: F) -> Result<T, Problem>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    retry_up_to(ATTEMPTS, attempt).await
}

/// As [`retry`]; passes the number of the attempt to `attempt`.
///
/// # Errors
/// That of the last attempt.
pub async fn retry_attempts<T, F, Fut>(attempt: F) -> Result<T, Problem>
where
    F: FnMut(Attempt) -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    attempts(ATTEMPTS, attempt).await
}

/// As [`retry`], up to `most` times: for an item that many requests have to write one after the other.
///
/// # Errors
/// That of the last attempt.
pub async fn retry_up_to<T, F, Fut>(most: u32, mut attempt: F) -> Result<T, Problem>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    attempts(most, |_| attempt()).await
}

async fn attempts<T, F, Fut>(most: u32, mut attempt: F) -> Result<T, Problem>
where
    F: FnMut(Attempt) -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    let mut tries = 0;
    loop {
        let number = if tries == 0 { Attempt::First } else { Attempt::Repeated };
        match attempt(number).await {
            Err(problem) if problem.code == Code::VersionConflict && tries < most => {
                back_off(tries, BASE, CAP).await;
                tries = tries.saturating_add(1);
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// The result after attempts with these outcomes, and the consistency of each attempt that was made.
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
    async fn a_rejection_over_an_eventually_consistent_read_is_decided_again() {
        use ReadConsistency::{Eventual, Strong};
        assert_eq!(attempted(&[Ok(1)]).await, (Ok(1), vec![Eventual]));
        for rejected in [Code::NotFound, Code::VersionConflict, Code::PreconditionFailed] {
            assert_eq!(attempted(&[Err(rejected), Ok(2)]).await, (Ok(2), vec![Eventual, Strong]));
        }
        let rejected = attempted(&[Err(Code::NotFound), Err(Code::NotFound)]).await;
        assert_eq!(rejected, (Err(Code::NotFound), vec![Eventual, Strong]));
        // No rejection over what was read.
        for other in [Code::Unavailable, Code::RequestInProgress] {
            assert_eq!(attempted(&[Err(other), Ok(2)]).await, (Err(other), vec![Eventual]));
        }
        assert!(Eventual.ensure_strong().is_err() && Strong.ensure_strong().is_ok());
    }
}
