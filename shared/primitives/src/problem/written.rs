//! Serialization of problems: RFC 9457, or RFC 6749 §5.2 at the OAuth endpoints ([`OAuthError`]).

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use super::{Code, Problem, TYPE_BASE};
use crate::context::Context;

/// The points of the current request, for the `cost` member of its 429 (docs/conventions.md §5).
#[derive(Debug, Clone, Copy)]
pub struct RateLimitCost {
    /// Points that the request costs.
    pub requested: u32,
    /// Points left in the bucket.
    pub available: u32,
    /// Points that the bucket restores in a second.
    pub restore_rate: u32,
    /// Points that the bucket can hold.
    pub maximum: u32,
}

impl RateLimitCost {
    fn as_json(self) -> Value {
        json!({
            "requested": self.requested,
            "available": self.available,
            "restore_rate": self.restore_rate,
            "maximum": self.maximum,
        })
    }
}

impl Problem {
    /// Completes a 429 with `Retry-After` and the `cost` of the request, whoever rejected it.
    fn completed(self, context: Option<&Context>) -> Self {
        if self.code.status() != 429 {
            return self;
        }
        let says_when = self.headers.iter().any(|(name, _)| *name == header::RETRY_AFTER);
        let problem = if says_when { self } else { self.header(header::RETRY_AFTER, "1") };
        match context.and_then(Context::get::<RateLimitCost>) {
            Some(cost) => problem.with("cost", cost.as_json()),
            None => problem,
        }
    }

    /// The status at an OAuth endpoint: a request that cannot be understood is 400 there.
    fn oauth_status(&self) -> u16 {
        match self.code.status() {
            413 | 415 | 422 => 400,
            status => status,
        }
    }

    /// `error` and `error_description` (RFC 6749 §4.1.2.1 and §5.2). Codes of the RFCs are used unchanged.
    pub fn oauth(&self) -> (&'static str, String) {
        let bad_scope = self.errors.iter().any(|error| error.violation.code == "invalid_scope");
        let error = match self.code {
            _ if bad_scope => "invalid_scope",
            code if matches!(code.status(), 413 | 415 | 422) => "invalid_request",
            Code::InvalidJson | Code::InvalidForm => "invalid_request",
            Code::Unauthenticated => "invalid_token",
            Code::RateLimited | Code::Unavailable => "temporarily_unavailable",
            Code::Internal => "server_error",
            code => code.as_str(),
        };
        let named: Vec<String> = self
            .errors
            .iter()
            .map(|error| {
                format!("{}: {}", error.pointer.trim_start_matches('/'), error.violation.detail)
            })
            .collect();
        let mut text = if named.is_empty() { self.text().to_owned() } else { named.join(" ") };
        if self.errors.more() > 0 {
            text = format!("{text} And {} more.", self.errors.more());
        }
        // Both sections allow %x20-21 / %x23-5B / %x5D-7E in a description.
        let text: String = text
            .chars()
            .map(|c| match c {
                '"' | '\\' | '`' => '\'',
                ' '..='~' => c,
                _ => '?',
            })
            .collect();
        (error, text)
    }

    /// The body of an error response (RFC 6749 §5.2).
    fn oauth_body(&self) -> Value {
        let (error, text) = self.oauth();
        // Of a 429; clients ignore members that they do not know (RFC 6749 §5.2).
        match self.extras.get("cost") {
            Some(cost) => json!({"error": error, "error_description": text, "cost": cost}),
            None => json!({"error": error, "error_description": text}),
        }
    }

    /// The JSON document of the problem (RFC 9457 §3).
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("type".into(), format!("{TYPE_BASE}{}", self.code.as_str()).into());
        body.insert("title".into(), self.code.title().into());
        body.insert("status".into(), self.code.status().into());
        body.insert("detail".into(), self.text().into());
        body.insert("code".into(), self.code.as_str().into());
        if let Some(context) = Context::current() {
            body.insert("instance".into(), context.path().into());
            body.insert("request_id".into(), context.request_id().into());
        }
        if !self.errors.is_empty() {
            let errors = self.errors.iter().map(|error| {
                json!({"pointer": error.pointer, "code": error.violation.code, "detail": error.violation.detail})
            });
            body.insert("errors".into(), errors.collect());
            if self.errors.more() > 0 {
                body.insert("more".into(), self.errors.more().into());
            }
        }
        body.extend(self.extras.clone());
        Value::Object(body)
    }

    fn respond(self, oauth: bool) -> Response {
        let (status, content_type, body) = if oauth {
            (self.oauth_status(), "application/json", self.oauth_body())
        } else {
            (self.code.status(), "application/problem+json", self.body())
        };
        let status = StatusCode::from_u16(status).unwrap_or_default();
        let mut response = (status, axum::body::Body::from(body.to_string())).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // The code decides whether an idempotency record stores the answer.
        response.extensions_mut().insert(self.code);
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// Logs the cause, and serializes the public half.
    fn write(self, oauth: bool) -> Response {
        self.log();
        let context = Context::current();
        self.completed(context.as_deref()).respond(oauth)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.write(false)
    }
}

/// A problem in the form of the OAuth endpoints: `{error, error_description}` (RFC 6749 §5.2).
#[derive(Debug)]
pub struct OAuthError(Problem);

impl<P: Into<Problem>> From<P> for OAuthError {
    fn from(problem: P) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        self.0.write(true)
    }
}
