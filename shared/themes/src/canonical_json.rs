//! Canonical JSON: equal values are equal texts.

use serde::Serialize;
use serde_json::{Map, Value};

/// Writes a value as canonical JSON: without whitespace, members sorted by the bytes of their names.
pub(crate) fn canonical(value: &impl Serialize) -> String {
    // Cannot fail: keys are strings, and all numbers are finite.
    serde_json::to_value(value).map(sorted).unwrap_or_default().to_string()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut members: Vec<(String, Value)> = object.into_iter().collect();
            members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            members
                .into_iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}
