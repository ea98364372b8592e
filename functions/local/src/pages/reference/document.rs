//! The OpenAPI document, as the API returns it.

use std::sync::LazyLock;

use serde_json::Value;

/// The OpenAPI document.
pub(super) static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(health::DOCUMENT).unwrap_or_default());

/// What a reference follows; otherwise the value itself.
pub(super) fn resolved(value: &'static Value) -> &'static Value {
    let mut value = value;
    // A reference to a reference is followed; a circle is not possible, but would end as well.
    for _ in 0..8 {
        let Some(pointer) = value.get("$ref").and_then(Value::as_str) else { break };
        value = DOCUMENT.pointer(pointer.trim_start_matches('#')).unwrap_or(&Value::Null);
    }
    value
}
