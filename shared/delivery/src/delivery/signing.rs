//! The headers of an attempt, with its signatures (docs/conventions.md §10).

use std::collections::BTreeMap;

use core_types::event::Event;
use crypto::seal;
use primitives::clock::Timestamp;

use super::Delivery;
use crate::subscription::SigningKeys;

/// The prefix of the service's own headers.
pub const HEADER_PREFIX: &str = "X-Service-";

/// All headers of an attempt, in the order of sending. The connection adds `Host` and `Content-Length`.
pub fn headers(
    event: &Event,
    delivery: &Delivery,
    keys: &SigningKeys,
    custom: &BTreeMap<String, String>,
    now: Timestamp,
) -> Vec<(String, String)> {
    let seconds = now.seconds();
    let (hmac, signature) = keys.sign(event.id.as_str(), seconds, event.body.as_bytes());
    let ours = |name: &str, value: &str| (format!("{HEADER_PREFIX}{name}"), value.to_owned());
    let plain = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut all: Vec<_> = custom.iter().map(|(name, value)| plain(name, value)).collect();
    all.extend([
        plain("Content-Type", "application/json"),
        plain("User-Agent", "Service-Webhooks/1"),
        ours("Timestamp", &seconds.to_string()),
        ours("Hmac-SHA256", &hmac),
        ours("Event-Id", event.id.as_str()),
        ours("Event-Type", &event.name),
        ours("Request-Id", &event.request_id),
        ours("Trace-Id", &event.trace_id),
        ours("Delivery-Id", delivery.id.as_str()),
        ours("Attempt", &delivery.attempt.to_string()),
    ]);
    all.extend(event.store_id.iter().map(|store| ours("Store-Id", store.as_str())));
    all.extend(delivery.replay_id.iter().map(|replay| ours("Replay-Id", replay.as_str())));
    if delivery.test {
        all.push(ours("Test", "true"));
    }
    all.extend([
        plain("traceparent", &traceparent(event, delivery)),
        plain("webhook-id", event.id.as_str()),
        plain("webhook-timestamp", &seconds.to_string()),
        plain("webhook-signature", &signature),
    ]);
    all
}

/// The `traceparent` of an attempt: it continues the trace of the request that caused the event, with a
/// span for each attempt.
fn traceparent(event: &Event, delivery: &Delivery) -> String {
    let span = seal::digest(&format!("{}#{}", delivery.id, delivery.attempt));
    let span: String = span.chars().take(16).collect();
    format!("00-{}-{span}-01", event.trace_id)
}
