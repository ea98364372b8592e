//! Values of templates: their conversion from and to JSON, and their size.

use liquid_core::model::{KString, Object, Value, ValueView};
use serde_json::Value as Json;

use crate::limits::size;
use crate::safe;

/// The bytes of a value without its texts, approximately.
const EACH: u64 = 48;

/// Converts JSON to a value; its texts are not safe, and will be escaped.
pub(crate) fn of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(truth) => Value::scalar(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::scalar(whole),
            None => Value::scalar(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::scalar(safe::without_mark(text).into_owned()),
        Json::Array(items) => Value::Array(items.iter().map(of).collect()),
        Json::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (KString::from_ref(name), of(value))).collect(),
        ),
    }
}

/// Converts a value to JSON, without marks.
pub(crate) fn json(value: &dyn ValueView) -> Json {
    serde_json::to_value(safe::unmarked(value.to_value())).unwrap_or_default()
}

/// Builds an object of these fields.
pub(crate) fn object<const N: usize>(fields: [(&'static str, Value); N]) -> Object {
    fields.into_iter().map(|(name, value)| (KString::from_static(name), value)).collect()
}

/// The bytes of a value, approximately.
pub(crate) fn weight(value: &dyn ValueView) -> u64 {
    let inner = if let Some(array) = value.as_array() {
        array.values().map(weight).fold(0, u64::saturating_add)
    } else if let Some(object) = value.as_object() {
        let each = |(name, value): (_, &dyn ValueView)| {
            let name: liquid_core::model::KStringCow<'_> = name;
            size(name.len()).saturating_add(weight(value))
        };
        object.iter().map(each).fold(0, u64::saturating_add)
    } else if value.is_scalar() {
        size(value.to_kstr().len())
    } else {
        0
    };
    inner.saturating_add(EACH)
}
