//! The latest requests: a list that follows them, and each with what was sent and answered, without secrets.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode, header};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{
    Page, code_block, empty, error, fragment, id, moment, short_path, status_chip, text,
    time_of_day,
};
use super::paths::ACTIVITY;
use super::site::Site;
use crate::activity::redact::{self, Fields, HIDDEN, Shown};
use crate::activity::{CAPACITY, Entry, Message};

/// The classes of status codes.
const CLASSES: [(&str, &str); 5] =
    [("", "Any status"), ("2", "2xx"), ("3", "3xx"), ("4", "4xx"), ("5", "5xx")];

/// What the numbers of a request count.
const MEANINGS: [(&str, &str); 3] = [
    ("Trips", "Round trips to the table, one after the other: what a request waits for."),
    ("Units", "Capacity units that the table charges for its reads and writes."),
    ("Points", "Points that the request took from its caller's budget; none without a caller."),
];

/// Headers that every client sends by itself.
const OWN_HEADERS: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "origin",
    "referer",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "user-agent",
    "accept-language",
    "x-forwarded-for",
];

/// The query parameters of the list.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ListQuery {
    /// The first digit of the status code.
    #[serde(default)]
    status: String,
    /// A part of the path.
    #[serde(default)]
    path: String,
    /// `hide` to leave out what shop pages load.
    #[serde(default)]
    shops: String,
    /// The newest request that the page has: then only the rows of newer ones are returned.
    after: Option<u64>,
}

impl ListQuery {
    fn hides_shops(&self) -> bool {
        self.shops == "hide"
    }

    fn admits(&self, entry: &Entry) -> bool {
        entry.status.as_str().starts_with(&self.status)
            && path_of(entry).contains(self.path.trim())
            && !(self.hides_shops() && is_of_shops(entry))
            && self.after.is_none_or(|after| entry.number > after)
    }
}

fn path_of(entry: &Entry) -> String {
    redact::text(entry.uri.path())
}

fn fields_of(entry: &Entry) -> Fields {
    Fields::of(entry.uri.path())
}

/// Whether a shop's page has sent a request, or the browser that shows it: pictures and the theme's files.
fn is_of_shops(entry: &Entry) -> bool {
    let path = entry.uri.path();
    let is_file = path.contains("/media/") || path.contains("/theme/files/");
    entry.is_of_shop
        || entry.method == Method::GET && path.starts_with("/v1/storefront/") && is_file
}

/// `GET /_local/activity`.
pub(super) async fn list(
    State(site): State<Arc<Site>>,
    Query(query): Query<ListQuery>,
) -> Response {
    let entries = site.activity.entries();
    let newest = entries.first().map_or(0, |entry| entry.number);
    let admitted: Vec<_> = entries.iter().filter(|entry| query.admits(entry)).collect();
    let rows = html! { @for entry in &admitted { (row(entry)) } };
    if query.after.is_some() {
        let mut answer = fragment(&rows);
        answer.headers_mut().insert("x-newest", newest.into());
        return answer;
    }
    let content = html! {
        h1 { "Activity" }
        p.lede { "The last " (CAPACITY) " requests to the API, as they come. They are in memory only." }
        (filter(&query))
        details.legend {
            summary { "Trips, units, points" }
            dl { @for (name, about) in MEANINGS { div { dt { (name) } dd { (about) } } } }
        }
        div.live data-live={ (ACTIVITY) } data-newest=(newest) {
            table.requests hidden[admitted.is_empty()] {
                thead { tr {
                    @for name in ["Time", "Request", "Status", "Took", "Trips", "Units", "Points", "Caller"] {
                        th scope="col" title=[meaning(name)] { (name) }
                    }
                } }
                tbody { (rows) }
            }
            @if admitted.is_empty() {
                @if entries.is_empty() {
                    (empty("No request yet", &html! { "Send one: " code { "curl " (site.whereabouts.url) "/health" } }))
                } @else {
                    (empty("No request matches", &html! { "Choose another status, or a shorter part of the path." }))
                }
            }
        }
    };
    Page { title: "Activity", current: ACTIVITY, is_public: false, content }.answer()
}

fn meaning(name: &str) -> Option<&'static str> {
    MEANINGS.iter().find(|(known, _)| *known == name).map(|(_, about)| *about)
}

fn filter(query: &ListQuery) -> Markup {
    html! {
        form.filter method="get" action=(ACTIVITY) {
            label { span { "Status" } select name="status" { @for (value, name) in CLASSES {
                option value=(value) selected[query.status == value] { (name) }
            } } }
            label.wide { span { "Path contains" } input type="search" name="path" value=(query.path) placeholder="/v1/orders"; }
            label.switch { input type="checkbox" name="shops" value="hide" checked[query.hides_shops()]; span { "Hide shop pages and media" } }
            button.button type="submit" { "Filter" }
            label.switch { input type="checkbox" data-pause checked; span { "Live" } }
        }
    }
}

fn row(entry: &Entry) -> Markup {
    let summary = &entry.summary;
    html! {
        tr {
            td data-label="Time" { (time_of_day(&entry.at.to_string())) }
            td.request data-label="Request" {
                a href={ (ACTIVITY) "/" (summary.request_id) } { span.method { (entry.method) } " " (short_path(&path_of(entry))) }
            }
            td data-label="Status" { (status_chip(entry.status.as_u16())) }
            td.number data-label="Took" { (summary.millis) " ms" }
            td.number.minor data-label="Trips" { (summary.trips) }
            td.number.minor data-label="Units" { (units(summary.capacity_tenths)) }
            td.number.minor data-label="Points" { @if let Some(cost) = summary.cost { (cost) } @else { "–" } }
            td data-label="Caller" { (caller(&summary.principal)) }
        }
    }
}

/// Capacity units, of tenths.
fn units(tenths: u64) -> String {
    match (tenths.div_euclid(10), tenths.rem_euclid(10)) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest}"),
    }
}

/// The principal of a request, whose id is none if it is a token.
fn caller(principal: &str) -> Markup {
    match principal.split_once(':') {
        Some((kind @ ("merchant" | "customer" | "installation"), name)) => {
            html! { (kind) " " (id(name)) }
        }
        Some((kind, _)) => html! { (kind.replace('_', " ")) },
        None if principal.is_empty() => html! { span.faint { "–" } },
        None => html! { (principal) },
    }
}

/// `GET /_local/activity/{request_id}`.
pub(super) async fn show(
    State(site): State<Arc<Site>>,
    Path(request_id): Path<String>,
) -> Response {
    let Some(entry) = site.activity.find(&request_id) else {
        let detail = "It is not among the latest, or came before the last start.";
        return error(StatusCode::NOT_FOUND, "There is no such request", detail);
    };
    let summary = &entry.summary;
    let fields = fields_of(&entry);
    let sent = redact::body(&entry.request.headers, &entry.request.body, fields);
    // What a read returns has names of the API's own.
    let returned = if entry.method == Method::GET { Fields::NotSecret } else { fields };
    let answered = redact::body(&entry.response.headers, &entry.response.body, returned);
    let title = format!("{} {}", entry.method, path_of(&entry));
    let content = html! {
        p.eyebrow { a href=(ACTIVITY) { "Activity" } }
        h1.request { span.method { (entry.method) } " " (path_of(&entry)) }
        dl.facts {
            div { dt { "Status" } dd { (status_chip(entry.status.as_u16())) } }
            div { dt { "Took" } dd { (summary.millis) " ms" } }
            div { dt { "Round trips" } dd { (summary.trips) } }
            div { dt { "Capacity units" } dd { (units(summary.capacity_tenths)) } }
            div { dt { "Points" } dd { @if let Some(cost) = summary.cost { (cost) } @else { "–" } } }
            div { dt { "Caller" } dd { (caller(&summary.principal)) } }
            @if let Some(store) = &summary.store { div { dt { "Store" } dd { (id(store)) } } }
            div { dt { "Time" } dd { (moment(&entry.at.to_string())) } }
            div { dt { "Request" } dd { (id(&summary.request_id)) } }
            div { dt { "Trace" } dd { (id(&summary.trace_id)) } }
        }
        @if let Shown::Text(problem) = &answered { (problem_of(&entry, problem)) }
        section {
            h2 { "Repeat it" }
            p.faint { "Set " code { "$TOKEN" } " first: the start page copies one. Hidden values are to be filled in." }
            (code_block("The request as a call of curl", &curl(&entry, &sent, &site.whereabouts.url)))
        }
        div.both {
            section { h2 { "Request" } (message(&entry.request, &sent)) }
            section { h2 { "Response" } (message(&entry.response, &answered)) }
        }
    };
    Page { title: &title, current: ACTIVITY, is_public: false, content }.answer()
}

/// What a problem says: its title, what to do, and the fields concerned.
fn problem_of(entry: &Entry, body: &str) -> Markup {
    let kind = entry.response.headers.get(header::CONTENT_TYPE);
    let is_problem = kind.is_some_and(|kind| kind.as_bytes() == b"application/problem+json");
    let problem = serde_json::from_str::<Value>(body).unwrap_or_default();
    let errors = problem.get("errors").and_then(Value::as_array);
    html! {
        @if is_problem {
            section.problem {
                h2 { (text(&problem, "title")) " " code { (text(&problem, "code")) } }
                @let detail = text(&problem, "detail");
                @if !detail.is_empty() && detail != text(&problem, "title") { p { (detail) } }
                @if let Some(errors) = errors {
                    ul { @for error in errors {
                        li { code { (text(error, "pointer")) } " " (text(error, "detail")) " " code.faint { (text(error, "code")) } }
                    } }
                }
            }
        }
    }
}

fn message(message: &Message, body: &Shown) -> Markup {
    html! {
        details open { summary { "Headers" }
            dl.headers { @for (name, value) in redact::headers(&message.headers) {
                div { dt { (name) } dd { (value) } }
            } }
        }
        h3 { "Body" }
        @match body {
            Shown::Nothing => { p.faint { "None" } }
            Shown::Withheld(why) => { p.faint { (why) } }
            Shown::Text(body) => { (code_block("Body", body)) }
        }
    }
}

/// A call of curl that repeats a request, with `$TOKEN` for the credential.
fn curl(entry: &Entry, body: &Shown, url: &str) -> String {
    let query =
        entry.uri.query().map(|query| format!("?{}", redact::pairs(query, fields_of(entry))));
    let target = format!("{url}{}{}", path_of(entry), query.unwrap_or_default());
    let mut lines = vec![format!("curl -sS {}{}", method(&entry.method), quoted(&target))];
    lines.extend(sent_headers(&entry.request.headers));
    match body {
        Shown::Text(body) => lines.push(format!("--data {}", quoted(body))),
        Shown::Withheld(_) => lines.push("--data-binary @body".to_owned()),
        Shown::Nothing => {}
    }
    lines.join(" \\\n  ")
}

fn method(method: &Method) -> String {
    if *method == Method::GET { String::new() } else { format!("-X {method} ") }
}

fn sent_headers(headers: &HeaderMap) -> Vec<String> {
    let shown = redact::headers(headers).into_iter();
    let own = |name: &str| OWN_HEADERS.contains(&name) || name.starts_with("sec-ch-");
    let header = |(name, value): (String, String)| match (name.as_str(), value.as_str()) {
        ("authorization", _) => "-H \"Authorization: Bearer $TOKEN\"".to_owned(),
        ("idempotency-key", _) => "-H \"Idempotency-Key: $(uuidgen)\"".to_owned(),
        (_, HIDDEN) => format!("-H '{name}: …'"),
        (_, value) => format!("-H {}", quoted(&format!("{name}: {value}"))),
    };
    shown
        .filter(|(name, value)| !(own(name) || name == "accept" && value == "*/*"))
        .map(header)
        .collect()
}

/// A text as one word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_quotes_stays_one_word() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!((units(0), units(15), units(30)), ("0".into(), "1.5".into(), "3".into()));
    }
}
