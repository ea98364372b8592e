//! Transient rejections of the table: writes of an item that is in a transaction, which the SDK gives
//! up (docs/platform.md §1), and throttled calls, which the SDK tries again by itself.

use aws_sdk_dynamodb::config::interceptors::{FinalizerInterceptorContextRef, InterceptorContext};
use aws_sdk_dynamodb::config::retry::{ClassifyRetry, RetryAction};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::{BoxError, ProvideErrorMetadata};
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::query::QueryError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;

use super::TableUse;
use primitives::context::Context;

/// The error codes of throttled calls.
const THROTTLES: [&str; 3] =
    ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"];

/// Lets the SDK retry writes that met a transaction: of an idempotency record, a bucket, a counter.
#[derive(Debug)]
pub struct Conflicts;

impl ClassifyRetry for Conflicts {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let failed = context.output_or_error().and_then(Result::err);
        let Some(error) = failed.and_then(|failed| failed.as_operation_error()) else {
            return RetryAction::NoActionIndicated;
        };
        let put = error.downcast_ref().is_some_and(PutItemError::is_transaction_conflict_exception);
        let is_conflict = put
            || error.downcast_ref().is_some_and(UpdateItemError::is_transaction_conflict_exception);
        if is_conflict { RetryAction::server_error() } else { RetryAction::NoActionIndicated }
    }

    fn name(&self) -> &'static str {
        "transaction conflicts"
    }
}

/// Counts throttled calls, each attempt once, which the SDK's classifiers do not promise.
#[derive(Debug)]
pub struct Throttles;

impl Intercept for Throttles {
    fn name(&self) -> &'static str {
        "throttles"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let failed = context.output_or_error().and_then(Result::err);
        let Some(error) = failed.and_then(|failed| failed.as_operation_error()) else {
            return Ok(());
        };
        let code = None
            .or_else(|| error.downcast_ref::<PutItemError>()?.code())
            .or_else(|| error.downcast_ref::<UpdateItemError>()?.code())
            .or_else(|| error.downcast_ref::<GetItemError>()?.code())
            .or_else(|| error.downcast_ref::<BatchGetItemError>()?.code())
            .or_else(|| error.downcast_ref::<QueryError>()?.code())
            .or_else(|| error.downcast_ref::<TransactWriteItemsError>()?.code());
        if code.is_some_and(|code| THROTTLES.contains(&code)) {
            count_throttle();
        }
        Ok(())
    }
}

/// Counts a throttled call of the current request.
pub(super) fn count_throttle() {
    Context::update(|used: &mut TableUse| used.throttles = used.throttles.saturating_add(1));
}
