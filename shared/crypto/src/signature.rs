//! Webhook signatures: proof for a receiver that a delivery is ours, fresh and unaltered.
//!
//! Two headers say the same thing in two dialects: `X-Service-Hmac-SHA256` covers timestamp and
//! body, and `webhook-signature` is Standard Webhooks 1.0 (standardwebhooks.com), which covers the
//! event id as well, so that receivers can use a ready-made library. Both are HMAC-SHA256
//! (RFC 2104) under the subscription's secret, over the raw bytes that are sent.
//!
//! The timestamp is that of the attempt, not of the event: receivers allow 300 seconds and a retry
//! may come a day later.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;

use crate::seal;

/// The prefix of every secret, by which people and secret scanners recognize it.
const PREFIX: &str = "whsec_";
/// Lengths of a key that Standard Webhooks allows, in bytes.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The secret of one webhook subscription: 24 to 64 bytes, written `whsec_` + base64.
#[derive(Clone)]
pub struct SigningSecret(Vec<u8>);

/// Text that is not `whsec_` followed by the base64 of 24 to 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidSigningSecret;

impl SigningSecret {
    /// A new secret of 32 random bytes.
    pub fn generate() -> Self {
        Self(seal::random_bytes::<32>().to_vec())
    }

    /// The secret as its owner sees it, once, and as it goes into [`seal::SealKey::seal`].
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }
}

impl FromStr for SigningSecret {
    type Err = InvalidSigningSecret;

    fn from_str(text: &str) -> Result<Self, InvalidSigningSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(InvalidSigningSecret)?;
        let key = STANDARD.decode(encoded).map_err(|_| InvalidSigningSecret)?;
        if KEY_BYTES.contains(&key.len()) { Ok(Self(key)) } else { Err(InvalidSigningSecret) }
    }
}

/// The value of `X-Service-Hmac-SHA256`: base64 of the HMAC over `timestamp.body`.
pub fn service_hmac(secret: &SigningSecret, timestamp_seconds: i64, body: &[u8]) -> String {
    let timestamp = timestamp_seconds.to_string();
    STANDARD.encode(seal::hmac_sha256(&secret.0, &[timestamp.as_bytes(), b".", body]))
}

/// One entry of `webhook-signature`: `v1,` and base64 of the HMAC over `id.timestamp.body`.
///
/// While a secret is rotated the header carries two entries, the new secret's first, joined by a
/// space.
pub fn standard_signature(
    secret: &SigningSecret,
    id: &str,
    timestamp_seconds: i64,
    body: &[u8],
) -> String {
    let timestamp = timestamp_seconds.to_string();
    let parts = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
    format!("v1,{}", STANDARD.encode(seal::hmac_sha256(&secret.0, &parts)))
}

/// Compares two byte strings in time that depends on their lengths alone.
///
/// For signatures that a provider sends us; with `==` an attacker could guess them byte by byte.
pub fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// HMAC-SHA256 over the concatenation of `parts` in lower-case hex: how payment providers sign.
pub fn hmac_sha256_hex(key: &[u8], parts: &[&[u8]]) -> String {
    seal::hex(&seal::hmac_sha256(key, parts))
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(whsec_[redacted])")
    }
}

impl fmt::Display for InvalidSigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a signing secret is `whsec_` and the base64 of 24 to 64 bytes")
    }
}

impl std::error::Error for InvalidSigningSecret {}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const ID: &str = "evt_01J0000000000000000000000A";
    const TIMESTAMP: i64 = 1_767_225_600;
    const BODY: &[u8] =
        br#"{"id":"evt_01J0000000000000000000000A","type":"order.created","data":{"id":"ord_1"}}"#;

    #[test]
    fn both_signatures_equal_the_published_vectors() {
        let secret: SigningSecret = SECRET.parse().unwrap();
        assert_eq!(
            service_hmac(&secret, TIMESTAMP, BODY),
            "MXnDc4KI5avBlnPTrBz3ux4uaP2VasEgl5G6ptLbyOo="
        );
        assert_eq!(
            standard_signature(&secret, ID, TIMESTAMP, BODY),
            "v1,ELYTmlgVkJ45X9F30cAv/WCwEdFGZ8kBb8n/E+lZE+Y="
        );
    }

    #[test]
    fn the_standard_signature_equals_the_one_in_the_standards_own_test() {
        let secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".parse().unwrap();
        let body = br#"{"email":"test@example.com","username":"test_user"}"#;
        assert_eq!(
            standard_signature(&secret, "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, body),
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
        );
    }

    #[test]
    fn the_reference_library_computes_the_same_signature() {
        for _ in 0..50 {
            let secret = SigningSecret::generate();
            let theirs = standardwebhooks::Webhook::new(&secret.reveal()).unwrap();
            assert_eq!(
                standard_signature(&secret, ID, TIMESTAMP, BODY),
                theirs.sign(ID, TIMESTAMP, BODY).unwrap()
            );
        }
    }

    #[test]
    fn every_part_of_a_delivery_is_covered() {
        let secret: SigningSecret = SECRET.parse().unwrap();
        let other = SigningSecret::generate();
        let service = service_hmac(&secret, TIMESTAMP, BODY);
        let standard = standard_signature(&secret, ID, TIMESTAMP, BODY);
        assert_ne!(service, service_hmac(&other, TIMESTAMP, BODY));
        assert_ne!(service, service_hmac(&secret, TIMESTAMP + 1, BODY));
        assert_ne!(service, service_hmac(&secret, TIMESTAMP, b"{}"));
        assert_ne!(standard, standard_signature(&other, ID, TIMESTAMP, BODY));
        assert_ne!(standard, standard_signature(&secret, "evt_2", TIMESTAMP, BODY));
        assert_ne!(standard, standard_signature(&secret, ID, TIMESTAMP + 1, BODY));
        assert_ne!(standard, standard_signature(&secret, ID, TIMESTAMP, b"{}"));
    }

    #[test]
    fn a_body_need_not_be_text() {
        let secret: SigningSecret = SECRET.parse().unwrap();
        assert_ne!(service_hmac(&secret, 0, &[0xff]), service_hmac(&secret, 0, &[0xfe]));
    }

    #[test]
    fn a_secret_is_read_as_it_is_written_and_nothing_else_is_read() {
        assert_eq!(SECRET.parse::<SigningSecret>().unwrap().reveal(), SECRET);
        for length in [24, 32, 64] {
            assert!(
                format!("whsec_{}", STANDARD.encode(vec![7; length]))
                    .parse::<SigningSecret>()
                    .is_ok()
            );
        }
        let bare = SECRET.strip_prefix(PREFIX).unwrap();
        let odd = [
            String::new(),
            PREFIX.to_owned(),
            bare.to_owned(),
            format!("WHSEC_{bare}"),
            format!(" {SECRET}"),
            format!("{SECRET}\n"),
            SECRET.trim_end_matches('=').to_owned(),
            SECRET.replace("Hh8=", "Hh9="), // other bits behind the last byte
            format!("whsec_{}", STANDARD.encode([7; 23])),
            format!("whsec_{}", STANDARD.encode([7; 65])),
        ];
        for text in odd {
            assert_eq!(
                text.parse::<SigningSecret>().unwrap_err(),
                InvalidSigningSecret,
                "{text:?}"
            );
        }
    }

    #[test]
    fn equality_is_exact() {
        assert!(constant_time_eq(b"", b""));
        assert!(constant_time_eq(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abd", b"abcd"] {
            assert!(!constant_time_eq(b"abc", other));
        }
    }

    #[test]
    fn a_secret_does_not_show_in_debug_output() {
        let secret: SigningSecret = SECRET.parse().unwrap();
        assert_eq!(format!("{secret:?}"), "SigningSecret(whsec_[redacted])");
    }
}
