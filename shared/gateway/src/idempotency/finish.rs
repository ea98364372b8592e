//! Completion of an idempotency record whose handler answered without completing it.

use super::record::{find, replay};
use super::{Claim, is_stored};
use crate::answer::Answer;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Condition;

/// Whether an answer was stored under its key.
enum Stored {
    /// It was, or nothing more can be done about it.
    Done,
    /// The key has the record of another request.
    KeyTaken,
}

impl Claim {
    /// Stores an answer that had no effect, or releases the claim, so that the request can be retried at
    /// once. Returns the earlier response, if the request was answered before; that is only unknown until
    /// now if nothing was claimed.
    pub(crate) async fn finish(
        self,
        services: &Services,
        answer: &Answer,
        code: Option<&Code>,
    ) -> Option<Result<Answer, Problem>> {
        let status = answer.status().as_u16();
        if is_stored(status, code) {
            return match self.store(services, answer).await {
                Stored::KeyTaken => self.earlier_response(services).await,
                Stored::Done => None,
            };
        }
        if self.is_ahead {
            self.release(services).await;
            return None;
        }
        // A failure of the service does not tell whether there was an effect.
        if status < 500 { self.earlier_response(services).await } else { None }
    }

    /// Stores an answer. If nothing was claimed, another request may have used the key.
    async fn store(&self, services: &Services, answer: &Answer) -> Stored {
        let write = self.complete(services.table.write(), answer, services.clock.now());
        match write.commit().await {
            Err(problem) if !self.is_ahead && problem.code == Code::RequestInProgress => {
                return Stored::KeyTaken;
            }
            Err(problem) => tracing::warn!(cause = %problem, "idempotent response not stored"),
            Ok(()) => {}
        }
        Stored::Done
    }

    pub(super) async fn release(&self, services: &Services) {
        let condition = Condition::new("lease = :lease AND #state = :running")
            .name("#state", "state")
            .value(":running", "running")
            .value(":lease", &self.lease);
        let write = services.table.write().delete_if(&self.key, condition, Code::RequestInProgress);
        if let Err(problem) = write.commit().await {
            tracing::warn!(
                cause = %problem,
                "idempotency key not released; its lease ends by itself"
            );
        }
    }

    /// The response of the record that exists under the key; none if there is none.
    async fn earlier_response(&self, services: &Services) -> Option<Result<Answer, Problem>> {
        match find(services, self).await {
            Ok(found) => found.map(|record| replay(self, &record)),
            Err(problem) => Some(Err(problem)),
        }
    }
}
