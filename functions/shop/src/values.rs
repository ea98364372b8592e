//! What pages read of the API's answers, and write for people.

use serde_json::Value;

/// A text member; empty if there is none.
pub(crate) fn text<'a>(of: &'a Value, member: &str) -> &'a str {
    of.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// A list member; empty if there is none.
pub(crate) fn list<'a>(of: &'a Value, member: &str) -> &'a [Value] {
    of.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The items of a page of a list.
pub(crate) fn items(page: &Value) -> Vec<Value> {
    list(page, "data").to_vec()
}

/// An object with one more member.
pub(crate) fn with(mut object: Value, member: &str, value: impl Into<Value>) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.insert(member.to_owned(), value.into());
    }
    object
}

/// An amount as people read it.
pub(crate) fn money(of: &Value) -> &str {
    of.get("formatted").and_then(Value::as_str).unwrap_or_default()
}

/// Whether an amount is more than nothing.
pub(crate) fn is_some(of: &Value) -> bool {
    of.get("amount").and_then(Value::as_i64).is_some_and(|amount| amount != 0)
}

/// A text as the beginning of a sentence.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
