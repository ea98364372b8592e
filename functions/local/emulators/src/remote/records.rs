//! Records of a stream, in the form in which Lambda delivers them.

use std::collections::HashMap;

use aws_sdk_dynamodbstreams::types::{AttributeValue, Record, StreamRecord, StreamViewType};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

/// The name of a record's change: `INSERT`, `MODIFY` or `REMOVE`.
pub(super) fn change(record: &Record) -> &str {
    record.event_name().map_or("", |name| name.as_str())
}

/// The kind of a record's new item.
pub(super) fn kind(record: &Record) -> &str {
    let kind = record.dynamodb().and_then(StreamRecord::new_image).and_then(|it| it.get("entity"));
    kind.and_then(|kind| kind.as_s().ok()).map_or("", String::as_str)
}

/// The record's position in its shard.
pub(super) fn sequence_number(record: &Record) -> Option<&str> {
    record.dynamodb().and_then(StreamRecord::sequence_number)
}

pub(super) fn lambda_record(record: &Record, stream_arn: &str, region: &str) -> Value {
    json!({
        "eventID": record.event_id(), "eventName": change(record), "eventVersion": record.event_version(),
        "eventSource": "aws:dynamodb", "eventSourceARN": stream_arn, "awsRegion": region,
        "dynamodb": record.dynamodb().map(stream_change),
    })
}

fn stream_change(record: &StreamRecord) -> Value {
    let images = [
        ("Keys", record.keys()),
        ("NewImage", record.new_image()),
        ("OldImage", record.old_image()),
    ];
    let images =
        images.into_iter().filter_map(|(name, image)| Some((name.to_owned(), item(image?))));
    let at = record.approximate_creation_date_time();
    let at = at.map(|at| ("ApproximateCreationDateTime".to_owned(), json!(at.secs())));
    let others = [
        ("SequenceNumber", json!(record.sequence_number())),
        ("SizeBytes", json!(record.size_bytes().unwrap_or_default())),
        ("StreamViewType", json!(record.stream_view_type().map(StreamViewType::as_str))),
    ];
    let others = others.map(|(name, value)| (name.to_owned(), value));
    Value::Object(images.chain(at).chain(others).collect())
}

fn item(attributes: &HashMap<String, AttributeValue>) -> Value {
    let written = attributes.iter().map(|(name, value)| (name.clone(), attribute(value)));
    Value::Object(written.collect::<Map<_, _>>())
}

/// An attribute in `DynamoDB`'s JSON.
fn attribute(value: &AttributeValue) -> Value {
    let base64 = |bytes: &aws_sdk_dynamodbstreams::primitives::Blob| BASE64_STANDARD.encode(bytes);
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(digits) => json!({ "N": digits }),
        AttributeValue::B(bytes) => json!({ "B": base64(bytes) }),
        AttributeValue::Bool(flag) => json!({ "BOOL": flag }),
        AttributeValue::L(list) => json!({ "L": list.iter().map(attribute).collect::<Vec<_>>() }),
        AttributeValue::M(members) => json!({ "M": item(members) }),
        AttributeValue::Ss(texts) => json!({ "SS": texts }),
        AttributeValue::Ns(numbers) => json!({ "NS": numbers }),
        AttributeValue::Bs(all) => json!({ "BS": all.iter().map(base64).collect::<Vec<_>>() }),
        _ => json!({ "NULL": true }),
    }
}
