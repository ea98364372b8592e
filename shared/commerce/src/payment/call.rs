//! One call to a provider's API: its deadline, its errors, its JSON.

use bytes::Bytes;
use gateway::app::App;
use gateway::egress::{Destination, Outgoing, SendError};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::Value;

use super::provider::Failure;

/// The largest answer that is read.
const MAX_ANSWER: usize = 512 * 1024;

/// A call under construction.
#[derive(Debug)]
pub(super) struct Call {
    method: Method,
    url: String,
    headers: Vec<(HeaderName, String)>,
    body: Vec<u8>,
}

impl Call {
    /// `GET`.
    pub(super) fn get(url: String) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: Vec::new() }
    }

    /// `POST` of JSON.
    pub(super) fn json(url: String, body: &Value) -> Self {
        let body = body.to_string().into_bytes();
        let call = Self { method: Method::POST, body, ..Self::get(url) };
        call.header(header::CONTENT_TYPE, "application/json")
    }

    /// `POST` of a form.
    pub(super) fn form(url: String, fields: &[(&str, &str)]) -> Self {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        let body = form.finish().into_bytes();
        let call = Self { method: Method::POST, body, ..Self::get(url) };
        call.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
    }

    /// Adds a header.
    pub(super) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Makes the call, once.
    pub(super) async fn send(self, app: &App) -> Result<Value, Failure> {
        let broken = |cause: &dyn std::fmt::Display| Failure::Broken(cause.to_string());
        let destination = Destination::parse(&self.url, app.egress.policy());
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            let mut value = HeaderValue::try_from(value).map_err(|cause| broken(&cause))?;
            value.set_sensitive(name == header::AUTHORIZATION);
            headers.insert(name, value);
        }
        let sent = app
            .egress
            .send(Outgoing {
                method: self.method,
                destination: destination.map_err(|refusal| broken(&refusal))?,
                headers,
                body: Bytes::from(self.body),
                deadline: app.config.payment_base_urls.deadline,
                max_body: MAX_ANSWER,
            })
            .await;
        let answer = match sent {
            Ok(answer) => answer,
            Err(SendError::Timeout) => return Err(Failure::Timeout),
            Err(error) => return Err(broken(&error)),
        };
        let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
        match answer.status {
            200..=299 => body.ok_or_else(|| broken(&"the answer is not JSON")),
            401 | 403 => Err(Failure::Unauthorized),
            400..=499 => Err(Failure::Refused(code_of(body.as_ref(), answer.status))),
            status => Err(broken(&format_args!("status {status}"))),
        }
    }
}

/// The provider's code of an error: what both of them put at `error.code`, or else its type. Only
/// a word goes on, never a sentence.
fn code_of(body: Option<&Value>, status: u16) -> String {
    let error = body.and_then(|body| body.get("error"));
    let text = |name| error.and_then(|error| error.get(name)?.as_str());
    let code = ["reason", "decline_code", "code", "type"]
        .iter()
        .find_map(|name| text(name).filter(|code| *code != "NA"));
    let is_word = |code: &&str| {
        (1..=64).contains(&code.len())
            && code.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    };
    code.filter(is_word).map_or_else(|| format!("status_{status}"), str::to_owned)
}

/// The text at a JSON pointer.
pub(super) fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}
