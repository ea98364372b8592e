//! The headers of an attempt, with its signatures (docs/conventions.md §10).

use std::collections::BTreeMap;

use core_types::event::Event;
use core_types::id::StoreId;
use crypto::seal;
use crypto::signature::{service_hmac, standard_signature};
use primitives::clock::Timestamp;

use super::Delivery;
use crate::subscription::{CHALLENGE, SigningKeys};

/// The prefix of the service's own headers.
pub const HEADER_PREFIX: &str = "X-Service-";

/// The signatures of an attempt: `X-Service-Hmac-SHA256` and `webhook-signature`.
///
/// During a rotation `webhook-signature` carries both signatures, the new secret's first.
/// `X-Service-Hmac-SHA256` stays on the old secret, so that a receiver that compares for equality never
/// breaks.
pub fn signatures(id: &str, seconds: i64, body: &[u8], keys: &SigningKeys) -> (String, String) {
    let oldest = keys.previous.as_ref().unwrap_or(&keys.current);
    let entries: Vec<String> = std::iter::once(&keys.current)
        .chain(&keys.previous)
        .map(|secret| standard_signature(secret, id, seconds, body))
        .collect();
    (service_hmac(oldest, seconds, body), entries.join(" "))
}

/// All headers of an attempt, in the order of sending. The connection adds `Host` and `Content-Length`.
pub fn headers(
    event: &Event,
    delivery: &Delivery,
    keys: &SigningKeys,
    custom: &BTreeMap<String, String>,
    now: Timestamp,
) -> Vec<(String, String)> {
    let seconds = now.seconds();
    let (hmac, signature) = signatures(event.id.as_str(), seconds, event.body.as_bytes(), keys);
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

/// The headers of a challenge: those of an event, without those of a delivery.
pub fn challenge_headers(
    id: &str,
    store: Option<&StoreId>,
    body: &str,
    keys: &SigningKeys,
    now: Timestamp,
) -> Vec<(String, String)> {
    let seconds = now.seconds().to_string();
    let (hmac, signature) = signatures(id, now.seconds(), body.as_bytes(), keys);
    let mut all = vec![
        ("Content-Type", "application/json"),
        ("User-Agent", "Service-Webhooks/1"),
        ("X-Service-Timestamp", &seconds),
        ("X-Service-Hmac-SHA256", &hmac),
        ("X-Service-Event-Id", id),
        ("X-Service-Event-Type", CHALLENGE),
    ];
    all.extend(store.iter().map(|store| ("X-Service-Store-Id", store.as_str())));
    all.extend([
        ("webhook-id", id),
        ("webhook-timestamp", &seconds),
        ("webhook-signature", &signature),
    ]);
    all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The `traceparent` of an attempt: it continues the trace of the request that caused the event, with a
/// span for each attempt.
fn traceparent(event: &Event, delivery: &Delivery) -> String {
    let span = seal::digest(&format!("{}#{}", delivery.id, delivery.attempt));
    let span: String = span.chars().take(16).collect();
    format!("00-{}-{span}-01", event.trace_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const ID: &str = "evt_01J0000000000000000000000A";
    const BODY: &[u8] =
        br#"{"id":"evt_01J0000000000000000000000A","type":"order.created","data":{"id":"ord_1"}}"#;
    const HMAC: &str = "MXnDc4KI5avBlnPTrBz3ux4uaP2VasEgl5G6ptLbyOo=";
    const SIGNATURE: &str = "v1,ELYTmlgVkJ45X9F30cAv/WCwEdFGZ8kBb8n/E+lZE+Y=";

    #[test]
    fn the_signatures_equal_the_published_vector() {
        let keys = SigningKeys { current: SECRET.parse().unwrap(), previous: None };
        let found = signatures(ID, 1_767_225_600, BODY, &keys);
        assert_eq!(found, (HMAC.to_owned(), SIGNATURE.to_owned()));
    }

    #[test]
    fn a_rotation_sends_both_signatures_and_the_old_hmac() {
        let new = crypto::signature::SigningSecret::generate();
        let keys = SigningKeys { current: new.clone(), previous: SECRET.parse().ok() };
        let (hmac, signature) = signatures(ID, 1_767_225_600, BODY, &keys);
        let newest = standard_signature(&new, ID, 1_767_225_600, BODY);
        assert_eq!((hmac.as_str(), signature), (HMAC, format!("{newest} {SIGNATURE}")));
    }
}
