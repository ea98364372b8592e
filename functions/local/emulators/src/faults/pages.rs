//! Pages that end early, and batches that are done in part.
//!
//! A page may end before its first item. `DynamoDB` then names some key to go on from; here it is one
//! that sorts nowhere, and a call that goes on from it goes on from where that page began.

use serde_json::{Map, Value, json};

use table::item::Index;

/// In the place of keys: before whatever a key begins with.
const NOWHERE: &str = "\u{1}";

/// What a query really asks for: one that goes on from nowhere begins.
pub(super) fn begun(mut input: Value) -> Value {
    let is_nowhere =
        input.pointer("/ExclusiveStartKey/SK/S").and_then(Value::as_str) == Some(NOWHERE);
    if is_nowhere && let Some(input) = input.as_object_mut() {
        input.remove("ExclusiveStartKey");
    }
    input
}

/// Ends a page after the first few of its items, or before them. Whether there was anything to cut.
pub(super) fn cut(input: &Value, answer: &mut Value, detail: u64) -> bool {
    let Some(items) = answer.get_mut("Items").and_then(Value::as_array_mut) else { return false };
    let half = items.len().div_euclid(2);
    // A page before whose first item there is none to name begins there again.
    let kept = if detail & 1 == 0 { 0 } else { half };
    if items.is_empty() {
        return false;
    }
    items.truncate(kept);
    let names = key_names(input);
    let next = match items.last() {
        Some(last) => Some(key_of(last, &names)),
        None => input.get("ExclusiveStartKey").cloned().or_else(|| nowhere(input, &names)),
    };
    let Some(next) = next else { return false };
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("Count".to_owned(), json!(kept));
        answer.insert("ScannedCount".to_owned(), json!(kept));
        answer.insert("LastEvaluatedKey".to_owned(), next);
    }
    true
}

/// The index that a query reads, if it is one.
pub(super) fn index_of(input: &Value) -> Option<Index> {
    let name = input.get("IndexName")?.as_str();
    Index::ALL.into_iter().find(|index| Some(index.name()) == name)
}

/// The attributes that a position is made of: first those that a query goes by.
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

/// A batch without the last of its keys or items, and those. None of a batch of one: what cannot be done
/// at all is throttled.
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

/// Says what of a batch was left.
pub(super) fn leave(operation: &str, answer: &mut Value, later: Value) {
    let name = if operation == "BatchGetItem" { "UnprocessedKeys" } else { "UnprocessedItems" };
    let Some(answer) = answer.as_object_mut().filter(|answer| !answer.contains_key("__type"))
    else {
        return;
    };
    answer.insert(name.to_owned(), later);
}
