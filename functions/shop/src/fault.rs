//! Why a page cannot be shown, and the plain page that says so.

use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::html;
use primitives::problem::Problem;
use serde_json::Value;

use crate::document::Plain;
use crate::words::Words;

/// Ends a session that is over, so that the next request is a guest's.
pub(crate) const SIGNED_OUT: &str = "shop_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax";

/// A rejection of the API, or of the shop itself.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    /// The problem's code.
    pub(crate) code: String,
    /// A sentence for shoppers.
    pub(crate) detail: String,
    /// The fields at fault: a JSON Pointer and a sentence.
    pub(crate) fields: Vec<(String, String)>,
    /// The whole problem.
    pub(crate) problem: Value,
    /// `Retry-After`.
    pub(crate) retry_after: Option<HeaderValue>,
}

impl Fault {
    /// The problem of an API's answer.
    pub(crate) fn rejected(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let problem: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let errors = problem.get("errors").and_then(Value::as_array);
        let fields = errors.into_iter().flatten();
        let fields = fields.map(|error| (text(error, "pointer"), text(error, "detail"))).collect();
        Self {
            status,
            code: text(&problem, "code"),
            detail: text(&problem, "detail"),
            fields,
            retry_after: headers.get(header::RETRY_AFTER).cloned(),
            problem,
        }
    }

    /// A fault of this system.
    pub(crate) fn internal() -> Self {
        Self::of(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "")
    }

    /// A page, a product or an order that does not exist.
    pub(crate) fn not_found() -> Self {
        Self::of(StatusCode::NOT_FOUND, "not_found", "This page does not exist.")
    }

    pub(crate) fn of(status: StatusCode, code: &str, detail: &str) -> Self {
        Self {
            status,
            code: code.to_owned(),
            detail: detail.to_owned(),
            fields: Vec::new(),
            problem: Value::Null,
            retry_after: None,
        }
    }

    pub(crate) fn is(&self, code: &str) -> bool {
        self.code == code
    }

    /// The sentence about the request, for shoppers: those for programs have words of the platform in their place.
    pub(crate) fn said(&self, words: &'static Words) -> &str {
        match self.code.as_str() {
            "rate_limited" | "too_many_attempts" => words.too_often,
            "version_conflict" | "precondition_failed" => words.changed_meanwhile,
            "invalid_state_transition" => words.not_possible,
            "not_found" | "gone" => words.not_there,
            _ => &self.detail,
        }
    }

    /// The sentences about the fields, or else the one about the request.
    pub(crate) fn sentences(&self) -> Vec<&str> {
        if self.fields.is_empty() {
            return vec![self.said(Words::english())];
        }
        self.fields.iter().map(|(_, detail)| detail.as_str()).collect()
    }

    /// What a shopper reads. The details of this system's own faults are for its log.
    fn title(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "This page does not exist",
            StatusCode::TOO_MANY_REQUESTS => "Too many requests at once",
            StatusCode::UNAUTHORIZED => "Please sign in again",
            StatusCode::FORBIDDEN => "This request was not sent from this shop",
            status if status.is_server_error() => "The shop does not answer right now",
            _ => "That did not work",
        }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        let status = StatusCode::from_u16(problem.code.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut headers = problem.headers().iter();
        let retry_after = headers.find(|(name, _)| *name == header::RETRY_AFTER);
        let retry_after = retry_after.map(|(_, value)| value.clone());
        Self { retry_after, ..Self::of(status, problem.code.as_str(), problem.text()) }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let title = self.title();
        let is_said = self.status.is_server_error() || self.is("not_found");
        let sentences = if is_said { Vec::new() } else { self.sentences() };
        let content = html! {
            h1 { (title) }
            @for sentence in sentences { @if !sentence.is_empty() && sentence != title { p { (sentence) } } }
            p { a href="/" { "Go to the start page" } }
        };
        let page = Plain { title, content }.render();
        let mut response = (self.status, Html(page.into_string())).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let over = HeaderValue::from_static(SIGNED_OUT);
            response.headers_mut().append(header::SET_COOKIE, over);
        }
        if let Some(after) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, after);
        }
        crate::document::with_headers(response)
    }
}
