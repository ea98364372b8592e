//! Drafts: a theme's settings that are not published yet.
//!
//! A draft is replaced whole, by compare-and-set on the version that the editor has read. Of two editors
//! who have read the same version, one saves and the other gets a conflict. A discarded draft leaves its
//! version behind, so that an editor who still has it open cannot restore it by accident.

use core_types::id::StoreId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Item;

use crate::manifest::{Slug, Version};
use crate::settings::Content;

/// A draft of an installed theme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Item)]
#[item(kind = "theme_draft", key = key::theme_draft(&self.store_id, self.slug.as_str()), packed)]
pub struct ThemeDraft {
    /// The store.
    pub store_id: StoreId,
    /// The theme's slug.
    pub slug: Slug,
    /// The version of the theme that it was validated against.
    #[serde(rename = "number")]
    pub theme_version: Version,
    /// The settings and sections; none after it was discarded.
    pub content: Option<Content>,
    /// The principal that last changed it: `mer_…` or `app_…`.
    pub updated_by: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

/// The context of a change to a draft: store, theme, author and time.
#[derive(Debug, Clone, Copy)]
pub struct Editing<'a> {
    /// The store.
    pub store: &'a StoreId,
    /// The theme's slug.
    pub slug: &'a Slug,
    /// The version of the theme.
    pub theme_version: &'a Version,
    /// The author of the change: `mer_…` or `app_…`.
    pub by: &'a str,
    /// The time of the change.
    pub now: Timestamp,
}

impl ThemeDraft {
    /// Returns the draft saved with this content, at the version after `before`.
    pub fn saved(before: Option<&Self>, content: Content, edit: Editing<'_>) -> Self {
        Self::next(before, Some(content), edit)
    }

    /// Returns the draft discarded, at its next version.
    #[must_use]
    pub fn discarded(&self, edit: Editing<'_>) -> Self {
        Self::next(Some(self), None, edit)
    }

    /// Returns the draft with the same content, at its next version.
    #[must_use]
    pub fn touched(&self, edit: Editing<'_>) -> Self {
        Self::next(Some(self), self.content.clone(), edit)
    }

    fn next(before: Option<&Self>, content: Option<Content>, edit: Editing<'_>) -> Self {
        Self {
            store_id: edit.store.clone(),
            slug: edit.slug.clone(),
            theme_version: edit.theme_version.clone(),
            content,
            updated_by: edit.by.to_owned(),
            created_at: before.map_or(edit.now, |before| before.created_at),
            updated_at: edit.now,
            version: before.map_or(0, |before| before.version).saturating_add(1),
        }
    }

    /// Returns the draft and its content.
    ///
    /// # Errors
    /// `no_draft`: there is none, or it was discarded.
    pub fn content_of(draft: Option<&Self>) -> Result<(&Self, &Content), Problem> {
        let content = |draft: &Self| draft.content.is_some();
        let found = draft.filter(|draft| content(draft));
        let pair = found.and_then(|draft| Some((draft, draft.content.as_ref()?)));
        pair.ok_or_else(|| Code::NoDraft.into())
    }

    /// Ensures that the draft is at the version that the caller names, if they name one.
    ///
    /// # Errors
    /// `draft_conflict` with the `current_version`.
    pub fn check(&self, named: Option<u64>) -> Result<(), Problem> {
        match named {
            Some(named) if named != self.version => {
                Err(Code::DraftConflict.with("current_version", self.version))
            }
            _ => Ok(()),
        }
    }

    /// The draft in a response; none after it was discarded.
    pub fn view(&self) -> Option<DraftView> {
        let content = self.content.clone()?;
        let theme_version = self.theme_version.clone();
        let (updated_by, updated_at) = (self.updated_by.clone(), self.updated_at);
        Some(DraftView { version: self.version, theme_version, content, updated_at, updated_by })
    }
}

/// A draft of a theme.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DraftView {
    /// The version, for `If-Match`.
    version: u64,
    /// The version of the theme that it was validated against.
    theme_version: Version,
    #[serde(flatten)]
    content: Content,
    /// When it was last changed.
    updated_at: Timestamp,
    /// The principal that last changed it: `mer_…` or `app_…`.
    updated_by: String,
}
