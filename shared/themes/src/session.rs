//! Preview sessions: a draft as it was, shown for a while to whoever has the token.
//!
//! The session keeps what it shows, so that a later change of the draft does not change what somebody
//! was asked to look at. The token is not kept: it is signed, and names the session, which can be
//! ended before its time.

use catalogue::blob::pinned::BlobRef;
use core_types::id::{PreviewSessionId, StoreId};
use core_types::key;
use gateway::app::App;
use primitives::clock::{DAY, Timestamp};
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use primitives::fields::FromText;
use platform::authority::Authority;
use serde::{Deserialize, Serialize};

use crate::draft::ThemeDraft;
use crate::installed::InstalledTheme;
use crate::manifest::{Slug, Version};
use crate::preview::{PreviewRejection, Token};
use crate::settings::Content;

/// A preview session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviewSession {
    /// `prv_…`; the token names it.
    pub id: PreviewSessionId,
    /// The store.
    pub store_id: StoreId,
    /// The theme.
    pub slug: Slug,
    /// The draft that it shows.
    pub draft_version: u64,
    /// The version of the theme.
    pub theme_version: Version,
    /// Where the contents of that version lie.
    pub contents: BlobRef,
    /// What the draft was.
    pub content: Content,
    /// Who began it: `mer_…` or `app_…`.
    pub created_by: String,
    /// Whom it shows the store for: it ends when they may no longer change its themes.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// The first instant at which its token is no longer taken.
    pub expires_at: Timestamp,
    /// When it was ended before its time.
    pub revoked_at: Option<Timestamp>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for PreviewSession {
    const KIND: &'static str = "preview_session";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::preview_session(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at.plus(DAY))
    }
}

impl PreviewSession {
    /// A session that shows a draft of an installed theme.
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
            theme_version: installed.number.clone(),
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

    /// The session, begun by whoever has this authority.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// What its token says.
    pub fn token(&self) -> Token {
        Token {
            id: self.id.to_string(),
            store_id: self.store_id.clone(),
            theme: self.slug.clone(),
            draft_version: self.draft_version,
            expires_at: self.expires_at,
        }
    }

    /// # Errors
    /// `preview_expired`: its time is over, or it was ended.
    pub fn check(&self, now: Timestamp) -> Result<(), Problem> {
        if self.revoked_at.is_some() || now >= self.expires_at {
            return Err(Code::PreviewExpired.into());
        }
        Ok(())
    }

    /// The session, ended.
    #[must_use]
    pub fn revoked(&self, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { revoked_at: Some(now), updated_at: now, version, ..self.clone() }
    }

    /// The session of a token that says what it does, read as it is: one that was ended a moment ago
    /// shows nothing.
    ///
    /// # Errors
    /// `preview_expired`.
    pub async fn of(app: &App, token: &Token) -> Result<Self, Problem> {
        let id = PreviewSessionId::from_text(&token.id).map_err(|_| Code::PreviewExpired)?;
        let found: Option<Self> = app.table.get(&key::preview_session(&id)).await?;
        let session = found.filter(|session| session.store_id == token.store_id);
        let session = session.ok_or(Code::PreviewExpired)?;
        session.check(app.clock.now())?;
        // Who was removed from the store, or an app that was, shows it to nobody any more.
        let lost = match &session.authority {
            Some(authority) => authority.lost(app).await?,
            None => None,
        };
        if lost.is_none() { Ok(session) } else { Err(Code::PreviewExpired.into()) }
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
    /// A preview session as the store sees it.
    PreviewSessionView of session: PreviewSession {
        /// The id.
        id: PreviewSessionId,
        /// The theme's name in URLs.
        theme: Slug = session.slug.clone(),
        /// The version of the theme.
        theme_version: Version,
        /// The draft that it shows, as it was.
        draft_version: u64,
        /// Who began it: `mer_…` or `app_…`.
        created_by: String,
        /// When it ends.
        expires_at: Timestamp,
        /// When it was begun.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Counts writes.
        version: u64,
    }
}
