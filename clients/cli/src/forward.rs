//! Forwarding an event to a receiver as the platform would: the same headers, signed with a secret of the profile
//! (docs/conventions.md §10).

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde_json::Value;
use sha2::Sha256;
use tokio::time::Instant;
use url::Url;

use crate::failure::Failure;
use crate::fields;
use crate::request::{backoff, http_client, root_cause};
use crate::secret::{Secret, random_hex};

const PREFIX: &str = "whsec_";
/// How often an event is sent that the receiver does not accept.
const TRIES: u32 = 4;
/// Longer than a delivery may take: somebody may be in a debugger.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A new signing secret: 32 random bytes.
pub fn new_secret() -> Result<Secret, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|cause| Failure::Local(cause.to_string()))?;
    Ok(Secret::from(format!("{PREFIX}{}", BASE64_STANDARD.encode(bytes))))
}

/// The key in a signing secret.
fn key_of(secret: &str) -> Result<Vec<u8>, Failure> {
    let encoded = secret.strip_prefix(PREFIX);
    let key = encoded.and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
    key.ok_or_else(|| Failure::Local("The signing secret is not whsec_ and base64".into()))
}

/// Base64 of the HMAC-SHA256 over these parts.
fn sign(key: &[u8], parts: &[&[u8]]) -> Result<String, Failure> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key)
        .map_err(|_| Failure::Local("The signing secret has no key".into()))?;
    for part in parts {
        mac.update(part);
    }
    Ok(BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

/// A receiver on this machine, or near it.
#[derive(Debug)]
pub struct Receiver {
    http: reqwest::Client,
    pub url: Url,
    key: Vec<u8>,
    headers: Vec<(String, String)>,
}

/// How an event was received.
#[derive(Debug)]
pub struct Outcome {
    /// The status of the last answer; none without one.
    pub status: Option<u16>,
    pub error: Option<String>,
    pub millis: u128,
    pub tries: u32,
}

impl Outcome {
    pub fn is_accepted(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// An event, and its body as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Event<'e> {
    /// As the list of events has it.
    pub summary: &'e Value,
    pub body: &'e str,
    pub store: &'e str,
}

impl Event<'_> {
    fn text(&self, name: &str) -> &str {
        self.summary.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

impl Receiver {
    pub fn new(
        to: &str,
        secret: &Secret,
        headers: &[String],
        skip_verify: bool,
    ) -> Result<Self, Failure> {
        let headers: Result<_, _> = headers.iter().map(|text| fields::pair(text, ':')).collect();
        let (url, key) = (address(to)?, key_of(secret.reveal())?);
        Ok(Self { http: http_client(skip_verify)?, url, key, headers: headers? })
    }

    /// Sends an event until it is accepted, a few times.
    pub async fn forward(&self, event: Event<'_>) -> Result<Outcome, Failure> {
        let delivery = format!("dlv_{}", random_hex::<16>());
        let mut tries = 1;
        loop {
            let begun = Instant::now();
            let answer = self.send(event, &delivery, tries).await?;
            let millis = begun.elapsed().as_millis();
            let (status, error) = match answer {
                Ok(status) => (Some(status), None),
                Err(cause) => (None, Some(root_cause(&cause.without_url()))),
            };
            let outcome = Outcome { status, error, millis, tries };
            if outcome.is_accepted() || tries >= TRIES {
                return Ok(outcome);
            }
            tokio::time::sleep(backoff(tries)).await;
            tries = tries.saturating_add(1);
        }
    }

    async fn send(
        &self,
        event: Event<'_>,
        delivery: &str,
        attempt: u32,
    ) -> Result<Result<u16, reqwest::Error>, Failure> {
        let (id, trace) = (event.text("id"), event.text("trace_id"));
        let seconds = Timestamp::now().as_second().to_string();
        let body = event.body.as_bytes();
        let hmac = sign(&self.key, &[seconds.as_bytes(), b".", body])?;
        let standard = sign(&self.key, &[id.as_bytes(), b".", seconds.as_bytes(), b".", body])?;
        let mut request = self.http.post(self.url.clone()).timeout(TIMEOUT);
        let headers = [
            ("Content-Type", "application/json"),
            ("User-Agent", "Service-Webhooks/1"),
            ("X-Service-Timestamp", &seconds),
            ("X-Service-Hmac-SHA256", &hmac),
            ("X-Service-Event-Id", id),
            ("X-Service-Event-Type", event.text("type")),
            ("X-Service-Request-Id", event.text("request_id")),
            ("X-Service-Trace-Id", trace),
            ("X-Service-Delivery-Id", delivery),
            ("X-Service-Attempt", &attempt.to_string()),
            ("X-Service-Store-Id", event.store),
            ("traceparent", &format!("00-{trace}-{}-01", random_hex::<8>())),
            ("webhook-id", id),
            ("webhook-timestamp", &seconds),
            ("webhook-signature", &format!("v1,{standard}")),
        ];
        for (name, value) in headers {
            request = request.header(name, value);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        Ok(request.body(event.body.to_owned()).send().await.map(|answer| answer.status().as_u16()))
    }
}

/// Where to forward to: a URL, `host:port/path`, or a port of this machine.
fn address(text: &str) -> Result<Url, Failure> {
    let full = if text.parse::<u16>().is_ok() {
        format!("http://localhost:{text}/")
    } else if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    let url: Option<Url> = full.parse().ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| Failure::Usage(format!("{text} is no URL, host:port or port")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_documented_vector() {
        let key = key_of("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").expect("a key");
        let body = br#"{"id":"evt_01J0000000000000000000000A","type":"order.created","data":{"id":"ord_1"}}"#;
        let (id, at) = (b"evt_01J0000000000000000000000A", b"1767225600");
        assert_eq!(
            sign(&key, &[at, b".", body]).expect("a signature"),
            "MXnDc4KI5avBlnPTrBz3ux4uaP2VasEgl5G6ptLbyOo="
        );
        assert_eq!(
            sign(&key, &[id, b".", at, b".", body]).expect("a signature"),
            "ELYTmlgVkJ45X9F30cAv/WCwEdFGZ8kBb8n/E+lZE+Y="
        );
    }

    #[test]
    fn a_port_or_a_host_is_an_address() {
        let at = |text| address(text).map(String::from).ok();
        assert_eq!(at("4242").as_deref(), Some("http://localhost:4242/"));
        assert_eq!(at("localhost:4242/hook").as_deref(), Some("http://localhost:4242/hook"));
        assert_eq!(at("https://example.com/hook").as_deref(), Some("https://example.com/hook"));
        assert_eq!(at("ftp://example.com"), None);
    }
}
