//! How a change looks at what it is decided over (docs/data-model.md §13).
//!
//! A read at half the price is perhaps a moment old. For a change whose write demands what was read
//! that is good enough, until something is refused: by what was seen, or by the table. Then it is
//! decided again over what there is, and only that is answered.

use super::retry;
use crate::problem::{Code, Problem};

/// How what there is is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// At half the price, and perhaps a moment old: good enough for what a write demands again, and
    /// for no refusal.
    Glance,
    /// As it is.
    Settled,
}

impl Sight {
    /// # Errors
    /// `version_conflict`, where a glance has shown what no write demands: it is looked at again.
    pub fn demand_settled(self) -> Result<(), Problem> {
        if self == Self::Settled { Ok(()) } else { Err(Code::VersionConflict.into()) }
    }
}

/// Whether what was refused over a glance is to be decided again over what there is: not what the
/// table could not do, nor what is about the request and not about what it changes.
pub fn is_to_be_settled(refused: &Problem) -> bool {
    refused.code.status() < 500 && refused.code != Code::RequestInProgress
}

/// Reads, decides and writes: over a glance first, and where that is refused as [`retry`] does.
///
/// # Errors
/// What the last attempt ended in.
pub async fn retry_from_glance<T, F, Fut>(mut attempt: F) -> Result<T, Problem>
where
    F: FnMut(Sight) -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    match attempt(Sight::Glance).await {
        Err(refused) if is_to_be_settled(&refused) => retry(|| attempt(Sight::Settled)).await,
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// What is answered where a glance, and each settled look after it, comes to this; and how often it
    /// was looked.
    async fn looked(outcomes: &[Result<u32, Code>]) -> (Result<u32, Code>, Vec<Sight>) {
        let seen = RefCell::new(Vec::new());
        let answer = retry_from_glance(|sight| {
            let outcome = outcomes.get(seen.borrow().len()).copied();
            seen.borrow_mut().push(sight);
            async move { outcome.unwrap_or(Err(Code::Internal)).map_err(Problem::from) }
        })
        .await;
        (answer.map_err(|problem| problem.code), seen.into_inner())
    }

    #[tokio::test]
    async fn what_a_glance_refuses_is_decided_again_over_what_there_is() {
        use Sight::{Glance, Settled};
        assert_eq!(looked(&[Ok(1)]).await, (Ok(1), vec![Glance]));
        for refused in [Code::NotFound, Code::VersionConflict, Code::PreconditionFailed] {
            assert_eq!(looked(&[Err(refused), Ok(2)]).await, (Ok(2), vec![Glance, Settled]));
        }
        let gone = looked(&[Err(Code::NotFound), Err(Code::NotFound)]).await;
        assert_eq!(gone, (Err(Code::NotFound), vec![Glance, Settled]));
        // What is no refusal of what was seen is not looked at again.
        for other in [Code::Unavailable, Code::RequestInProgress] {
            assert_eq!(looked(&[Err(other), Ok(2)]).await, (Err(other), vec![Glance]));
        }
        assert!(Glance.demand_settled().is_err() && Settled.demand_settled().is_ok());
    }
}
