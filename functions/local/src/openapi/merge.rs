//! The shared components of operations: equal rejections, and the schemas of named types.

use std::collections::{BTreeMap, BTreeSet};

use gateway::describe::{ANSWERS, REQUESTS, Schemas};
use serde_json::{Map, Value, json};

use super::handlers::capitalized;

/// Moves each rejection to the components, and leaves a reference to it.
pub(super) fn rejections(paths: &mut Value) -> Map<String, Value> {
    let mut known = Map::new();
    for operation in operations(paths) {
        let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
            continue;
        };
        for (status, response) in responses.iter_mut() {
            let is_rejection = status.starts_with(['4', '5']);
            // A rejection that shares its status with a successful response stays in its operation.
            let contents = response.get("content").and_then(Value::as_object).map_or(0, Map::len);
            if !is_rejection || contents != 1 {
                continue;
            }
            let name = name_of(status, response);
            let reference = json!({"$ref": format!("#/components/responses/{name}")});
            known.insert(name, std::mem::replace(response, reference));
        }
    }
    known
}

fn operations(paths: &mut Value) -> impl Iterator<Item = &mut Value> {
    let items = paths.as_object_mut().into_iter().flat_map(Map::values_mut);
    items.filter_map(Value::as_object_mut).flat_map(Map::values_mut)
}

/// The name of a rejection, of its status and codes: `404-not_found-storefront_not_found`.
fn name_of(status: &str, response: &Value) -> String {
    let codes = response
        .pointer("/content/application~1problem+json/schema/allOf/1/properties/code/enum")
        .and_then(Value::as_array);
    let Some(codes) = codes else { return format!("{status}-oauth") };
    let codes = codes.iter().filter_map(Value::as_str);
    let name = std::iter::once(status).chain(codes).collect::<Vec<_>>();
    name.join("-")
}

/// Merges the schemas of requests and responses. Returns them with the names of types whose schema differs in
/// requests.
pub(super) fn schemas(schemas: Schemas) -> (Map<String, Value>, BTreeSet<String>) {
    let Schemas { mut requests, mut answers } = schemas;
    let (requests, mut all) = (requests.take_definitions(true), answers.take_definitions(true));
    let mut renamed = BTreeSet::new();
    loop {
        let before = renamed.len();
        for (name, schema) in &requests {
            let mut schema = schema.clone();
            rename(&mut schema, &renamed);
            if all.get(name).is_some_and(|answered| *answered != schema) {
                renamed.insert(name.clone());
            }
        }
        if renamed.len() == before {
            break;
        }
    }
    for (name, mut schema) in requests {
        rename(&mut schema, &renamed);
        all.insert(name_in_requests(&name, &renamed), schema);
    }
    (all, renamed)
}

/// Rewrites references to schemas of requests to the merged schemas.
pub(super) fn rename(value: &mut Value, renamed: &BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members.iter_mut() {
                let name =
                    value.as_str().and_then(|text| text.strip_prefix(&format!("#{REQUESTS}/")));
                match name.filter(|_| member == "$ref") {
                    Some(name) => {
                        *value = format!("#{ANSWERS}/{}", name_in_requests(name, renamed)).into();
                    }
                    None => rename(value, renamed),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rename(value, renamed)),
        _ => {}
    }
}

/// Names a body that only one operation takes after the operation (`CreateOrderRequest`), and removes the
/// suffix of response types: `OrderView` in the code is `Order` here. Returns the errors of names that are
/// not unique.
pub(super) fn name_schemas(
    paths: &mut Value,
    webhooks: &mut Value,
    all: &mut Map<String, Value>,
) -> Vec<String> {
    let mut bodies: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for operation in operations(paths) {
        let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default();
        let body = operation.pointer("/requestBody/content/application~1json/schema/$ref");
        let body = body.and_then(Value::as_str).and_then(|body| body.rsplit('/').next());
        if let Some(body) = body {
            let name = format!("{}Request", capitalized(id));
            bodies.entry(body.to_owned()).or_default().push(name);
        }
    }
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for name in all.keys() {
        let of_one = bodies
            .get(name)
            .and_then(|of| if let [only] = of.as_slice() { Some(only) } else { None });
        if let Some(new) = of_one.map(String::as_str).or_else(|| name.strip_suffix("View")) {
            renamed.insert(name.clone(), new.to_owned());
        }
    }
    let mut taken = Vec::new();
    for (name, schema) in std::mem::take(all) {
        let name = renamed.get(&name).cloned().unwrap_or(name);
        if name.ends_with(|last: char| last.is_ascii_digit()) || all.contains_key(&name) {
            taken.push(format!(
                "another schema is called `{name}`: #[schemars(rename = …)] tells them apart"
            ));
        }
        all.insert(name, schema);
    }
    refer(paths, &renamed);
    refer(webhooks, &renamed);
    all.values_mut().for_each(|schema| refer(schema, &renamed));
    taken
}

/// Rewrites references to components to their new names.
fn refer(value: &mut Value, renamed: &BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members.iter_mut() {
                let name =
                    value.as_str().and_then(|text| text.strip_prefix(&format!("#{ANSWERS}/")));
                match name.filter(|_| member == "$ref").and_then(|name| renamed.get(name)) {
                    Some(name) => *value = format!("#{ANSWERS}/{name}").into(),
                    None => refer(value, renamed),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| refer(value, renamed)),
        _ => {}
    }
}

fn name_in_requests(name: &str, renamed: &BTreeSet<String>) -> String {
    if renamed.contains(name) { format!("{name}Input") } else { name.to_owned() }
}
