//! Installing, upgrading and uninstalling themes.

use ::catalogue::blob::pinned::BlobRef;
use axum::extract::State;
use callers::StoreAccess;
use core_types::key;
use core_types::resource::Resource;
use core_types::scope::WriteThemes;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Created, Json};
use gateway::request::{Body, Path};
use identity::store::{self, Store};
use primitives::clock::Timestamp;
use primitives::fields::Flag;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::{Item, Key};
use table::{Condition, ReadConsistency, Write, retry};
use themes::contents::Contents;
use themes::draft::{DraftView, Editing, ThemeDraft};
use themes::entitlement::Entitlement;
use themes::installed::{
    InstalledTheme, InstalledThemeView, THEME_INSTALLED, THEME_UNINSTALLED, THEME_UPGRADED,
};
use themes::manifest::{Slug, Version};
use themes::settings::{self, Content, Difference};
use themes::theme::{Offer, Theme, ThemeVersion};
use themes::theme_license::ThemeLicense;

use crate::on_store::{OnStore, take};

/// The options of an installation.
#[request]
#[derive(Debug, Clone)]
pub struct InstallRequest {
    /// The version to install; by default the newest available.
    version: Option<Version>,
    /// A theme from whose draft the settings are copied, as far as they fit: another installed theme of the
    /// store, or this one after an earlier installation.
    keep_settings_from: Option<Slug>,
}

/// A new installation of a theme.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ThemeInstallation")]
pub struct Installed {
    /// The installation.
    installation: InstalledThemeView,
    /// The first draft: the theme's defaults, or the copied settings.
    draft: Option<DraftView>,
}

/// A version that the store may install, and the licence for it.
struct Choice {
    offer: Offer,
    license: Option<ThemeLicense>,
    /// Whether the theme must be paid for, so that the licence is needed.
    is_paid: bool,
}

/// The present state of a theme on a store, and the version that the store may install.
struct InstallContext {
    before: OnStore,
    choice: Result<Choice, Problem>,
}

impl InstallContext {
    /// Loads both, in one round trip.
    async fn read(
        services: &Services,
        access: &StoreAccess<WriteThemes>,
        slug: &Slug,
        version: Option<&Version>,
    ) -> Result<Self, Problem> {
        let store = &access.store;
        let keys = ChoiceKeys::of(store, slug, version);
        let (before, mut found) =
            OnStore::read(services, &store.id, slug, &keys.all(), ReadConsistency::Strong).await?;
        Ok(Self { before, choice: keys.choose(&mut found, access) })
    }
}

/// The keys of the items that decide what the store may install.
struct ChoiceKeys {
    theme: Key,
    version: Option<Key>,
    license: Key,
}

impl ChoiceKeys {
    fn of(store: &Store, slug: &Slug, version: Option<&Version>) -> Self {
        let slug = slug.as_str();
        Self {
            theme: key::theme(slug),
            version: version.map(|version| key::theme_version(slug, &version.sort_key())),
            license: key::theme_license(&store.id, slug),
        }
    }

    fn all(&self) -> Vec<&Key> {
        [&self.theme, &self.license].into_iter().chain(&self.version).collect()
    }

    /// Chooses the version that the store may install.
    ///
    /// # Errors
    /// `not_found`; `license_required` with the price.
    fn choose(
        &self,
        found: &mut table::Batch,
        access: &StoreAccess<WriteThemes>,
    ) -> Result<Choice, Problem> {
        let (store, owner) = (&access.store, access.acting_owner());
        let theme: Theme = found.take(&self.theme)?.ok_or(Code::NotFound)?;
        let version: Option<ThemeVersion> = take(found, self.version.as_ref())?;
        let license: Option<ThemeLicense> = found.take(&self.license)?;
        let is_own = theme.is_of(owner);
        let offer = match &self.version {
            Some(_) => version
                .filter(|version| version.published || is_own)
                .map(|version| version.offer.into()),
            None => theme.offered_to(owner).cloned(),
        };
        let offer = offer.ok_or(Code::NotFound)?;
        let price = theme.price_for(&store.owner_id);
        let term = license.as_ref().map(|license| &license.term);
        if !Entitlement::of(price, term).may_install() {
            let price = serde_json::to_value(price).unwrap_or_default();
            return Err(Code::LicenseRequired.with("price", price));
        }
        Ok(Choice { offer, license, is_paid: price.is_some() })
    }
}

impl Choice {
    /// Adds the condition that a needed licence has not changed.
    fn require_license(&self, write: Write) -> Write {
        let needed = self.license.as_ref().filter(|_| self.is_paid);
        write.when_some(needed, |write, license| {
            write.check(&license.key(), Condition::is_at(license.version), Code::VersionConflict)
        })
    }
}

/// `POST /v1/themes/{slug}/install` (`installTheme`): Install a theme on a store.
///
/// Installs a theme of the catalogue, or the merchant's own. Its first draft has the theme's defaults, unless
/// `keep_settings_from` is given. A store has at most 20 themes.
///
/// # Errors
/// `not_found`, `license_required` with the price, `already_installed`, `theme_limit`;
/// `theme_not_installed` as a field error of `keep_settings_from`.
pub async fn install(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Body(input): Body<InstallRequest>,
) -> Result<Created<Installed>, Problem> {
    let store = &access.store;
    retry(|| async {
        let now = app.clock.now();
        let read = InstallContext::read(&app, &access, &slug, input.version.as_ref()).await?;
        let (before, choice) = (read.before, read.choice?);
        let known = before.installation.as_ref();
        let installed = InstalledTheme::install(known, &store.id, &slug, &choice.offer, now)?;
        let content = first_content(&app, store, &choice.offer, &before, &slug, &input).await?;
        let by = access.actor.id();
        let edit = Editing {
            store: &store.id,
            slug: &slug,
            theme_version: &installed.theme_version,
            by,
            now,
        };
        let draft = ThemeDraft::saved(before.draft.as_ref(), content, edit);
        let view = Installed { installation: installed.view(), draft: draft.view() };
        let write = store::add_theme(app.table.write(), &store.id, slug.as_str());
        choice
            .require_license(write)
            .create_or_replace(&installed, Code::VersionConflict)
            .create_or_replace(&draft, Code::VersionConflict)
            .emit(installed.event(&THEME_INSTALLED, now))
            .answer(Created::new(&view).version(installed.revision), now)
            .await
    })
    .await
}

/// The content of the first draft of an installation.
async fn first_content(
    services: &Services,
    store: &Store,
    offer: &Offer,
    before: &OnStore,
    slug: &Slug,
    input: &InstallRequest,
) -> Result<Content, Problem> {
    let new = Contents::load(services, &offer.contents).await?;
    let Some(from) = &input.keep_settings_from else { return Ok(settings::defaults(&new.schema)) };
    let read;
    let other = if from == slug {
        before
    } else {
        read = OnStore::read(services, &store.id, from, &[], ReadConsistency::Strong).await?.0;
        read.installed().map_err(|_| not_installed())?;
        &read
    };
    let content = other.draft.as_ref().and_then(|draft| draft.content.as_ref());
    let (Some(known), Some(content)) = (&other.installation, content) else {
        return Err(not_installed());
    };
    let old = Contents::load(services, &known.contents).await?;
    Ok(settings::upgrade(&old.schema, &new.schema, content).content)
}

fn not_installed() -> Problem {
    let detail = "The theme is not installed on this store, or has no saved settings.";
    Problem::field("/keep_settings_from", "theme_not_installed", detail)
}

/// An uninstalled theme.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Uninstalled {
    /// The installation, now with the status `uninstalled`.
    installation: InstalledThemeView,
}

/// `POST /v1/themes/{slug}/uninstall` (`uninstallTheme`): Uninstall a theme from a store.
///
/// Its releases stay. A later installation can take over the draft's settings by `keep_settings_from`.
///
/// # Errors
/// `theme_not_installed`, `theme_is_published`.
pub async fn uninstall(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
) -> Result<Json<Uninstalled>, Problem> {
    let store = &access.store;
    retry(|| async {
        let now = app.clock.now();
        let (before, _) =
            OnStore::read(&app, &store.id, &slug, &[], ReadConsistency::Strong).await?;
        let after = before.installed()?.uninstalled(now);
        // The draft's version is raised, so that an open editor cannot save into the uninstalled theme.
        let draft = before.draft.as_ref().map(|draft| {
            let by = access.actor.id();
            let theme_version = &draft.theme_version;
            let edit = Editing { store: &store.id, slug: &slug, theme_version, by, now };
            draft.touched(edit)
        });
        let answer = Json::new(&Uninstalled { installation: after.view() }).version(after.revision);
        store::remove_theme(app.table.write(), &store.id, slug.as_str())
            .replace(&after, Code::VersionConflict)
            .when_some(draft.as_ref(), |write, draft| write.replace(draft, Code::VersionConflict))
            .emit(after.event(&THEME_UNINSTALLED, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// The options of an upgrade.
#[request]
#[derive(Debug, Clone)]
pub struct UpgradeRequest {
    /// The version to install; by default the newest available. It may be an older one.
    version: Option<Version>,
    /// Whether only to return the result of the upgrade, without writing it.
    #[deserr(default)]
    dry_run: Flag,
}

/// The result of an upgrade, done or simulated.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Upgraded {
    /// Whether nothing was written.
    dry_run: bool,
    /// The version before.
    from: Version,
    /// The version after.
    to: Version,
    /// The differences between the schemas of both versions.
    schema_diff: Difference,
    /// The pointers of the values that were copied to the new draft.
    carried: Vec<String>,
    /// The pointers of the draft's values that become the new default.
    reset: Vec<String>,
    /// The pointers of the draft's sections, blocks and values that are dropped.
    dropped: Vec<String>,
    /// The installation after the upgrade; with `dry_run`, as it is.
    installation: InstalledThemeView,
    /// The draft after the upgrade; none if there is none.
    draft: Option<DraftView>,
}

/// `POST /v1/themes/{slug}/upgrade` (`upgradeTheme`): Upgrade a theme to another version.
///
/// Moves an installed theme and its draft to another version. The storefront does not change until the
/// draft is published.
///
/// # Errors
/// `theme_not_installed`, `not_found`, `license_required`.
pub async fn upgrade(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Body(input): Body<UpgradeRequest>,
) -> Result<Json<Upgraded>, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let read = InstallContext::read(&app, &access, &slug, input.version.as_ref()).await?;
        let before = read.before;
        let installed = before.installed()?;
        let choice = read.choice?;
        let after = installed.at(&choice.offer, now);
        let content = before.draft.as_ref().and_then(|draft| draft.content.clone());
        let contents = (&installed.contents, &choice.offer.contents);
        let plan = plan(&app, contents, content.unwrap_or_default()).await?;
        let by = access.actor.id();
        let draft = draft_after(&before, &after, &plan.content, by, now);
        let returned = if input.dry_run.0 { installed } else { &after };
        let view = Upgraded {
            dry_run: input.dry_run.0,
            from: installed.theme_version.clone(),
            to: after.theme_version.clone(),
            schema_diff: plan.difference,
            carried: plan.carried,
            reset: plan.reset,
            dropped: plan.dropped,
            installation: returned.view(),
            draft: draft.as_ref().and_then(ThemeDraft::view),
        };
        let answer = Json::new(&view).version(returned.revision);
        if input.dry_run.0 || installed.theme_version == after.theme_version {
            return Ok(answer);
        }
        choice
            .require_license(app.table.write())
            .replace(&after, Code::VersionConflict)
            .when_some(draft.as_ref(), |write, draft| write.replace(draft, Code::VersionConflict))
            .emit(after.event(&THEME_UPGRADED, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// Migrates content between two versions.
async fn plan(
    services: &Services,
    (old, new): (&BlobRef, &BlobRef),
    content: Content,
) -> Result<settings::Upgrade, Problem> {
    let (old, new) =
        tokio::try_join!(Contents::load(services, old), Contents::load(services, new))?;
    Ok(settings::upgrade(&old.schema, &new.schema, &content))
}

/// The draft after an upgrade; none if there was none, or it was discarded.
fn draft_after(
    before: &OnStore,
    after: &InstalledTheme,
    content: &Content,
    by: &str,
    now: Timestamp,
) -> Option<ThemeDraft> {
    let draft = before.draft.as_ref().filter(|draft| draft.content.is_some())?;
    let theme_version = &after.theme_version;
    let edit = Editing { store: &after.store_id, slug: &after.slug, theme_version, by, now };
    Some(ThemeDraft::saved(Some(draft), content.clone(), edit))
}
