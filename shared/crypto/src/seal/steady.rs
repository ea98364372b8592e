//! Sealing that is the same each time: deterministic authenticated encryption.
//!
//! A cursor is part of an answer, and an answer whose `ETag` is a digest of it must be the same
//! bytes as long as the page is the same page. AES-256-GCM-SIV (RFC 8452) makes its counter out of
//! the text itself, so that a nonce which never changes reveals only that two sealed texts
//! are equal (RFC 8452 §1), which for cursors is the point.

use std::fmt;

use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Key, Nonce};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{KEY_BYTES, SealKey, Unsealable, hmac_sha256};

/// First byte of a sealed text; [`super::SealKey`] has another one.
const VERSION: u8 = 2;
/// The nonce of every text.
const NONCE: [u8; 12] = [0; 12];

/// A 256-bit key that seals the same text, for the same context, to the same bytes.
#[derive(Clone)]
pub struct SteadyKey([u8; KEY_BYTES]);

impl SteadyKey {
    /// The key for one purpose under a key that has others: HKDF-Expand of one block (RFC 5869
    /// §2.3).
    pub fn derive(from: &SealKey, purpose: &str) -> Self {
        Self(hmac_sha256(&from.0, &[purpose.as_bytes(), &[1]]))
    }

    /// Encrypts `plaintext` for `context`: base64url of version ‖ ciphertext ‖ tag.
    pub fn seal(&self, plaintext: &[u8], context: &[u8]) -> String {
        let payload = Payload { msg: plaintext, aad: context };
        let Ok(ciphertext) = self.cipher().encrypt(&Nonce::from(NONCE), payload) else {
            unreachable!("AES-GCM-SIV rejects only more than 64 GiB (RFC 8452 §6)");
        };
        URL_SAFE_NO_PAD.encode([&[VERSION][..], &ciphertext[..]].concat())
    }

    /// Decrypts what [`SteadyKey::seal`] made with this key and the same `context`.
    pub fn open(&self, sealed: &str, context: &[u8]) -> Result<Vec<u8>, Unsealable> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| Unsealable)?;
        let Some((&VERSION, ciphertext)) = bytes.split_first() else {
            return Err(Unsealable);
        };
        let payload = Payload { msg: ciphertext, aad: context };
        self.cipher().decrypt(&Nonce::from(NONCE), payload).map_err(|_| Unsealable)
    }

    fn cipher(&self) -> Aes256GcmSiv {
        Aes256GcmSiv::new(&Key::<Aes256GcmSiv>::from(self.0))
    }
}

impl fmt::Debug for SteadyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SteadyKey([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SteadyKey {
        SteadyKey::derive(&SealKey([7; KEY_BYTES]), "cursor")
    }

    #[test]
    fn the_same_text_is_the_same_bytes_and_any_other_is_not() {
        let sealed = key().seal(b"place", b"list");
        assert_eq!(sealed, key().seal(b"place", b"list"));
        for (text, context) in [("placf", "list"), ("place", "lisu"), ("", "list"), ("place", "")] {
            assert_ne!(sealed, key().seal(text.as_bytes(), context.as_bytes()));
        }
    }

    #[test]
    fn a_steady_seal_opens_whole_with_the_same_key_and_context_only() {
        let sealed = key().seal(b"place", b"list");
        assert_eq!(key().open(&sealed, b"list").unwrap(), b"place");
        assert_eq!(key().open(&sealed, b"other"), Err(Unsealable));
        for other in [
            SteadyKey::derive(&SealKey([7; KEY_BYTES]), "another purpose"),
            SteadyKey::derive(&SealKey([8; KEY_BYTES]), "cursor"),
        ] {
            assert_eq!(other.open(&sealed, b"list"), Err(Unsealable));
        }
        let bytes = URL_SAFE_NO_PAD.decode(&sealed).unwrap();
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut altered = bytes.clone();
                altered[position] ^= 1 << bit;
                assert!(key().open(&URL_SAFE_NO_PAD.encode(&altered), b"list").is_err());
            }
            let shorter = URL_SAFE_NO_PAD.encode(&bytes[..position]);
            assert!(key().open(&shorter, b"list").is_err());
        }
    }

    #[test]
    fn a_text_sealed_with_a_random_nonce_is_no_steady_seal() {
        let sealed = SealKey(key().0).seal(b"place", b"list");
        assert_eq!(key().open(&sealed, b"list"), Err(Unsealable));
    }

    #[test]
    fn a_sealed_text_agrees_with_the_published_vector() {
        // RFC 8452 appendix C.2 has a nonce of its own; the cipher is tried with it.
        let mut bytes = [0; KEY_BYTES];
        bytes[0] = 1;
        let cipher = SteadyKey(bytes).cipher();
        let mut nonce = [0; 12];
        nonce[0] = 3;
        let text = [1, 0, 0, 0, 0, 0, 0, 0];
        let sealed = cipher.encrypt(&Nonce::from(nonce), &text[..]).unwrap();
        assert_eq!(super::super::hex(&sealed), "c2ef328e5c71c83b843122130f7364b761e0b97427e3df28");
    }

    #[test]
    fn a_key_does_not_show_in_debug_output() {
        assert_eq!(format!("{:?}", key()), "SteadyKey([redacted])");
    }
}
