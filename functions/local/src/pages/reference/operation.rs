//! An operation: what it does, takes and returns.

use maud::{Markup, html};
use serde_json::Value;

use super::super::documents::description;
use super::super::layout::{code_block, described, text};
use super::document::resolved;
use super::schema::{example, member, properties};

/// An operation of the document.
pub(super) struct Operation<'a> {
    /// In lower case.
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    pub(super) value: &'a Value,
}

impl Operation<'static> {
    /// Its parameters, those of the path first.
    pub(super) fn parameters(&self) -> Vec<&'static Value> {
        let given = self.value.get("parameters").and_then(Value::as_array);
        let mut all: Vec<_> = given.into_iter().flatten().map(resolved).collect();
        all.sort_by_key(|it| match text(it, "in") {
            "path" => 0,
            "query" => 1,
            _ => 2,
        });
        all
    }

    /// The media type of its body, with its schema and example; none without a body.
    pub(super) fn body(&self) -> Option<(&'static str, &'static Value)> {
        self.bodies().into_iter().next()
    }

    /// The media types that its body may have, JSON first.
    pub(super) fn bodies(&self) -> Vec<(&'static str, &'static Value)> {
        let body = self.value.get("requestBody").map(resolved);
        let content = body.and_then(|body| body.get("content")?.as_object());
        let mut all: Vec<(&str, &Value)> =
            content.into_iter().flatten().map(|(kind, content)| (&**kind, content)).collect();
        all.sort_by_key(|(kind, _)| *kind != "application/json");
        all
    }

    /// The names of the security schemes, one of which a request needs.
    pub(super) fn schemes(&self) -> Vec<&'static str> {
        let given = self.value.get("security").and_then(Value::as_array);
        let names = given.into_iter().flatten().filter_map(Value::as_object);
        names.flat_map(|it| it.keys().map(String::as_str)).collect()
    }

    /// The operation without its heading.
    pub(super) fn render(&self) -> Markup {
        html! {
            div.read {
                div.prose { (description(text(self.value, "description"))) }
                (self.facts())
                (self.inputs())
                (self.responses())
            }
        }
    }

    fn facts(&self) -> Markup {
        let callers: Vec<_> = self.schemes().into_iter().map(caller).collect();
        let callers = if callers.is_empty() { "anybody".to_owned() } else { callers.join(", ") };
        let list = |name: &str| {
            let all = self.value.get(name).and_then(Value::as_array);
            all.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>()
        };
        let scopes = list("x-scopes");
        let cost = self.value.get("x-cost").map(|cost| match cost {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let idempotency = text(self.value, "x-idempotency");
        let role = text(self.value, "x-role");
        html! {
            dl.facts {
                div { dt { "Operation" } dd { code { (self.id()) } } }
                div { dt { "Callers" } dd { (callers) } }
                @if !scopes.is_empty() { div { dt { "Scopes" } dd { @for scope in scopes { code { (scope) } " " } } } }
                @if !role.is_empty() { div { dt { "Role" } dd { (role) } } }
                @if let Some(cost) = cost { div { dt { "Cost in points" } dd { (cost) } } }
                @if !idempotency.is_empty() { div { dt { "Idempotency key" } dd { (idempotency) } } }
            }
        }
    }

    fn inputs(&self) -> Markup {
        let parameters = self.parameters();
        html! {
            @if !parameters.is_empty() {
                h3 { "Parameters" }
                dl.members { @for it in parameters {
                    (member(text(it, "name"), text(it, "in"), it.get("required") == Some(&Value::Bool(true)),
                        it.get("schema"), text(it, "description"), &html! {}))
                } }
            }
            @if let Some((kind, body)) = self.body() {
                h3 { "Body " code.faint { (kind) } }
                @if let Some(schema) = body.get("schema") { (properties(schema, 0)) }
            }
        }
    }

    fn responses(&self) -> Markup {
        let responses = self.value.get("responses").and_then(Value::as_object);
        let codes = self.value.get("x-problem-codes").and_then(Value::as_array);
        let codes: Vec<&str> = codes.into_iter().flatten().filter_map(Value::as_str).collect();
        // The problems are listed by their codes.
        let is_rejection = |status: &str| status.starts_with(['4', '5']) || status == "default";
        let successes = responses.into_iter().flatten().filter(|(status, _)| !is_rejection(status));
        html! {
            h3 { "Responses" }
            @for (status, response) in successes {
                @let response = resolved(response);
                @let content = response.get("content").and_then(Value::as_object).and_then(|it| it.iter().next());
                p { span.chip.good { (status) } " " (described(text(response, "description"))) }
                @if let Some((kind, content)) = content {
                    @if let Some(example) = example(content) { (code_block(&format!("An answer with status {status}"), &format!("{example:#}"))) }
                    @else { p.faint { (kind) } }
                    @if let Some(schema) = content.get("schema") {
                        details { summary { "Members" } (properties(schema, 0)) }
                    }
                }
            }
            @if !codes.is_empty() {
                p { "Problems: " @for code in codes { a href={ "/_local/docs/errors" } { code { (code) } } " " } }
            }
        }
    }
}

impl Operation<'_> {
    pub(super) fn id(&self) -> &str {
        text(self.value, "operationId")
    }

    pub(super) fn summary(&self) -> &str {
        text(self.value, "summary")
    }

    pub(super) fn family(&self) -> &str {
        let tags = self.value.get("tags").and_then(Value::as_array);
        tags.and_then(|tags| tags.first()?.as_str()).unwrap_or_default()
    }
}

/// Who has the credential of a security scheme.
fn caller(scheme: &str) -> &str {
    match scheme {
        "merchantSession" => "merchants",
        "appToken" => "apps",
        "embeddedToken" => "embedded apps",
        "customerToken" => "customers",
        "appClient" => "an app's client",
        other => other,
    }
}
