//! Why a page cannot be shown, and the plain page that says so.

mod page;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use primitives::problem::Problem;
use serde_json::{Value, json};

use crate::values::{list, text};
use crate::words::Words;

pub(crate) use page::{ShopLanguage, with_page};

/// Ends a session that is over, so that the next request is a guest's.
pub(crate) const SIGNED_OUT: &str = "shop_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax";

/// A rejection of the API, or of the shop itself.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    /// The problem's code.
    pub(crate) code: String,
    /// A sentence for shoppers; empty if the code says it all.
    pub(crate) detail: String,
    /// The fields at fault: a JSON Pointer and a sentence.
    pub(crate) fields: Vec<(String, String)>,
    /// The whole problem; null for a rejection of the shop itself.
    pub(crate) problem: Value,
    /// `Retry-After`.
    pub(crate) retry_after: Option<HeaderValue>,
}

impl Fault {
    /// The problem of an API's answer.
    pub(crate) fn rejected(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let problem: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: &Value, name: &str| text(value, name).to_owned();
        let errors = list(&problem, "errors").iter();
        let fields = errors.map(|error| (text(error, "pointer"), text(error, "detail"))).collect();
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
        Self::of(StatusCode::NOT_FOUND, "not_found", "")
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

    /// The rejection in the words of a shop.
    pub(crate) fn in_words(mut self, words: &Words) -> Self {
        self.detail = self.said(words).to_owned();
        let errors = list(&self.problem, "errors");
        for ((pointer, detail), error) in self.fields.iter_mut().zip(errors) {
            // The API's own sentence, also where this was done before.
            *detail = words.of_field((pointer, text(error, "code")), text(error, "detail"));
        }
        self
    }

    /// The sentence about the request, in the words of a shop. What the shop itself says is in them already.
    pub(crate) fn said(&self, words: &Words) -> &str {
        let is_own = self.problem.is_null() && !self.detail.is_empty();
        if is_own { &self.detail } else { words.of_request(&self.code, &self.detail) }
    }

    /// A page about it, with the time after which another attempt is accepted.
    pub(crate) fn with_retry(&self, mut response: Response) -> Response {
        if let Some(after) = &self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, after.clone());
        }
        response
    }

    /// The sentences about the fields, or else the one about the request.
    pub(crate) fn sentences(&self) -> Vec<&str> {
        if self.fields.is_empty() {
            return vec![&self.detail];
        }
        self.fields.iter().map(|(_, detail)| detail.as_str()).collect()
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        let status = StatusCode::from_u16(problem.code.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut headers = problem.headers().iter();
        let retry_after = headers.find(|(name, _)| *name == header::RETRY_AFTER);
        let retry_after = retry_after.map(|(_, value)| value.clone());
        let code = problem.code.as_str();
        let detail = problem.text();
        Self { retry_after, problem: json!({ "code": code }), ..Self::of(status, code, detail) }
    }
}

impl IntoResponse for Fault {
    /// The response without its page, which [`with_page`] gives it.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let over = HeaderValue::from_static(SIGNED_OUT);
            response.headers_mut().append(header::SET_COOKIE, over);
        }
        response = self.with_retry(response);
        response.extensions_mut().insert(self);
        crate::document::with_headers(response)
    }
}
