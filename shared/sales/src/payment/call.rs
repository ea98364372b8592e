//! A call of a provider's API, with its deadline, errors and JSON.

use bytes::Bytes;
use egress::{Destination, Outgoing, SendError};
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::Value;
use services::Services;

use super::provider::ProviderFailure;

/// The largest response body that is read, in bytes.
const MAX_RESPONSE: usize = 512 * 1024;

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

    /// `PATCH` of JSON.
    pub(super) fn patch(url: String, body: &Value) -> Self {
        Self { method: Method::PATCH, ..Self::json(url, body) }
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
    pub(super) async fn send(self, services: &Services) -> Result<Value, ProviderFailure> {
        let broken = |cause: &dyn std::fmt::Display| ProviderFailure::Broken(cause.to_string());
        let destination = Destination::parse(&self.url, services.egress.policy());
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            let mut value = HeaderValue::try_from(value).map_err(|cause| broken(&cause))?;
            value.set_sensitive(name == header::AUTHORIZATION);
            headers.insert(name, value);
        }
        let sent = services
            .egress
            .send(Outgoing {
                method: self.method,
                destination: destination.map_err(|rejection| broken(&rejection))?,
                headers,
                body: Bytes::from(self.body),
                deadline: services.config.payment_base_urls.deadline,
                max_body: MAX_RESPONSE,
            })
            .await;
        let response = match sent {
            Ok(response) => response,
            Err(SendError::Timeout) => return Err(ProviderFailure::Timeout),
            Err(error) => return Err(broken(&error)),
        };
        let body: Option<Value> = serde_json::from_slice(&response.body).ok();
        match response.status {
            200..=299 => body.ok_or_else(|| broken(&"the answer is not JSON")),
            status => Err(failure(status, body.as_ref())),
        }
    }
}

/// Maps an error response to a failure. Only a rejection of the request itself is final; a provider that is
/// busy with it, or with others, may still execute it.
fn failure(status: u16, body: Option<&Value>) -> ProviderFailure {
    let code = code_of(body, status);
    let kind = body.and_then(|body| text(body, "/error/type"));
    let is_busy = matches!(code.as_str(), "idempotency_key_in_use" | "lock_timeout" | "rate_limit");
    match status {
        408 | 409 | 425 | 429 => ProviderFailure::Busy,
        _ if is_busy => ProviderFailure::Busy,
        401 | 403 => ProviderFailure::Unauthorized,
        // Our idempotency key with other parameters: the result of the first request is unknown here.
        _ if kind.as_deref() == Some("idempotency_error") => ProviderFailure::Broken(code),
        400 | 402 | 404 | 422 => ProviderFailure::Rejected(code),
        _ => ProviderFailure::Broken(format!("status {status}")),
    }
}

/// The provider's error code: the first of `reason`, `decline_code`, `code` and `type` in `error`. Only a
/// code is passed on, never a sentence.
fn code_of(body: Option<&Value>, status: u16) -> String {
    let error = body.and_then(|body| body.get("error"));
    let text = |name| error.and_then(|error| error.get(name)?.as_str());
    let code = ["reason", "decline_code", "code", "type"]
        .iter()
        .find_map(|name| text(name).filter(|code| *code != "NA"));
    let is_code = |code: &&str| {
        (1..=64).contains(&code.len())
            && code.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
    };
    code.filter(is_code).map_or_else(|| format!("status_{status}"), str::to_owned)
}

/// The text at a JSON pointer.
pub(super) fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_rejection_of_the_request_itself_is_final() {
        let of = |status, kind: &str, code: &str| {
            failure(status, Some(&json!({"error": {"type": kind, "code": code}})))
        };
        for status in [400, 402, 404, 422] {
            assert_eq!(
                of(status, "card_error", "no"),
                ProviderFailure::Rejected("no".into()),
                "{status}"
            );
        }
        for status in [408, 409, 425, 429] {
            assert_eq!(of(status, "api_error", "no"), ProviderFailure::Busy, "{status}");
        }
        assert_eq!(of(400, "invalid_request_error", "lock_timeout"), ProviderFailure::Busy);
        for status in [401, 403] {
            assert_eq!(failure(status, None), ProviderFailure::Unauthorized, "{status}");
        }
        for status in [405, 410, 418, 500, 503] {
            assert!(!failure(status, None).is_final(), "{status}");
        }
        assert!(!of(400, "idempotency_error", "no").is_final(), "the key had other words");
    }
}
