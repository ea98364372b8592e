//! Permits for a limited time, up to a number of holders at once.
//!
//! The item has one [slot](super::slots) for each permit, with the time at which the permit ends. Another
//! conditional update returns it. The slot of a holder that never returns it is free when its time has
//! passed.

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use futures_util::FutureExt;

use super::slots::{SlotClaim, SlotOutcome, free_slots, number, slot_name};
use super::{Table, count, unavailable};
use crate::item::{Attributes, Key};
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;

/// Slots tried before the permits count as exhausted: others are trying at the same moment.
const TRIES: usize = 4;

/// A permit that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a place that is not given back stays taken until its time has passed"]
pub struct Permit {
    key: Key,
    slot: u32,
    until: Timestamp,
}

impl Table {
    /// Takes one of `most` permits until `until`; none when all are taken.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn take_permit(
        &self,
        key: &Key,
        most: u32,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Permit>, Problem> {
        let forget_at = until.plus(DAY);
        let take = SlotClaim { entity: "places", time: until, free: now, forget_at };
        // Without a read at first: with few holders that is one write.
        let mut item = Attributes::new();
        for _ in 0..TRIES {
            let Some(slot) = free_slots(&item, most, now).first().copied() else { return Ok(None) };
            match self.take_slot(key, slot, take).await? {
                SlotOutcome::Taken => return Ok(Some(Permit { key: key.clone(), slot, until })),
                SlotOutcome::Rejected(found) => item = found,
            }
        }
        Ok(None)
    }

    /// Returns a permit, unless its time has passed and another holder has it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached: the place is free when its time has passed.
    pub async fn return_permit(&self, place: Permit) -> Result<(), Problem> {
        let outcome = self
            .client
            .update_item()
            .table_name(self.name())
            .set_key(Some(place.key.attributes()))
            .update_expression("REMOVE #slot")
            .condition_expression("#slot = :until")
            .expression_attribute_names("#slot", slot_name(place.slot))
            .expression_attribute_values(":until", number(place.until.millis()))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .boxed()
            .await;
        match outcome {
            Ok(answer) => {
                count(answer.consumed_capacity());
                Ok(())
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(()),
                _ => Err(unavailable(&error)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_house_is_written_for_one_unit() {
        // A name counts its bytes, a number about half its digits and one more.
        let slots: usize =
            (0..40).map(|slot| slot_name(slot).len() + 13_usize.div_ceil(2) + 1).sum();
        let longest_key = "PLC#HOST#".len() + 253 + ":65535".len() + "FAST".len();
        assert!(slots + longest_key + 64 < 1_024);
    }
}
