//! Writes of one item alone, each one conditional call: half of what a transaction of one action
//! costs.
//!
//! A transaction has a request token, so that what the SDK sends again after a lost reply is done
//! once and reported as done. A call of its own has none: its first try rejects its second. So a
//! rejected call looks at the item as it is, and finding what it was to write there is its success.
//! Two writers that would write the same, to the byte, are both told that they did; who must know that
//! it was alone writes something that is only its own.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};
use futures_util::FutureExt;

use super::{Change, Condition, expression};
use crate::Table;
use crate::back_off;
use crate::canary;
use crate::consistency::{ATTEMPTS, BASE, CAP};
use crate::count;
use crate::item;
use crate::item::{Attributes, Item, Key};
use crate::unavailable;
use primitives::problem::Problem;

/// What became of [`Table::change`].
#[derive(Debug)]
pub enum Changed<T> {
    /// Done; the item as it is then.
    Done(T),
    /// Its condition does not hold; the item as it is, if there is one.
    Rejected(Option<T>),
}

impl Table {
    /// Puts an item, unless there is one under its key. Whether this call, or one that would have
    /// put the same, made it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn put_new<T: Item>(&self, item: &T) -> Result<bool, Problem> {
        self.put_alone(item, Condition::new("attribute_not_exists(PK)")).await
    }

    /// Puts an item in place of its version before: optimistic locking. Whether this call, or one
    /// that would have put the same, did it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn put_next<T: Item>(&self, item: &T) -> Result<bool, Problem> {
        self.put_alone(item, Condition::is_at(item.version().saturating_sub(1))).await
    }

    async fn put_alone<T: Item>(&self, item: &T, condition: Condition) -> Result<bool, Problem> {
        let attributes = item::attributes(item)?;
        if canary::is_item(&attributes) {
            self.unless_throttled().await?;
        }
        let (text, names, values) = expression(condition);
        let mut attempt = 0;
        loop {
            let sent = self
                .client
                .put_item()
                .table_name(self.name())
                .set_item(Some(attributes.clone()))
                .set_condition_expression(text.clone())
                .set_expression_attribute_names(names.clone())
                .set_expression_attribute_values(values.clone())
                .return_values_on_condition_check_failure(
                    ReturnValuesOnConditionCheckFailure::AllOld,
                )
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .boxed()
                .await;
            let error = match sent {
                Ok(answer) => {
                    count(answer.consumed_capacity());
                    return Ok(true);
                }
                Err(error) => error,
            };
            count([]);
            if let Some(PutItemError::ConditionalCheckFailedException(rejected)) =
                error.as_service_error()
            {
                return Ok(rejected.item.as_ref() == Some(&attributes));
            }
            again(&error, &mut attempt).await?;
        }
    }

    /// Changes one item, and answers with all of it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn change<T: Item>(&self, key: &Key, change: Change) -> Result<Changed<T>, Problem> {
        if canary::is_partition(&key.pk) {
            self.unless_throttled().await?;
        }
        let (text, names, values) = expression(change.condition);
        let mut attempt = 0;
        loop {
            let sent = self
                .client
                .update_item()
                .table_name(self.name())
                .set_key(Some(key.attributes()))
                .update_expression(&change.update)
                .set_condition_expression(text.clone())
                .set_expression_attribute_names(names.clone())
                .set_expression_attribute_values(values.clone())
                .return_values(ReturnValue::AllNew)
                .return_values_on_condition_check_failure(
                    ReturnValuesOnConditionCheckFailure::AllOld,
                )
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .boxed()
                .await;
            let error = match sent {
                Ok(answer) => {
                    count(answer.consumed_capacity());
                    let all = answer.attributes.unwrap_or_default();
                    return item::parse(all).map(Changed::Done);
                }
                Err(error) => error,
            };
            count([]);
            if let Some(UpdateItemError::ConditionalCheckFailedException(rejected)) =
                error.as_service_error()
            {
                let found: Option<Attributes> = rejected.item.clone();
                return found.map(item::parse).transpose().map(Changed::Rejected);
            }
            again(&error, &mut attempt).await?;
        }
    }
}

/// Waits, when a transaction of somebody else's held the item, which the SDK does not try again
/// (docs/platform.md §1).
///
/// # Errors
/// When it was something else, or for too long.
async fn again<E, R>(error: &SdkError<E, R>, attempt: &mut u32) -> Result<(), Problem>
where
    E: ProvideErrorMetadata + std::fmt::Debug,
    R: std::fmt::Debug,
{
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
    if code != Some("TransactionConflictException") || *attempt >= ATTEMPTS {
        return Err(unavailable(error));
    }
    back_off(*attempt, BASE, CAP).await;
    *attempt = attempt.saturating_add(1);
    Ok(())
}
