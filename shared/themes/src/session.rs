//! Preview sessions: a snapshot of a draft, shown for a limited time to bearers of the token.
//!
//! The session stores the content that it shows, so that later changes of the draft do not change it.
//! The token is signed and not stored. It names the session, which can be revoked before it expires.

use catalogue::blob::pinned::BlobRef;
use core_types::id::{PreviewSessionId, StoreId};
use core_types::key;
use platform::authority::Authority;
use primitives::clock::{DAY, Timestamp};
use primitives::fields::FromText;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;

use crate::draft::ThemeDraft;
use crate::installed::InstalledTheme;
use crate::manifest::{Slug, Version};
use crate::preview::{PreviewRejection, Token};
use crate::settings::Content;

/// A preview session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Item)]
#[item(kind = "preview_session", key = key::preview_session(&self.id), packed)]
#[item(forget_at = Some(self.expires_at.plus(DAY)))]
pub struct PreviewSession {
    /// `prv_…`; a claim of the token.
    pub id: PreviewSessionId,
    /// The store.
    pub store_id: StoreId,
    /// The theme's slug.
    pub slug: Slug,
    /// The version of the draft that it shows.
    pub draft_version: u64,
    /// The version of the theme.
    pub theme_version: Version,
    /// The reference to that version's stored contents.
    pub contents: BlobRef,
    /// The content of the draft when the session was created.
    pub content: Content,
    /// The principal that created it: `mer_…` or `app_…`.
    pub created_by: String,
    /// The authority of its creator: it ends when they may no longer change the store's themes.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// The instant from which on its token is invalid.
    pub expires_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl PreviewSession {
    /// Creates a session that shows a draft of an installed theme.
    pub fn begin(
        installed: &InstalledTheme,
        (draft, content): (&ThemeDraft, &Content),
        by: &str,
        life: std::time::Duration,
        now: Timestamp,
    ) -> Self {
        Self {
            id: PreviewSessionId::mint(now),
            store_id: installed.store_id.clone(),
            slug: installed.slug.clone(),
            draft_version: draft.version,
            theme_version: installed.theme_version.clone(),
            contents: installed.contents.clone(),
            content: content.clone(),
            created_by: by.to_owned(),
            authority: None,
            expires_at: now.plus(life),
            revoked_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// Returns the session with the authority of its creator.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// The claims of its token.
    pub fn token(&self) -> Token {
        Token {
            id: self.id.to_string(),
            store_id: self.store_id.clone(),
            theme: self.slug.clone(),
            draft_version: self.draft_version,
            expires_at: self.expires_at,
        }
    }

    /// Ensures that the session is still valid.
    ///
    /// # Errors
    /// `preview_expired`: it has expired, or it was revoked.
    pub fn check(&self, now: Timestamp) -> Result<(), Problem> {
        if self.revoked_at.is_some() || now >= self.expires_at {
            return Err(Code::PreviewExpired.into());
        }
        Ok(())
    }

    /// Returns the session as revoked.
    #[must_use]
    pub fn revoked(&self, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { revoked_at: Some(now), updated_at: now, version, ..self.clone() }
    }

    /// Loads the session that a token opens at a store, by a strongly consistent read: a revocation holds at once.
    ///
    /// # Errors
    /// `invalid_or_expired_token`, also for another store's; `preview_expired`; 503.
    pub async fn open(
        services: &Services,
        store_id: &StoreId,
        token: &str,
    ) -> Result<Self, Problem> {
        let keys = services.secrets.keys().await?;
        let token = Token::verify(token, &keys.previews, store_id, services.clock.now())?;
        let id = PreviewSessionId::from_text(&token.id).map_err(|_| Code::PreviewExpired)?;
        let found: Option<Self> = services.table.get(&key::preview_session(&id)).await?;
        let session = found.filter(|session| session.store_id == token.store_id);
        let session = session.ok_or(Code::PreviewExpired)?;
        session.check(services.clock.now())?;
        // The session ends when its creator loses access to the store.
        let revocation = match &session.authority {
            Some(authority) => authority.revocation(services).await?,
            None => None,
        };
        if revocation.is_none() { Ok(session) } else { Err(Code::PreviewExpired.into()) }
    }
}

impl From<PreviewRejection> for Problem {
    fn from(rejection: PreviewRejection) -> Self {
        match rejection {
            PreviewRejection::Expired => Code::PreviewExpired.into(),
            PreviewRejection::Invalid | PreviewRejection::OtherStore => {
                Code::InvalidOrExpiredToken.into()
            }
        }
    }
}

core_types::view! {
    /// A preview session, without its token.
    PreviewSessionView of session: PreviewSession {
        /// The id.
        id: PreviewSessionId,
        /// The theme's name in URLs.
        theme: Slug = session.slug.clone(),
        /// The version of the theme.
        theme_version: Version,
        /// The version of the draft that it shows.
        draft_version: u64,
        /// The principal that created it: `mer_…` or `app_…`.
        created_by: String,
        /// When it expires.
        expires_at: Timestamp,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// From 1, one more with each write.
        version: u64,
    }
}
