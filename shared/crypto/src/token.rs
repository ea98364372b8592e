//! App access tokens: JWTs that only this gateway issues and only this gateway accepts.
//!
//! The profile is RFC 9068 (`typ: at+jwt`) signed with ES256 (RFC 7518 §3.4), read under the rules
//! of RFC 8725: one algorithm, fixed here and never taken from the token; the key comes from our
//! own set by `kid`; a type, an issuer and an audience that must match. Since no one else issues
//! them, a token is held to exactly what [`sign`] writes: a header or claim too many, one that is
//! missing, doubled, null or of another type is a forgery and not a dialect.
//!
//! `jsonwebtoken` does the encoding and the cryptography. Its defaults are too lenient for us
//! (docs/platform.md §6): time checks use the machine's clock and 60 s leeway, a missing `aud`
//! passes, `nbf` and `crit` are ignored. Its time checks are therefore off and ours take `now`; the
//! header is read here first; and every claim is required by [`Claims`].
//!
//! **One token, one string.** The gateway recognizes a token by the SHA-256 of its text, so a
//! second spelling of the same token would be neither revoked nor counted with it. Header and
//! payload are covered by the signature as text. The signature itself has two freedoms: unused
//! base64 bits, which the decoder rejects, and ECDSA's (r, n − s), which verifies like (r, s):
//! [`sign`] writes the low one and [`verify`] rejects the high one.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, encode};
use p256::ecdsa::Signature;
use serde::{Deserialize, Deserializer, Serialize};

mod es256;
mod keys;
#[cfg(test)]
mod tests;

pub use keys::{KeyError, KeySet, PublicKeys};

/// Life of an app access token, in seconds.
pub const APP_TOKEN_SECONDS: i64 = 3_600;
/// Life of an embedded app token, in seconds.
pub const EMBEDDED_TOKEN_SECONDS: i64 = 300;
/// The largest difference between our machines' clocks, in seconds.
const LEEWAY_SECONDS: i64 = 10;
/// The longest token that is parsed, in bytes. Ours have about 900.
const LONGEST_TOKEN: usize = 4_096;
/// The type in the header (RFC 9068 §2.1).
const TYPE: &str = "at+jwt";

/// The claims of an app access token. Each is required, except for the two of embedded tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Issuer: the gateway's own address.
    pub iss: String,
    /// Subject: the installation, which acts for itself (RFC 9068 §2.2).
    pub sub: String,
    /// Audience: the API that the token is for.
    pub aud: String,
    /// The OAuth client it was issued to.
    pub client_id: String,
    /// The app of that client.
    pub app_id: String,
    /// The app's installation in the store.
    pub installation_id: String,
    /// The only store it opens.
    pub store_id: String,
    /// Normalized scopes, separated by spaces. May be empty.
    pub scope: String,
    /// Issued at, in epoch seconds.
    pub iat: i64,
    /// Not valid before, in epoch seconds.
    pub nbf: i64,
    /// Expires at, in epoch seconds: the first second in which it is no longer valid.
    pub exp: i64,
    /// The token's own id.
    pub jti: String,
    /// The grant type: `authorization_code`, `refresh_token`, …
    pub gty: String,
    /// Embedded tokens: the merchant session it dies with.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub sid: Option<String>,
    /// Embedded tokens: who acts through the app (RFC 8693 §4.1).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub act: Option<Actor>,
}

/// The person who acts through an embedded app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actor {
    /// The merchant's id.
    pub sub: String,
}

/// Why a token was rejected, or could not be signed.
///
/// For the log. The client gets `invalid_token` whichever it was (RFC 6750 §3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenError {
    /// More than 4,096 bytes.
    TooLong,
    /// Not three segments of unpadded base64url.
    Malformed,
    /// The header is not exactly ES256, `at+jwt` and a key id.
    Header,
    /// The key id is not in the set.
    UnknownKey,
    /// The signature does not hold, or is the second spelling of one that does.
    Signature,
    /// A claim is missing, doubled, empty, of the wrong type or not one of ours.
    Claims,
    /// Issued by someone else.
    Issuer,
    /// Issued for someone else.
    Audience,
    /// Lives longer than tokens of its kind do, or ends before it begins.
    Lifetime,
    /// Over.
    Expired,
    /// Not begun, or issued in the future.
    NotYetValid,
    /// The signing key failed.
    Signing,
}

/// The whole header. Anything else in it (`crit`, `jku`, `jwk`, `x5u`, `x5c`, …) is rejected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnverifiedHeader {
    alg: String,
    typ: String,
    kid: String,
}

/// Signs `claims` with the current key.
///
/// # Errors
/// `Lifetime`, `Claims` or `TooLong` for what [`verify`] would reject; `Signing` if the key fails.
pub fn sign(keys: &KeySet, claims: &Claims) -> Result<String, TokenError> {
    claims.check_content()?;
    let token = signed(keys, TYPE, claims)?;
    if token.len() > LONGEST_TOKEN { Err(TokenError::TooLong) } else { Ok(token) }
}

/// Signs a statement that whoever has the published keys can verify: a compact JWS (RFC 7515 §7.1)
/// of the current key, with `typ` saying what it states (RFC 8725 §3.11).
///
/// # Errors
/// `Header` for the type of app tokens; `Signing` if the key fails or `claims` are no JSON object.
pub fn sign_statement(
    keys: &KeySet,
    typ: &str,
    claims: &impl Serialize,
) -> Result<String, TokenError> {
    if typ.eq_ignore_ascii_case(TYPE) {
        return Err(TokenError::Header);
    }
    signed(keys, typ, claims)
}

fn signed(keys: &KeySet, typ: &str, claims: &impl Serialize) -> Result<String, TokenError> {
    let mut header = Header::new(Algorithm::ES256);
    header.typ = Some(typ.to_owned());
    header.kid = Some(keys.current().kid().to_owned());
    let token = encode(&header, claims, keys.current().encoding_key());
    with_low_s(&token.map_err(|_| TokenError::Signing)?)
}

/// The claims of `unverified_token`, if it is one of ours, for `audience`, and valid at
/// `now_seconds` (epoch seconds), give or take 10 s.
///
/// Says nothing about revocation: the caller looks up the token's digest and the installation.
pub fn verify(
    keys: &PublicKeys,
    unverified_token: &str,
    issuer: &str,
    audience: &str,
    now_seconds: i64,
) -> Result<Claims, TokenError> {
    if unverified_token.len() > LONGEST_TOKEN {
        return Err(TokenError::TooLong);
    }
    let (header, signature) = header_and_signature(unverified_token)?;
    let key = keys.find(&read_header(header)?.kid).ok_or(TokenError::UnknownKey)?;
    if read_signature(signature)?.normalize_s().is_some() {
        return Err(TokenError::Signature);
    }
    let claims: Claims = decode(unverified_token, key, &validation(issuer, audience))
        .map_err(|error| TokenError::from(error.kind()))?
        .claims;
    claims.check_parties(issuer, audience)?;
    claims.check_content()?;
    claims.check_time(now_seconds)?;
    Ok(claims)
}

impl Claims {
    /// Whether this is an embedded app token: bound to a session, five minutes long.
    pub fn is_embedded(&self) -> bool {
        self.sid.is_some()
    }

    fn check_parties(&self, issuer: &str, audience: &str) -> Result<(), TokenError> {
        if self.iss != issuer {
            return Err(TokenError::Issuer);
        }
        if self.aud != audience {
            return Err(TokenError::Audience);
        }
        Ok(())
    }

    /// Checks what holds at any time: no empty names, both or none of the embedded claims, a lifetime.
    fn check_content(&self) -> Result<(), TokenError> {
        let names = [
            &self.iss,
            &self.sub,
            &self.aud,
            &self.client_id,
            &self.app_id,
            &self.installation_id,
            &self.store_id,
            &self.jti,
            &self.gty,
        ];
        let embedded = [self.sid.as_ref(), self.act.as_ref().map(|act| &act.sub)];
        if names.into_iter().chain(embedded.into_iter().flatten()).any(String::is_empty)
            || self.sid.is_some() != self.act.is_some()
        {
            return Err(TokenError::Claims);
        }
        let longest = if self.is_embedded() { EMBEDDED_TOKEN_SECONDS } else { APP_TOKEN_SECONDS };
        match self.exp.checked_sub(self.iat) {
            Some(life) if (1..=longest).contains(&life) => Ok(()),
            _ => Err(TokenError::Lifetime),
        }
    }

    fn check_time(&self, now_seconds: i64) -> Result<(), TokenError> {
        if now_seconds >= self.exp.saturating_add(LEEWAY_SECONDS) {
            return Err(TokenError::Expired);
        }
        let latest = now_seconds.saturating_add(LEEWAY_SECONDS);
        if self.nbf > latest || self.iat > latest {
            return Err(TokenError::NotYetValid);
        }
        Ok(())
    }
}

/// First and last of exactly three segments.
fn header_and_signature(unverified_token: &str) -> Result<(&str, &str), TokenError> {
    let mut segments = unverified_token.split('.');
    match (segments.next(), segments.next(), segments.next(), segments.next()) {
        (Some(header), Some(_), Some(signature), None) => Ok((header, signature)),
        _ => Err(TokenError::Malformed),
    }
}

fn read_header(segment: &str) -> Result<UnverifiedHeader, TokenError> {
    let json = URL_SAFE_NO_PAD.decode(segment).map_err(|_| TokenError::Malformed)?;
    let header: UnverifiedHeader = serde_json::from_slice(&json).map_err(|_| TokenError::Header)?;
    // RFC 9068 §4: media types are case-insensitive, with or without `application/`.
    let typed = [TYPE, "application/at+jwt"].iter().any(|typ| header.typ.eq_ignore_ascii_case(typ));
    if header.alg == "ES256" && typed { Ok(header) } else { Err(TokenError::Header) }
}

/// Exactly 64 bytes, r and s within 1..n.
fn read_signature(segment: &str) -> Result<Signature, TokenError> {
    let bytes = URL_SAFE_NO_PAD.decode(segment).map_err(|_| TokenError::Malformed)?;
    Signature::from_slice(&bytes).map_err(|_| TokenError::Signature)
}

/// The same token with the lower of its signature's two spellings.
fn with_low_s(token: &str) -> Result<String, TokenError> {
    let (message, segment) = token.rsplit_once('.').ok_or(TokenError::Signing)?;
    let signature = read_signature(segment)?;
    let low = signature.normalize_s().unwrap_or(signature);
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(low.to_bytes())))
}

fn validation(issuer: &str, audience: &str) -> Validation {
    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_required_spec_claims(&["exp", "nbf", "iss", "aud", "sub"]);
    validation.set_issuer(&[issuer]);
    validation.set_audience(&[audience]);
    validation.validate_exp = false; // both by `check_time`, with the caller's clock
    validation.validate_nbf = false;
    validation
}

/// Absent is none, but `null` is an error.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl From<&ErrorKind> for TokenError {
    fn from(kind: &ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::Json(_) | ErrorKind::MissingRequiredClaim(_) => Self::Claims,
            _ => Self::Malformed,
        }
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the token is longer than 4,096 bytes",
            Self::Malformed => "the token is not three segments of base64url",
            Self::Header => "the token's header is not ours",
            Self::UnknownKey => "the token's key is unknown",
            Self::Signature => "the token's signature does not hold",
            Self::Claims => "the token's claims are not ours",
            Self::Issuer => "the token has another issuer",
            Self::Audience => "the token has another audience",
            Self::Lifetime => "the token's lifetime is not that of its kind",
            Self::Expired => "the token has expired",
            Self::NotYetValid => "the token is not yet valid",
            Self::Signing => "the token could not be signed",
        })
    }
}

impl std::error::Error for TokenError {}
