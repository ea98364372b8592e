//! Rejections in the form of `DynamoDB`: the SDK reads the type, the message and the cancellation reasons.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};

/// The prefix of `DynamoDB`'s own error types.
const OWN: &str = "com.amazonaws.dynamodb.v20120810#";
/// The cancellation code of an action that did not cause the cancellation.
const NONE: &str = "None";

/// Creates a response with this status.
pub(super) fn answer(status: u16, body: &Value) -> Option<HttpResponse> {
    let mut response = HttpResponse::new(status.try_into().ok()?, SdkBody::from(body.to_string()));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    Some(response)
}

/// A throttled call; `detail` selects the form of the rejection.
pub(super) fn throttled(operation: &str, input: &Value, detail: u64) -> Option<HttpResponse> {
    let exceeded = "The level of configured provisioned throughput for the table was exceeded. \
                    Consider increasing your provisioning level with the UpdateTable API.";
    let (of_table, of_transaction) = (detail & 1 == 0, detail & 2 == 0);
    match (operation, of_table) {
        ("TransactWriteItems" | "TransactGetItems", _) if of_transaction => {
            let code = if of_table { "ProvisionedThroughputExceeded" } else { "ThrottlingError" };
            cancelled(input, code, exceeded, detail)
        }
        (_, true) => rejected(&format!("{OWN}ProvisionedThroughputExceededException"), exceeded),
        (_, false) => {
            let words = "Rate of requests exceeds the allowed throughput.";
            rejected("com.amazon.coral.availability#ThrottlingException", words)
        }
    }
}

/// A conflict with another transaction.
pub(super) fn conflicting(operation: &str, input: &Value, detail: u64) -> Option<HttpResponse> {
    let words = "Transaction is ongoing for the item";
    if operation.starts_with("Transact") {
        return cancelled(input, "TransactionConflict", words, detail);
    }
    rejected(&format!("{OWN}TransactionConflictException"), words)
}

/// An invalid write: one of its items is too large.
pub(super) fn invalid(operation: &str, input: &Value, detail: u64) -> Option<HttpResponse> {
    let words = "Item size has exceeded the maximum allowed size";
    if operation.starts_with("Transact") {
        return cancelled(input, "ValidationError", words, detail);
    }
    rejected("com.amazon.coral.validate#ValidationException", words)
}

/// A missing permission.
pub(super) fn denied() -> Option<HttpResponse> {
    let words = "User is not authorized to perform this action";
    rejected("com.amazon.coral.service#AccessDeniedException", words)
}

/// An internal error, after which it is unknown whether the call was executed.
pub(super) fn failed() -> Option<HttpResponse> {
    let kind = format!("{OWN}InternalServerError");
    answer(500, &json!({"__type": kind, "message": "Internal server error"}))
}

fn rejected(kind: &str, words: &str) -> Option<HttpResponse> {
    answer(400, &json!({"__type": kind, "message": words}))
}

/// A transaction that was cancelled for one of its actions, with this code.
fn cancelled(input: &Value, code: &str, words: &str, detail: u64) -> Option<HttpResponse> {
    let actions = input.get("TransactItems").and_then(Value::as_array).map_or(1, Vec::len);
    let at = detail.checked_rem(u64::try_from(actions).ok()?).unwrap_or(0);
    let at = usize::try_from(at).ok()?;
    let reason = |position: usize| {
        if position == at { json!({"Code": code, "Message": words}) } else { json!({"Code": NONE}) }
    };
    let codes = (0..actions).map(|position| if position == at { code } else { NONE });
    let codes: Vec<&str> = codes.collect();
    let message = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    answer(
        400,
        &json!({
            "__type": format!("{OWN}TransactionCanceledException"),
            "CancellationReasons": (0..actions).map(reason).collect::<Vec<_>>(),
            "Message": message,
        }),
    )
}
