//! The operations of the document, and its webhooks.

use gateway::budget::Cost;
use gateway::caller::Access;
use gateway::describe::{Content, Operation, Parameter, ParameterLocation, Schemas, Success};
use gateway::routes::{Described, Row};
use http::Method;
use serde_json::{Map, Value, json};

use super::Example;
use super::handlers::Documentation;
use super::problems;

/// Headers of responses, with type and description.
const HEADERS: [(&str, &str, &str); 9] = [
    ("X-Request-Id", "string", "The id of the request, to quote when asking for help."),
    ("X-Service-Cost-Requested", "integer", "The points that were charged before the request ran."),
    ("X-Service-Cost-Actual", "integer", "The points that the request cost."),
    ("X-Service-Cost-Available", "integer", "The points that are left in the budget."),
    ("X-Service-Cost-Restore-Rate", "integer", "The points that are restored each second."),
    (
        "ETag",
        "string",
        "The version, for `If-Match`; of a cacheable response, a digest of its content.",
    ),
    ("Link", "string", "The link to the next page (RFC 8288)."),
    ("Location", "string", "Where the browser goes on."),
    (
        "Idempotent-Replayed",
        "string",
        "`true`: the stored response of an earlier request with this key.",
    ),
];
/// The headers that every response has. Rejections list them; of a success they are said once, in the
/// document's description.
pub(super) const ALWAYS: [&str; 5] = [
    "X-Request-Id",
    "X-Service-Cost-Requested",
    "X-Service-Cost-Actual",
    "X-Service-Cost-Available",
    "X-Service-Cost-Restore-Rate",
];

/// Builds an operation from its row and its handler.
pub(super) fn of(
    described: &Described,
    documentation: &Documentation,
    example: &Example,
    schemas: &mut Schemas,
) -> Map<String, Value> {
    let row = &described.row;
    let mut operation = Operation::new(schemas, row.path);
    (described.describe)(&mut operation);
    let mut codes = problems::implied(row);
    codes.extend(documentation.codes.iter().copied());
    codes.extend(operation.codes.iter().map(|code| code.as_str()));
    let mut responses: Map<String, Value> = Map::new();
    for answer in &operation.answers {
        let response = example.response.as_ref().filter(|_| example.status == answer.status);
        let described = success(answer, row, response);
        match responses.get_mut(&answer.status.to_string()) {
            // The same status with another media type.
            Some(known) => join(known, described),
            None => {
                responses.insert(answer.status.to_string(), described);
            }
        }
    }
    if operation.is_tagged || row.method == Method::GET && row.access == Access::Public {
        responses.insert("304".to_owned(), json!({"$ref": "#/components/responses/NotModified"}));
    }
    for status in problems::statuses(&codes, row.oauth) {
        match responses.get_mut(&status.to_string()) {
            Some(success) => join(success, problems::rejection(status)),
            None => responses.extend([problems::response(status, row.oauth)]),
        }
    }
    let mut members = Map::new();
    members.insert("summary".to_owned(), documentation.summary.clone().into());
    if !documentation.description.is_empty() {
        members.insert("description".to_owned(), documentation.description.clone().into());
    }
    members.insert("parameters".to_owned(), parameters(&operation, row));
    if !operation.bodies.is_empty() {
        let contents = operation.bodies.iter().map(|body| content(body, example.request.as_ref()));
        let contents: Map<String, Value> = contents.collect();
        let body = json!({"required": operation.needs_body, "content": contents});
        members.insert("requestBody".to_owned(), body);
        members.insert("x-max-body-bytes".to_owned(), row.body_limit.into());
    }
    members.insert("responses".to_owned(), responses.into());
    if !row.oauth {
        members.insert("x-problem-codes".to_owned(), problems::own(&codes, row).into());
    }
    members.insert("security".to_owned(), security(row.access));
    if let Access::Scope(scope) = row.access {
        members.insert("x-scopes".to_owned(), json!([scope]));
    }
    if let Access::Role(role) = row.access {
        members.insert("x-role".to_owned(), role.into());
    }
    members.insert("x-cost".to_owned(), cost(row.cost));
    members.insert("x-idempotency".to_owned(), idempotency(&operation, row).into());
    members
}

/// Adds the contents of a response to those of another with the same status.
fn join(success: &mut Value, mut other: Value) {
    if let Some(contents) = other.get_mut("content").and_then(Value::as_object_mut)
        && let Some(known) = success.get_mut("content").and_then(Value::as_object_mut)
    {
        known.append(contents);
    }
}

/// A body, with its example if it is JSON.
fn content(content: &Content, example: Option<&Value>) -> (String, Value) {
    let mut members = json!({"schema": content.schema});
    if let (Some(example), Value::Object(members)) = (example, &mut members)
        && content.media_type.ends_with("json")
    {
        members.insert("example".to_owned(), example.clone());
    }
    (content.media_type.to_owned(), members)
}

fn success(answer: &Success, row: &Row, example: Option<&Value>) -> Value {
    let mut own = Vec::new();
    if answer.is_page {
        own.push("Link");
    } else if answer.content.is_some() && !answer.no_store {
        own.push("ETag");
    }
    if row.method != Method::GET {
        own.push("Idempotent-Replayed");
    }
    if answer.status == 302 {
        own.push("Location");
    }
    let meaning = match answer.status {
        201 => "Created.",
        202 => "Accepted; the work continues.",
        204 => "No content.",
        302 => "The browser goes on elsewhere.",
        400 => "Rejected.",
        _ => "Done.",
    };
    let mut response = Map::from_iter([("description".to_owned(), meaning.into())]);
    if !own.is_empty() {
        response.insert("headers".to_owned(), header_references(&own));
    }
    if let Some(body) = &answer.content {
        response.insert("content".to_owned(), Map::from_iter([content(body, example)]).into());
    }
    response.into()
}

/// References to these headers.
pub(super) fn header_references(own: &[&str]) -> Value {
    let reference = |name: &&str| {
        let reference = json!({"$ref": format!("#/components/headers/{name}")});
        ((*name).to_owned(), reference)
    };
    own.iter().map(reference).collect::<Map<_, _>>().into()
}

/// The components of response headers.
pub(super) fn headers() -> Value {
    let header = |(name, kind, meaning): &(&str, &str, &str)| {
        ((*name).to_owned(), json!({"description": meaning, "schema": {"type": kind}}))
    };
    HEADERS.iter().map(header).collect::<Map<_, _>>().into()
}

fn parameters(operation: &Operation<'_>, row: &Row) -> Value {
    let mut all: Vec<Value> = operation.parameters.iter().map(parameter).collect();
    let has = |name: &str| operation.parameters.iter().any(|known| known.name == name);
    for name in operation.path.iter().filter(|name| !has(name)) {
        // A parameter that only the caller's type reads.
        let schema = json!({"type": "string"});
        all.push(json!({"name": name, "in": "path", "required": true, "schema": schema}));
    }
    if row.method != Method::GET && row.access != Access::Client && !has("Idempotency-Key") {
        all.push(json!({
            "name": "Idempotency-Key", "in": "header",
            "description": "Requests with the same key and body take effect once, and get the same response. Without a credential, at least 22 characters.",
            "schema": gateway::idempotency::key_schema(),
        }));
    }
    if row.access.selects_store() && !operation.path.contains(&"store_id") {
        all.push(json!({
            "name": "X-Service-Store-Id", "in": "header",
            "description": "The store, where neither the path nor the credential names it.",
            "schema": {"type": "string"},
        }));
    }
    if shows_money(row) {
        all.push(json!({
            "name": "X-Service-Locale", "in": "header",
            "description": "The language in which amounts are formatted, as `formatted`.",
            "schema": {
                "type": "string",
                "pattern": "^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$",
            },
        }));
    }
    all.into()
}

/// Path prefixes of routes whose responses may have amounts of money.
const MONEYED: [&str; 5] =
    ["/v1/storefront/{subdomain}", "/v1/orders", "/v1/payments", "/v1/products", "/v1/discounts"];

/// Whether the responses of a row may have amounts of money.
pub(super) fn shows_money(row: &Row) -> bool {
    MONEYED.iter().any(|prefix| row.path.starts_with(prefix))
}

fn parameter(parameter: &Parameter) -> Value {
    let location = match parameter.location {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "query",
        ParameterLocation::Header => "header",
    };
    let mut members = json!({
        "name": parameter.name, "in": location, "schema": sent(parameter.schema.clone().into()),
    });
    if let (true, Value::Object(members)) = (parameter.required, &mut members) {
        members.insert("required".to_owned(), true.into());
    }
    if let (Some(text), Value::Object(members)) = (&parameter.description, &mut members) {
        members.insert("description".to_owned(), text.clone().into());
    }
    members
}

/// The schema of a parameter's value: it is left out, and never `null`; its description is the parameter's.
fn sent(mut schema: Value) -> Value {
    let Value::Object(members) = &mut schema else { return schema };
    members.remove("description");
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = members.get_mut("anyOf") {
        alternatives.retain(|one| one.get("type").is_none_or(|name| name != "null"));
        if let [only] = alternatives.as_slice() {
            return only.clone();
        }
    }
    schema
}

/// The security requirement of a kind of caller.
fn security(access: Access) -> Value {
    match access {
        Access::Public => json!([]),
        Access::Merchant | Access::Role(_) | Access::Developer | Access::Operator => {
            json!([{"merchantSession": []}])
        }
        // The scope is in `x-scopes`: tools expect scopes here of OAuth flows alone.
        Access::Scope(_) => json!([{"merchantSession": []}, {"appToken": []}]),
        Access::Client => json!([{"appClient": []}, {}]),
        Access::Embedded => json!([{"embeddedToken": []}, {"merchantSession": []}]),
        Access::Customer => json!([{"customerToken": []}]),
    }
}

/// The security schemes.
pub(super) fn security_schemes() -> Value {
    let bearer =
        |meaning: &str| json!({"type": "http", "scheme": "bearer", "description": meaning});
    json!({
        "merchantSession": bearer("A merchant's session: `POST /v1/auth/signin`."),
        "appToken": bearer("An app's token for a store: `POST /v1/app-store/oauth/token`."),
        "embeddedToken": bearer("An embedded app's token for a store: `POST /v1/app-store/oauth/token-exchange`."),
        "customerToken": bearer("A customer of a store: `POST /v1/storefront/{subdomain}/customer/signin`."),
        "appClient": {"type": "http", "scheme": "basic", "description": "An app's `client_id` and `client_secret`; or both in the body (RFC 6749 §2.3.1)."},
    })
}

fn cost(cost: Cost) -> Value {
    match cost {
        Cost::Fixed(points) => points.into(),
        Cost::List => "1 + ceil(limit / 10)".into(),
        Cost::File(points) => format!("{points} + ceil(bytes / {})", Cost::FILE_BYTES).into(),
    }
}

fn idempotency(operation: &Operation<'_>, row: &Row) -> &'static str {
    let demands = operation.parameters.iter().any(|known| known.name == "Idempotency-Key");
    match () {
        () if row.method == Method::GET => "safe",
        () if demands => "required",
        () if row.access == Access::Client => "none",
        () => "optional",
    }
}

/// The events, as the webhook requests that deliver them.
pub(super) fn webhooks(schemas: &mut Schemas) -> Value {
    let mut webhook = |event: &core_types::event::EventSchema| {
        let topic = event.declaration;
        let schema = event.schema_in(&mut schemas.answers);
        let content = json!({"schema": schema, "example": event.example()});
        let mut post = json!({
            "summary": topic.summary,
            "operationId": topic.name,
            "tags": ["webhooks"],
            // Signed, and sent without a credential.
            "security": [],
            "requestBody": {"required": true, "content": {"application/json": content}},
            "responses": {"2XX": {"$ref": "#/components/responses/Received"}},
        });
        if let (Some(scope), Value::Object(members)) = (topic.scope, &mut post) {
            members.insert("x-scopes".to_owned(), json!([scope]));
        }
        (topic.name.to_owned(), json!({"post": post}))
    };
    commerce::topics::event_schemas().iter().map(&mut webhook).collect::<Map<_, _>>().into()
}
