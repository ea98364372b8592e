//! Schemas in the forms that code generators read.

use serde_json::{Map, Value, json};

/// Rewrites the schemas of a document. An enumeration is an `enum`, with the descriptions of its values in
/// `x-enum-descriptions`, in the same order; so is a constant. No default is `null`, because generators take a member with a
/// default for one that is always present. Every array has items. Integers that may need 64 bits say so.
pub(super) fn simplify(value: &mut Value) {
    match value {
        Value::Object(members) => {
            enumerate(members);
            if let Some(only @ Value::String(_)) = members.get("const").cloned() {
                // A generator for Python cannot merge a constant with a string.
                members.remove("const");
                members.insert("type".to_owned(), "string".into());
                members.insert("enum".to_owned(), json!([only]));
            }
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
            // No registry of formats has it.
            if members.get("format").is_some_and(|format| format == "uint128") {
                members.remove("format");
            }
            if is_wide_integer(members) {
                members.insert("format".to_owned(), "int64".into());
            }
            if is_array(members) && has_no_items(members) {
                members.insert("items".to_owned(), json!({}));
            }
            for (name, value) in members {
                match (name.as_str(), value) {
                    // The members of an object may have any name.
                    ("properties", Value::Object(all)) => all.values_mut().for_each(simplify),
                    ("example" | "examples" | "default" | "enum", _) => {}
                    (_, value) => simplify(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Replaces alternatives that are all constant strings.
fn enumerate(members: &mut Map<String, Value>) {
    let Some(alternatives) = members.get("oneOf").and_then(Value::as_array) else { return };
    let constants =
        alternatives.iter().map(|one| one.get("const").filter(|value| value.is_string()));
    let Some(values) = constants.map(Option::<&Value>::cloned).collect::<Option<Vec<_>>>() else {
        return;
    };
    let description = |one: &Value| one.get("description").cloned().unwrap_or_else(|| "".into());
    let descriptions: Vec<Value> = alternatives.iter().map(description).collect();
    members.remove("oneOf");
    members.insert("type".to_owned(), "string".into());
    members.insert("enum".to_owned(), values.into());
    if descriptions.iter().any(|text| text != "") {
        members.insert("x-enum-descriptions".to_owned(), descriptions.into());
    }
}

fn is_array(members: &Map<String, Value>) -> bool {
    match members.get("type") {
        Some(Value::Array(types)) => types.iter().any(|name| name == "array"),
        Some(name) => name == "array",
        None => false,
    }
}

/// Whether an integer without a format may be out of the range of 32 bits, which some generators take it for.
fn is_wide_integer(members: &Map<String, Value>) -> bool {
    let is_integer = |name: &Value| name == "integer";
    let is_integer = match members.get("type") {
        Some(Value::Array(types)) => types.iter().any(is_integer),
        Some(name) => is_integer(name),
        None => false,
    };
    let most = members.get("maximum").and_then(Value::as_i64);
    is_integer && !members.contains_key("format") && most.is_none_or(|most| most > i32::MAX.into())
}

fn has_no_items(members: &Map<String, Value>) -> bool {
    members.get("items").is_none_or(|items| items.get("type").is_some_and(|name| name == "null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerations_defaults_and_arrays_have_the_forms_that_generators_read() {
        let mut schema = json!({
            "properties": {
                "example": {"oneOf": [
                    {"const": "open", "type": "string", "description": "Unpaid."},
                    {"const": "paid", "type": "string"},
                ]},
                "note": {"type": ["string", "null"], "default": null},
                "children": {"type": ["array", "null"], "items": {"type": "null"}},
                "either": {"oneOf": [{"const": "all"}, {"type": "integer"}]},
                "few": {"type": ["integer", "null"], "maximum": 100},
            },
            "example": {"oneOf": [{"const": "open"}], "default": null},
        });
        simplify(&mut schema);
        let expected = json!({
            "properties": {
                "example": {
                    "type": "string",
                    "enum": ["open", "paid"],
                    "x-enum-descriptions": ["Unpaid.", ""],
                },
                "note": {"type": ["string", "null"]},
                "children": {"type": ["array", "null"], "items": {}},
                "either": {
                    "oneOf": [
                        {"type": "string", "enum": ["all"]},
                        {"type": "integer", "format": "int64"},
                    ],
                },
                "few": {"type": ["integer", "null"], "maximum": 100},
            },
            "example": {"oneOf": [{"const": "open"}], "default": null},
        });
        assert_eq!(schema, expected);
    }
}
