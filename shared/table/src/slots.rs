//! Slots: numbered times in one item, each taken by one conditional update. So there are never more
//! holders than slots, under any concurrency. A [rate limit](super::rate_limit) has one for each pass of a
//! second, [permits](super::permits) one for each holder.
//!
//! An update is not a transaction: when its reply is lost, the SDK sends it again, and the first try
//! rejects the second. Then another slot is taken. So there may be one slot fewer until its time has
//! passed, never one more.

use std::time::Duration;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};
use futures_util::FutureExt;

use super::{Table, count, random_up_to, unavailable};
use crate::item::{Attributes, Key};
use primitives::clock::Timestamp;
use primitives::problem::Problem;

/// The values of a slot that is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotClaim {
    /// The entity of the item.
    pub(super) entity: &'static str,
    /// The time to write.
    pub(super) time: Timestamp,
    /// A slot with a time up to this one is free.
    pub(super) free: Timestamp,
    /// When the item may be deleted.
    pub(super) forget_at: Timestamp,
}

/// The outcome of taking a slot.
#[derive(Debug)]
pub(super) enum SlotOutcome {
    Taken,
    /// Another holder has it; the current item.
    Rejected(Attributes),
}

impl Table {
    /// Takes a slot, if it is free.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub(super) async fn take_slot(
        &self,
        key: &Key,
        slot: u32,
        take: SlotClaim,
    ) -> Result<SlotOutcome, Problem> {
        let outcome = self
            .client
            .update_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .update_expression("SET #slot = :time, #entity = :entity, #ttl = :ttl")
            .condition_expression("attribute_not_exists(#slot) OR #slot <= :free")
            .expression_attribute_names("#slot", slot_name(slot))
            .expression_attribute_names("#entity", "entity")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":time", number(take.time.millis()))
            .expression_attribute_values(":free", number(take.free.millis()))
            .expression_attribute_values(":entity", AttributeValue::S(take.entity.to_owned()))
            .expression_attribute_values(":ttl", number(take.forget_at.seconds()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .boxed()
            .await;
        match outcome {
            Ok(answer) => {
                count(answer.consumed_capacity());
                Ok(SlotOutcome::Taken)
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(rejected)) => {
                    count([]);
                    Ok(SlotOutcome::Rejected(rejected.item.clone().unwrap_or_default()))
                }
                _ => Err(unavailable(&error)),
            },
        }
    }
}

/// The free slots of an item, from a random one on: concurrent callers try different ones first.
pub(super) fn free_slots(item: &Attributes, slots: u32, free: Timestamp) -> Vec<u32> {
    let time = |slot: &u32| number_of(item, &slot_name(*slot));
    let mut found: Vec<u32> =
        (0..slots).filter(|slot| time(slot).is_none_or(|time| time <= free.millis())).collect();
    let draw = random_up_to(Duration::from_nanos(u64::from(u32::MAX))).as_nanos();
    let shift = usize::try_from(draw).unwrap_or(0).checked_rem(found.len()).unwrap_or(0);
    found.rotate_left(shift);
    found
}

/// The attribute of a slot: short, so that an item with many of them stays small.
pub(super) fn slot_name(slot: u32) -> String {
    format!("s{slot}")
}

pub(super) fn number(number: i64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

pub(super) fn number_of(item: &Attributes, name: &str) -> Option<i64> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

    fn free(item: &Attributes, slots: u32, at: Timestamp) -> Vec<u32> {
        let mut free = free_slots(item, slots, at);
        free.sort_unstable();
        free
    }

    #[test]
    fn a_slot_is_free_when_nobody_has_it_or_its_time_has_passed() {
        let held = |slot: u32, until: Timestamp| (slot_name(slot), number(until.millis()));
        let later = NOW.plus(Duration::from_millis(1));
        let item: Attributes = [held(0, later), held(1, NOW)].into();
        assert_eq!(free(&item, 3, NOW), [1, 2]);
        assert_eq!(free(&item, 1, NOW), [0_u32; 0]);
        assert_eq!(free(&item, 1, later), [0]);
        assert_eq!(free(&Attributes::new(), 2, NOW), [0, 1]);
        assert!(free(&Attributes::new(), 0, NOW).is_empty());
    }

    #[test]
    fn concurrent_claims_begin_at_random_slots() {
        let first = |_| free_slots(&Attributes::new(), 40, NOW).first().copied();
        let firsts: std::collections::BTreeSet<_> = (0..400).filter_map(first).collect();
        assert!(firsts.len() > 20 && firsts.iter().all(|slot| *slot < 40), "{firsts:?}");
    }
}
