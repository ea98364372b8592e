//! The documents of the secrets. They are generated and rotated where an environment is set up, so that no
//! function needs the permission to write one.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crypto::seal::{MacKey, SealKey};
use crypto::token::{KeyError, KeySet, PublicKeys};

/// The private keys that sign app tokens.
pub const SIGNING_KEYS: &str = "signing-keys";
/// The private keys that sign receipts and reports.
pub const RECEIPT_KEYS: &str = "receipt-keys";
/// The public halves of both, and the key of cursors, stored responses and preview tokens.
pub const SHARED_KEYS: &str = "shared-keys";
/// The key of stored mails.
pub const MAIL_SEALING_KEY: &str = "mail-key";
/// The key of second factors' secrets.
pub const MFA_KEY: &str = "mfa-key";
/// The key of payment providers' credentials.
pub const PROVIDER_CREDENTIALS_KEY: &str = "payment-key";
/// The key of webhook subscriptions' secrets.
pub const WEBHOOK_KEY: &str = "webhook-key";
/// The key of gift-card codes.
pub const GIFT_CARD_KEY: &str = "gift-card-key";
/// The mail server: `{"url": "smtps://user:password@host"}`. It cannot be generated.
pub const MAIL_SERVER: &str = "mail-server";

/// The secrets that can be generated: every one but the mail server's.
pub const GENERATED: [&str; 8] = [
    SIGNING_KEYS,
    RECEIPT_KEYS,
    SHARED_KEYS,
    MAIL_SEALING_KEY,
    MFA_KEY,
    PROVIDER_CREDENTIALS_KEY,
    WEBHOOK_KEY,
    GIFT_CARD_KEY,
];

/// The stored form of the shared keys.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredKeys {
    /// The public half of the signing keys, as a JWK Set, which verifies app tokens.
    jwks: Value,
    /// The public half of the receipt keys, and of all earlier ones: a receipt is verified long after it
    /// was signed.
    receipt_jwks: Value,
    /// Base64 of 32 bytes.
    pub(super) request_key: String,
}

/// The stored form of a key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredKey {
    /// Base64 of 32 bytes.
    pub(super) key: String,
}

/// Every document by its name, with new ones for those that are missing: all of them for a new
/// environment.
///
/// # Errors
/// A document that is known and does not fit.
pub fn complete(mut known: Map<String, Value>) -> Result<Map<String, Value>, KeyError> {
    let mut key_set = |name: &str| {
        if let Some(document) = known.get(name) {
            return KeySet::from_secret(&document.to_string());
        }
        let keys = KeySet::generate();
        known.insert(name.to_owned(), document(&keys)?);
        Ok(keys)
    };
    let (signing, receipts) = (key_set(SIGNING_KEYS)?, key_set(RECEIPT_KEYS)?);
    let shared = known.get(SHARED_KEYS).map(StoredKeys::deserialize).transpose();
    let shared = match shared.map_err(|_| KeyError::Format)? {
        Some(shared) => shared.of(&signing, &receipts),
        None => StoredKeys {
            jwks: signing.jwks(),
            receipt_jwks: receipts.jwks(),
            request_key: SealKey::generate().reveal(),
        },
    };
    shared.token_keys()?;
    known.insert(SHARED_KEYS.to_owned(), json!(shared));
    for name in [MAIL_SEALING_KEY, MFA_KEY, PROVIDER_CREDENTIALS_KEY, WEBHOOK_KEY] {
        let fresh = || json!(StoredKey { key: SealKey::generate().reveal() });
        known.entry(name).or_insert_with(fresh);
    }
    let fresh = || json!(StoredKey { key: MacKey::generate().reveal() });
    known.entry(GIFT_CARD_KEY).or_insert_with(fresh);
    Ok(known)
}

/// The documents after one rotation: next becomes current, current stays verifiable as previous.
///
/// Sealing keys do not change, because sealed values could not be opened again.
///
/// # Errors
/// Without both sets of private keys, or where a document does not fit.
pub fn rotate(mut known: Map<String, Value>) -> Result<Map<String, Value>, KeyError> {
    for name in [SIGNING_KEYS, RECEIPT_KEYS] {
        let before = known.get(name).ok_or(KeyError::Set)?;
        let keys = KeySet::from_secret(&before.to_string())?.rotate();
        known.insert(name.to_owned(), document(&keys)?);
    }
    if !known.contains_key(SHARED_KEYS) {
        return Err(KeyError::Set);
    }
    complete(known)
}

fn document(keys: &KeySet) -> Result<Value, KeyError> {
    serde_json::from_str(&keys.reveal()).map_err(|_| KeyError::Format)
}

impl StoredKeys {
    /// Verifies app tokens.
    ///
    /// # Errors
    /// A key with a private part, one that is none, or one key for both purposes.
    pub(super) fn token_keys(&self) -> Result<PublicKeys, KeyError> {
        PublicKeys::from_jwks(&self.published())?;
        PublicKeys::from_jwks(&self.jwks)
    }

    /// All public keys in one JWK Set (RFC 7517 §5).
    pub(super) fn published(&self) -> Value {
        let keys = members(&self.jwks).chain(members(&self.receipt_jwks));
        json!({"keys": keys.collect::<Vec<_>>()})
    }

    /// The shared keys after a rotation of the private ones.
    fn of(mut self, signing: &KeySet, receipts: &KeySet) -> Self {
        self.jwks = signing.jwks();
        let now = receipts.jwks();
        let retired =
            members(&self.receipt_jwks).filter(|old| members(&now).all(|new| new != *old));
        let all: Vec<&Value> = members(&now).chain(retired).collect();
        self.receipt_jwks = json!({"keys": all});
        self
    }
}

fn members(jwks: &Value) -> impl Iterator<Item = &Value> {
    jwks.get("keys").and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> Map<String, Value> {
        complete(Map::new()).unwrap()
    }

    fn count(documents: &Map<String, Value>, which: &str) -> usize {
        members(&documents[SHARED_KEYS][which]).count()
    }

    #[test]
    fn every_secret_has_a_document_of_its_own() {
        let documents = fresh();
        assert_eq!(documents.len(), GENERATED.len());
        assert!(GENERATED.iter().all(|name| documents.contains_key(*name)));
        let keys: std::collections::BTreeSet<_> =
            [GIFT_CARD_KEY, MAIL_SEALING_KEY, MFA_KEY, PROVIDER_CREDENTIALS_KEY, WEBHOOK_KEY]
                .map(|name| documents[name]["key"].to_string())
                .into();
        assert_eq!(keys.len(), 5, "no two are the same");
    }

    #[test]
    fn a_rotation_changes_signing_keys_and_keeps_sealing_keys() {
        let before = fresh();
        let after = rotate(before.clone()).unwrap();
        for name in [SIGNING_KEYS, RECEIPT_KEYS] {
            assert_eq!(after[name]["previous"], before[name]["current"]);
            assert_eq!(after[name]["current"], before[name]["next"]);
        }
        for name in
            [MAIL_SEALING_KEY, MFA_KEY, PROVIDER_CREDENTIALS_KEY, WEBHOOK_KEY, GIFT_CARD_KEY]
        {
            assert_eq!(after[name], before[name]);
        }
        assert_eq!(after[SHARED_KEYS]["request_key"], before[SHARED_KEYS]["request_key"]);
        let mut without = before.clone();
        without.remove(RECEIPT_KEYS);
        assert_eq!(rotate(without).unwrap_err(), KeyError::Set);
    }

    #[test]
    fn a_receipt_key_is_published_for_ever_and_opens_nothing() {
        let mut documents = fresh();
        assert_eq!((count(&documents, "jwks"), count(&documents, "receipt_jwks")), (2, 2));
        for rotations in 1..=4 {
            documents = rotate(documents).unwrap();
            assert_eq!(count(&documents, "jwks"), 3);
            assert_eq!(count(&documents, "receipt_jwks"), 2 + rotations);
        }
        let shared = StoredKeys::deserialize(&documents[SHARED_KEYS]).unwrap();
        assert_eq!(members(&shared.published()).count(), 9);
        let (tokens, receipts) = (shared.token_keys().unwrap(), &documents[SHARED_KEYS]);
        for key in members(&receipts["receipt_jwks"]) {
            assert!(!tokens.knows(key["kid"].as_str().unwrap()));
        }
    }

    #[test]
    fn one_key_does_not_serve_two_purposes() {
        let mut documents = fresh();
        documents.insert(RECEIPT_KEYS.to_owned(), documents[SIGNING_KEYS].clone());
        assert_eq!(complete(documents).unwrap_err(), KeyError::Set);
    }
}
