//! Puts of many items in one call, without a condition: one round trip for what would be one each.

use aws_sdk_dynamodb::types::{PutRequest, ReturnConsumedCapacity, WriteRequest};
use futures_util::FutureExt;

use crate::item::{self, Item};
use crate::{Table, back_off, canary, count, unavailable};
use primitives::problem::Problem;

/// Items that one `BatchWriteItem` takes.
const BATCH: usize = 25;
/// Calls until everything is written.
const CALLS: u32 = 6;
/// First wait after items were left unprocessed.
const BASE: std::time::Duration = std::time::Duration::from_millis(20);
/// Longest wait after items were left unprocessed.
const CAP: std::time::Duration = std::time::Duration::from_millis(300);

/// Items to be put together, of any kinds.
#[derive(Debug, Default)]
pub struct Puts(Vec<Result<WriteRequest, Problem>>);

impl Puts {
    /// Adds an item.
    #[must_use]
    pub fn and<T: Item>(mut self, item: &T) -> Self {
        self.0.push(put_request(item));
        self
    }
}

impl Table {
    /// Puts items, whatever was under their keys, 25 in one call; it is not one transaction. Only for items that
    /// nobody else writes meanwhile: the SDK may send a call again whose reply is lost.
    ///
    /// # Errors
    /// 503 when the table cannot be reached; any of the items may then be written.
    pub async fn put_all(&self, items: Puts) -> Result<(), Problem> {
        let requests = items.0.into_iter().collect::<Result<Vec<WriteRequest>, Problem>>()?;
        for batch in requests.chunks(BATCH) {
            let mut left = batch.to_vec();
            let is_canarys = |write: &WriteRequest| {
                write.put_request().is_some_and(|put| canary::is_item(put.item()))
            };
            if left.iter().any(is_canarys) {
                self.unless_throttled().await?;
            }
            for attempt in 0..CALLS {
                left = self.put_batch(left).await?;
                if left.is_empty() {
                    break;
                }
                back_off(attempt, BASE, CAP).await;
            }
            if !left.is_empty() {
                return Err(Problem::unavailable("unprocessed items"));
            }
        }
        Ok(())
    }

    /// Sends one call. Returns what it has left unprocessed.
    async fn put_batch(&self, requests: Vec<WriteRequest>) -> Result<Vec<WriteRequest>, Problem> {
        let answer = self
            .client
            .batch_write_item()
            .request_items(self.name(), requests)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .boxed()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        let left = answer.unprocessed_items.unwrap_or_default().into_values().flatten();
        Ok(left.collect())
    }
}

fn put_request<T: Item>(item: &T) -> Result<WriteRequest, Problem> {
    let put = PutRequest::builder().set_item(Some(item::attributes(item)?));
    let put = put.build().map_err(Problem::internal)?;
    Ok(WriteRequest::builder().put_request(put).build())
}
