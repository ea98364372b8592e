//! The examples of responses and events: one for each schema, which every operation with this schema shares.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::merge::{component, operations};

/// Moves the examples of bodies that are a component, a page of components or an event about a component to
/// the component, with one element of each list of objects; those with members like `default` are left out. The first response with it is its example, then the first item of a page, then the sample
/// of an event.
pub(super) fn share(paths: &mut Value, webhooks: &mut Value, schemas: &mut Map<String, Value>) {
    let mut shared: BTreeMap<String, Value> = BTreeMap::new();
    for (schema, example) in [("", ""), ("/properties/data/items", "/data/0")] {
        for content in operations(paths).flat_map(contents) {
            take(content, schema, example, &mut shared);
        }
    }
    for content in operations(webhooks).filter_map(event) {
        take(content, "/allOf/1/properties/data", "/data", &mut shared);
    }
    for (name, example) in shared {
        if let Some(Value::Object(members)) = schemas.get_mut(&name) {
            members.insert("examples".to_owned(), Value::Array(vec![example]));
        }
    }
}

/// Takes the example of a body for the component at this pointer of its schema.
fn take(content: &mut Value, schema: &str, example: &str, shared: &mut BTreeMap<String, Value>) {
    let name = content.pointer(&format!("/schema{schema}")).and_then(component);
    let found = content.pointer(&format!("/example{example}")).cloned();
    let (Some(name), Some(mut found)) = (name, found) else { return };
    shorten(&mut found);
    if !has_keyword(&found) {
        shared.entry(name.to_owned()).or_insert(found);
    }
    if let Value::Object(members) = content {
        members.remove("example");
    }
}

/// Keeps the first element of each list of objects.
fn shorten(example: &mut Value) {
    match example {
        Value::Object(members) => members.values_mut().for_each(shorten),
        Value::Array(elements) => {
            if elements.first().is_some_and(Value::is_object) {
                elements.truncate(1);
            }
            elements.iter_mut().for_each(shorten);
        }
        _ => {}
    }
}

/// Whether a part has a member that is a keyword of schemas, which tools take for one inside a schema.
fn has_keyword(example: &Value) -> bool {
    match example {
        Value::Object(members) => {
            let is_keyword = |name: &String| ["default", "example", "examples"].contains(&&**name);
            members.keys().any(is_keyword) || members.values().any(has_keyword)
        }
        Value::Array(parts) => parts.iter().any(has_keyword),
        _ => false,
    }
}

/// The bodies of an operation's responses.
fn contents(operation: &mut Value) -> impl Iterator<Item = &mut Value> {
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    let responses = responses.into_iter().flat_map(Map::values_mut);
    let contents = responses.filter_map(|response| response.get_mut("content")?.as_object_mut());
    contents.flat_map(Map::values_mut)
}

/// The body of an event.
fn event(operation: &mut Value) -> Option<&mut Value> {
    operation.pointer_mut("/requestBody/content/application~1json")
}
