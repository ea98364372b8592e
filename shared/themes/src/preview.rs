//! Preview tokens: bearer tokens that show a storefront with a draft for a limited time.
//!
//! A token is `thp_`, the base64url of its claims, a dot, and the base64url of their HMAC-SHA256.
//! The claims are a JSON array, so that their form is unambiguous; nothing in them is secret.
//! Whether the session was revoked is stored in the table, under the token's id.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core_types::id::StoreId;
use crypto::seal::MacKey;
use primitives::clock::Timestamp;
use primitives::fields::FromText;

use crate::manifest::Slug;

/// The default lifetime of a preview.
pub const DEFAULT_LIFE: Duration = Duration::from_mins(30);
/// The minimum lifetime of a preview.
pub const SHORTEST_LIFE: Duration = Duration::from_mins(1);
/// The maximum lifetime of a preview.
pub const LONGEST_LIFE: Duration = Duration::from_hours(24);
/// The prefix of every token, by which people and secret scanners recognize it.
const PREFIX: &str = "thp_";
/// The domain separator of the MAC: tags of other things never equal it.
const PURPOSE: &str = "theme-preview-v1\n";
/// The maximum length of a token that is parsed, in bytes. Issued ones have about 220.
const LONGEST_TOKEN: usize = 512;

/// The claims of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The id of the preview session, by which it is revoked.
    pub id: String,
    /// The only store that it shows.
    pub store_id: StoreId,
    /// The theme that the storefront is shown with.
    pub theme: Slug,
    /// The version of the draft that it shows; later ones are not shown.
    pub draft_version: u64,
    /// The instant from which on it is invalid.
    pub expires_at: Timestamp,
}

/// Why a token is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewRejection {
    /// Not issued here: malformed, altered, or signed with another key.
    Invalid,
    /// Genuine, but expired.
    Expired,
    /// Genuine, but for another store.
    OtherStore,
}

impl Token {
    /// Signs the claims, and returns the token as it is issued.
    pub fn sign(&self, key: &MacKey) -> String {
        let claims = self.claims();
        let tag = key.tag(format!("{PURPOSE}{claims}").as_bytes());
        format!("{PREFIX}{}.{}", URL_SAFE_NO_PAD.encode(claims), URL_SAFE_NO_PAD.encode(tag))
    }

    /// Verifies a token for this store at this time.
    ///
    /// # Errors
    /// See [`PreviewRejection`]. Whether the session was revoked is not checked here.
    pub fn verify(
        text: &str,
        key: &MacKey,
        store_id: &StoreId,
        now: Timestamp,
    ) -> Result<Self, PreviewRejection> {
        let token = Self::parse(text, key).ok_or(PreviewRejection::Invalid)?;
        if token.store_id != *store_id {
            return Err(PreviewRejection::OtherStore);
        }
        if now >= token.expires_at {
            return Err(PreviewRejection::Expired);
        }
        Ok(token)
    }

    fn parse(text: &str, key: &MacKey) -> Option<Self> {
        let bare = text.strip_prefix(PREFIX).filter(|_| text.len() <= LONGEST_TOKEN)?;
        let (claims, tag) = bare.split_once('.')?;
        let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        if !key.verify(format!("{PURPOSE}{claims}").as_bytes(), &tag) {
            return None;
        }
        let (id, store_id, theme, draft_version, expires_at): (String, String, String, u64, i64) =
            serde_json::from_str(&claims).ok()?;
        Some(Self {
            id,
            store_id: StoreId::from_text(&store_id).ok()?,
            theme: Slug::from_text(&theme).ok()?,
            draft_version,
            expires_at: Timestamp::from_millis(expires_at),
        })
    }

    fn claims(&self) -> String {
        let claims = (
            &self.id,
            self.store_id.as_str(),
            self.theme.as_str(),
            self.draft_version,
            self.expires_at.millis(),
        );
        serde_json::to_string(&claims).unwrap_or_default()
    }
}

impl fmt::Display for PreviewRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the preview token is not valid",
            Self::Expired => "the preview is over",
            Self::OtherStore => "the preview token is for another store",
        })
    }
}

impl std::error::Error for PreviewRejection {}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        let now = Timestamp::from_millis(1_000);
        Token {
            id: "tpv_1".into(),
            store_id: StoreId::mint(now),
            theme: Slug::from_text("plain-linen").unwrap(),
            draft_version: 7,
            expires_at: now.plus(DEFAULT_LIFE),
        }
    }

    #[test]
    fn a_token_is_valid_for_its_store_until_it_expires() {
        let (key, token) = (MacKey::generate(), token());
        let text = token.sign(&key);
        let before = token.expires_at.minus(Duration::from_millis(1));
        let verify = |key: &MacKey, store: &StoreId, now| Token::verify(&text, key, store, now);
        assert_eq!(verify(&key, &token.store_id, before), Ok(token.clone()));
        assert_eq!(verify(&key, &token.store_id, token.expires_at), Err(PreviewRejection::Expired));
        let other = StoreId::mint(token.expires_at);
        assert_eq!(verify(&key, &other, before), Err(PreviewRejection::OtherStore));
        let stranger = MacKey::generate();
        assert_eq!(verify(&stranger, &token.store_id, before), Err(PreviewRejection::Invalid));
    }

    #[test]
    fn every_altered_token_is_rejected() {
        let (key, token) = (MacKey::generate(), token());
        let text = token.sign(&key);
        let now = Timestamp::from_millis(1_000);
        let rejected = |text: &str| {
            let validated = Token::verify(text, &key, &token.store_id, now);
            assert_eq!(validated, Err(PreviewRejection::Invalid), "{text}");
        };
        for position in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[position] = if altered[position] == b'A' { b'B' } else { b'A' };
            rejected(&String::from_utf8(altered).unwrap());
            rejected(&text[..position]);
        }
        let (claims, tag) = text.split_once('.').unwrap();
        for odd in [
            format!("{text}A"),
            format!("{text}="),
            format!(" {text}"),
            format!("{claims}.{tag}.{tag}"),
            format!("{claims}."),
            "thp_".to_owned(),
            "a".repeat(1_000),
            "thp_é.é".to_owned(),
        ] {
            rejected(&odd);
        }
    }

    #[test]
    fn a_tag_of_another_purpose_is_rejected() {
        let (key, token) = (MacKey::generate(), token());
        let claims = token.claims();
        let tag = key.tag(claims.as_bytes());
        let forged =
            format!("thp_{}.{}", URL_SAFE_NO_PAD.encode(&claims), URL_SAFE_NO_PAD.encode(tag));
        let validated =
            Token::verify(&forged, &key, &token.store_id, Timestamp::from_millis(1_000));
        assert_eq!(validated, Err(PreviewRejection::Invalid));
    }
}
