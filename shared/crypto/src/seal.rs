//! Secrets at rest and proofs that a text is ours: sealing, tags, digests, random secrets.
//!
//! - [`SealKey`] encrypts what must be read back (payment credentials, webhook secrets) with
//!   AES-256-GCM (NIST SP 800-38D) and a fresh random nonce, bound to a context, so that a sealed
//!   value moved to another row does not open there.
//! - [`SteadyKey`] encrypts what a client carries for us (cursors), the same text to the same bytes.
//! - [`MacKey`] hashes lookup values (gift-card codes): HMAC-SHA256 (RFC 2104).
//! - [`digest`] is how bearer secrets are stored: they hold 256 random bits, so a plain SHA-256 is
//!   enough. Passwords and one-time codes are short and go through [`crate::password`] instead.
//!
//! Random bytes come from the operating system alone. If it has none there is no safe answer, and
//! the request panics (500; the environment lives on, docs/platform.md §3) instead of issuing a
//! secret that can be guessed.

mod steady;

use std::fmt;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use primitives::deflate::{deflate, inflate};
use primitives::problem::Problem;

pub use steady::SteadyKey;

/// Bytes of every key of this module.
const KEY_BYTES: usize = 32;
/// Bytes of a GCM nonce. Random 96-bit nonces allow 2^32 seals per key (SP 800-38D §8.3).
const NONCE_BYTES: usize = 12;
/// First byte of a sealed value, so that a later format can be distinguished from this one.
const VERSION: u8 = 1;
/// The maximum size of a sealed value when it is inflated, in bytes.
const MAX_INFLATED: usize = 1 << 20;

/// A 256-bit key that encrypts and authenticates values at rest.
#[derive(Clone)]
pub struct SealKey([u8; KEY_BYTES]);

/// A 256-bit key for HMAC-SHA256 tags.
///
/// One key may serve several purposes only if each puts its own name in front of the bytes.
#[derive(Clone)]
pub struct MacKey([u8; KEY_BYTES]);

/// Text that is not the base64 of a 32-byte key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidKey;

/// A sealed value that does not open: altered, of another key, of another context, or not ours.
///
/// One error for all, because a reader who learns which of them it was gains an oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsealable;

impl SealKey {
    /// Reads a key from standard base64 with padding, as `openssl rand -base64 32` prints it.
    pub fn from_base64(text: &str) -> Result<Self, InvalidKey> {
        key_bytes(text).map(Self)
    }

    /// A new random key.
    pub fn generate() -> Self {
        Self(random_bytes())
    }

    /// The key as [`SealKey::from_base64`] reads it: for the secret store only.
    pub fn reveal(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// Encrypts `plaintext` for `context` (table key, field, tenant; not secret, not stored here).
    ///
    /// The answer is base64url of what [`SealKey::seal_bytes`] makes.
    pub fn seal(&self, plaintext: &[u8], context: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.seal_bytes(plaintext, context))
    }

    /// Decrypts what [`SealKey::seal`] made with this key and the same `context`.
    pub fn open(&self, sealed: &str, context: &[u8]) -> Result<Vec<u8>, Unsealable> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| Unsealable)?;
        self.open_bytes(&bytes, context)
    }

    /// As [`SealKey::seal`], of the bytes deflated.
    ///
    /// # Errors
    /// 500: more than 4 GiB.
    pub fn seal_deflated(&self, plaintext: &[u8], context: &[u8]) -> Result<String, Problem> {
        Ok(self.seal(&deflate(plaintext)?, context))
    }

    /// Decrypts what [`SealKey::seal_deflated`] made with this key and the same `context`.
    ///
    /// # Errors
    /// 500.
    pub fn open_deflated(&self, sealed: &str, context: &[u8]) -> Result<Vec<u8>, Problem> {
        let deflated = self.open(sealed, context).map_err(Problem::internal)?;
        inflate(&deflated, MAX_INFLATED)
    }

    /// As [`SealKey::seal`], a quarter shorter: version ‖ nonce ‖ ciphertext ‖ tag, which differ at
    /// every call.
    pub fn seal_bytes(&self, plaintext: &[u8], context: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = random_bytes();
        let payload = Payload { msg: plaintext, aad: context };
        let Ok(ciphertext) = self.cipher().encrypt(&Nonce::from(nonce), payload) else {
            unreachable!("AES-GCM rejects only more than 64 GiB");
        };
        [&[VERSION][..], &nonce[..], &ciphertext[..]].concat()
    }

    /// Decrypts what [`SealKey::seal_bytes`] made with this key and the same `context`.
    pub fn open_bytes(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, Unsealable> {
        let Some((&VERSION, rest)) = sealed.split_first() else {
            return Err(Unsealable);
        };
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(Unsealable)?;
        let payload = Payload { msg: ciphertext, aad: context };
        self.cipher().decrypt(&Nonce::from(*nonce), payload).map_err(|_| Unsealable)
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new(&Key::<Aes256Gcm>::from(self.0))
    }
}

impl MacKey {
    /// Reads a key from standard base64 with padding, as `openssl rand -base64 32` prints it.
    pub fn from_base64(text: &str) -> Result<Self, InvalidKey> {
        key_bytes(text).map(Self)
    }

    /// A new random key.
    pub fn generate() -> Self {
        Self(random_bytes())
    }

    /// The key as [`MacKey::from_base64`] reads it: for the secret store only.
    pub fn reveal(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// The key for one purpose under a key that has others: HKDF-Expand of one block (RFC 5869
    /// §2.3).
    pub fn derive(from: &SealKey, purpose: &str) -> Self {
        Self(hmac_sha256(&from.0, &[purpose.as_bytes(), &[1]]))
    }

    /// The HMAC-SHA256 of `bytes`.
    pub fn tag(&self, bytes: &[u8]) -> [u8; 32] {
        hmac_sha256(&self.0, &[bytes])
    }

    /// The tag of `bytes` as a bearer secret: base64url, 43 characters, as [`random_secret`].
    pub fn token(&self, bytes: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(self.tag(bytes))
    }

    /// Whether `tag` is the whole tag of `bytes`, in time that does not depend on its content.
    pub fn verify(&self, bytes: &[u8], tag: &[u8]) -> bool {
        self.tag(bytes).ct_eq(tag).into()
    }
}

/// SHA-256 of `text` in lower-case hex: how bearer secrets are stored and looked up.
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// SHA-256 of `bytes` in lower-case hex.
pub fn digest_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// A new bearer secret: 256 bits from the operating system, base64url, 43 characters.
pub fn random_secret() -> String {
    URL_SAFE_NO_PAD.encode(random_bytes::<32>())
}

/// `N` bytes from the operating system's CSPRNG.
///
/// # Panics
/// If the system has no randomness; see the module's text.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if let Err(error) = getrandom::fill(&mut bytes) {
        panic!("the operating system has no random bytes: {error}");
    }
    bytes
}

/// HMAC-SHA256 over the concatenation of `parts`.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes a key of any length (RFC 2104 §2)");
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Lower-case hex, two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

fn key_bytes(text: &str) -> Result<[u8; KEY_BYTES], InvalidKey> {
    let bytes = STANDARD.decode(text).map_err(|_| InvalidKey)?;
    bytes.try_into().map_err(|_| InvalidKey)
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey([redacted])")
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey([redacted])")
    }
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key is the base64 of 32 bytes")
    }
}

impl fmt::Display for Unsealable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sealed value does not open")
    }
}

impl std::error::Error for InvalidKey {}
impl std::error::Error for Unsealable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_text_opens_with_the_same_key_and_context_only() {
        let key = SealKey::generate();
        for plaintext in [&b""[..], b"x", &[7; 5_000]] {
            let sealed = key.seal(plaintext, b"sto_1/razorpay");
            assert_eq!(key.open(&sealed, b"sto_1/razorpay").unwrap(), plaintext);
            assert_eq!(key.open(&sealed, b"sto_2/razorpay"), Err(Unsealable));
            assert_eq!(SealKey::generate().open(&sealed, b"sto_1/razorpay"), Err(Unsealable));
        }
    }

    #[test]
    fn every_flipped_bit_and_every_missing_byte_is_noticed() {
        let key = SealKey::generate();
        let sealed = URL_SAFE_NO_PAD.decode(key.seal(b"secret", b"c")).unwrap();
        for position in 0..sealed.len() {
            for bit in 0..8 {
                let mut altered = sealed.clone();
                *altered.get_mut(position).unwrap() ^= 1 << bit;
                assert!(key.open(&URL_SAFE_NO_PAD.encode(&altered), b"c").is_err());
            }
            let shorter = URL_SAFE_NO_PAD.encode(sealed.get(..position).unwrap());
            assert!(key.open(&shorter, b"c").is_err());
        }
        for odd in ["", "!", "AQ==", "AQ", "é"] {
            assert_eq!(key.open(odd, b"c"), Err(Unsealable));
        }
    }

    #[test]
    fn a_value_sealed_twice_looks_different() {
        let key = SealKey::generate();
        assert_ne!(key.seal(b"same", b""), key.seal(b"same", b""));
    }

    #[test]
    fn a_sealed_value_has_the_documented_layout() {
        // McGrew and Viega, "The Galois/Counter Mode of Operation", test case 13: all is zero.
        let key = SealKey([0; 32]);
        let tag = [
            0x53, 0x0f, 0x8a, 0xfb, 0xc7, 0x45, 0x36, 0xb9, 0xa9, 0x63, 0xb4, 0xf1, 0xc4, 0xcb,
            0x73, 0x8b,
        ];
        let sealed = URL_SAFE_NO_PAD.encode([&[1][..], &[0; 12][..], &tag[..]].concat());
        assert_eq!(key.open(&sealed, b"").unwrap(), b"");
    }

    #[test]
    fn keys_survive_the_secret_store_and_other_lengths_are_rejected() {
        let (seal, mac) = (SealKey::generate(), MacKey::generate());
        let again = SealKey::from_base64(&seal.reveal()).unwrap();
        assert_eq!(again.open(&seal.seal(b"x", b"y"), b"y").unwrap(), b"x");
        assert!(MacKey::from_base64(&mac.reveal()).unwrap().verify(b"x", &mac.tag(b"x")));
        for bad in
            [String::new(), STANDARD.encode([0; 31]), STANDARD.encode([0; 33]), "*".repeat(44)]
        {
            assert_eq!(SealKey::from_base64(&bad).unwrap_err(), InvalidKey);
            assert_eq!(MacKey::from_base64(&bad).unwrap_err(), InvalidKey);
        }
    }

    #[test]
    fn a_tag_holds_for_its_bytes_and_key_and_in_full_length() {
        let key = MacKey::generate();
        let tag = key.tag(b"cursor");
        assert!(key.verify(b"cursor", &tag));
        assert!(!key.verify(b"cursos", &tag));
        assert!(!MacKey::generate().verify(b"cursor", &tag));
        assert!(!key.verify(b"cursor", tag.get(..31).unwrap()));
        assert!(!key.verify(b"cursor", &[]));
    }

    #[test]
    fn hmac_and_digest_agree_with_the_published_vectors() {
        // RFC 4231 §4.3 (test case 2), with the text in two parts.
        let tag = hmac_sha256(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(hex(&tag), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            digest("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_random_secret_has_256_bits_and_never_repeats() {
        let secrets: std::collections::HashSet<_> = (0..1_000).map(|_| random_secret()).collect();
        assert_eq!(secrets.len(), 1_000);
        assert!(secrets.iter().all(|secret| URL_SAFE_NO_PAD.decode(secret).unwrap().len() == 32));
    }

    #[test]
    fn keys_do_not_show_in_debug_output() {
        let (seal, mac) = (SealKey([9; 32]), MacKey([9; 32]));
        assert_eq!(format!("{seal:?} {mac:?}"), "SealKey([redacted]) MacKey([redacted])");
    }
}
