//! The OpenAPI 3.1 document of every route. Parameters, bodies and responses come from the handlers' types,
//! summaries and problems from their documentation, and callers, scopes and costs from the row. The webhooks
//! are the catalogue of events.
//!
//! `docs/openapi.json` is this document, and a test requires it to be current.

mod examples;
mod handlers;
mod merge;
mod operation;
mod problems;
mod simplify;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use emulators::AnyError;
use gateway::describe::Schemas;
use serde_json::{Map, Value, json};

use handlers::Documentation;

/// The folder of the families' sources, from the root of the repository.
const FUNCTIONS: &str = "functions";

/// The suffix of a family's crate whose name a domain crate has.
const APART: &str = "_family::";

/// Requests and responses that tests recorded, by operation; `.ci/examples.py` selects them.
const EXAMPLES: &str = "docs/examples.json";

/// A request that succeeded, and its response; none without a JSON body.
#[derive(Debug, Default, serde::Deserialize)]
struct Example {
    status: u16,
    request: Option<Value>,
    response: Option<Value>,
}

/// Builds the document from the sources under this root and the rows of this build.
///
/// # Errors
/// A source that cannot be read; a handler that is undocumented, or documented with another row; an example
/// without a row.
pub fn document(root: &Path) -> Result<Value, AnyError> {
    let documented = handlers::read(&root.join(FUNCTIONS))?;
    let examples = std::fs::read_to_string(root.join(EXAMPLES))?;
    let mut examples: BTreeMap<String, Example> = serde_json::from_str(&examples)?;
    let mut schemas = Schemas::default();
    let (mut paths, mut tags, mut faults) = (Map::new(), Vec::new(), Vec::new());
    let mut ids = BTreeSet::new();
    for (family, routes) in crate::families() {
        tags.push(json!({"name": family, "description": described_family(family)}));
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
    let mut webhooks = json!(operation::webhooks(&mut schemas));
    let (mut all, renamed) = merge::schemas(schemas);
    merge::rename(&mut paths, &renamed);
    let alike = merge::name_schemas(&mut paths, &mut webhooks, &mut all);
    if !alike.is_empty() {
        return Err(alike.join("\n").into());
    }
    examples::share(&mut paths, &mut webhooks, &mut all);
    let taken = merge::name_bodies(&mut paths, &mut webhooks, &mut all);
    if !taken.is_empty() {
        return Err(taken.join("\n").into());
    }
    merge::select_store(&mut paths, &mut all);
    let mut parameters = merge::parameters(&mut paths);
    parameters.append(&mut merge::parameters(&mut webhooks));
    all.insert("WebhookEvent".to_owned(), core_types::event::envelope());
    all.insert("Problem".to_owned(), problems::schema());
    all.insert("OAuthError".to_owned(), problems::oauth_schema());
    tags.push(json!({"name": "webhooks", "description": WEBHOOKS}));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": info(),
        "servers": [{"url": "/"}],
        "tags": tags,
        "paths": paths,
        "webhooks": webhooks,
        "x-problem-codes": problems::catalogue(),
        "components": {
            "schemas": all,
            "responses": problems::components(),
            "parameters": parameters,
            "headers": operation::headers(),
            "securitySchemes": operation::security_schemes(),
        },
    });
    simplify::simplify(&mut document);
    merge::prune(&mut document);
    let links = rust_links(&document);
    if links.is_empty() { Ok(document) } else { Err(links.join("\n").into()) }
}

/// What the webhooks are about.
const WEBHOOKS: &str = "What subscribed receivers get, by the type of the event. Every request has the headers \
    `webhook-id`, `webhook-timestamp`, `webhook-signature` and `X-Service-Hmac-SHA256`.";

/// What the operations of a family are about.
fn described_family(family: &str) -> &'static str {
    match family {
        "health" => "Whether the service works, and this document.",
        "auth" => "Accounts of merchants and their sessions; sessions of customers.",
        "storefront" => {
            "What shoppers see and do: the catalogue of a store, checkout, their own orders."
        }
        "stores" => {
            "Stores and their settings: members, domains, taxes, shipping, menus, policies."
        }
        "products" => {
            "Products, collections, stock, discounts, gift cards, customers, imports and exports."
        }
        "orders" => "Orders: payment, fulfillment, refunds, returns, and the dashboard.",
        "payments" => "Payments, providers and their webhooks, disputes.",
        "themes" => "The themes of stores: packages, drafts, releases, previews, licences.",
        "app-store" => {
            "Apps and their developers, installations, OAuth, and the bridge of embedded apps."
        }
        "operations" => {
            "Webhook subscriptions and deliveries, evidence, and the work of operators."
        }
        _ => "",
    }
}

/// The errors of texts that link to an item of the code, which their reader does not have.
fn rust_links(document: &Value) -> Vec<String> {
    match document {
        Value::String(text) if text.contains("[`") => vec![format!("a link to an item: {text}")],
        Value::Array(all) => all.iter().flat_map(rust_links).collect(),
        Value::Object(all) => all.values().flat_map(rust_links).collect(),
        _ => Vec::new(),
    }
}

fn info() -> Value {
    json!({
        "title": "Commerce gateway",
        "version": env!("CARGO_PKG_VERSION"),
        "summary": "Stores, storefronts, orders, payments, apps and webhooks of a multi-store commerce platform.",
        "description": "What is the same on every route (errors, pages, idempotency, cost, tokens, \
            webhooks) is described in `docs/conventions.md`, every problem code in `docs/errors.md` and in \
            `x-problem-codes`. Every response has `X-Request-Id`, and of what the request cost \
            `X-Service-Cost-Requested`, `X-Service-Cost-Actual`, `X-Service-Cost-Available` and \
            `X-Service-Cost-Restore-Rate`. The `default` response of an operation is the rejection with a status of \
            its `x-statuses`. A `GET` whose `If-Match` does not name the response's `ETag` is \
            rejected with 412 `precondition_failed`.",
        "contact": {"name": "The operators of the platform"},
        "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    })
}

/// The error of a handler whose documentation names another route, or none.
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

/// Characters of a summary at most.
const SUMMARY: usize = 60;

/// Verbs with which the names of operations begin: one for each kind of action.
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

/// The error of an operation whose summary exceeds [`SUMMARY`] characters, or that has no description.
fn unsaid(handler: &str, documentation: &Documentation) -> Option<String> {
    let length = documentation.summary.chars().count();
    if length > SUMMARY {
        return Some(format!("{handler}: a summary of {length} characters; {SUMMARY} fit"));
    }
    documentation.description.is_empty().then(|| format!("{handler} has no description"))
}

/// The error of the name of an operation, which must have the form `listOrders`, begin with a verb of the
/// list, and be unique.
fn misnamed(handler: &str, id: &str, taken: &mut BTreeSet<String>) -> Option<String> {
    let verb = id.split(|letter: char| letter.is_ascii_uppercase()).next().unwrap_or_default();
    let is_camel = id.chars().all(|letter| letter.is_ascii_alphanumeric());
    if !is_camel || !VERBS.contains(&verb) {
        return Some(format!("{handler}: `{id}` is not the name of an operation"));
    }
    let is_new = taken.insert(id.to_owned());
    (!is_new).then(|| format!("{handler}: another operation is called `{id}`"))
}
