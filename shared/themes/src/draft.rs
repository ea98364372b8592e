//! Drafts: what a merchant is arranging, and nobody else sees.
//!
//! A draft is written whole, under the version that its editor has read: of two editors who have read
//! the same one, one saves, and the other is told. Given up, it leaves its version behind, so that who
//! still has it open does not bring it back unseen.

use core_types::id::StoreId;
use core_types::key;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::manifest::{Slug, Version};
use crate::settings::Content;

/// A draft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThemeDraft {
    /// The store.
    pub store_id: StoreId,
    /// The theme.
    pub slug: Slug,
    /// The version of the theme that it was checked against.
    pub number: Version,
    /// What is arranged; none when it was given up.
    pub content: Option<Content>,
    /// Who changed it last: `mer_…` or `app_…`.
    pub updated_by: String,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Item for ThemeDraft {
    const KIND: &'static str = "theme_draft";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::theme_draft(&self.store_id, self.slug.as_str())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// Who changes a draft, of which theme, and when.
#[derive(Debug, Clone, Copy)]
pub struct Editing<'a> {
    /// The store.
    pub store: &'a StoreId,
    /// The theme.
    pub slug: &'a Slug,
    /// The version of the theme.
    pub number: &'a Version,
    /// `mer_…` or `app_…`.
    pub by: &'a str,
    /// Now.
    pub now: Timestamp,
}

impl ThemeDraft {
    /// The draft after `before` with this content.
    pub fn after(before: Option<&Self>, content: Option<Content>, edit: Editing<'_>) -> Self {
        Self {
            store_id: edit.store.clone(),
            slug: edit.slug.clone(),
            number: edit.number.clone(),
            content,
            updated_by: edit.by.to_owned(),
            created_at: before.map_or(edit.now, |before| before.created_at),
            updated_at: edit.now,
            version: before.map_or(0, |before| before.version).saturating_add(1),
        }
    }

    /// What is arranged.
    ///
    /// # Errors
    /// `no_draft`.
    pub fn content_of(draft: Option<&Self>) -> Result<(&Self, &Content), Problem> {
        let content = |draft: &Self| draft.content.is_some();
        let found = draft.filter(|draft| content(draft));
        let pair = found.and_then(|draft| Some((draft, draft.content.as_ref()?)));
        pair.ok_or_else(|| Code::NoDraft.into())
    }

    /// # Errors
    /// `draft_conflict`: the caller named another version.
    pub fn check(&self, named: Option<u64>) -> Result<(), Problem> {
        match named {
            Some(named) if named != self.version => {
                Err(Code::DraftConflict.with("current_version", self.version))
            }
            _ => Ok(()),
        }
    }

    /// As its editors see it; nothing when it was given up.
    pub fn view(&self) -> Option<DraftView> {
        let content = self.content.clone()?;
        let theme_version = self.number.clone();
        let (updated_by, updated_at) = (self.updated_by.clone(), self.updated_at);
        Some(DraftView { version: self.version, theme_version, content, updated_at, updated_by })
    }
}

/// A draft as its editors see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DraftView {
    /// What `If-Match` takes.
    version: u64,
    /// The version of the theme that it was checked against.
    theme_version: Version,
    #[serde(flatten)]
    content: Content,
    /// When it was changed last.
    updated_at: Timestamp,
    /// Who changed it last: `mer_…` or `app_…`.
    updated_by: String,
}
