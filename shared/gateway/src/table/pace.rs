//! A pace that is kept: at most so many passes in any second.
//!
//! The item has one slot for each pass of a second, which holds when it was taken last, and is taken
//! again a second later at the earliest. So there are at most as many passes as slots in *any* window
//! of a second, however many ask at once: of one more, two would have the same slot.
//!
//! Whoever comes while others wait gets a turn behind them: a time, to come back at. Turns are handed
//! out in the order of asking, one after the other.

use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, ReturnValue};

use super::{Table, count, random_up_to, unavailable};
use crate::clock::{DAY, Timestamp};
use crate::item::{Attributes, Key};
use crate::problem::Problem;

/// The window that the rate is of.
const WINDOW: Duration = Duration::from_secs(1);
/// Turns are handed out at 95 % of the rate (our choice): whoever comes a moment late finds a slot
/// among those who come on time, and nobody waits longer and longer.
const TURNS_PERCENT: u64 = 95;
/// A turn this far back is no turn any more (our choice): after the rate was lowered, those who wait
/// are spread anew instead of asking again and again.
const LATE: Duration = Duration::from_secs(10);
/// How long turns are remembered (our choice).
const KEPT: Duration = DAY.saturating_mul(7);
/// Slots tried before the caller is sent away: others are taking them at the same moment.
const TRIES: usize = 3;

/// Whether somebody may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Yes, now.
    Granted,
    /// Not yet: come back at `at`, and say the `turn` then.
    Later {
        /// When to come back.
        at: Timestamp,
        /// Whose place in the order of asking it is.
        turn: Timestamp,
    },
}

/// The item as it was read.
#[derive(Debug, Default)]
struct Pace {
    /// The last turn that was handed out, in microseconds since the epoch.
    tail: i64,
    attributes: Attributes,
}

impl Table {
    /// Asks to pass, at `rate` a second, `turn` being what an earlier call answered.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn pace(
        &self,
        key: &Key,
        rate: u32,
        turn: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Pass, Problem> {
        let pace = self.read_pace(key).await?;
        if turn.is_some() || pace.tail <= micros(now) {
            for slot in pace.free_slots(rate, now).into_iter().take(TRIES) {
                if self.take_slot(key, slot, now).await? {
                    return Ok(Pass::Granted);
                }
            }
        }
        match turn {
            Some(turn) if now < turn.plus(LATE) => Ok(Pass::Later { at: now.plus(WINDOW), turn }),
            _ => self.next_turn(key, rate, now).await,
        }
    }

    async fn read_pace(&self, key: &Key) -> Result<Pace, Problem> {
        let answer = self
            .client
            .get_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        let attributes = answer.item.unwrap_or_default();
        Ok(Pace { tail: number(&attributes, "tail").unwrap_or(0), attributes })
    }

    /// Takes a slot, unless somebody else has within a second.
    async fn take_slot(&self, key: &Key, slot: u32, now: Timestamp) -> Result<bool, Problem> {
        let outcome = self
            .client
            .update_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .update_expression("SET #slot = :now, #entity = :entity, #ttl = :ttl")
            .condition_expression("attribute_not_exists(#slot) OR #slot <= :before")
            .expression_attribute_names("#slot", slot_name(slot))
            .expression_attribute_names("#entity", "entity")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":now", attribute(now.millis()))
            .expression_attribute_values(":before", attribute(now.minus(WINDOW).millis()))
            .expression_attribute_values(":entity", AttributeValue::S("pace".to_owned()))
            .expression_attribute_values(":ttl", attribute(now.plus(KEPT).seconds()))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match outcome {
            Ok(answer) => {
                count(answer.consumed_capacity());
                Ok(true)
            }
            Err(error) if is_refused(&error) => Ok(false),
            Err(error) => Err(unavailable(&error)),
        }
    }

    /// The turn after the last one; a second from now when nobody waits.
    async fn next_turn(&self, key: &Key, rate: u32, now: Timestamp) -> Result<Pass, Problem> {
        let first = micros(now.plus(WINDOW));
        let behind = ("SET #tail = #tail + :one", "#tail >= :first");
        let alone = ("SET #tail = :first", "attribute_not_exists(#tail) OR #tail < :first");
        // Refused both only when another moved the turns over `first` in between.
        for (update, condition) in [behind, alone, behind] {
            let mut request = self
                .client
                .update_item()
                .table_name(self.name())
                .set_key(Some(key.attributes()))
                .update_expression(format!("{update}, #entity = :entity, #ttl = :ttl"))
                .condition_expression(condition)
                .expression_attribute_names("#tail", "tail")
                .expression_attribute_names("#entity", "entity")
                .expression_attribute_names("#ttl", "ttl")
                .expression_attribute_values(":first", attribute(first))
                .expression_attribute_values(":entity", AttributeValue::S("pace".to_owned()))
                .expression_attribute_values(":ttl", attribute(now.plus(KEPT).seconds()))
                .return_values(ReturnValue::UpdatedNew)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            if update.contains(":one") {
                request = request.expression_attribute_values(":one", attribute(interval(rate)));
            }
            match request.send().await {
                Ok(answer) => {
                    count(answer.consumed_capacity());
                    let tail = answer.attributes.as_ref().and_then(|all| number(all, "tail"));
                    let tail = tail.unwrap_or(first);
                    let turn = Timestamp::from_millis(tail.div_euclid(1_000));
                    return Ok(Pass::Later { at: turn, turn });
                }
                Err(error) if is_refused(&error) => {}
                Err(error) => return Err(unavailable(&error)),
            }
        }
        let turn = now.plus(WINDOW);
        Ok(Pass::Later { at: turn, turn })
    }
}

impl Pace {
    /// Slots that nobody took within a second, beginning anywhere: those who ask at the same moment
    /// try different ones first.
    fn free_slots(&self, rate: u32, now: Timestamp) -> Vec<u32> {
        let before = now.minus(WINDOW).millis();
        let is_free = |slot: &u32| {
            number(&self.attributes, &slot_name(*slot)).is_none_or(|taken| taken <= before)
        };
        let mut free: Vec<u32> = (0..rate).filter(is_free).collect();
        let draw = random_up_to(Duration::from_nanos(u64::from(u32::MAX))).as_nanos();
        let shift = usize::try_from(draw).unwrap_or(0).checked_rem(free.len()).unwrap_or(0);
        free.rotate_left(shift);
        free
    }
}

/// Microseconds from a turn to the next.
fn interval(rate: u32) -> i64 {
    let turns = u64::from(rate.max(1)).saturating_mul(TURNS_PERCENT);
    i64::try_from(100_000_000_u64.div_ceil(turns)).unwrap_or(i64::MAX)
}

fn slot_name(slot: u32) -> String {
    format!("slot_{slot}")
}

fn micros(at: Timestamp) -> i64 {
    at.millis().saturating_mul(1_000)
}

fn attribute(number: i64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

fn number(attributes: &Attributes, name: &str) -> Option<i64> {
    attributes.get(name)?.as_n().ok()?.parse().ok()
}

fn is_refused<R>(error: &SdkError<UpdateItemError, R>) -> bool {
    error.as_service_error().is_some_and(UpdateItemError::is_conditional_check_failed_exception)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_a_little_further_apart_than_the_rate_allows() {
        assert_eq!((interval(1), interval(5), interval(100)), (1_052_632, 210_527, 10_527));
    }

    #[test]
    fn a_slot_is_free_a_second_after_it_was_taken() {
        let now = Timestamp::from_millis(1_795_244_400_000);
        let taken = |ago: u64| attribute(now.minus(Duration::from_millis(ago)).millis());
        let attributes = [("slot_0".to_owned(), taken(999)), ("slot_1".to_owned(), taken(1_000))];
        let pace = Pace { tail: 0, attributes: attributes.into() };
        let mut free = pace.free_slots(3, now);
        free.sort_unstable();
        assert_eq!(free, [1, 2]);
        assert!(pace.free_slots(1, now).is_empty());
    }
}
