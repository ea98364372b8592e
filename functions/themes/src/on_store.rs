//! Loads a theme's state on a store in one round trip.

use core_types::id::StoreId;
use core_types::key;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Batch, ReadConsistency};
use themes::draft::ThemeDraft;
use themes::installed::InstalledTheme;
use themes::manifest::Slug;

/// The state of a theme on a store.
#[derive(Debug)]
pub(crate) struct OnStore {
    /// The installation, present or former.
    pub(crate) known: Option<InstalledTheme>,
    /// The draft, including a discarded one.
    pub(crate) draft: Option<ThemeDraft>,
}

impl OnStore {
    /// Loads the state, and the items of the keys in `more`.
    pub(crate) async fn read(
        services: &Services,
        store: &StoreId,
        slug: &Slug,
        more: &[&Key],
        consistency: ReadConsistency,
    ) -> Result<(Self, Batch), Problem> {
        let slug = slug.as_str();
        let (known_key, draft_key) =
            (key::installed_theme(store, slug), key::theme_draft(store, slug));
        let keys: Vec<&Key> =
            [&known_key, &draft_key].into_iter().chain(more.iter().copied()).collect();
        let mut found = services.table.look(&keys, consistency).await?;
        let (known, draft) = (found.take(&known_key)?, found.take(&draft_key)?);
        Ok((Self { known, draft }, found))
    }

    /// Returns the present installation.
    ///
    /// # Errors
    /// `theme_not_installed`.
    pub(crate) fn installed(&self) -> Result<&InstalledTheme, Problem> {
        let installed = self.known.as_ref().filter(|known| known.is_installed());
        installed.ok_or_else(|| Code::ThemeNotInstalled.into())
    }
}

/// Takes the item of an optional key out of a batch.
pub(crate) fn take<T: Item>(found: &mut Batch, key: Option<&Key>) -> Result<Option<T>, Problem> {
    key.map_or(Ok(None), |key| found.take(key))
}
