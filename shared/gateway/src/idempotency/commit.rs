//! Transactions that complete the idempotency record of their request.

use primitives::clock::Timestamp;
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use table::{Completion, Write};

use super::Claim;
use crate::answer::Answer;
use crate::reply::Reply;

/// Commits the transaction of a request and replies to it.
pub trait Commit: Sized {
    /// Commits, and answers with `reply`. When the request holds an idempotency key, its record is completed
    /// with the answer in the same transaction.
    ///
    /// # Errors
    /// The problem of the first action, in order, whose condition was rejected.
    fn answer<R: Reply>(
        self,
        reply: R,
        now: Timestamp,
    ) -> impl Future<Output = Result<R, Problem>> + Send;
}

impl Commit for Write {
    async fn answer<R: Reply>(self, reply: R, now: Timestamp) -> Result<R, Problem> {
        if let Some(context) = Context::current()
            && let Some(claim) = context.take::<Claim>()
        {
            let outcome = claim.complete(self, reply.as_answer(), now).commit().await;
            if outcome.is_err() {
                context.insert(claim);
            }
            return outcome.map(|()| reply);
        }
        self.commit().await.map(|()| reply)
    }
}

/// The completion of a workflow that a request has started: its outcome is the request's response.
#[derive(Debug, Clone, Copy)]
pub struct Answering<F>(F);

/// Completes a workflow of the current request with the response to its outcome, as [`Commit::answer`] does.
pub const fn answering<T: ?Sized, R: Reply, F: Fn(&T) -> R>(to_response: F) -> Answering<F> {
    Answering(to_response)
}

impl<T: ?Sized + Sync, R: Reply, F: Fn(&T) -> R + Sync> Completion<T> for Answering<F> {
    type Output = R;

    async fn commit(&self, write: Write, outcome: &T, now: Timestamp) -> Result<R, Problem> {
        write.answer((self.0)(outcome), now).await
    }

    fn unchanged(&self, outcome: &T) -> R {
        (self.0)(outcome)
    }
}

impl Claim {
    /// Adds the completion of this claim's record to a transaction.
    pub(crate) fn complete(&self, write: Write, answer: &Answer, now: Timestamp) -> Write {
        match self.completion(answer, now) {
            Ok(change) => write.update(self.key(), change, Code::RequestInProgress),
            Err(defect) => write.fail(defect),
        }
    }
}
