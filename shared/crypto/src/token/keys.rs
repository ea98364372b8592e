//! The signing keys: one secret with three of them, and what the world may know about it.
//!
//! `current` signs. `previous` signed until the last rotation and still verifies, so that no token
//! dies early. `next` signs nothing yet but is published already, so that whoever caches the public
//! keys knows it before the first token that needs it. A rotation must therefore come no sooner
//! after the last than the longest token life and the longest cache together (an hour and a bit).
//!
//! Only the function that issues tokens may read [`KeySet`]; the others verify with [`PublicKeys`],
//! made from the published JWKS (RFC 7517), and reject to read anything with a private part.
//! A key's id is its thumbprint (RFC 7638), so it can neither be mistyped nor point to another key.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, crypto};
use p256::SecretKey;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::pkcs8::EncodePrivateKey;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::es256;
use crate::seal;

#[cfg(test)]
mod tests;

/// The three signing keys, with their private parts. See the module's text for their roles.
///
/// Deserializes from the secret's JSON, `{"previous": JWK|null, "current": JWK, "next": JWK}`, each
/// a private P-256 JWK (RFC 7518 §6.2) of `kty, crv, x, y, d`; the key that signs has signed and verified
/// once by then.
#[derive(Debug, Deserialize)]
#[serde(try_from = "StoredKeys")]
pub struct KeySet {
    previous: Option<SigningKey>,
    current: SigningKey,
    next: SigningKey,
}

/// The public keys, by key id: all that a function needs which only verifies.
#[derive(Clone, Debug)]
pub struct PublicKeys(Vec<(String, DecodingKey)>);

/// Why keys could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyError {
    /// Not the JSON that was expected, or a private part where only public ones belong.
    Format,
    /// Not a P-256 key for ES256 signatures, or a point that is not on the curve.
    NotP256,
    /// The public part, or the key id, belongs to another key.
    Mismatch,
    /// The key cannot verify what it signed.
    Unproven,
    /// No key at all, or one key twice.
    Set,
}

/// One key with its private part.
pub(super) struct SigningKey {
    kid: String,
    public: Point,
    secret: SecretKey,
    encoding: EncodingKey,
}

/// Affine coordinates as a JWK has them: base64url of 32 bytes each.
#[derive(Clone, PartialEq, Eq)]
struct Point {
    x: String,
    y: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKeys {
    previous: Option<PrivateJwk>,
    current: PrivateJwk,
    next: PrivateJwk,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrivateJwk {
    kty: String,
    crv: String,
    x: String,
    y: String,
    d: String,
}

#[derive(Deserialize)]
struct Jwks {
    keys: Vec<PublicJwk>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicJwk {
    kty: String,
    crv: String,
    x: String,
    y: String,
    r#use: String,
    alg: String,
    kid: String,
}

impl KeySet {
    /// A new set without a previous key.
    pub fn generate() -> Self {
        Self { previous: None, current: SigningKey::generate(), next: SigningKey::generate() }
    }

    /// Reads the secret's JSON, and proves the key that signs.
    pub fn from_secret(json: &str) -> Result<Self, KeyError> {
        let stored: StoredKeys = serde_json::from_str(json).map_err(|_| KeyError::Format)?;
        Self::try_from(stored)
    }

    /// The secret's JSON as [`KeySet::from_secret`] reads it: for the secret store only.
    pub fn reveal(&self) -> String {
        json!(StoredKeys {
            previous: self.previous.as_ref().map(SigningKey::to_jwk),
            current: self.current.to_jwk(),
            next: self.next.to_jwk(),
        })
        .to_string()
    }

    /// Next becomes current, current becomes previous, previous is dropped; the new next is random.
    #[must_use]
    pub fn rotate(self) -> Self {
        Self { previous: Some(self.current), current: self.next, next: SigningKey::generate() }
    }

    /// The id of the key that signs.
    pub fn current_kid(&self) -> &str {
        self.current.kid()
    }

    /// The public keys as they are published (RFC 7517 §5): current, next, previous.
    pub fn jwks(&self) -> Value {
        let keys: Vec<Value> = self.all().map(SigningKey::to_public_jwk).collect();
        json!({ "keys": keys })
    }

    /// The public keys, ready to verify with.
    pub fn public_keys(&self) -> PublicKeys {
        PublicKeys(self.all().map(|key| (key.kid.clone(), key.public.decoding_key())).collect())
    }

    pub(super) fn current(&self) -> &SigningKey {
        &self.current
    }

    fn all(&self) -> impl Iterator<Item = &SigningKey> {
        [&self.current, &self.next].into_iter().chain(&self.previous)
    }
}

impl TryFrom<StoredKeys> for KeySet {
    type Error = KeyError;

    fn try_from(stored: StoredKeys) -> Result<Self, KeyError> {
        let set = Self {
            previous: stored.previous.map(SigningKey::try_from).transpose()?,
            current: stored.current.try_into()?,
            next: stored.next.try_into()?,
        };
        reject_twins(set.all().map(|key| key.kid.as_str()))?;
        set.current.prove()?;
        Ok(set)
    }
}

impl PublicKeys {
    /// Reads a JWKS as [`KeySet::jwks`] writes it. A key with a private part is rejected.
    pub fn from_jwks(jwks: &Value) -> Result<Self, KeyError> {
        let Jwks { keys } = Jwks::deserialize(jwks).map_err(|_| KeyError::Format)?;
        reject_twins(keys.iter().map(|key| key.kid.as_str()))?;
        keys.into_iter().map(PublicJwk::check).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a key of this id is among them.
    pub fn knows(&self, kid: &str) -> bool {
        self.find(kid).is_some()
    }

    pub(super) fn find(&self, kid: &str) -> Option<&DecodingKey> {
        self.0.iter().find(|(known, _)| known == kid).map(|(_, key)| key)
    }
}

impl SigningKey {
    fn generate() -> Self {
        // A random number is not below the group's order once in 2^32 times; then the next one is.
        loop {
            let key = SecretKey::from_slice(&seal::random_bytes::<32>()).ok().map(Self::new);
            if let Some(Ok(key)) = key {
                return key;
            }
        }
    }

    fn new(secret: SecretKey) -> Result<Self, KeyError> {
        let public = Point::of(&secret.public_key());
        let pkcs8 = secret.to_pkcs8_der().map_err(|_| KeyError::NotP256)?;
        let encoding = EncodingKey::from_ec_der(pkcs8.as_bytes());
        es256::install();
        Ok(Self { kid: public.thumbprint(), public, secret, encoding })
    }

    /// Proves that the key works before anything depends on it: `jsonwebtoken` without cryptography
    /// compiles, and panics at first use (docs/platform.md §6).
    fn prove(&self) -> Result<(), KeyError> {
        let proof = b"prove";
        let signature = crypto::sign(proof, &self.encoding, Algorithm::ES256);
        let signature = signature.map_err(|_| KeyError::Unproven)?;
        let key = self.public.decoding_key();
        match crypto::verify(&signature, proof, &key, Algorithm::ES256) {
            Ok(true) => Ok(()),
            _ => Err(KeyError::Unproven),
        }
    }

    pub(super) fn kid(&self) -> &str {
        &self.kid
    }

    pub(super) fn encoding_key(&self) -> &EncodingKey {
        &self.encoding
    }

    fn to_jwk(&self) -> PrivateJwk {
        PrivateJwk {
            kty: "EC".to_owned(),
            crv: "P-256".to_owned(),
            x: self.public.x.clone(),
            y: self.public.y.clone(),
            d: URL_SAFE_NO_PAD.encode(self.secret.to_bytes()),
        }
    }

    fn to_public_jwk(&self) -> Value {
        json!({
            "kty": "EC",
            "crv": "P-256",
            "x": self.public.x,
            "y": self.public.y,
            "use": "sig",
            "alg": "ES256",
            "kid": self.kid,
        })
    }
}

impl TryFrom<PrivateJwk> for SigningKey {
    type Error = KeyError;

    fn try_from(jwk: PrivateJwk) -> Result<Self, KeyError> {
        if jwk.kty != "EC" || jwk.crv != "P-256" {
            return Err(KeyError::NotP256);
        }
        let secret = URL_SAFE_NO_PAD.decode(&jwk.d).map_err(|_| KeyError::Format)?;
        // `from_slice` pads a short number; a JWK's has its full length (RFC 7518 §6.2.2.1).
        let secret: [u8; 32] = secret.try_into().map_err(|_| KeyError::NotP256)?;
        let key = Self::new(SecretKey::from_slice(&secret).map_err(|_| KeyError::NotP256)?)?;
        if key.public == (Point { x: jwk.x, y: jwk.y }) { Ok(key) } else { Err(KeyError::Mismatch) }
    }
}

impl PublicJwk {
    fn check(self) -> Result<(String, DecodingKey), KeyError> {
        let names = [&self.kty, &self.crv, &self.r#use, &self.alg];
        if names != ["EC", "P-256", "sig", "ES256"] {
            return Err(KeyError::NotP256);
        }
        let point = Point { x: self.x, y: self.y };
        if !point.is_on_curve() {
            return Err(KeyError::NotP256);
        }
        if self.kid != point.thumbprint() {
            return Err(KeyError::Mismatch);
        }
        Ok((self.kid, point.decoding_key()))
    }
}

impl Point {
    fn of(key: &p256::PublicKey) -> Self {
        let point = key.to_encoded_point(false);
        let text = |coordinate: Option<&p256::FieldBytes>| {
            coordinate.map(|bytes| URL_SAFE_NO_PAD.encode(bytes)).unwrap_or_default()
        };
        Self { x: text(point.x()), y: text(point.y()) }
    }

    /// RFC 7638 §3: SHA-256 over the required members in lexical order, without whitespace.
    fn thumbprint(&self) -> String {
        let Self { x, y } = self;
        let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        URL_SAFE_NO_PAD.encode(Sha256::digest(members))
    }

    /// Both coordinates have their full length, and the point is on the curve and not at infinity.
    fn is_on_curve(&self) -> bool {
        let coordinate = |text| URL_SAFE_NO_PAD.decode(text).ok().filter(|bytes| bytes.len() == 32);
        let (Some(x), Some(y)) = (coordinate(&self.x), coordinate(&self.y)) else {
            return false;
        };
        p256::PublicKey::from_sec1_bytes(&[vec![4], x, y].concat()).is_ok()
    }

    fn decoding_key(&self) -> DecodingKey {
        es256::install();
        let Ok(key) = DecodingKey::from_ec_components(&self.x, &self.y) else {
            unreachable!("both coordinates have been decoded or encoded before");
        };
        key
    }
}

fn reject_twins<'a>(kids: impl Iterator<Item = &'a str>) -> Result<(), KeyError> {
    let mut kids: Vec<&str> = kids.collect();
    let count = kids.len();
    kids.sort_unstable();
    kids.dedup();
    if count == 0 || kids.len() != count { Err(KeyError::Set) } else { Ok(()) }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, [redacted])", self.kid)
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format => "the signing keys are not the expected JSON",
            Self::NotP256 => "a signing key is not a P-256 key",
            Self::Mismatch => "a signing key's public part or id belongs to another key",
            Self::Unproven => "a signing key cannot verify what it signed",
            Self::Set => "the key set is empty or has one key twice",
        })
    }
}

impl std::error::Error for KeyError {}
