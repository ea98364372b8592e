//! Transactions that complete the idempotency record of their request.

use primitives::clock::Timestamp;
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use table::Write;

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
                context.keep(claim);
            }
            return outcome.map(|()| reply);
        }
        self.commit().await.map(|()| reply)
    }
}

impl Claim {
    /// Adds the completion of this claim's record to a transaction.
    pub(crate) fn complete(&self, write: Write, answer: &Answer, now: Timestamp) -> Write {
        let write = match self.completion(answer, now) {
            Ok(change) => write.update(self.key(), change, Code::RequestInProgress),
            Err(defect) => write.fail(defect),
        };
        match self.guarded(now) {
            Some((key, change)) => write.update(key, change, Code::IdempotencyKeyReused),
            None => write,
        }
    }
}
