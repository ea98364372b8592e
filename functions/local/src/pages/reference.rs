//! The reference of the API, from its OpenAPI document: a list of all operations, and each as a page, which
//! the list inserts when it is opened. An operation can be sent from there.

mod document;
mod operation;
mod schema;
mod trial;

use std::sync::{Arc, LazyLock};

use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use super::layout::{Page, error, fragment, text};
use super::paths::REFERENCE;
use super::site::Site;
use document::DOCUMENT;
use operation::Operation;

/// The methods of OpenAPI, in the order in which they are listed.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// All operations, in the order of the document.
static OPERATIONS: LazyLock<Vec<Operation<'static>>> = LazyLock::new(|| {
    let paths = DOCUMENT.get("paths").and_then(Value::as_object).into_iter().flatten();
    let of_path = |(path, item): (&'static String, &'static Value)| {
        let of_method = move |method| Some(Operation { method, path, value: item.get(method)? });
        METHODS.into_iter().filter_map(of_method)
    };
    paths.flat_map(of_path).collect()
});

/// The families with their operations, in the order of the document's tags.
fn families() -> Vec<(&'static str, Vec<&'static Operation<'static>>)> {
    let tags = DOCUMENT.get("tags").and_then(Value::as_array).into_iter().flatten();
    let family = |tag: &'static Value| {
        let name = text(tag, "name");
        let own = OPERATIONS.iter().filter(|operation| operation.family() == name).collect();
        (name, own)
    };
    tags.map(family).filter(|(_, own): &(_, Vec<_>)| !own.is_empty()).collect()
}

/// The id of the operation with this method, in lower case, and this path without parameters.
pub(super) fn operation_at(method: &str, path: &str) -> Option<&'static str> {
    let is_it = |it: &&Operation<'static>| it.method == method && it.path == path;
    OPERATIONS.iter().find(is_it).map(|it| text(it.value, "operationId"))
}

/// `GET /_local/reference`.
pub(super) async fn show(State(site): State<Arc<Site>>) -> Response {
    let content = html! {
        h1 { "Reference" }
        p.lede {
            (OPERATIONS.len()) " operations. Open one to read it and to send it; "
            a href="/v1/openapi.json" { "openapi.json" } " is the same for programs."
        }
        form.filter role="search" data-search-form {
            label.wide { span { "Search by path, summary or operation id" } input type="search" data-search placeholder="refund" autocomplete="off"; }
            span.faint role="status" data-search-status {}
        }
        div.reference { @for (name, operations) in families() {
            details.family {
                summary { h2 { (name) } span.count { (operations.len()) } }
                @for operation in operations { (entry(operation)) }
            }
        } }
    };
    let is_public = site.whereabouts.is_public;
    Page { title: "Reference", current: REFERENCE, is_public, content }.answer()
}

fn entry(operation: &Operation<'_>) -> Markup {
    let Operation { method, path, .. } = operation;
    html! {
        details.operation data-operation={ (REFERENCE) "/" (operation.id()) "?fragment=1" }
            data-text={ (method) " " (path) " " (operation.summary().to_lowercase()) " " (operation.id().to_lowercase()) } {
            summary {
                span class={ "method " (method) } { (method.to_uppercase()) }
                span.path { (path) }
                span.about { (operation.summary()) }
            }
            div.body { p { a href={ (REFERENCE) "/" (operation.id()) } { "Open " (operation.id()) } } }
        }
    }
}

/// `GET /_local/reference/{operation}`: an operation; with `fragment`, only what the list inserts. Other
/// parameters prefill those of the operation, and the members of its body, of the same name, and `as` chooses the account.
pub(super) async fn show_operation(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    Query(given): Query<Vec<(String, String)>>,
) -> Response {
    let Some(operation) = OPERATIONS.iter().find(|operation| operation.id() == id) else {
        return error(StatusCode::NOT_FOUND, "There is no such operation", "");
    };
    let is_public = site.whereabouts.is_public;
    let samples = if is_public { None } else { Some(site.desk.samples().await) };
    let content = html! {
        div.columns { (operation.render()) (trial::form(operation, &given, samples.as_ref())) }
    };
    if given.iter().any(|(name, _)| name == "fragment") {
        return fragment(&content);
    }
    let content = html! {
        p.eyebrow { a href=(REFERENCE) { "Reference" } " · " (operation.family()) }
        h1 { (operation.summary()) }
        p.endpoint { span class={ "method " (operation.method) } { (operation.method.to_uppercase()) } " " code { (operation.path) } }
        h2.unseen { "How it is sent" }
        div.operation.alone { (content) }
    };
    Page { title: operation.summary(), current: REFERENCE, is_public, content }.answer()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_document_is_listed_once() {
        let listed: usize = families().iter().map(|(_, own)| own.len()).sum();
        let paths = DOCUMENT["paths"].as_object().unwrap();
        let all: usize = paths.values().map(|item| item.as_object().unwrap().len()).sum();
        assert!(all > 300);
        assert_eq!((listed, OPERATIONS.len()), (all, all));
    }

    #[test]
    fn every_operation_is_rendered_with_its_parameters() {
        for operation in OPERATIONS.iter() {
            let page = trial::form(operation, &[], None).into_string();
            for parameter in operation.parameters() {
                let name = text(parameter, "name");
                assert!(page.contains(&format!("name=\"{name}\"")), "{}: {name}", operation.id());
            }
            let read = operation.render().into_string();
            assert!(read.len() < 300_000, "{}: {} bytes", operation.id(), read.len());
        }
    }
}
