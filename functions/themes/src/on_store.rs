//! Loads a theme's state on a store in one round trip.

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::StoreId;
use core_types::key;
use core_types::scope::{ReadThemes, WriteThemes};
use gateway::app::App;
use gateway::reply::NoContent;
use gateway::request::Path;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Batch, ReadConsistency};
use themes::draft::ThemeDraft;
use themes::installed::InstalledTheme;
use themes::manifest::Slug;
use themes::theme::Theme;
use themes::theme_license::ThemeLicense;

/// The state of a theme on a store.
#[derive(Debug)]
pub(crate) struct OnStore {
    /// The installation, present or former.
    pub(crate) installation: Option<InstalledTheme>,
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
        let (installation_key, draft_key) =
            (key::installed_theme(store, slug), key::theme_draft(store, slug));
        let keys: Vec<&Key> =
            [&installation_key, &draft_key].into_iter().chain(more.iter().copied()).collect();
        let mut found = services.table.get_many_with(&keys, consistency).await?;
        let (installation, draft) = (found.take(&installation_key)?, found.take(&draft_key)?);
        Ok((Self { installation, draft }, found))
    }

    /// Returns the present installation.
    ///
    /// # Errors
    /// `theme_not_installed`.
    pub(crate) fn installed(&self) -> Result<&InstalledTheme, Problem> {
        let installed =
            self.installation.as_ref().filter(|installation| installation.is_installed());
        installed.ok_or_else(|| Code::ThemeNotInstalled.into())
    }
}

/// Takes the item of an optional key out of a batch.
pub(crate) fn take<T: Item>(found: &mut Batch, key: Option<&Key>) -> Result<Option<T>, Problem> {
    key.map_or(Ok(None), |key| found.take(key))
}

/// Ensures that the caller may change a theme, and that it is installed on the store.
///
/// # Errors
/// `theme_not_installed`.
pub(crate) async fn ensure_installed(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
) -> Result<NoContent, Problem> {
    let store = &access.store.id;
    let (on_store, _) = OnStore::read(&app, store, &slug, &[], ReadConsistency::Strong).await?;
    on_store.installed().map(|_| NoContent::default())
}

/// Ensures that the caller may read a theme, and that it is offered to the store or licensed.
///
/// # Errors
/// `not_found`.
pub(crate) async fn ensure_offered(
    access: StoreAccess<ReadThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
) -> Result<NoContent, Problem> {
    let (theme_key, license_key) =
        (key::theme(slug.as_str()), key::theme_license(&access.store.id, slug.as_str()));
    let mut found = app.table.get_many(&[&theme_key, &license_key]).await?;
    let theme: Theme = found.take(&theme_key)?.ok_or(Code::NotFound)?;
    let license: Option<ThemeLicense> = found.take(&license_key)?;
    let is_offered = theme.offered_to(access.acting_owner()).is_some() || license.is_some();
    if is_offered { Ok(NoContent::default()) } else { Err(Code::NotFound.into()) }
}
