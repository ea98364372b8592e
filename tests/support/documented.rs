//! Every answer that a test gets is compared with what `docs/openapi.json` says of its route: the
//! status, the problem's code, the body's schema. What differs is written down, for
//! `reference::every_observed_response_is_documented` to read when all tests have run; and so are some
//! answers of each operation, for the examples of the document, and which of its examples were executed.

use std::collections::{BTreeMap, HashMap};
use std::fs::{OpenOptions, create_dir_all};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::{Reply, trouble};

/// Where the document is.
pub const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");

/// Where the examples of operations are.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples.json");

/// Answers of one operation that are written down.
const MAX_WRITTEN: usize = 24;
/// The longest that is written down, as JSON with its request.
const MAX_LENGTH: usize = 20_000;

static KNOWN: LazyLock<Document> = LazyLock::new(Document::read);

/// A folder beside the test binary's.
pub fn notes(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    Some(test.parent()?.parent()?.join(name))
}

struct Document {
    json: Value,
    examples: HashMap<String, Example>,
    /// Method, the path's segments, and the path.
    operations: Vec<(String, Vec<String>, String)>,
    validators: Mutex<HashMap<(String, u16), Arc<Validator>>>,
    seen: Mutex<HashMap<String, Seen>>,
}

/// What was seen of an operation so far.
#[derive(Default)]
struct Seen {
    written: usize,
    was_executed: bool,
}

/// The example of an operation.
#[derive(serde::Deserialize)]
struct Example {
    request: Value,
    response: Value,
}

impl Document {
    fn read() -> Self {
        let text = std::fs::read_to_string(DOCUMENT).expect("docs/openapi.json is there");
        let json: Value = serde_json::from_str(&text).expect("docs/openapi.json is JSON");
        let mut operations: Vec<(String, Vec<String>, String)> = Vec::new();
        for (path, item) in json["paths"].as_object().into_iter().flatten() {
            for method in item.as_object().into_iter().flatten().map(|(method, _)| method) {
                let segments = path.split('/').map(str::to_owned).collect();
                operations.push((method.to_uppercase(), segments, path.clone()));
            }
        }
        // What is spelled out before what is a parameter.
        operations.sort_by_key(|(_, segments, _)| {
            segments.iter().map(|part| part.starts_with('{')).collect::<Vec<_>>()
        });
        let text = std::fs::read_to_string(EXAMPLES).expect("docs/examples.json is there");
        let examples = serde_json::from_str(&text).expect("docs/examples.json is JSON");
        Self { json, examples, operations, validators: Mutex::default(), seen: Mutex::default() }
    }

    /// The operation's path, as the document writes it.
    fn operation(&self, method: &str, path: &str) -> Option<&str> {
        let asked: Vec<&str> = path.split('/').collect();
        let fits = |segments: &[String]| {
            segments.len() == asked.len()
                && segments.iter().zip(&asked).all(|(known, asked)| {
                    known.starts_with('{') && !asked.is_empty() || known == asked
                })
        };
        let found = self.operations.iter().find(|(m, segments, _)| m == method && fits(segments));
        found.map(|(_, _, path)| path.as_str())
    }

    fn response(&self, method: &str, path: &str, status: u16) -> Option<&Value> {
        let operation = &self.json["paths"][path][method.to_lowercase()];
        let resolved = |name: &str| {
            let response = operation["responses"].get(name)?;
            match response["$ref"].as_str() {
                Some(reference) => self.json.pointer(reference.trim_start_matches('#')),
                None => Some(response),
            }
        };
        let is_default = |response: &&Value| {
            let statuses = response["x-statuses"].as_array();
            statuses.is_some_and(|statuses| statuses.contains(&json!(status)))
        };
        resolved(&status.to_string()).or_else(|| resolved("default").filter(is_default))
    }

    /// Whether an operation may be rejected with this code: it lists it, or is one of the operations that the
    /// catalogue names for it.
    fn may_have(&self, method: &str, path: &str, code: &str) -> bool {
        let operation = &self.json["paths"][path][method.to_lowercase()];
        let listed = operation["x-problem-codes"].as_array();
        if listed.is_some_and(|codes| codes.iter().any(|known| known == code)) {
            return true;
        }
        let security = operation["security"].as_array().cloned().unwrap_or_default();
        match self.json["x-problem-codes"][code]["on"].as_str() {
            Some("always") => true,
            Some("write") => method != "GET",
            Some("credential") => !security.is_empty(),
            Some("app") => security.iter().any(|scheme| scheme.get("appToken").is_some()),
            _ => false,
        }
    }

    /// The schema with what it refers to, so that it stands by itself.
    fn whole(&self, schema: &Value) -> Value {
        let (mut needed, mut open) = (BTreeMap::new(), vec![schema.clone()]);
        while let Some(next) = open.pop() {
            for name in references(&next) {
                let component = &self.json["components"]["schemas"][&name];
                if needed.insert(name, component.clone()).is_none() {
                    open.push(component.clone());
                }
            }
        }
        let components: Map<String, Value> = needed.into_iter().collect();
        json!({"allOf": [schema], "components": {"schemas": components}})
    }

    fn validator(&self, key: (String, u16), schema: &Value) -> Arc<Validator> {
        let mut known = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = known.entry(key).or_insert_with(|| {
            let whole = self.whole(schema);
            Arc::new(jsonschema::draft202012::new(&whole).expect("the schema compiles"))
        });
        Arc::clone(compiled)
    }
}

/// The components that a schema refers to.
fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value.as_str() {
                Some(reference) if name == "$ref" => {
                    let name = reference.trim_start_matches("#/components/schemas/");
                    vec![name.to_owned()]
                }
                _ => references(value),
            })
            .collect(),
        Value::Array(values) => values.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Compares an answer with the document.
pub(crate) fn compare(sent: Option<&Value>, reply: &Reply) {
    let Some((method, asked)) = reply.asked.split_once(' ') else { return };
    let path = asked.split('?').next().unwrap_or_default();
    // What no operation answers: the paths and methods that there are not.
    let Some(path) = KNOWN.operation(method, path) else { return };
    let operation = format!("{method} {path}");
    if let Some(fault) = fault(&operation, path, method, reply) {
        note("undocumented", &format!("{operation}: {fault}"));
    } else if (200..300).contains(&reply.status) {
        show(&operation, sent, reply);
    }
}

fn fault(operation: &str, path: &str, method: &str, reply: &Reply) -> Option<String> {
    let status = reply.status;
    // Of reads it is said once, in the document's description.
    if (method, status) == ("GET", 412) {
        return None;
    }
    // The local system says it before any operation, and a deployment never does.
    if status == 421 {
        return None;
    }
    let Some(response) = KNOWN.response(method, path, status) else {
        return Some(format!("{status} {}", reply.json["code"]));
    };
    if let Some(code) = reply.json["code"].as_str()
        && status >= 400
        && !KNOWN.may_have(method, path, code)
    {
        return Some(format!("{status} {code}"));
    }
    let media_type = reply.header("content-type").unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default();
    let content = &response["content"];
    let schema = content.get(media_type).or_else(|| content.get("*/*"))?;
    if reply.json.is_null() {
        return None;
    }
    let validator = KNOWN.validator((operation.to_owned(), status), &schema["schema"]);
    let error = validator.iter_errors(&reply.json).next()?;
    let pointer = error.instance_path().to_string();
    let found = reply.json.pointer(&pointer).cloned().unwrap_or_default().to_string();
    let found: String = found.chars().take(80).collect();
    let rule = error.schema_path().to_string();
    Some(format!("{status} at `{pointer}`: {found} breaks {rule}"))
}

/// Writes some answers of each operation down, and whether its example was executed.
fn show(operation: &str, sent: Option<&Value>, reply: &Reply) {
    let mut seen = KNOWN.seen.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = seen.entry(operation.to_owned()).or_default();
    let example = KNOWN.examples.get(operation);
    if !seen.was_executed && example.is_some_and(|example| is_like(example, sent, reply)) {
        seen.was_executed = true;
        note("executed", operation);
    }
    let answer = json!({
        "operation": operation, "status": reply.status, "request": sent, "response": reply.json,
    });
    let text = answer.to_string();
    if seen.written < MAX_WRITTEN && text.len() <= MAX_LENGTH {
        seen.written += 1;
        note("answers", &text);
    }
}

/// Whether a request and its answer have the members of the example's.
fn is_like(example: &Example, sent: Option<&Value>, reply: &Reply) -> bool {
    let is_asked = example.request.is_null()
        || sent.is_some_and(|sent| shape(sent) == shape(&example.request));
    is_asked && shape(&reply.json) == shape(&example.response)
}

/// The members of a value and their types, without what they hold and how many are alike.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), shape(value))).collect()
        }
        Value::Array(values) => {
            let mut shapes: Vec<Value> = values.iter().map(shape).collect();
            shapes.dedup();
            shapes.into()
        }
        Value::String(_) => "string".into(),
        Value::Number(_) => "number".into(),
        Value::Bool(_) => "boolean".into(),
        Value::Null => Value::Null,
    }
}

/// Adds a line to the notes of this process; of a troubled run there are none, for what it sees is not
/// what is documented.
fn note(folder: &str, line: &str) {
    if trouble::plan().is_none() {
        write_line(folder, line);
    }
}

/// Adds a line to a file of this process.
pub(crate) fn write_line(folder: &str, line: &str) {
    let Some(folder) = notes(folder) else { return };
    let written = create_dir_all(&folder).and_then(|()| {
        let file = folder.join(std::process::id().to_string());
        let mut file = OpenOptions::new().create(true).append(true).open(file)?;
        file.write_all(format!("{line}\n").as_bytes())
    });
    written.expect("notes can be taken");
}
