//! A pace that is kept: at most so many passes in any second.
//!
//! The item has one [slot](super::slots) for each pass of a second, which holds when it was taken last,
//! and is taken again a second later at the earliest. So there are at most as many passes as slots in
//! *any* window of a second, however many ask at once: of one more, two would have the same slot.
//!
//! Whoever comes while others wait gets a turn behind them: a time, to come back at. Turns are handed
//! out in the order of asking, one after the other.

use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, ReturnValue};
use futures_util::FutureExt;

use super::slots::{Take, Taking, free_slots, number, number_of};
use super::{Table, count, unavailable};
use crate::item::{Attributes, Key};
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;

/// What the item is called.
const ENTITY: &str = "pace";
/// The window that the rate is of.
const WINDOW: Duration = Duration::from_secs(1);
/// Turns are handed out at 95 % of the rate (our choice): whoever comes a moment late finds a slot
/// among those who come on time, and nobody waits longer and longer.
const TURNS_PERCENT: u64 = 95;
/// A turn this far back is no turn any more (our choice): after the rate was lowered, those who wait
/// are spread anew instead of asking again and again.
const LATE: Duration = Duration::from_secs(10);
/// How long turns are remembered (our choice).
const RETENTION: Duration = DAY.saturating_mul(7);
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
struct RateLimit {
    /// The last turn that was handed out, in microseconds since the epoch.
    tail: i64,
    attributes: Attributes,
}

impl Table {
    /// Asks to pass, at `rate` a second, `turn` being what an earlier call answered.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn rate_limit(
        &self,
        key: &Key,
        rate: u32,
        turn: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Pass, Problem> {
        let rate_limit = self.read_rate_limit(key).await?;
        if turn.is_some() || rate_limit.tail <= micros(now) {
            let free = now.minus(WINDOW);
            let take = Take { entity: ENTITY, time: now, free, forget_at: now.plus(RETENTION) };
            for slot in free_slots(&rate_limit.attributes, rate, free).into_iter().take(TRIES) {
                if let Taking::Taken = self.take_slot(key, slot, take).await? {
                    return Ok(Pass::Granted);
                }
            }
        }
        match turn {
            Some(turn) if now < turn.plus(LATE) => Ok(Pass::Later { at: now.plus(WINDOW), turn }),
            _ => self.next_turn(key, rate, now).await,
        }
    }

    async fn read_rate_limit(&self, key: &Key) -> Result<RateLimit, Problem> {
        let answer = self
            .client
            .get_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .boxed()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        let attributes = answer.item.unwrap_or_default();
        Ok(RateLimit { tail: number_of(&attributes, "tail").unwrap_or(0), attributes })
    }

    /// The turn after the last one; a second from now when nobody waits.
    async fn next_turn(&self, key: &Key, rate: u32, now: Timestamp) -> Result<Pass, Problem> {
        let first = micros(now.plus(WINDOW));
        let behind = ("SET #tail = #tail + :one", "#tail >= :first");
        let alone = ("SET #tail = :first", "attribute_not_exists(#tail) OR #tail < :first");
        // Rejected both only when another moved the turns over `first` in between.
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
                .expression_attribute_values(":first", number(first))
                .expression_attribute_values(":entity", AttributeValue::S(ENTITY.to_owned()))
                .expression_attribute_values(":ttl", number(now.plus(RETENTION).seconds()))
                .return_values(ReturnValue::UpdatedNew)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            if update.contains(":one") {
                request = request.expression_attribute_values(":one", number(interval(rate)));
            }
            match request.send().boxed().await {
                Ok(answer) => {
                    count(answer.consumed_capacity());
                    let tail = answer.attributes.as_ref().and_then(|all| number_of(all, "tail"));
                    let tail = tail.unwrap_or(first);
                    let turn = Timestamp::from_millis(tail.div_euclid(1_000));
                    return Ok(Pass::Later { at: turn, turn });
                }
                Err(error) if is_rejected(&error) => {}
                Err(error) => return Err(unavailable(&error)),
            }
        }
        let turn = now.plus(WINDOW);
        Ok(Pass::Later { at: turn, turn })
    }
}

/// Microseconds from a turn to the next.
fn interval(rate: u32) -> i64 {
    let turns = u64::from(rate.max(1)).saturating_mul(TURNS_PERCENT);
    i64::try_from(100_000_000_u64.div_ceil(turns)).unwrap_or(i64::MAX)
}

fn micros(at: Timestamp) -> i64 {
    at.millis().saturating_mul(1_000)
}

fn is_rejected<R>(error: &SdkError<UpdateItemError, R>) -> bool {
    error.as_service_error().is_some_and(UpdateItemError::is_conditional_check_failed_exception)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_a_little_further_apart_than_the_rate_allows() {
        assert_eq!((interval(1), interval(5), interval(100)), (1_052_632, 210_527, 10_527));
    }
}
