//! Writes of a single item by one conditional call, at half the cost of a transaction of one action.
//!
//! A transaction has a request token, so that a request that the SDK sends again after a lost reply is
//! applied once and succeeds. A single call has none: its first try rejects its second. So a rejected
//! call compares the current item with its own, and succeeds if they are equal. Two writers of equal
//! bytes both succeed; a writer that must know that it was the only one writes an id of its own.

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

/// The outcome of [`Table::change`].
#[derive(Debug)]
pub enum Changed<T> {
    /// The change was made; the changed item.
    Done(T),
    /// Its condition does not hold; the current item, if there is one.
    Rejected(Option<T>),
}

impl Table {
    /// Puts an item, unless one exists under its key. Returns whether this call, or one that would have
    /// put the same, made it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn put_new<T: Item>(&self, item: &T) -> Result<bool, Problem> {
        self.put_alone(item, Condition::new("attribute_not_exists(PK)")).await
    }

    /// Replaces the item's previous version: optimistic locking. Returns whether this call, or one that
    /// would have put the same, did it.
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

    /// Changes one item, and returns all of it.
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

/// Waits before a retry, if another transaction held the item. The SDK does not retry that
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
