//! What becomes of a record when its handler has answered, and has not completed it.

use super::record::{find, replay};
use super::{Claim, is_kept};
use crate::answer::Answer;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Condition;

/// Whether an answer was stored under its key.
enum Stored {
    /// It was, or there is nothing more to do about it.
    Done,
    /// The key has the record of another request.
    Taken,
}

impl Claim {
    /// Keeps an answer that had no effect, or lets the record go, so that the request can be tried
    /// again at once. What is to be answered instead, when the request was answered before: only
    /// where nothing was claimed is that not known by now.
    pub(crate) async fn settle(
        self,
        services: &Services,
        answer: &Answer,
        code: Option<&Code>,
    ) -> Option<Result<Answer, Problem>> {
        let status = answer.status().as_u16();
        if is_kept(status, code) {
            return match self.keep(services, answer).await {
                Stored::Taken => self.first(services).await,
                Stored::Done => None,
            };
        }
        if self.is_ahead {
            self.release(services).await;
            return None;
        }
        // What the service could not do says nothing about what was done.
        if status < 500 { self.first(services).await } else { None }
    }

    /// Keeps an answer. Where nothing was claimed, another request may have used the key.
    async fn keep(&self, services: &Services, answer: &Answer) -> Stored {
        let write = self.complete(services.table.write(), answer, services.clock.now());
        match write.commit().await {
            Err(problem) if !self.is_ahead && problem.code == Code::RequestInProgress => {
                return Stored::Taken;
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

    /// What the record says that is in the way; nothing, where there is none.
    async fn first(&self, services: &Services) -> Option<Result<Answer, Problem>> {
        match find(services, self).await {
            Ok(found) => found.map(|record| replay(self, &record)),
            Err(problem) => Some(Err(problem)),
        }
    }
}
