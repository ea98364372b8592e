//! Data of JSON, lists and handles.

use liquid::Value;
use serde_json::Value as Json;

/// Data of JSON.
pub(crate) fn plain(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::Nil,
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(members) => {
            Value::map(members.iter().map(|(name, value)| (name.as_str(), plain(value))))
        }
    }
}

/// An object without members.
pub(crate) fn nothing() -> Value {
    Value::map::<&str>([])
}

/// The items of a list.
pub(crate) fn items(list: &Value) -> Vec<Value> {
    match list {
        Value::Array(items) => items.to_vec(),
        Value::Object(object) => object.items().map(Iterator::collect).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A text as a handle: `Blue & white` as `blue-white`.
pub(crate) fn handleize(text: &str) -> String {
    let lower = text.to_lowercase().replace(['\'', '’'], "");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
