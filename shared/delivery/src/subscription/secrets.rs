//! A subscription's secrets: how they are sealed, stored and opened, and how they sign.

use std::collections::BTreeMap;

use core_types::id::SubscriptionId;
use crypto::seal::SealKey;
use crypto::signature::{SigningSecret, service_hmac, standard_signature};
use primitives::clock::Timestamp;

use super::Subscription;

/// The secrets that sign now.
#[derive(Debug, Clone)]
pub struct SigningKeys {
    /// The newest.
    pub current: SigningSecret,
    /// The one before, during its grace period.
    pub previous: Option<SigningSecret>,
}

impl SigningKeys {
    /// The signatures of an attempt: `X-Service-Hmac-SHA256` and `webhook-signature`.
    ///
    /// During a rotation `webhook-signature` carries both signatures, the new secret's first.
    /// `X-Service-Hmac-SHA256` stays on the old secret, so that a receiver that compares for equality never
    /// breaks.
    pub fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> (String, String) {
        let oldest = self.previous.as_ref().unwrap_or(&self.current);
        let entries: Vec<String> = std::iter::once(&self.current)
            .chain(&self.previous)
            .map(|secret| standard_signature(secret, id, seconds, body))
            .collect();
        (service_hmac(oldest, seconds, body), entries.join(" "))
    }
}

impl Subscription {
    /// The secrets that sign now; none when they cannot be opened, as after the loss of a data key.
    pub fn signing_keys(&self, key: &SealKey, now: Timestamp) -> Option<SigningKeys> {
        let open = |sealed: &str| open_secret(key, &self.id, sealed);
        let previous = match self.live_rotation(now) {
            None => None,
            Some(rotation) => Some(open(&rotation.sealed_secret)?),
        };
        Some(SigningKeys { current: open(&self.sealed_secret)?, previous })
    }

    /// The subscription with these custom headers, sealed.
    #[must_use]
    pub fn with_headers(mut self, key: &SealKey, headers: &BTreeMap<String, String>) -> Self {
        self.header_names = headers.keys().cloned().collect();
        self.sealed_headers = (!headers.is_empty()).then(|| {
            let text = serde_json::to_string(headers).unwrap_or_default();
            key.seal(text.as_bytes(), headers_context(&self.id).as_bytes())
        });
        self
    }

    /// The custom headers; none when they cannot be opened.
    pub fn custom_headers(&self, key: &SealKey) -> Option<BTreeMap<String, String>> {
        let Some(sealed) = &self.sealed_headers else { return Some(BTreeMap::new()) };
        let text = key.open(sealed, headers_context(&self.id).as_bytes()).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

fn headers_context(id: &SubscriptionId) -> String {
    format!("{id}/headers")
}

/// A secret as it is stored: sealed under the subscription's id, so that it opens nowhere else.
pub fn seal_secret(key: &SealKey, id: &SubscriptionId, secret: &SigningSecret) -> String {
    key.seal(secret.reveal().as_bytes(), id.as_str().as_bytes())
}

fn open_secret(key: &SealKey, id: &SubscriptionId, sealed: &str) -> Option<SigningSecret> {
    let bytes = key.open(sealed, id.as_str().as_bytes()).ok()?;
    std::str::from_utf8(&bytes).ok()?.parse().ok()
}

/// The last six characters of a secret, after `whsec_…`.
pub fn hint(secret: &SigningSecret) -> String {
    let text = secret.reveal();
    let tail: String = text.chars().skip(text.chars().count().saturating_sub(6)).collect();
    format!("whsec_…{tail}")
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
        let found = keys.sign(ID, 1_767_225_600, BODY);
        assert_eq!(found, (HMAC.to_owned(), SIGNATURE.to_owned()));
    }

    #[test]
    fn a_rotation_sends_both_signatures_and_the_old_hmac() {
        let new = crypto::signature::SigningSecret::generate();
        let keys = SigningKeys { current: new.clone(), previous: SECRET.parse().ok() };
        let (hmac, signature) = keys.sign(ID, 1_767_225_600, BODY);
        let newest = standard_signature(&new, ID, 1_767_225_600, BODY);
        assert_eq!((hmac.as_str(), signature), (HMAC, format!("{newest} {SIGNATURE}")));
    }
}
