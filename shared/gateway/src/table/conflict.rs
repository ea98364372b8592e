//! Writes of one item that meet a transaction, which the SDK gives up (docs/platform.md §1).

use aws_sdk_dynamodb::config::interceptors::InterceptorContext;
use aws_sdk_dynamodb::config::retry::{ClassifyRetry, RetryAction};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;

/// Has the SDK try them again, whoever makes them: a key's record, a bucket, a counter.
#[derive(Debug)]
pub(crate) struct Conflicts;

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
