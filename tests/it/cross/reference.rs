//! The OpenAPI document: that it is what the rows say, that it is served, and that no test was
//! answered otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use support::documented::{DOCUMENT, notes};
use support::{Gateway, Value};

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
async fn the_openapi_document_and_reference_page_are_served() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let served = client.get("/v1/openapi.json").await.expect(200);
    assert_eq!(served.json, committed());
    assert_eq!(served.header("content-type"), Some("application/json"));
    let page = client.get("/_local/docs").await.expect(200);
    assert!(page.text.contains("SwaggerUIBundle") && page.text.contains("/v1/openapi.json"));
    for elsewhere in ["src=\"http", "href=\"http"] {
        assert!(!page.text.contains(elsewhere), "the page fetches from elsewhere");
    }
}

#[test]
fn every_event_is_a_webhook_in_the_openapi_document() {
    let document = committed();
    let webhooks = document["webhooks"].as_object().unwrap();
    let catalogue = commerce::topics::event_schemas();
    assert_eq!(webhooks.len(), catalogue.len());
    for shape in catalogue {
        let entry = shape.entry;
        let content = &webhooks[entry.name]["post"]["requestBody"]["content"]["application/json"];
        assert_eq!(content["example"], shape.example());
        let properties = &content["schema"]["properties"];
        assert_eq!(properties["type"]["const"], entry.name);
        assert!(properties["data"].is_object(), "{}", entry.name);
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
