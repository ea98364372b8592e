//! The start page of the local system, `/_local/`, and the operators' pages below it: the API's responses to
//! the demo's operator, whom this server signs in. A deployment has neither.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::{HeaderValue, StatusCode, Uri, header};
use maud::{DOCTYPE, Markup, html};
use primitives::problem::{Code, Problem};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tower::ServiceExt;

use crate::demo::{OPERATOR, SUBDOMAIN};
use crate::{reference, shop};

/// The path of the start page.
pub const PATH: &str = "/_local/";
/// The path prefix of the operators' pages.
const OPERATIONS: &str = "/_local/operations";
/// The path prefix of the same resources in the API.
const FAMILY: &str = "/v1/operations";
/// Bytes of a response at most.
const LARGEST: usize = 8 << 20;
/// The number of latest items of a list that are linked.
const LATEST: usize = 5;
/// The lists: heading and path.
const LISTS: [(&str, &str); 3] = [
    ("Failover drills", "runtime/failover-drills"),
    ("Load tests", "runtime/load-tests"),
    ("Certification reports", "certification-reports"),
];

/// A client of the API that is signed in as the demo's operator.
struct Desk {
    api: Router,
    token: Mutex<Option<HeaderValue>>,
}

/// The routes of the pages, over this API.
pub(crate) fn router(api: Router) -> Router {
    let desk = Arc::new(Desk { api, token: Mutex::new(None) });
    Router::new()
        .route(PATH, get(start))
        .route(&format!("{OPERATIONS}/{{*path}}"), get(operations))
        .with_state(desk)
}

impl Desk {
    async fn send(&self, request: Request) -> Response {
        let Ok(answer) = self.api.clone().oneshot(request).await;
        answer
    }

    /// Signs the operator in, if there is a demo.
    async fn sign_in(&self) -> Option<HeaderValue> {
        let input = json!({"email": OPERATOR.email, "password": OPERATOR.password}).to_string();
        let request =
            Request::post("/v1/auth/signin").header(header::CONTENT_TYPE, "application/json");
        let answer = read(self.send(request.body(Body::from(input)).ok()?).await).await?;
        let token = answer.pointer("/session/access_token")?.as_str()?;
        format!("Bearer {token}").try_into().ok()
    }

    /// Sends a request as the operator; none without a demo.
    async fn get(&self, path: &str, accept: &HeaderValue) -> Option<Response> {
        let mut token = self.token.lock().await;
        for _ in 0..2 {
            if token.is_none() {
                *token = self.sign_in().await;
            }
            let request = Request::get(format!("{FAMILY}/{path}"))
                .header(header::AUTHORIZATION, token.as_ref()?)
                .header(header::ACCEPT, accept);
            let answer = self.send(request.body(Body::empty()).ok()?).await;
            if answer.status() != StatusCode::UNAUTHORIZED {
                return Some(answer);
            }
            // The session has expired: sign in again.
            *token = None;
        }
        None
    }
}

async fn read(answer: Response) -> Option<Value> {
    let is_success = answer.status().is_success();
    let body = axum::body::to_bytes(answer.into_body(), LARGEST).await.ok()?;
    is_success.then(|| serde_json::from_slice(&body).ok()).flatten()
}

/// `GET /_local/operations/{*path}`: the resource below `/v1/operations`, as a page if it has one. The links
/// of a page are rewritten to this prefix, where the browser needs no session.
async fn operations(State(desk): State<Arc<Desk>>, Path(path): Path<String>, uri: Uri) -> Response {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let accept = HeaderValue::from_static("text/html, application/json;q=0.9");
    let Some(answer) = desk.get(&format!("{path}{query}"), &accept).await else {
        return Problem::from(Code::NotFound).into_response();
    };
    let (parts, body) = answer.into_parts();
    let is_page = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/html");
    if !parts.headers.get(header::CONTENT_TYPE).is_some_and(is_page) {
        return Response::from_parts(parts, body);
    }
    let Ok(body) = axum::body::to_bytes(body, LARGEST).await else {
        return Problem::internal("a page is too large").into_response();
    };
    let (from, to) = (format!("href=\"{FAMILY}/"), format!("href=\"{OPERATIONS}/"));
    let page = String::from_utf8_lossy(&body).replace(&from, &to);
    let mut headers = parts.headers;
    headers.remove(header::CONTENT_LENGTH);
    (headers, page).into_response()
}

/// The links of a list: its heading, and the URL and text of each.
type Listed = (&'static str, Vec<(String, String)>);

/// `GET /_local/`.
async fn start(State(desk): State<Arc<Desk>>) -> Html<String> {
    let mut lists = Vec::new();
    for (heading, path) in LISTS {
        let accept = HeaderValue::from_static("application/json");
        let Some(answer) = desk.get(&format!("{path}?limit={LATEST}"), &accept).await else {
            break;
        };
        let page = read(answer).await.unwrap_or_default();
        lists.push((heading, links(path, &page)));
    }
    Html(page(&lists).into_string())
}

fn links(path: &str, page: &Value) -> Vec<(String, String)> {
    let link = |it: &Value| {
        let id = it["id"].as_str()?;
        let said = it["verdict"].as_str().or_else(|| it["status"].as_str()).unwrap_or_default();
        let name = [id, it["kind"].as_str().unwrap_or_default(), said].join(" ");
        Some((format!("{OPERATIONS}/{path}/{id}"), name))
    };
    page["data"].as_array().into_iter().flatten().filter_map(link).collect()
}

fn page(lists: &[Listed]) -> Markup {
    let overview = |window: &str| format!("{OPERATIONS}/runtime/overview?window={window}");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Commerce gateway" }
                style { ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:42rem;padding:0 1rem}" }
            }
            body {
                h1 { "Commerce gateway" }
                ul {
                    li { a href=(reference::PATH) { "The reference of the API" } }
                    li { a href=(format!("{}/{SUBDOMAIN}", shop::PATH)) { "The demo store" } }
                }
                @if !lists.is_empty() {
                    h2 { "Runtime overview" }
                    ul { @for window in ["5m", "1h", "24h"] {
                        li { a href=(overview(window)) { "The last " (window) } }
                    } }
                }
                @for (heading, links) in lists {
                    h2 { (heading) }
                    @if links.is_empty() { p { "None yet: see docs/operations.md." } }
                    ul { @for (address, name) in links { li { a href=(address) { (name) } } } }
                }
            }
        }
    }
}
