//! A request of the API, its answer, and when it is sent again.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::failure::{Failure, Problem};
use crate::secret::random_hex;

/// How long a request may take, answer included.
const TIMEOUT: Duration = Duration::from_mins(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A longer `Retry-After` is not waited for: somebody is waiting here.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    /// The path with its leading slash.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Option<Body>,
    /// The key of a write: each try of it has the same.
    pub key: String,
    /// Whether it is sent without the session, as by anybody.
    pub is_public: bool,
}

/// A body, and its media type.
#[derive(Debug, Clone)]
pub struct Body {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

impl Request {
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            key: random_hex::<16>(),
            is_public: false,
        }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn post(path: impl Into<String>, body: &Value) -> Self {
        Self::new(Method::POST, path).json(body)
    }

    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().into_bytes())
    }

    pub fn body(self, media_type: &'static str, bytes: Vec<u8>) -> Self {
        Self { body: Some(Body { media_type, bytes }), ..self }
    }

    pub fn public(self) -> Self {
        Self { is_public: true, ..self }
    }
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Result<Value, Failure> {
        if self.bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.bytes).map_err(|_| {
            Failure::Unreachable("The answer is no JSON: is --api the address of the API?".into())
        })
    }

    /// The answer, if it is no rejection.
    pub fn accepted(self) -> Result<Self, Failure> {
        if self.status.is_success() {
            return Ok(self);
        }
        let id = self.header("x-request-id");
        let problem = Problem::read(self.status.as_u16(), id, &self.bytes);
        Err(Failure::Rejected(Box::new(problem)))
    }

    /// Whether an earlier sending of the same request is not answered yet.
    pub fn is_running(&self) -> bool {
        self.status == StatusCode::CONFLICT && self.text().contains("\"request_in_progress\"")
    }

    /// How long the answer asks to wait before the same request is sent again; none if it is final.
    pub fn wait(&self, tries: u32) -> Option<Duration> {
        let is_temporary = match self.status.as_u16() {
            429 | 502 | 503 | 504 => true,
            409 => self.is_running(),
            _ => false,
        };
        let asked = self.header("retry-after").and_then(|text| text.trim().parse().ok());
        let wait = asked.map_or_else(|| backoff(tries), Duration::from_secs);
        (is_temporary && wait <= LONGEST_WAIT).then_some(wait)
    }
}

/// A growing delay, of which a part is random so that clients that failed together do not come together.
pub fn backoff(tries: u32) -> Duration {
    let longest = Duration::from_millis(250).saturating_mul(2_u32.saturating_pow(tries.min(7)));
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    let share = u32::from(byte[0]).saturating_add(768);
    longest.saturating_mul(share).checked_div(1024).unwrap_or(longest)
}

/// A client that follows no redirect; of receivers whose certificate nobody knows, if it need not be verified.
pub fn http_client(accepts_any_certificate: bool) -> Result<reqwest::Client, Failure> {
    // A second call finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("commerce-cli/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT)
        .tls_danger_accept_invalid_certs(accepts_any_certificate)
        .build()
        .map_err(|cause| Failure::Local(cause.to_string()))
}

/// The innermost cause, which says most.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn reply(status: u16, retry_after: Option<&str>, body: &str) -> Reply {
        let mut headers = HeaderMap::new();
        if let Some(text) = retry_after {
            headers.insert("retry-after", HeaderValue::from_str(text).expect("a header"));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        Reply { status, headers, bytes: body.as_bytes().to_vec() }
    }

    #[test]
    fn an_answer_is_waited_for_as_long_as_it_says() {
        assert_eq!(reply(429, Some("3"), "").wait(1), Some(Duration::from_secs(3)));
        assert_eq!(reply(503, Some("61"), "").wait(1), None);
        assert_eq!(reply(500, Some("1"), "").wait(1), None);
        assert_eq!(reply(409, Some("1"), "{\"code\":\"version_conflict\"}").wait(1), None);
        let running = reply(409, Some("1"), "{\"code\":\"request_in_progress\"}");
        assert_eq!(running.wait(1), Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_delay_grows_and_ends_at_half_a_minute() {
        assert!(backoff(1) <= Duration::from_millis(500));
        assert!(backoff(30) <= Duration::from_secs(32));
        assert!(backoff(7) > Duration::from_secs(23));
    }
}
