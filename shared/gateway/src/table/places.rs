//! Places that are held for a while: at most so many holders at once.
//!
//! The item has one slot for each place, which says until when it is taken. A slot is taken by one
//! conditional update and given back by another, so there are never more holders than slots,
//! however many ask at once. The slot of a holder that never comes back is free when its time has
//! passed.
//!
//! An update is not a transaction: when its reply is lost, the SDK sends it again, and its own first
//! try refuses the second. Then another slot is taken, and the first is empty until its time has
//! passed: one place fewer for that long, never one more.

use std::time::Duration;

use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
};

use super::{Table, count, random_up_to, unavailable};
use crate::clock::{DAY, Timestamp};
use crate::item::{Attributes, Key};
use crate::problem::Problem;

/// Slots tried before all are taken for taken: others are trying at the same moment.
const TRIES: usize = 4;

/// A place that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a place that is not given back stays taken until its time has passed"]
pub struct Place {
    key: Key,
    slot: u32,
    until: Timestamp,
}

enum Taking {
    Taken,
    /// By somebody else; the item as it is.
    Refused(Attributes),
}

impl Table {
    /// Takes one of `most` places, until `until` at the longest; none when all are taken.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn take_place(
        &self,
        key: &Key,
        most: u32,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Place>, Problem> {
        // Blindly at first: where few are held that is one write and no read.
        let mut slot = (0..most).nth(draw_below(most));
        for _ in 0..TRIES {
            let Some(tried) = slot else { return Ok(None) };
            match self.take(key, tried, until, now).await? {
                Taking::Taken => return Ok(Some(Place { key: key.clone(), slot: tried, until })),
                Taking::Refused(item) => {
                    let free = free_slots(&item, most, now);
                    slot = free.get(draw_below(u32::try_from(free.len()).unwrap_or(0))).copied();
                }
            }
        }
        Ok(None)
    }

    async fn take(
        &self,
        key: &Key,
        slot: u32,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Taking, Problem> {
        let outcome = self
            .client
            .update_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .update_expression("SET #slot = :until, #entity = :entity, #ttl = :ttl")
            .condition_expression("attribute_not_exists(#slot) OR #slot <= :now")
            .expression_attribute_names("#slot", slot_name(slot))
            .expression_attribute_names("#entity", "entity")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":until", number(until.millis()))
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":entity", AttributeValue::S("places".to_owned()))
            .expression_attribute_values(":ttl", number(until.plus(DAY).seconds()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match outcome {
            Ok(answer) => {
                count(answer.consumed_capacity());
                Ok(Taking::Taken)
            }
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                    count([]);
                    Ok(Taking::Refused(refused.item.clone().unwrap_or_default()))
                }
                _ => Err(unavailable(&error)),
            },
        }
    }

    /// Gives a place back, unless its time has passed and another has taken it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached: the place is free when its time has passed.
    pub async fn leave_place(&self, place: Place) -> Result<(), Problem> {
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

/// The slots that nobody holds now.
fn free_slots(item: &Attributes, most: u32, now: Timestamp) -> Vec<u32> {
    let held_until =
        |slot: &u32| -> Option<i64> { item.get(&slot_name(*slot))?.as_n().ok()?.parse().ok() };
    (0..most).filter(|slot| held_until(slot).is_none_or(|until| until <= now.millis())).collect()
}

/// A random position among `count`; 0 when there are none.
fn draw_below(count: u32) -> usize {
    let drawn = random_up_to(Duration::from_nanos(u64::from(count))).as_nanos();
    let last = count.saturating_sub(1);
    usize::try_from(drawn.min(u128::from(last))).unwrap_or(0)
}

/// Short, so that the item of a full house stays below a kilobyte: one unit a write.
fn slot_name(slot: u32) -> String {
    format!("s{slot}")
}

fn number(number: i64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

    #[test]
    fn a_slot_is_free_when_nobody_has_it_or_its_time_has_passed() {
        let held = |slot: u32, until: Timestamp| (slot_name(slot), number(until.millis()));
        let later = NOW.plus(Duration::from_millis(1));
        let item: Attributes = [held(0, later), held(1, NOW)].into();
        assert_eq!(free_slots(&item, 3, NOW), [1, 2]);
        assert_eq!(free_slots(&item, 1, NOW), [0_u32; 0]);
        assert_eq!(free_slots(&item, 1, later), [0]);
        assert_eq!(free_slots(&Attributes::new(), 2, NOW), [0, 1]);
    }

    #[test]
    fn a_draw_is_always_among_those_there_are() {
        for count in [1, 2, 40] {
            let most = usize::try_from(count).unwrap();
            assert!((0..200).all(|_| draw_below(count) < most));
        }
        assert_eq!(draw_below(0), 0);
    }

    #[test]
    fn a_full_house_is_written_for_one_unit() {
        // A name counts its bytes, a number about half its digits and one more.
        let slots: usize =
            (0..40).map(|slot| slot_name(slot).len() + 13_usize.div_ceil(2) + 1).sum();
        let longest_key = "PLC#HOST#".len() + 253 + ":65535".len() + "FAST".len();
        assert!(slots + longest_key + 64 < 1_024);
    }
}
