//! Commit of the last transaction of a workflow.
//!
//! The response to a request is stored in the transaction of its effect, so that no crash can come between
//! them (docs/data-model.md §12). A workflow does not know what a response is. It decides, prepares the
//! transaction and names its outcome; the [`Completion`] that its caller passes in does the rest.

use primitives::clock::Timestamp;
use primitives::problem::Problem;

use crate::Write;

/// Commits the last transaction of a workflow whose outcome is a `T`.
pub trait Completion<T: ?Sized>: Sync {
    /// The result for the caller of the workflow.
    type Output: Send;

    /// Commits the transaction that leads to this outcome.
    ///
    /// # Errors
    /// The problem of the first action, in order, whose condition was rejected.
    fn commit(
        &self,
        write: Write,
        outcome: &T,
        now: Timestamp,
    ) -> impl Future<Output = Result<Self::Output, Problem>> + Send;

    /// The output for an outcome that needs no transaction: it was reached before.
    fn unchanged(&self, outcome: &T) -> Self::Output;
}

/// The completion of work whose outcome nobody waits for: commits, and adds nothing.
#[derive(Debug, Clone, Copy)]
pub struct CommitOnly;

impl<T: ?Sized + Sync> Completion<T> for CommitOnly {
    type Output = ();

    async fn commit(&self, write: Write, _: &T, _: Timestamp) -> Result<(), Problem> {
        write.commit().await
    }

    fn unchanged(&self, _: &T) {}
}
