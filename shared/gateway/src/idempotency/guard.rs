//! What a guest's network has used a key for: with another body it is rejected, as everybody's is,
//! and a changed cart is no second order. It is no part of whose key it is: elsewhere the same body
//! finds the record without it.

use super::Claim;
use super::record::{self, KIND, fingerprint_of};
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use table::Change;
use table::item::Key;

/// Whether the network has used the key for nothing else.
const UNUSED: &str = "attribute_not_exists(PK) OR expires_at <= :at OR fingerprint = :fingerprint";

/// Notes what the key is used for, ahead of the effect.
///
/// # Errors
/// `idempotency_key_reused`: it was something else.
pub(super) async fn ensure(services: &Services, claim: &Claim) -> Result<(), Problem> {
    let Some(guard) = &claim.guard else { return Ok(()) };
    let old = record::put_at(services, claim, guard, record::USED).await?;
    match old {
        Some(old) if fingerprint_of(&old) != Some(&claim.fingerprint) => {
            Err(Code::IdempotencyKeyReused.into())
        }
        _ => Ok(()),
    }
}

impl Claim {
    /// Where it is noted what the key is used for, and the change that does so with the effect.
    pub(crate) fn guarded(&self, now: Timestamp) -> Option<(&Key, Change)> {
        let guard = self.guard.as_ref().filter(|_| !self.is_ahead)?;
        let written = "SET #entity = :entity, #state = :used, fingerprint = :fingerprint, \
                       expires_at = :expires_at, #ttl = :ttl";
        let change = Change::new(written)
            .only_if(UNUSED)
            .name("#entity", "entity")
            .name("#state", "state")
            .name("#ttl", "ttl")
            .value(":entity", KIND)
            .value(":used", record::USED)
            .value(":fingerprint", &self.fingerprint)
            .value(":at", now.millis())
            .value(":expires_at", now.plus(DAY).millis())
            .value(":ttl", now.plus(DAY).plus(DAY).seconds());
        Some((guard, change))
    }
}
