//! Pages that end early, and batches that are processed in part.
//!
//! A page may end before its first item. `DynamoDB` then returns some key to continue from. Here it is a
//! marker key, and a call that continues from it starts again where the page began.

use serde_json::{Map, Value, json};

use table::item::Index;

/// The marker in place of a key; it sorts before all keys.
const NOWHERE: &str = "\u{1}";

/// The query without the marker key: it begins at the start.
pub(super) fn begun(mut input: Value) -> Value {
    let is_nowhere =
        input.pointer("/ExclusiveStartKey/SK/S").and_then(Value::as_str) == Some(NOWHERE);
    if is_nowhere && let Some(input) = input.as_object_mut() {
        input.remove("ExclusiveStartKey");
    }
    input
}

/// Ends a page after half of its items, or before the first. Returns whether there was anything to cut.
pub(super) fn cut(input: &Value, answer: &mut Value, detail: u64) -> bool {
    let Some(items) = answer.get_mut("Items").and_then(Value::as_array_mut) else { return false };
    let half = items.len().div_euclid(2);
    // A page without items has no last key, so that the next one begins there again.
    let count = if detail & 1 == 0 { 0 } else { half };
    if items.is_empty() {
        return false;
    }
    items.truncate(count);
    let names = key_names(input);
    let next = match items.last() {
        Some(last) => Some(key_of(last, &names)),
        None => input.get("ExclusiveStartKey").cloned().or_else(|| nowhere(input, &names)),
    };
    let Some(next) = next else { return false };
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("Count".to_owned(), json!(count));
        answer.insert("ScannedCount".to_owned(), json!(count));
        answer.insert("LastEvaluatedKey".to_owned(), next);
    }
    true
}

/// The index that a query reads, if it reads one.
pub(super) fn index_of(input: &Value) -> Option<Index> {
    let name = input.get("IndexName")?.as_str();
    Index::ALL.into_iter().find(|index| Some(index.name()) == name)
}

/// The attributes of a position: first the keys of the query's index, then those of the table.
pub(super) fn key_names(input: &Value) -> Vec<&'static str> {
    let own = index_of(input).map(Index::key_names).map(|(pk, sk)| [pk, sk]);
    own.into_iter().flatten().chain(["PK", "SK"]).collect()
}

/// The position of an item.
pub(super) fn key_of(item: &Value, names: &[&str]) -> Value {
    let each = names.iter().filter_map(|name| Some(((*name).to_owned(), item.get(name)?.clone())));
    Value::Object(each.collect())
}

fn nowhere(input: &Value, names: &[&str]) -> Option<Value> {
    let partition = input.pointer("/ExpressionAttributeValues/:p")?;
    let value = |place: usize| if place == 0 { partition.clone() } else { json!({"S": NOWHERE}) };
    let each = names.iter().enumerate();
    Some(Value::Object(each.map(|(place, name)| ((*name).to_owned(), value(place))).collect()))
}

/// Splits a batch into the part to process and the rest. None for a batch of one, because `DynamoDB`
/// throttles a batch that it cannot process at all.
pub(super) fn in_part(operation: &str, input: &Value, detail: u64) -> Option<(Value, Value)> {
    let mut now = input.clone();
    let tables = now.get_mut("RequestItems")?.as_object_mut()?;
    let mut later = Map::new();
    for (table, request) in tables {
        let keys = match operation {
            "BatchGetItem" => request.get_mut("Keys")?,
            _ => &mut *request,
        };
        let keys = keys.as_array_mut().filter(|keys| keys.len() > 1)?;
        let most = u64::try_from(keys.len().saturating_sub(1)).ok()?;
        let left = usize::try_from(detail.checked_rem(most)?).ok()?.saturating_add(1);
        let rest = keys.split_off(keys.len().saturating_sub(left));
        let rest = match operation {
            "BatchGetItem" => {
                let mut unread = request.clone();
                unread.as_object_mut()?.insert("Keys".to_owned(), rest.into());
                unread
            }
            _ => rest.into(),
        };
        later.insert(table.clone(), rest);
    }
    Some((now, later.into()))
}

/// Adds the unprocessed rest of a batch to its response.
pub(super) fn leave(operation: &str, answer: &mut Value, later: Value) {
    let name = if operation == "BatchGetItem" { "UnprocessedKeys" } else { "UnprocessedItems" };
    let Some(answer) = answer.as_object_mut().filter(|answer| !answer.contains_key("__type"))
    else {
        return;
    };
    answer.insert(name.to_owned(), later);
}
