//! Retries of changes of stock that lost a race.

use primitives::problem::{Code, Problem};
use table::{Attempt, ReadConsistency, needs_strong_read, retry};
use tokio::sync::Mutex;

/// Runs of [`retry`] for a change that competes with orders, which change levels and balances
/// in place and so never wait for it. Together they end well within the idempotency lease.
const ROUNDS: u32 = 3;

/// Serializes the requests of this process that met a conflict.
static CONFLICTED: Mutex<()> = Mutex::const_new(());

/// Runs a read-decide-write on busy levels or balances, and repeats it on `version_conflict`.
///
/// Requests that met a conflict are retried one after the other: a local system serves many requests
/// in one process, and those for the same level queue up. A Lambda environment serves one request at a
/// time; there the lock is free, and the waits of [`retry`] spread the requests. Calls must not be
/// nested: the lock is not reentrant.
///
/// # Errors
/// Those of the last attempt.
pub async fn retry_on_conflict<T, F, Fut>(mut attempt: F) -> Result<T, Problem>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    retry_on_conflict_attempts(|_| attempt()).await
}

/// As [`retry_on_conflict`]; says to `attempt` which one it is.
///
/// # Errors
/// Those of the last attempt.
pub async fn retry_on_conflict_attempts<T, F, Fut>(mut attempt: F) -> Result<T, Problem>
where
    F: FnMut(Attempt) -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    match attempt(Attempt::First).await {
        Err(problem) if problem.code == Code::VersionConflict => {}
        outcome => return outcome,
    }
    let _guard = CONFLICTED.lock().await;
    let mut round = 1;
    loop {
        match retry(|| attempt(Attempt::Repeated)).await {
            Err(problem) if problem.code == Code::VersionConflict && round < ROUNDS => {
                round = round.saturating_add(1);
            }
            outcome => return outcome,
        }
    }
}

/// As [`retry_on_conflict`], but with a first attempt over eventually consistent reads (docs/data-model.md §13).
///
/// # Errors
/// Those of the last attempt.
pub async fn retry_on_conflict_eventual_first<T, F, Fut>(mut attempt: F) -> Result<T, Problem>
where
    F: FnMut(ReadConsistency) -> Fut,
    Fut: Future<Output = Result<T, Problem>>,
{
    match attempt(ReadConsistency::Eventual).await {
        Err(rejected) if needs_strong_read(&rejected) => {
            retry_on_conflict(|| attempt(ReadConsistency::Strong)).await
        }
        outcome => outcome,
    }
}
