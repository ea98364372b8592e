//! Grants: an authorization by a merchant, with its code and all tokens issued from it
//! (docs/conventions.md §9; RFC 6749, 7636, 9700).
//!
//! There are two items. The *code* can be redeemed once, within 15 minutes by its own `expires_at`. It is
//! stored beyond its redemption, so that a replay can be distinguished from a guess (docs/platform.md §1). Its
//! redemption begins the *grant* in the same item, which lists the live tokens, so that a replay revokes
//! them all in one transaction. A *refresh token* item only leads from a digest to that item; the grant
//! decides in [`Grant::present`] which of them may be used.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use core_types::id::{AppId, InstallationId, MerchantId, StoreId};
use core_types::key;
use core_types::scope::Scopes;
use crypto::seal;
use crypto::signature::constant_time_eq;
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::fields::{FromText, Violation};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::Change;
use table::item::Item;

use crate::installation::{AppToken, MAX_TOKEN_DIGESTS};

/// The lifetime of an authorization code (our choice, docs/conventions.md §9).
pub const AUTHORIZATION_CODE_LIFETIME: Duration = MINUTE.saturating_mul(15);
/// The lifetime of a grant, counted from its redemption.
pub const GRANT_LIFETIME: Duration = DAY.saturating_mul(90);
/// The time for which a refresh token works after it was rotated, while its successor is unused.
pub const ROTATION_OVERLAP: Duration = MINUTE.saturating_mul(10);
/// The most successors of one refresh token within the overlap: a client that lost a response retries,
/// but one that retries more often is defective (our choice).
const MAX_SUCCESSORS: usize = 5;

/// A PKCE code challenge, S256: base64url of SHA-256, 43 characters (RFC 7636 §4.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeChallenge(String);

impl FromText for CodeChallenge {
    const EXPECTS: &'static str = "an S256 code challenge";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let canonical = BASE64_URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 32);
        if canonical {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be BASE64URL(SHA256(code_verifier)): 43 characters, without padding (RFC 7636 §4.2).";
            Err(Violation::new("invalid_code_challenge", detail))
        }
    }
}

impl CodeChallenge {
    /// Whether the verifier is the one this challenge was made from (RFC 7636 §4.1, §4.6).
    pub fn is_met_by(&self, unverified_verifier: &str) -> bool {
        use sha2::Digest;
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
        if !(43..=128).contains(&unverified_verifier.len())
            || !unverified_verifier.bytes().all(allowed)
        {
            return false;
        }
        let digest = sha2::Sha256::digest(unverified_verifier.as_bytes());
        let computed = BASE64_URL_SAFE_NO_PAD.encode(digest);
        constant_time_eq(computed.as_bytes(), self.0.as_bytes())
    }
}

primitives::text_field!(CodeChallenge);
primitives::string_schema!(CodeChallenge: {"pattern": "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$"});

primitives::string_enum! {
    /// The state of a code.
    CodeState {
        /// It may be redeemed.
        Issued = "issued",
        /// It was redeemed, once.
        Redeemed = "redeemed",
    }
}

/// An authorization code, by its digest, with the grant that its redemption began.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "authorization_code", key = key::code(&self.digest))]
// Packed, except for the attributes that the condition of its redemption names.
#[item(plain = ["client_id", "redirect_digest", "state", "expires_at"])]
// It is stored until every token issued from it has expired, so that a replay is recognized.
#[item(forget_at = Some(match self.state { CodeState::Issued => self.expires_at.plus(DAY), CodeState::Redeemed => self.expires_at.plus(GRANT_LIFETIME).plus(DAY), }))]
pub struct AuthorizationCode {
    /// SHA-256 of the code.
    pub digest: String,
    /// The client it was issued to.
    pub client_id: String,
    /// The client's app.
    pub app_id: AppId,
    /// The store that grants scopes.
    pub store_id: StoreId,
    /// The installation that the authorization created or reactivated.
    pub installation_id: InstallationId,
    /// The installation's generation when it was issued.
    pub generation: u64,
    /// The merchant who authorized.
    pub merchant_id: MerchantId,
    /// SHA-256 of the redirect URI it was sent to.
    pub redirect_digest: String,
    /// The PKCE challenge it is bound to.
    pub challenge: Option<CodeChallenge>,
    /// The granted scopes.
    pub scopes: Scopes,
    /// The state.
    pub state: CodeState,
    /// The grant that its redemption began.
    pub grant: Option<Grant>,
    /// When it expires, and can no longer be redeemed.
    pub expires_at: Timestamp,
    /// When it was issued.
    pub created_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

/// The values that a client presents with a code.
#[derive(Debug, Clone, Copy)]
pub struct PresentedValues<'a> {
    /// The authenticated client.
    pub client_id: &'a str,
    /// The redirect URI of the authorization request.
    pub redirect_uri: &'a str,
    /// The PKCE verifier.
    pub verifier: Option<&'a str>,
}

impl AuthorizationCode {
    /// Validates client, redirect URI and PKCE, in this order; the time is not validated. Only a redeemed
    /// code that is presented with all of them right is a replay that revokes (OAuth 2.1 §4.1.3).
    ///
    /// # Errors
    /// `invalid_grant`, identical for every error.
    pub fn validate(&self, presented: PresentedValues<'_>) -> Result<(), Problem> {
        let client = constant_time_eq(self.client_id.as_bytes(), presented.client_id.as_bytes());
        let redirect = seal::digest(presented.redirect_uri);
        let redirect = constant_time_eq(redirect.as_bytes(), self.redirect_digest.as_bytes());
        let pkce = match (&self.challenge, presented.verifier) {
            (Some(challenge), Some(verifier)) => challenge.is_met_by(verifier),
            // A verifier without a challenge is a downgrade (RFC 9700 §4.8.2).
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if client && redirect && pkce { Ok(()) } else { Err(Code::InvalidGrant.into()) }
    }

    /// Whether it can still be redeemed at `now`: it is issued, and has not expired.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == CodeState::Issued && now < self.expires_at
    }

    /// The update that redeems it and begins its grant. Its condition requires again all that was
    /// validated, except PKCE, and decides the time by `expires_at`, never by TTL (docs/platform.md §1).
    pub fn redemption(&self, grant: &Grant, now: Timestamp) -> Change {
        let forget_at = self.expires_at.plus(GRANT_LIFETIME).plus(DAY);
        Change::new(
            "SET #state = :redeemed, #grant = :grant, #version = #version + :one, #ttl = :ttl",
        )
        .only_if(
            "#state = :issued AND expires_at > :now AND client_id = :client \
                 AND redirect_digest = :redirect",
        )
        .name("#state", "state")
        .name("#grant", "grant")
        .name("#ttl", "ttl")
        .name("#version", "version")
        .value(":issued", CodeState::Issued)
        .value(":redeemed", CodeState::Redeemed)
        .value(":grant", grant)
        .value(":now", now)
        .value(":one", 1)
        .value(":ttl", forget_at.seconds())
        .value(":client", &self.client_id)
        .value(":redirect", &self.redirect_digest)
    }

    /// The redeemed code at its next version, with this grant.
    #[must_use]
    pub fn with_grant(&self, grant: Grant) -> Self {
        Self { grant: Some(grant), version: self.version.saturating_add(1), ..self.clone() }
    }
}

/// A redeemed authorization, with the tokens issued from it. What was authorized is in its code.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grant {
    /// Digests of its access tokens that may be live, with their expiry.
    pub access_tokens: BTreeMap<String, Timestamp>,
    /// Digests of the refresh tokens that may be used. There are several while a client that lost a
    /// response has used none of them.
    pub current: Vec<String>,
    /// Digest of the refresh token before, which works until one of `current` is used.
    pub previous: Option<String>,
    /// When `previous` expires at the latest.
    pub previous_until: Option<Timestamp>,
    /// When all of its tokens were revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it can no longer be refreshed.
    pub expires_at: Timestamp,
    /// When it was redeemed.
    pub created_at: Timestamp,
}

/// The effect of presenting a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// It is one of the newest, and is rotated.
    Rotate,
    /// Its successor was not used yet: the client lost the response, and gets another successor.
    Repeat,
    /// It was used before, so somebody else may have it: the grant is revoked.
    Replay,
    /// The grant has ended, or the token has had all its successors; nothing changes.
    Reject,
}

impl Grant {
    /// The grant of a code that is redeemed now.
    pub fn begin(now: Timestamp) -> Self {
        Self {
            access_tokens: BTreeMap::new(),
            current: Vec::new(),
            previous: None,
            previous_until: None,
            revoked_at: None,
            expires_at: now.plus(GRANT_LIFETIME),
            created_at: now,
        }
    }

    /// The effect of presenting the refresh token of this digest now.
    pub fn present(&self, digest: &str, now: Timestamp) -> RefreshOutcome {
        if self.revoked_at.is_some() || now >= self.expires_at {
            return RefreshOutcome::Reject;
        }
        if self.current.iter().any(|current| current == digest) {
            return RefreshOutcome::Rotate;
        }
        let in_overlap = self.previous_until.is_some_and(|until| now < until);
        if self.previous.as_deref() == Some(digest) && in_overlap {
            if self.current.len() < MAX_SUCCESSORS {
                RefreshOutcome::Repeat
            } else {
                RefreshOutcome::Reject
            }
        } else {
            RefreshOutcome::Replay
        }
    }

    /// The grant with another pair of tokens recorded.
    #[must_use]
    pub fn record(&self, access: &AppToken, refresh: &RefreshToken, now: Timestamp) -> Self {
        let mut next = self.clone();
        next.access_tokens.retain(|_, expires_at| now < *expires_at);
        next.access_tokens.insert(access.digest.clone(), access.expires_at);
        while next.access_tokens.len() > MAX_TOKEN_DIGESTS {
            // Older ones are no longer recorded by the installation either.
            let oldest =
                next.access_tokens.iter().min_by_key(|(_, at)| **at).map(|(d, _)| d.clone());
            match oldest {
                Some(digest) => next.access_tokens.remove(&digest),
                None => break,
            };
        }
        next.current.push(refresh.digest.clone());
        next
    }

    /// The grant after this refresh token was used; its successor is yet to be recorded.
    #[must_use]
    pub fn rotated(&self, used: &str, how: RefreshOutcome, now: Timestamp) -> Self {
        let mut next = self.clone();
        if how == RefreshOutcome::Rotate {
            next.current.clear();
            next.previous = Some(used.to_owned());
            next.previous_until = Some(now.plus(ROTATION_OVERLAP));
        }
        next
    }

    /// The grant with all its tokens revoked.
    #[must_use]
    pub fn revoked(&self, now: Timestamp) -> Self {
        Self {
            revoked_at: Some(now),
            access_tokens: BTreeMap::new(),
            current: Vec::new(),
            previous: None,
            previous_until: None,
            ..self.clone()
        }
    }
}

/// A refresh token, which leads from its digest to its grant.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "refresh_token", key = key::refresh_token(&self.digest))]
#[item(forget_at = Some(self.expires_at.plus(DAY)))]
pub struct RefreshToken {
    /// SHA-256 of the token.
    pub digest: String,
    /// SHA-256 of the code it was issued from, whose grant decides whether it may be used.
    pub code_digest: String,
    /// The client it was issued to.
    pub client_id: String,
    /// The installation it acts for.
    pub installation_id: InstallationId,
    /// When it expires: with its grant.
    pub expires_at: Timestamp,
    /// When it was issued.
    pub created_at: Timestamp,
    /// Always 1: the item is written whole, and never replaced by version.
    pub version: u64,
}

impl RefreshToken {
    /// A new refresh token of a code's grant, and its text, which is returned only once.
    pub fn mint(code: &AuthorizationCode, grant: &Grant, now: Timestamp) -> (Self, String) {
        let text = format!("rft_{}", seal::random_secret());
        let token = Self {
            digest: seal::digest(&text),
            code_digest: code.digest.clone(),
            client_id: code.client_id.clone(),
            installation_id: code.installation_id.clone(),
            expires_at: grant.expires_at,
            created_at: now,
            version: 1,
        };
        (token, text)
    }
}

#[cfg(test)]
mod tests;
