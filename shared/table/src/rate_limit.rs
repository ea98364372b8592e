//! A rate limit: a number of passes in any second.
//!
//! The item has one [slot](super::slots) for each pass of a second. A slot has the time at which it was
//! last taken, and can be taken again a second later. So in *any* window of a second there are at most as
//! many passes as slots, under any concurrency: with one more, two would have the same slot.
//!
//! A caller who comes while others wait gets a slot behind them: a time to come back at. Slots are
//! assigned in the order of the calls.

use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, ReturnValue};
use futures_util::FutureExt;

use super::slots::{SlotClaim, SlotOutcome, free_slots, number, number_of};
use super::{Table, count, unavailable};
use crate::item::{Attributes, Key};
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;

/// The entity of the item.
const ENTITY: &str = "pace";
/// The window of the rate.
const WINDOW: Duration = Duration::from_secs(1);
/// Slots are assigned at 95 % of the rate (our choice). So a caller who comes a moment late finds a free
/// slot, and waits do not grow.
const SLOTS_PERCENT: u64 = 95;
/// The age at which an assigned slot is void (our choice): after the rate was lowered, waiting callers are
/// spread anew instead of retrying at once.
const LATE: Duration = Duration::from_secs(10);
/// The retention of slots (our choice).
const RETENTION: Duration = DAY.saturating_mul(7);
/// Slots tried before the caller is sent away: others are taking them at the same moment.
const TRIES: usize = 3;

/// The decision about a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Granted now.
    Granted,
    /// Deferred: come back at `at`, with this `slot`.
    Later {
        /// The time to come back.
        at: Timestamp,
        /// The caller's slot in the order of the calls.
        slot: Timestamp,
    },
}

/// The item as it was read.
#[derive(Debug, Default)]
struct RateLimit {
    /// The last assigned slot, in microseconds since the epoch.
    tail: i64,
    attributes: Attributes,
}

impl Table {
    /// Requests a pass, at `rate` a second; `slot` is that of an earlier, deferred call.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn rate_limit(
        &self,
        key: &Key,
        rate: u32,
        slot: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Pass, Problem> {
        let rate_limit = self.read_rate_limit(key).await?;
        if slot.is_some() || rate_limit.tail <= micros(now) {
            let free = now.minus(WINDOW);
            let take =
                SlotClaim { entity: ENTITY, time: now, free, forget_at: now.plus(RETENTION) };
            for index in free_slots(&rate_limit.attributes, rate, free).into_iter().take(TRIES) {
                if let SlotOutcome::Taken = self.take_slot(key, index, take).await? {
                    return Ok(Pass::Granted);
                }
            }
        }
        match slot {
            Some(slot) if now < slot.plus(LATE) => Ok(Pass::Later { at: now.plus(WINDOW), slot }),
            _ => self.next_slot(key, rate, now).await,
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

    /// The slot after the last one; a second from now when nobody waits.
    async fn next_slot(&self, key: &Key, rate: u32, now: Timestamp) -> Result<Pass, Problem> {
        let first = micros(now.plus(WINDOW));
        let behind = ("SET #tail = #tail + :one", "#tail >= :first");
        let alone = ("SET #tail = :first", "attribute_not_exists(#tail) OR #tail < :first");
        // Both are rejected only if another caller assigned a slot in between.
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
                    let slot = Timestamp::from_millis(tail.div_euclid(1_000));
                    return Ok(Pass::Later { at: slot, slot });
                }
                Err(error) if is_rejected(&error) => {}
                Err(error) => return Err(unavailable(&error)),
            }
        }
        let slot = now.plus(WINDOW);
        Ok(Pass::Later { at: slot, slot })
    }
}

/// The microseconds between two slots.
fn interval(rate: u32) -> i64 {
    let slots = u64::from(rate.max(1)).saturating_mul(SLOTS_PERCENT);
    i64::try_from(100_000_000_u64.div_ceil(slots)).unwrap_or(i64::MAX)
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
    fn slots_are_a_little_further_apart_than_the_rate_allows() {
        assert_eq!((interval(1), interval(5), interval(100)), (1_052_632, 210_527, 10_527));
    }
}
