//! A subscription's secrets: how they are sealed, stored and opened.

use std::collections::BTreeMap;

use core_types::id::SubscriptionId;
use crypto::seal::SealKey;
use crypto::signature::SigningSecret;
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
