//! The OpenAPI 3.1 document of every route, made of the rows: parameters, bodies and answers are what
//! the handlers' types say, summaries and problems what their documentation says, and callers, scopes
//! and costs what the row says. The webhooks are the catalogue of events.
//!
//! `docs/openapi.json` is this document, and a test holds it current.

mod handlers;
mod merge;
mod operation;
mod problems;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use emulators::AnyError;
use gateway::describe::Schemas;
use serde_json::{Map, Value, json};

use handlers::Documentation;

/// Where the families' sources are, from the root of the repository.
const FUNCTIONS: &str = "functions";

/// What the crate of a family is called beside the family's folder where a room has its name.
const APART: &str = "_family::";

/// Requests and answers that a test has seen, by operation: `.ci/examples.py` picks them.
const EXAMPLES: &str = "docs/examples.json";

/// A request that succeeded, and its answer: none where there is no JSON body.
#[derive(Debug, Default, serde::Deserialize)]
struct Example {
    status: u16,
    request: Option<Value>,
    response: Option<Value>,
}

/// The document, from the sources under this root and the rows of this build.
///
/// # Errors
/// A source that cannot be read; a handler that is not documented, or not with its own row; an example
/// of no row.
pub fn document(root: &Path) -> Result<Value, AnyError> {
    let documented = handlers::read(&root.join(FUNCTIONS))?;
    let examples = std::fs::read_to_string(root.join(EXAMPLES))?;
    let mut examples: BTreeMap<String, Example> = serde_json::from_str(&examples)?;
    let mut schemas = Schemas::default();
    let (mut paths, mut tags, mut faults) = (Map::new(), Vec::new(), Vec::new());
    let mut ids = BTreeSet::new();
    for (family, routes) in crate::families() {
        tags.push(json!({"name": family}));
        for described in routes.described() {
            let row = &described.row;
            let handler = &*described.handler.replacen(APART, "::", 1);
            let documentation = documented.get(handler);
            let documentation = documentation.filter(|text| !text.summary.is_empty());
            let Some(documentation) = documentation else {
                faults.push(format!("{handler} is not documented"));
                continue;
            };
            faults.extend(misplaced(handler, documentation, row));
            let example = examples.remove(&format!("{} {}", row.method, row.path));
            let example = example.unwrap_or_default();
            let mut operation = operation::of(described, documentation, &example, &mut schemas);
            operation.insert("tags".to_owned(), json!([family]));
            let id = documentation.operation_id.as_deref().unwrap_or_default();
            faults.extend(misnamed(handler, id, &mut ids));
            faults.extend(unsaid(handler, documentation));
            operation.insert("operationId".to_owned(), id.into());
            let path = paths.entry(row.path).or_insert_with(|| json!({}));
            if let Value::Object(path) = path {
                path.insert(row.method.as_str().to_lowercase(), operation.into());
            }
        }
    }
    faults.extend(examples.into_keys().map(|name| format!("{EXAMPLES}: there is no {name}")));
    if !faults.is_empty() {
        return Err(faults.join("\n").into());
    }
    let mut paths = Value::Object(paths);
    let rejections = merge::rejections(&mut paths);
    let mut webhooks = json!(operation::webhooks(&mut schemas));
    let (mut all, renamed) = merge::schemas(schemas);
    merge::rename(&mut paths, &renamed);
    let alike = merge::name_schemas(&mut paths, &mut webhooks, &mut all);
    if !alike.is_empty() {
        return Err(alike.join("\n").into());
    }
    all.insert("Problem".to_owned(), problems::schema());
    all.insert("OAuthError".to_owned(), problems::oauth_schema());
    tags.push(json!({"name": "webhooks"}));
    Ok(json!({
        "openapi": "3.1.0",
        "info": info(),
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "schemas": all,
            "responses": rejections,
            "headers": operation::headers(),
            "securitySchemes": operation::security_schemes(),
        },
    }))
}

fn info() -> Value {
    json!({
        "title": "Commerce gateway",
        "version": env!("CARGO_PKG_VERSION"),
        "summary": "Stores, storefronts, orders, payments, apps and webhooks of a multi-store commerce platform.",
        "description": "What is the same on every route (errors, pages, idempotency, cost, tokens, \
            webhooks) is described in `docs/conventions.md`, every problem code in `docs/errors.md`.",
        "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    })
}

/// What is wrong with where a handler's documentation says it is called.
fn misplaced(
    handler: &str,
    documentation: &Documentation,
    row: &gateway::routes::Row,
) -> Option<String> {
    let expected = format!("{} {}", row.method, row.path);
    match &documentation.route {
        Some(route) if *route == expected => None,
        Some(route) => Some(format!("{handler} is documented as `{route}`, and is `{expected}`")),
        None => Some(format!("{handler} does not begin with `{expected}`")),
    }
}

/// The characters of a summary.
const SUMMARY: usize = 60;

/// Verbs with which the names of operations begin: one for each act.
const VERBS: &[&str] = &[
    "abort",
    "accept",
    "acknowledge",
    "activate",
    "adjust",
    "approve",
    "authorize",
    "calculate",
    "cancel",
    "capture",
    "challenge",
    "close",
    "confirm",
    "create",
    "credit",
    "deactivate",
    "debit",
    "delete",
    "deliver",
    "deny",
    "disable",
    "discard",
    "download",
    "enable",
    "exchange",
    "fetch",
    "find",
    "fulfill",
    "get",
    "hold",
    "install",
    "introspect",
    "invite",
    "list",
    "mark",
    "merge",
    "mitigate",
    "move",
    "place",
    "pause",
    "preview",
    "promote",
    "publish",
    "purchase",
    "receive",
    "recover",
    "redact",
    "redeliver",
    "redrive",
    "refresh",
    "refund",
    "register",
    "reject",
    "release",
    "remove",
    "reopen",
    "reply",
    "request",
    "requeue",
    "resend",
    "resolve",
    "resume",
    "return",
    "revoke",
    "rollback",
    "rotate",
    "send",
    "set",
    "sign",
    "start",
    "submit",
    "suspend",
    "sync",
    "test",
    "uninstall",
    "unpublish",
    "update",
    "upgrade",
    "upload",
    "verify",
    "void",
    "withdraw",
];

/// What is missing in what an operation says: a summary of at most [`SUMMARY`] characters, and a description.
fn unsaid(handler: &str, documentation: &Documentation) -> Option<String> {
    let length = documentation.summary.chars().count();
    if length > SUMMARY {
        return Some(format!("{handler}: a summary of {length} characters; {SUMMARY} fit"));
    }
    documentation.description.is_empty().then(|| format!("{handler} has no description"))
}

/// What is wrong with the name of an operation: it is `listOrders` in form, begins with a verb of the list, and
/// names no other operation.
fn misnamed(handler: &str, id: &str, taken: &mut BTreeSet<String>) -> Option<String> {
    let verb = id.split(|letter: char| letter.is_ascii_uppercase()).next().unwrap_or_default();
    let is_camel = id.chars().all(|letter| letter.is_ascii_alphanumeric());
    if !is_camel || !VERBS.contains(&verb) {
        return Some(format!("{handler}: `{id}` is not the name of an operation"));
    }
    let is_new = taken.insert(id.to_owned());
    (!is_new).then(|| format!("{handler}: another operation is called `{id}`"))
}
