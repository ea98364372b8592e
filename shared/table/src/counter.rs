//! Counters that issue numbers.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, ReturnValue};
use futures_util::FutureExt;

use super::{Table, count, unavailable};
use crate::item::Key;
use primitives::problem::Problem;

impl Table {
    /// The next number of a counter, which begins at 1. A number may be skipped: when the caller fails
    /// after it, or when the SDK sends the update twice (docs/platform.md §1). None is issued twice.
    ///
    /// # Errors
    /// 503.
    pub async fn next_number(&self, key: &Key) -> Result<u64, Problem> {
        let answer = self
            .client
            .update_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .update_expression("SET #entity = :entity ADD #last :one")
            .expression_attribute_names("#entity", "entity")
            .expression_attribute_names("#last", "last")
            .expression_attribute_values(":entity", AttributeValue::S("counter".to_owned()))
            .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
            .return_values(ReturnValue::UpdatedNew)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .boxed()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        let last = answer.attributes.as_ref().and_then(|attributes| attributes.get("last"));
        let number = last.and_then(|last| last.as_n().ok()).and_then(|text| text.parse().ok());
        number.ok_or_else(|| Problem::internal(format!("the counter {key:?} has no number")))
    }
}
