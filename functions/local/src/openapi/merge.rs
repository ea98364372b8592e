//! The shared components of operations: equal rejections, and the schemas of named types.

use std::collections::{BTreeMap, BTreeSet};

use gateway::describe::{ANSWERS, REQUESTS, Schemas};
use serde_json::{Map, Value, json};

use super::handlers::capitalized;

/// The operations of these paths.
pub(super) fn operations(paths: &mut Value) -> impl Iterator<Item = &mut Value> {
    let items = paths.as_object_mut().into_iter().flat_map(Map::values_mut);
    items.filter_map(Value::as_object_mut).flat_map(Map::values_mut)
}

/// The name of the component that a schema refers to.
pub(super) fn component(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(&format!("#{ANSWERS}/"))
}

/// Moves parameters that several operations have to the components, and leaves references to them. Of
/// parameters with the same name, the most frequent is moved.
pub(super) fn parameters(paths: &mut Value) -> Map<String, Value> {
    let mut known: Vec<(Value, u32)> = Vec::new();
    for operation in operations(paths) {
        for parameter in parameters_of(operation) {
            match known.iter_mut().find(|(known, _)| known == parameter) {
                Some((_, times)) => *times = times.saturating_add(1),
                None => known.push((parameter.clone(), 1)),
            }
        }
    }
    known.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let mut shared = Map::new();
    for (parameter, _) in known.into_iter().filter(|(_, times)| *times >= FREQUENT) {
        shared.entry(name_of(&parameter)).or_insert(parameter);
    }
    for operation in operations(paths) {
        for parameter in parameters_of(operation) {
            let name = name_of(parameter);
            if shared.get(&name) == Some(parameter) {
                *parameter = json!({"$ref": format!("#/components/parameters/{name}")});
            }
        }
    }
    shared
}

/// Removes components that nothing refers to.
pub(super) fn prune(document: &mut Value) {
    loop {
        let mut named = BTreeSet::new();
        references(document, &mut named);
        let mut is_done = true;
        for kind in ["schemas", "responses", "parameters", "headers"] {
            let all = document.pointer_mut(&format!("/components/{kind}"));
            let Some(all) = all.and_then(Value::as_object_mut) else { continue };
            let before = all.len();
            all.retain(|name, _| named.contains(&format!("#/components/{kind}/{name}")));
            is_done &= all.len() == before;
        }
        if is_done {
            return;
        }
    }
}

/// Collects what a part of the document refers to.
fn references(part: &Value, named: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str);
            named.extend(name.map(str::to_owned));
            members.values().for_each(|part| references(part, named));
        }
        Value::Array(parts) => parts.iter().for_each(|part| references(part, named)),
        _ => {}
    }
}

/// Operations whose parameter is a component at least.
const FREQUENT: u32 = 3;

fn parameters_of(operation: &mut Value) -> impl Iterator<Item = &mut Value> {
    let all = operation.get_mut("parameters").and_then(Value::as_array_mut);
    let all = all.into_iter().flatten();
    all.filter(|parameter| parameter.get("in").is_some_and(|location| location != "path"))
}

/// The name of a parameter as a component: `IfMatch`.
fn name_of(parameter: &Value) -> String {
    let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
    name.split(['-', '_', '[', ']', '.']).map(capitalized).collect()
}

/// Names the bodies that are no component: a page after what it lists (`OrderList`), an event after its type
/// (`OrderCreatedEvent`), any other after its operation. Returns the names that another schema has.
pub(super) fn name_bodies(
    paths: &mut Value,
    webhooks: &mut Value,
    all: &mut Map<String, Value>,
) -> Vec<String> {
    let mut taken = Vec::new();
    for operation in operations(paths) {
        let id =
            capitalized(operation.get("operationId").and_then(Value::as_str).unwrap_or_default());
        if let Some(contents) = operation.pointer_mut("/requestBody/content") {
            taken.extend(name_contents(contents, &format!("{id}Request"), all));
        }
        let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
        for response in responses.into_iter().flat_map(Map::values_mut) {
            if let Some(contents) = response.get_mut("content") {
                taken.extend(name_contents(contents, &format!("{id}Response"), all));
            }
        }
    }
    for operation in operations(webhooks) {
        let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default();
        let name: String = id.split(['.', '_']).map(capitalized).collect();
        if let Some(contents) = operation.pointer_mut("/requestBody/content") {
            taken.extend(name_contents(contents, &format!("{name}Event"), all));
        }
    }
    taken
}

/// Adds `store_id` to bodies of operations whose request selects the store: it selects the store, and is no
/// field of the handler's type. A body that another operation takes, too, stays as it is.
pub(super) fn select_store(paths: &mut Value, all: &mut Map<String, Value>) {
    let (mut selecting, mut others) = (BTreeSet::new(), BTreeSet::new());
    for operation in operations(paths) {
        let body = operation.pointer("/requestBody/content/application~1json/schema");
        let Some(body) = body.and_then(component).map(str::to_owned) else { continue };
        let selects = parameters_of(operation).any(|parameter| parameter["name"] == STORE_HEADER);
        if selects {
            selecting.insert(body)
        } else {
            others.insert(body)
        };
    }
    for name in selecting.difference(&others) {
        let Some(Value::Object(schema)) = all.get_mut(name) else { continue };
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            let properties = schema.entry("properties").or_insert_with(|| json!({}));
            if let Value::Object(properties) = properties {
                // Of no type: where a header selects the store, it is not read.
                let store = json!({"description": format!("As `{STORE_HEADER}`.")});
                properties.entry("store_id").or_insert(store);
            }
        }
    }
    all.values_mut().for_each(|schema| exclude_store(schema, &selecting));
}

/// Excludes `store_id` where another schema has one of these bodies as a part: only a whole body selects a store.
fn exclude_store(part: &mut Value, bodies: &BTreeSet<String>) {
    let is_body = component(part).is_some_and(|name| bodies.contains(name));
    match part {
        Value::Object(members) if is_body => {
            // Linters want a property that is required to be defined beside it.
            let store = json!({"required": ["store_id"], "properties": {"store_id": {}}});
            members.insert("not".to_owned(), store);
        }
        Value::Object(members) => members.values_mut().for_each(|part| exclude_store(part, bodies)),
        Value::Array(parts) => parts.iter_mut().for_each(|part| exclude_store(part, bodies)),
        _ => {}
    }
}

/// The header that selects the store of a request.
const STORE_HEADER: &str = "X-Service-Store-Id";

/// Moves the schemas of JSON objects to the components. Returns the names that another schema has.
fn name_contents(contents: &mut Value, name: &str, all: &mut Map<String, Value>) -> Vec<String> {
    let mut taken = Vec::new();
    for (_, content) in contents.as_object_mut().into_iter().flatten() {
        let Some(schema) = content.get_mut("schema") else { continue };
        let is_object = schema.get("properties").or_else(|| schema.get("allOf")).is_some();
        if !is_object {
            continue;
        }
        let name = page_of(schema).map_or_else(|| name.to_owned(), |item| format!("{item}List"));
        let reference = json!({"$ref": format!("#{ANSWERS}/{name}")});
        let schema = combined(std::mem::replace(schema, reference), all);
        if all.get(&name).is_some_and(|known| *known != schema) {
            taken.push(format!("another schema is called `{name}`, as a body is"));
        }
        all.entry(name).or_insert(schema);
    }
    taken
}

/// Merges a schema that refers to another one and adds members: the other one may forbid them.
fn combined(schema: Value, all: &Map<String, Value>) -> Value {
    let Some(mut whole) = component(&schema).and_then(|name| all.get(name)).cloned() else {
        return schema;
    };
    for (name, member) in schema.as_object().into_iter().flatten() {
        match (name.as_str(), whole.get_mut(name), member) {
            ("$ref", ..) => {}
            ("properties", Some(Value::Object(known)), Value::Object(added)) => {
                known.extend(added.clone());
            }
            (_, Some(known), _) => *known = member.clone(),
            (_, None, _) => {
                if let Value::Object(whole) = &mut whole {
                    whole.insert(name.clone(), member.clone());
                }
            }
        }
    }
    whole
}

/// What a page without members of its own lists.
fn page_of(schema: &Value) -> Option<&str> {
    let is_page = schema.get("properties")?.as_object()?.keys().eq(["data", "page"]);
    schema.pointer("/properties/data/items").filter(|_| is_page).and_then(component)
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
        let body = operation.pointer("/requestBody/content/application~1json/schema");
        // A body with members besides those of the type is no reference.
        let body = body.filter(|body| body.get("properties").is_none()).and_then(component);
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
