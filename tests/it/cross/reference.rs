//! The OpenAPI document: that it is what the rows say, that it is served, and that no test was
//! answered otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use support::documented::{DOCUMENT, notes};
use support::{Gateway, Value, json};

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn committed() -> Value {
    serde_json::from_str(&std::fs::read_to_string(DOCUMENT).unwrap()).unwrap()
}

#[test]
fn the_openapi_document_matches_the_route_tables() {
    let made = local::openapi::document(Path::new(ROOT)).unwrap();
    let is_current = made == committed();
    assert!(is_current, "make it anew: CONTRIBUTING.md, \"Add a route\"");
}

#[test]
fn every_route_documents_a_summary_and_a_response() {
    let document = committed();
    let mut faults = Vec::new();
    for (_, routes) in local::families() {
        for row in routes.rows() {
            let method = row.method.as_str().to_lowercase();
            let operation = &document["paths"][row.path][&method];
            let name = format!("{method} {}", row.path);
            if operation["summary"].as_str().unwrap_or_default().is_empty() {
                faults.push(format!("{name} has no summary"));
            }
            let responses = operation["responses"].as_object().cloned().unwrap_or_default();
            let Some((status, success)) = responses.iter().find(|(s, _)| s.starts_with('2')) else {
                faults.push(format!("{name} never succeeds"));
                continue;
            };
            if status != "204"
                && success["content"].as_object().is_none_or(serde_json::Map::is_empty)
            {
                faults.push(format!("{name} says nothing of its answer"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn the_openapi_document_is_served() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let served = client.get("/v1/openapi.json").await.expect(200);
    assert_eq!(served.json, committed());
    assert_eq!(served.header("content-type"), Some("application/json"));
    assert!(served.text.len() <= 1_450_000, "{} bytes", served.text.len());
    let yaml = client.get("/v1/openapi.yaml").await.expect(200);
    assert_eq!(yaml.header("content-type"), Some("application/yaml"));
    assert_eq!(serde_yaml_ng::from_str::<Value>(&yaml.text).unwrap(), committed());
}

/// The pointer of a reference.
fn pointer(schema: &Value) -> &str {
    schema["$ref"].as_str().unwrap().trim_start_matches('#')
}

/// Each schema with its examples, wherever the document has one.
fn with_examples<'a>(value: &'a Value, found: &mut Vec<(&'a Value, &'a Value)>) {
    match value {
        Value::Object(members) => {
            if let (Some(schema), Some(example)) = (members.get("schema"), members.get("example")) {
                found.push((schema, example));
            }
            if let Some(examples) = members.get("examples").and_then(Value::as_array) {
                found.extend(examples.iter().map(|example| (value, example)));
            }
            for (name, value) in members {
                if !matches!(name.as_str(), "example" | "examples") {
                    with_examples(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| with_examples(value, found)),
        _ => {}
    }
}

#[test]
fn every_example_is_valid_against_its_schema() {
    let document = committed();
    let mut found = Vec::new();
    with_examples(&document, &mut found);
    assert!(found.len() > 300, "{}", found.len());
    let mut faults = Vec::new();
    for (schema, example) in found {
        let whole = json!({"allOf": [schema], "components": document["components"]});
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        faults.extend(validator.iter_errors(example).map(|error| {
            let schema = schema["$ref"].as_str().or(schema["title"].as_str()).unwrap_or_default();
            format!("{schema}{}: {error}", error.instance_path())
        }));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_document_has_the_forms_that_code_generators_read() {
    let document = committed();
    let mut faults = Vec::new();
    unreadable(&document, "", &mut faults);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let length = document.to_string().len();
    assert!(length <= 1_450_000, "{length} bytes");
}

/// What code generators fail at: constants instead of an enumeration, defaults of `null`, arrays without
/// items, and bodies without a name.
fn unreadable(value: &Value, at: &str, faults: &mut Vec<String>) {
    if let Value::Object(members) = value {
        let all = |name: &str, is: fn(&Value) -> bool| {
            members.get(name).and_then(Value::as_array).is_some_and(|all| all.iter().all(is))
        };
        if all("oneOf", |one| one["const"].is_string()) {
            faults.push(format!("{at}: constants"));
        }
        if members.get("default").is_some_and(Value::is_null) {
            faults.push(format!("{at}: a default of null"));
        }
        let is_array = value["type"] == "array";
        if is_array && !value["items"].is_object() || value["items"]["type"] == "null" {
            faults.push(format!("{at}: no items"));
        }
        let is_body = members.contains_key("schema") && at.contains("/content/");
        if is_body && value["schema"]["properties"].is_object() {
            faults.push(format!("{at}: a body without a name"));
        }
        for (name, value) in members {
            if !matches!(name.as_str(), "example" | "examples") {
                unreadable(value, &format!("{at}/{name}"), faults);
            }
        }
    } else if let Value::Array(values) = value {
        for (index, value) in values.iter().enumerate() {
            unreadable(value, &format!("{at}/{index}"), faults);
        }
    }
}

#[test]
fn every_event_is_a_webhook_in_the_openapi_document() {
    let document = committed();
    let webhooks = document["webhooks"].as_object().unwrap();
    let catalogue = commerce::topics::event_schemas();
    assert_eq!(webhooks.len(), catalogue.len());
    for event in catalogue {
        let topic = event.declaration;
        let post = &webhooks[topic.name]["post"];
        assert_eq!(post["security"], json!([]));
        let content = &post["requestBody"]["content"]["application/json"];
        let body = &document.pointer(pointer(&content["schema"])).unwrap()["allOf"];
        assert_eq!(body[0]["$ref"], "#/components/schemas/WebhookEvent");
        let properties = &body[1]["properties"];
        assert_eq!(properties["type"]["enum"], json!([topic.name]));
        let data = &properties["data"];
        let has_example = match data["$ref"].as_str() {
            Some(_) => document.pointer(pointer(data)).unwrap()["examples"].is_array(),
            None => content["example"] == event.example(),
        };
        assert!(has_example, "{}", topic.name);
    }
}

/// Reads what all tests wrote down: it runs by itself, after them.
#[test]
#[ignore = "runs after all others: .ci/run"]
fn every_observed_response_is_documented() {
    let mut seen = BTreeMap::<String, usize>::new();
    for entry in std::fs::read_dir(notes("undocumented").unwrap()).into_iter().flatten() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines() {
            *seen.entry(line.to_owned()).or_default() += 1;
        }
    }
    let faults: BTreeSet<String> =
        seen.iter().map(|(line, times)| format!("{line} ({times}×)")).collect();
    let faults: Vec<_> = faults.into_iter().collect();
    assert!(faults.is_empty(), "{} answers:\n{}", faults.len(), faults.join("\n"));
}

/// Reads what all tests wrote down: it runs by itself, after them.
#[test]
#[ignore = "runs after all others: .ci/run"]
fn every_documented_example_is_executed() {
    let mut executed = BTreeSet::<String>::new();
    for entry in std::fs::read_dir(notes("executed").unwrap()).into_iter().flatten() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        executed.extend(text.lines().map(str::to_owned));
    }
    let examples = std::fs::read_to_string(format!("{ROOT}/docs/examples.json")).unwrap();
    let examples: BTreeMap<String, Value> = serde_json::from_str(&examples).unwrap();
    let has_body =
        |example: &Value| !example["request"].is_null() || !example["response"].is_null();
    let missed =
        examples.iter().filter(|(name, example)| has_body(example) && !executed.contains(*name));
    let missed: Vec<&str> = missed.map(|(name, _)| name.as_str()).collect();
    assert!(missed.is_empty(), "no test asks and is answered like these: {missed:#?}");
}
