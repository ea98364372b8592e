//! Writes of a delivery. Most are one conditional write of the item alone. A transaction is used only to
//! write or delete its position in an ordering key, or to store a long response body, along with it.

use crypto::seal;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;

use super::{Delivery, OversizedResponse};

/// A random value by which a worker recognizes its claim.
fn draw() -> String {
    format!("{:016x}", u64::from_be_bytes(seal::random_bytes()))
}

impl Delivery {
    /// Creates the delivery, with its position in its ordering key. An existing one is left unchanged.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn create(&self, services: &Services) -> Result<(), Problem> {
        if self.ordering_key.is_none() {
            return services.table.put_new(self).await.map(drop);
        }
        let write = services.table.write().create(self, Code::VersionConflict);
        match self.enter_ordering_key(write).commit().await {
            Err(problem) if problem.code == Code::VersionConflict => Ok(()),
            outcome => outcome,
        }
    }

    /// Replaces the delivery by its next version. If it has ended, its position in its ordering key is
    /// deleted.
    ///
    /// # Errors
    /// `version_conflict` when another writer came first.
    pub async fn replace(&self, services: &Services) -> Result<(), Problem> {
        self.record_outcome(services, None).await
    }

    /// As [`Delivery::replace`], with a long response body as an item of its own.
    ///
    /// # Errors
    /// As [`Delivery::replace`].
    pub async fn record_outcome(
        &self,
        services: &Services,
        answer: Option<OversizedResponse>,
    ) -> Result<(), Problem> {
        let is_alone = answer.is_none() && (self.ordering_key.is_none() || !self.status.is_final());
        if !is_alone {
            let write = services.table.write().replace(self, Code::VersionConflict);
            let write = write.when_some(answer, |write, answer| write.put(&answer));
            return self.leave_ordering_key(write).commit().await;
        }
        if services.table.put_next(self).await? {
            Ok(())
        } else {
            Err(Code::VersionConflict.into())
        }
    }

    /// The delivery with its next attempt begun, marked with a claim of this worker.
    #[must_use]
    pub fn claimed_by_us(&self, now: Timestamp) -> Self {
        Self { claim: Some(draw()), ..self.claimed(now) }
    }
}
