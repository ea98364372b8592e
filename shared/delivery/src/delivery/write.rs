//! Writing a delivery: alone in one conditional write, and in a transaction only with what goes with it,
//! which is its position in a ordering key, and an answer that is an item of its own.

use crypto::seal;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::{Change, Changed};

use super::message::EARLY;
use super::{Delivery, DeliveryMessage, DeliveryStatus, LEASE, LIFETIME, RecordedAnswer};

/// What tells one claim from every other.
fn draw() -> String {
    format!("{:016x}", u64::from_be_bytes(seal::random_bytes()))
}

impl Delivery {
    /// Makes the delivery, with its position in its ordering key. One that has been made is left as it is,
    /// whatever has become of it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn make(&self, services: &Services) -> Result<(), Problem> {
        if self.ordering_key.is_none() {
            return services.table.put_new(self).await.map(drop);
        }
        let write = services.table.write().create(self, Code::VersionConflict);
        match self.enter_ordering_key(write).commit().await {
            Err(problem) if problem.code == Code::VersionConflict => Ok(()),
            outcome => outcome,
        }
    }

    /// Writes the delivery in place of its version before. One that has ended leaves its ordering key with it.
    ///
    /// # Errors
    /// `version_conflict` when another writer came first.
    pub async fn replace(&self, services: &Services) -> Result<(), Problem> {
        self.settle(services, None).await
    }

    /// As [`Delivery::replace`], with what was answered if that is long.
    ///
    /// # Errors
    /// As [`Delivery::replace`].
    pub async fn settle(
        &self,
        services: &Services,
        answer: Option<RecordedAnswer>,
    ) -> Result<(), Problem> {
        let is_alone = answer.is_none() && (self.ordering_key.is_none() || !self.status.is_final());
        if !is_alone {
            let write = services.table.write().replace(self, Code::VersionConflict);
            let write = write.also(answer, |write, answer| write.put(&answer));
            return self.leave_ordering_key(write).commit().await;
        }
        if services.table.put_next(self).await? {
            Ok(())
        } else {
            Err(Code::VersionConflict.into())
        }
    }

    /// The delivery with its next attempt begun, for whoever writes it so.
    #[must_use]
    pub fn claimed_by_us(&self, now: Timestamp) -> Self {
        Self { claim: Some(draw()), ..self.claimed(now) }
    }

    /// Claims the first attempt of the delivery that a message is for, without having read it. None
    /// when that takes a closer look; [`Delivery::turn`] says what at.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn claim_first(
        services: &Services,
        message: &DeliveryMessage,
        now: Timestamp,
    ) -> Result<Changed<Self>, Problem> {
        let claim = draw();
        let key = core_types::key::delivery(&message.delivery_id);
        let claimed = services.table.change::<Self>(&key, first_claim(&claim, now)).await?;
        Ok(match claimed {
            // Ours, whose reply was lost.
            Changed::Rejected(Some(found)) if found.claim.as_ref() == Some(&claim) => {
                Changed::Done(found)
            }
            other => other,
        })
    }
}

/// [`Delivery::claimed`] of one that waits for its first attempt, as a change of what is there. None
/// of its keys in an index is different then.
fn first_claim(claim: &str, now: Timestamp) -> Change {
    let claimed = "SET #status = :delivering, attempt = :one, lease_until = :lease, claim = :claim, \
                   last_attempt_at = :now, updated_at = :now, version = version + :one \
                   REMOVE next_attempt_at, turn_at, held_by";
    let waits = "#status = :pending AND attempt = :none AND next_attempt_at <= :soon \
                 AND created_at > :oldest";
    Change::new(claimed)
        .only_if(waits)
        .name("#status", "status")
        .value(":delivering", DeliveryStatus::Delivering)
        .value(":pending", DeliveryStatus::Pending)
        .value(":none", 0)
        .value(":one", 1)
        .value(":claim", claim)
        .value(":lease", now.plus(LEASE))
        .value(":now", now)
        .value(":soon", now.plus(EARLY))
        .value(":oldest", now.minus(LIFETIME))
}
