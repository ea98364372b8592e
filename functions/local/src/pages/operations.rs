//! The operators' pages: the API's responses to the demo's operator, with links to this prefix, where the
//! browser needs no session.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, Uri, header};
use maud::{Markup, html};
use serde_json::Value;

use super::desk::{LARGEST, Who};
use super::layout::{Page, chip, empty, error, id, moment, no_demo, text};
use super::paths::{ACTIVITY, DOCUMENTS, EVENTS, OPERATIONS, REFERENCE, START};
use super::site::Site;

/// The path prefix of the same resources in the API.
const FAMILY: &str = "/v1/operations";
/// The number of latest items of a list that are linked.
const LATEST: usize = 5;
/// The lists: heading and path.
const LISTS: [(&str, &str); 4] = [
    ("Incidents", INCIDENTS),
    ("Failover drills", "runtime/failover-drills"),
    ("Load tests", "runtime/load-tests"),
    ("Certification reports", "certification-reports"),
];

/// Pages that an operator's page links beside the list.
const NEAR: [(&str, &str); 3] = [("Start", START), ("Activity", ACTIVITY), ("Events", EVENTS)];

/// The path of incidents.
const INCIDENTS: &str = "runtime/incidents";

/// `GET /_local/operations`.
pub(super) async fn index(State(site): State<Arc<Site>>) -> Response {
    let mut lists = Vec::new();
    for (heading, path) in LISTS {
        let target = format!("{FAMILY}/{path}?limit={LATEST}");
        let Some(page) = site.desk.json(Who::Operator, &target, &[]).await else { break };
        lists.push(list(heading, path, &page));
    }
    let content = html! {
        h1 { "Operations" }
        p.lede { "What an operator of the platform sees: its state now, and what was measured." }
        @if lists.is_empty() { (no_demo()) } @else {
            section {
                h2 { "Runtime overview" }
                ul.cards { @for (window, about) in [("5m", "5 minutes"), ("1h", "hour"), ("24h", "24 hours")] {
                    li { a href={ (OPERATIONS) "/runtime/overview?window=" (window) } { "The last " (about) } p { "Backlogs, lags, latencies, incidents." } }
                } }
            }
            @for list in lists { (list) }
        }
    };
    Page { title: "Operations", current: OPERATIONS, is_public: false, content }.answer()
}

fn list(heading: &str, path: &str, page: &Value) -> Markup {
    let items: Vec<&Value> =
        page.get("data").and_then(Value::as_array).into_iter().flatten().collect();
    html! {
        section {
            h2 { (heading) }
            @if items.is_empty() {
                (empty("None yet", &html! { a href={ (DOCUMENTS) "operations" } { "How to start one" } }))
            } @else {
                table {
                    thead { tr { @for name in ["Id", "Kind", "Outcome", "Time"] { th scope="col" { (name) } } } }
                    tbody { @for it in items { tr {
                        td data-label="Id" { a href={ (OPERATIONS) "/" (path) "/" (text(it, "id")) } { "Open" } " " (id(text(it, "id"))) }
                        td data-label="Kind" { @let kind = [text(it, "kind"), text(it, "title")].into_iter().find(|it| !it.is_empty()).unwrap_or_default(); (if kind.is_empty() { "–" } else { kind }.replace('_', " ")) }
                        td data-label="Outcome" { @let verdict = text(it, "verdict"); (chip(if verdict.is_empty() { text(it, "status") } else { verdict })) }
                        td data-label="Time" { (moment(text(it, "created_at"))) }
                    } } }
                }
            }
        }
    }
}

/// `GET /_local/operations/{*path}`: the resource below `/v1/operations`, as a page if it has one.
pub(super) async fn show(
    State(site): State<Arc<Site>>,
    Path(path): Path<String>,
    uri: Uri,
) -> Response {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let accept = [("accept", "text/html, application/json;q=0.9")];
    let target = format!("{FAMILY}/{path}{query}");
    let Some(answer) = site.desk.get(Who::Operator, &target, &accept).await else {
        return error(
            StatusCode::NOT_FOUND,
            "There is no such page",
            "The demo's operator cannot be signed in.",
        );
    };
    let (parts, body) = answer.into_parts();
    let Ok(body) = axum::body::to_bytes(body, LARGEST).await else {
        return error(StatusCode::INTERNAL_SERVER_ERROR, "The page is too large", "");
    };
    if !parts.status.is_success() {
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        return error(parts.status, text(&problem, "title"), text(&problem, "detail"));
    }
    if let Some(id) = path.strip_prefix(INCIDENTS).and_then(|rest| rest.strip_prefix('/')) {
        return incident(id, &serde_json::from_slice(&body).unwrap_or_default());
    }
    let is_page = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/html");
    if !parts.headers.get(header::CONTENT_TYPE).is_some_and(is_page) {
        return (parts.headers, body).into_response();
    }
    let (from, to) = (format!("href=\"{FAMILY}/"), format!("href=\"{OPERATIONS}/"));
    let back = html! {
        nav aria-label="Pages" { p.faint {
            a href=(OPERATIONS) { "← Operations" }
            @for (name, path) in NEAR { " · " a href=(path) { (name) } }
        } }
    };
    let back = back.into_string();
    let page = String::from_utf8_lossy(&body).replace(&from, &to);
    let page = page.replacen("<body>", &format!("<body>{back}"), 1);
    let mut headers = parts.headers;
    headers.remove(header::CONTENT_LENGTH);
    (headers, page).into_response()
}

/// An incident: its state, and what was done about it.
fn incident(id: &str, incident: &Value) -> Response {
    let title = text(incident, "title");
    let list = |name: &str| {
        let all = incident.get(name).and_then(Value::as_array);
        all.into_iter().flatten()
    };
    let components: Vec<&str> = list("components").filter_map(Value::as_str).collect();
    let actions = list("allowed_actions").filter_map(Value::as_str);
    let content = html! {
        p.faint { a href=(OPERATIONS) { "← Operations" } }
        h1 { (title) }
        p { (chip(text(incident, "status"))) }
        p.lede { (text(incident, "description")) }
        dl.facts {
            div { dt { "Severity" } dd { (text(incident, "severity")) } }
            div { dt { "Components" } dd { (components.join(", ")) } }
            div { dt { "Opened" } dd { (moment(text(incident, "created_at"))) } }
        }
        h2 { "Timeline" }
        ol.events { @for step in list("timeline") { li {
            div.event { strong { (text(step, "kind").replace('_', " ")) } (moment(text(step, "at"))) }
            @if !text(step, "message").is_empty() { p { (text(step, "message")) } }
        } } }
        p.foot { @for action in actions {
            a href={ (REFERENCE) "/" (action) "Incident?id=" (id) "&as=operator" } { (action.replace('_', " ")) } " "
        } }
    };
    Page { title, current: OPERATIONS, is_public: false, content }.answer()
}
