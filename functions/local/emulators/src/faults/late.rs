//! Stale reads: an index or an eventually consistent read does not have the last writes yet, and still
//! returns the items that they replaced.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::pages::{index_of, key_names, key_of};
use table::item::Index;

/// An item's key in the table.
type Key = (String, String);

/// The last writes, with the items before them.
#[derive(Debug)]
pub(super) struct Late {
    behind: Duration,
    written: Mutex<VecDeque<(Instant, Before)>>,
}

/// The items of a write before it; null for an item that did not exist.
#[derive(Debug)]
pub(super) struct Before(HashMap<Key, Value>);

impl Before {
    /// The items of a `BatchGetItem` by its response. Rate buckets and idempotency records are left out: they
    /// are never read stale.
    pub(super) fn of(request: &Value, response: &Value) -> Self {
        let keys = items(request.get("RequestItems").and_then(Value::as_object), Some("Keys"));
        let mut all: HashMap<Key, Value> =
            keys.filter_map(|key| Some((key_in_table(key)?, Value::Null))).collect();
        let found = items(response.get("Responses").and_then(Value::as_object), None);
        all.extend(found.filter_map(|item| Some((key_in_table(item)?, item.clone()))));
        all.retain(|(partition, _), _| {
            !["RLB#", "IDM#"].iter().any(|own| partition.starts_with(own))
        });
        Self(all)
    }
}

/// Whether a call is an eventually consistent read.
pub(super) fn may_be(input: &Value) -> bool {
    let is_consistent = |input: &Value| input.get("ConsistentRead") == Some(&json!(true));
    let tables = input.get("RequestItems").and_then(Value::as_object);
    !is_consistent(input) && !tables.is_some_and(|tables| tables.values().any(is_consistent))
}

impl Late {
    /// No writes yet; reads may be this far behind.
    pub(super) fn by(behind: Duration) -> Self {
        Self { behind, written: Mutex::default() }
    }

    /// Records a completed write.
    pub(super) fn note(&self, before: Before) {
        if !before.0.is_empty() {
            self.recent().push_back((Instant::now(), before));
        }
    }

    /// The time until no read can be behind the writes so far.
    pub(super) fn rest(&self) -> Option<Duration> {
        let last = self.recent().back()?.0;
        self.behind.checked_sub(last.elapsed())
    }

    /// The writes that a stale read may not have yet.
    fn recent(&self) -> MutexGuard<'_, VecDeque<(Instant, Before)>> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        while written.front().is_some_and(|(at, _)| at.elapsed() >= self.behind) {
            written.pop_front();
        }
        written
    }

    /// The earlier state of each item that was written recently.
    fn before(&self) -> HashMap<Key, Value> {
        let mut all = HashMap::new();
        for (_, Before(items)) in self.recent().iter() {
            for (key, item) in items {
                all.entry(key.clone()).or_insert_with(|| item.clone());
            }
        }
        all
    }

    /// Changes a response to its state of a moment ago. Returns whether that differs.
    pub(super) fn show(&self, operation: &str, input: &Value, answer: &mut Value) -> bool {
        let (before, now) = (self.before(), answer.clone());
        match operation {
            "GetItem" => show_item(&before, input, answer),
            "BatchGetItem" => show_items(&before, input, answer),
            _ => Page::of(input, answer).show(before, answer),
        }
        *answer != now
    }
}

fn show_item(before: &HashMap<Key, Value>, input: &Value, answer: &mut Value) {
    let key = input.get("Key").and_then(key_in_table);
    let (Some(old), Some(answer)) = (key.and_then(|key| before.get(&key)), answer.as_object_mut())
    else {
        return;
    };
    match old {
        Value::Null => answer.remove("Item"),
        old => answer.insert("Item".to_owned(), old.clone()),
    };
}

fn show_items(before: &HashMap<Key, Value>, input: &Value, answer: &mut Value) {
    let tables = answer.get_mut("Responses").and_then(Value::as_object_mut);
    for (table, found) in tables.into_iter().flatten() {
        let wanted = input.get("RequestItems").and_then(|tables| tables.get(table)?.get("Keys"));
        let wanted =
            wanted.and_then(Value::as_array).into_iter().flatten().filter_map(key_in_table);
        let Some(found) = found.as_array_mut() else { continue };
        found.retain(|item| key_in_table(item).is_none_or(|key| !before.contains_key(&key)));
        found.extend(
            wanted.filter_map(|key| before.get(&key).filter(|old| !old.is_null()).cloned()),
        );
    }
}

/// The part of an index, or of the table, that a query reads.
struct Page<'a> {
    input: &'a Value,
    names: Vec<&'static str>,
    /// The key at which the page ended, if there is a next page.
    last: Option<Value>,
}

impl<'a> Page<'a> {
    fn of(input: &'a Value, answer: &Value) -> Self {
        Self { input, names: key_names(input), last: answer.get("LastEvaluatedKey").cloned() }
    }

    fn show(&self, before: HashMap<Key, Value>, answer: &mut Value) {
        let Some(items) = answer.get_mut("Items").and_then(Value::as_array_mut) else { return };
        items.retain(|item| key_in_table(item).is_none_or(|key| !before.contains_key(&key)));
        let is_keys_only = index_of(self.input).is_some_and(Index::is_keys_only);
        let old = before.into_values().filter(|item| self.has(item));
        let projected = |item: Value| if is_keys_only { key_of(&item, &self.names) } else { item };
        items.extend(old.map(projected));
        items.sort_by_key(|item| self.place(item));
        if self.is_backward() {
            items.reverse();
        }
        let limit = self.input.get("Limit").and_then(Value::as_u64);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let is_too_long = items.len() > limit;
        items.truncate(limit);
        let end = items.last().filter(|_| is_too_long).map(|item| key_of(item, &self.names));
        let count = items.len();
        if let Some(answer) = answer.as_object_mut() {
            answer.extend(end.map(|end| ("LastEvaluatedKey".to_owned(), end)));
            answer.insert("Count".to_owned(), json!(count));
            answer.insert("ScannedCount".to_owned(), json!(count));
        }
    }

    /// The sort position of an item.
    fn place(&self, item: &Value) -> (String, Key) {
        let sort = self.names.get(1).and_then(|name| text(item, name)).unwrap_or_default();
        (sort.to_owned(), key_in_table(item).unwrap_or_default())
    }

    fn is_backward(&self) -> bool {
        self.input.get("ScanIndexForward") == Some(&json!(false))
    }

    /// Whether an item belongs to this page.
    fn has(&self, item: &Value) -> bool {
        let value = |name: &str| {
            let values = self.input.get("ExpressionAttributeValues")?;
            values.get(name)?.get("S")?.as_str()
        };
        let [partition, sort, ..] = *self.names else { return false };
        if text(item, partition).is_none() || text(item, partition) != value(":p") {
            return false;
        }
        let Some(sort) = text(item, sort) else { return false };
        let is_meant = value(":b").is_none_or(|prefix| sort.starts_with(prefix))
            && value(":l").is_none_or(|low| sort >= low)
            && value(":h").is_none_or(|high| sort <= high);
        let (place, start) = (self.place(item), self.input.get("ExclusiveStartKey"));
        let is_after = |one: &Value| place > self.place(one);
        let is_before = |one: &Value| place < self.place(one);
        let is_inside = if self.is_backward() {
            start.is_none_or(is_before) && self.last.as_ref().is_none_or(is_after)
        } else {
            start.is_none_or(is_after) && self.last.as_ref().is_none_or(is_before)
        };
        is_meant && is_inside
    }
}

/// The request that reads the items which a write is about to change.
pub(super) fn what_is_there(operation: &str, write: &Value) -> Option<Value> {
    let parts: Vec<&Value> = match operation {
        "TransactWriteItems" => {
            let actions = write.get("TransactItems")?.as_array()?.iter();
            let kinds = ["Put", "Update", "Delete"];
            actions.filter_map(|action| kinds.iter().find_map(|kind| action.get(kind))).collect()
        }
        _ => vec![write],
    };
    let table = parts.first()?.get("TableName")?.as_str()?.to_owned();
    let whole = |part: &&Value| part.get("Key").or_else(|| part.get("Item")).cloned();
    let key = |part: &&Value| whole(part).map(|item| key_of(&item, &["PK", "SK"]));
    let keys: Vec<Value> = parts.iter().filter_map(key).take(100).collect();
    if keys.is_empty() {
        return None;
    }
    let request = json!({"Keys": keys, "ConsistentRead": true});
    let mut tables = Map::new();
    tables.insert(table, request);
    Some(json!({"RequestItems": tables}))
}

/// The elements of each table's list, or of a list in a member of each table.
fn items<'a>(
    tables: Option<&'a Map<String, Value>>,
    member: Option<&'a str>,
) -> impl Iterator<Item = &'a Value> {
    let each = tables.into_iter().flat_map(Map::values);
    let lists = each.filter_map(move |table| match member {
        Some(member) => table.get(member)?.as_array(),
        None => table.as_array(),
    });
    lists.flatten()
}

fn text<'a>(item: &'a Value, name: &str) -> Option<&'a str> {
    item.get(name)?.get("S")?.as_str()
}

fn key_in_table(item: &Value) -> Option<Key> {
    Some((text(item, "PK")?.to_owned(), text(item, "SK")?.to_owned()))
}
