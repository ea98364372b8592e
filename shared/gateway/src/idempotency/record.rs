//! The stored record of a key.

use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use futures_util::FutureExt;
use http::header;

use super::scopes::{insufficient, missing};
use super::{Claim, Claimed, stored_response};
use crate::answer::Answer;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Attributes;

/// The `entity` of a record.
pub(super) const KIND: &str = "idempotency";
/// The condition that the key is free: it has no record, the record has expired, or its lease has lapsed
/// and it is this request's.
pub(super) const FREE: &str = "attribute_not_exists(PK) OR expires_at <= :at OR \
                    (#state = :running AND lease_until <= :at AND fingerprint = :fingerprint)";

/// The `state` of a record whose request is being handled.
const RUNNING: &str = "running";

/// The duration of a claim, after which another request with the same key may take it over.
const LEASE: Duration = Duration::from_secs(30);

/// Writes the claim. Returns the existing record, if the key is not free.
pub(super) async fn put(services: &Services, claim: &Claim) -> Result<Option<Attributes>, Problem> {
    let now = services.clock.now();
    let text = |value: &str| AttributeValue::S(value.to_owned());
    let millis = |time: Timestamp| AttributeValue::N(time.millis().to_string());
    let sent = services
        .table
        .client()
        .put_item()
        .table_name(services.table.name())
        .set_item(Some(claim.key.attributes()))
        .item("entity", text(KIND))
        .item("state", text(RUNNING))
        .item("fingerprint", text(&claim.fingerprint))
        .item("scopes", text(claim.scopes.as_deref().unwrap_or_default()))
        .item("lease", text(&claim.lease))
        .item("lease_until", millis(now.plus(LEASE)))
        .item("expires_at", millis(now.plus(DAY)))
        .item("ttl", AttributeValue::N(now.plus(DAY).plus(DAY).seconds().to_string()))
        .condition_expression(FREE)
        .expression_attribute_names("#state", "state")
        .expression_attribute_values(":at", millis(now))
        .expression_attribute_values(":running", text(RUNNING))
        .expression_attribute_values(":fingerprint", text(&claim.fingerprint))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .send()
        .boxed()
        .await;
    match sent {
        Ok(_) => Ok(None),
        Err(SdkError::ServiceError(inner))
            if inner.err().is_conditional_check_failed_exception() =>
        {
            match inner.into_err() {
                PutItemError::ConditionalCheckFailedException(rejected) => {
                    Ok(Some(rejected.item.unwrap_or_default()))
                }
                other => Err(Problem::unavailable(other)),
            }
        }
        Err(error) => Err(table::unavailable(&error)),
    }
}

/// The outcome of a claim that met an existing record.
pub(super) fn validate(claim: &Claim, old: &Attributes) -> Result<Claimed, Problem> {
    if text_of(old, "lease") == Some(&claim.lease) {
        // The SDK's second attempt met its own first (docs/platform.md §1).
        return Ok(Claimed::Mine(claim.clone()));
    }
    replay(claim, old).map(Claimed::Replay)
}

fn text_of<'a>(record: &'a Attributes, name: &str) -> Option<&'a str> {
    record.get(name).and_then(|value| value.as_s().ok()).map(String::as_str)
}

/// The stored answer of a record for this request.
///
/// # Errors
/// `idempotency_key_reused`, `request_in_progress`; `insufficient_scope` for whoever may do less than the first
/// request could.
pub(super) fn replay(claim: &Claim, old: &Attributes) -> Result<Answer, Problem> {
    let text = |name| text_of(old, name);
    if text("fingerprint") != Some(&claim.fingerprint) {
        return Err(Code::IdempotencyKeyReused.into());
    }
    if let Some(missing) = missing(text("scopes"), claim.scopes.as_deref()) {
        return Err(insufficient(missing));
    }
    if text("state") != Some("completed") {
        return Err(Problem::from(Code::RequestInProgress).header(header::RETRY_AFTER, "1"));
    }
    let sealed = old.get("answer").and_then(|value| value.as_b().ok());
    let sealed = sealed.map(aws_sdk_dynamodb::primitives::Blob::as_ref).unwrap_or_default();
    let answer = stored_response::open(&claim.seal, sealed, claim.key.pk.as_bytes())?;
    Ok(answer.header(http::HeaderName::from_static("idempotent-replayed"), "true"))
}

/// The existing record of a request's key, unless it has expired.
pub(super) async fn find(
    services: &Services,
    claim: &Claim,
) -> Result<Option<Attributes>, Problem> {
    let sent = services
        .table
        .client()
        .get_item()
        .table_name(services.table.name())
        .set_key(Some(claim.key.attributes()))
        .consistent_read(true)
        .send()
        .boxed()
        .await;
    let found = sent.map_err(|error| table::unavailable(&error))?.item;
    let now = services.clock.now().millis();
    let until = |record: &Attributes| record.get("expires_at")?.as_n().ok()?.parse::<i64>().ok();
    Ok(found.filter(|record| until(record).is_some_and(|until| now < until)))
}
