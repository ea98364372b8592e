//! How two engines' answers to one call differ.

use serde_json::{Map, Value};

/// The answer of an engine.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) json: Value,
}

/// The kinds of differences: `status`, `error`, `reasons` of a cancelled transaction, `page` for where a page begins or
/// ends, `answer` for anything else that is read, and `capacity`.
pub(super) fn differences(
    operation: &str,
    input: &Value,
    one: &Answer,
    other: &Answer,
) -> Vec<&'static str> {
    if one.status != other.status {
        return vec!["status"];
    }
    if one.status != 200 {
        let mut kinds = Vec::new();
        if error(&one.json) != error(&other.json) {
            kinds.push("error");
        }
        if reasons(&one.json) != reasons(&other.json) {
            kinds.push("reasons");
        }
        return kinds;
    }
    let mut kinds = Vec::new();
    if capacity(&one.json) != capacity(&other.json) {
        kinds.push("capacity");
    }
    // A scan's pages are cut out of an order that each engine has for itself.
    let goes_on = operation == "Scan" && input.get("ExclusiveStartKey").is_some();
    let told_differs = told(operation, &one.json) != told(operation, &other.json);
    if one.json.get("LastEvaluatedKey") != other.json.get("LastEvaluatedKey")
        || goes_on && told_differs
    {
        kinds.push("page");
    } else if told_differs {
        kinds.push("answer");
    }
    kinds
}

/// The name of an error, without its namespace.
fn error(answer: &Value) -> &str {
    let name = answer.get("__type").and_then(Value::as_str).unwrap_or_default();
    name.rsplit('#').next().unwrap_or_default()
}

/// Of each part of a transaction, why it was cancelled, and the item that was there.
fn reasons(answer: &Value) -> Vec<(Value, Value)> {
    let reasons = answer.get("CancellationReasons").and_then(Value::as_array);
    let part = |reason: &Value, name: &str| normal(reason.get(name).unwrap_or(&Value::Null));
    let reason = |reason: &Value| (part(reason, "Code"), part(reason, "Item"));
    let mut told: Vec<_> = reasons.into_iter().flatten().map(reason).collect();
    // The item of a write whose condition failed alone.
    told.push((Value::Null, part(answer, "Item")));
    told
}

fn capacity(answer: &Value) -> Value {
    normal(answer.get("ConsumedCapacity").unwrap_or(&Value::Null))
}

/// What an answer says, without its capacity and in an order of its own where the API promises none.
fn told(operation: &str, answer: &Value) -> Value {
    let mut told = normal(answer);
    if let Some(members) = told.as_object_mut() {
        members.remove("ConsumedCapacity");
    }
    let has_order = operation != "Scan";
    if let Some(items) = told.get_mut("Items").and_then(Value::as_array_mut).filter(|_| !has_order)
    {
        items.sort_by_key(Value::to_string);
    }
    for tables in ["Responses", "UnprocessedKeys"] {
        // Those of a transaction are a list, in the order of its parts.
        for items in told.get_mut(tables).and_then(Value::as_object_mut).into_iter().flatten() {
            if let Some(items) = items.1.as_array_mut() {
                items.sort_by_key(Value::to_string);
            }
        }
    }
    told
}

/// The same value, with the members of sets in one order, and without members that are empty.
fn normal(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let is_empty =
                |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
            let kept = members.iter().filter(|(_, value)| !is_empty(value));
            let normal = kept.map(|(name, value)| {
                let mut value = normal(value);
                if let Some(all) =
                    value.as_array_mut().filter(|_| matches!(name.as_str(), "SS" | "NS" | "BS"))
                {
                    all.sort_by_key(Value::to_string);
                }
                (name.clone(), value)
            });
            Value::Object(normal.collect())
        }
        Value::Array(all) => Value::Array(all.iter().map(normal).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds(operation: &str, one: (u16, Value), other: (u16, Value)) -> Vec<&'static str> {
        let answer = |(status, json)| Answer { status, json };
        differences(operation, &Value::Null, &answer(one), &answer(other))
    }

    #[test]
    fn order_counts_where_the_api_promises_it() {
        let (ab, ba) = (json!({"Items": [1, 2]}), json!({"Items": [2, 1]}));
        assert!(kinds("Scan", (200, ab.clone()), (200, ba.clone())).is_empty());
        assert_eq!(kinds("Query", (200, ab), (200, ba)), ["answer"]);
        let batch = |items: Value| json!({"Responses": {"t": items}});
        let (ab, ba) = (batch(json!([1, 2])), batch(json!([2, 1])));
        assert!(kinds("BatchGetItem", (200, ab), (200, ba)).is_empty());
        let sets = |texts: Value| json!({"Item": {"a": {"SS": texts}}});
        let (ab, ba) = (sets(json!(["a", "b"])), sets(json!(["b", "a"])));
        assert!(kinds("GetItem", (200, ab), (200, ba)).is_empty());
    }

    #[test]
    fn errors_are_compared_by_name_and_reasons() {
        let cancelled = |space: &str, code: &str| {
            json!({"__type": format!("{space}#TransactionCanceledException"), "message": space,
                "CancellationReasons": [{"Code": code, "Message": space}]})
        };
        let write = |one, other| kinds("TransactWriteItems", (400, one), (400, other));
        assert!(write(cancelled("a", "None"), cancelled("b", "None")).is_empty());
        assert_eq!(
            write(cancelled("a", "None"), cancelled("a", "ConditionalCheckFailed")),
            ["reasons"]
        );
        let found = json!({"ConsumedCapacity": {"CapacityUnits": 1.0}});
        let other = json!({"ConsumedCapacity": {"CapacityUnits": 1.5}});
        assert_eq!(kinds("PutItem", (200, found.clone()), (200, other)), ["capacity"]);
        assert_eq!(kinds("PutItem", (200, found.clone()), (400, found)), ["status"]);
    }
}
