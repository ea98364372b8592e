//! Installing a theme on a store, bringing it to another version, and taking it off.

use ::catalogue::blob::pinned::BlobRef;
use axum::extract::State;
use core_types::key;
use core_types::resource::Resource;
use core_types::scope::WriteThemes;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::{Item, Key};
use primitives::problem::{Code, Problem};
use gateway::reply::{Created, Json};
use gateway::request::{Body, Path, request};
use primitives::fields::Flag;
use table::{Condition, ReadConsistency, Write, retry};
use identity::store::{self, Store};
use platform::caller::StoreAccess;
use schemars::JsonSchema;
use serde::Serialize;
use themes::contents::Contents;
use themes::draft::{DraftView, Editing, ThemeDraft};
use themes::installed::{
    InstalledTheme, InstalledThemeView, THEME_INSTALLED, THEME_UNINSTALLED, THEME_UPGRADED,
};
use themes::license::Entitlement;
use themes::licensed::ThemeLicense;
use themes::manifest::{Slug, Version};
use themes::settings::{self, Content, Difference};
use themes::theme::{Offer, Theme, ThemeVersion};

use crate::on_store::{OnStore, take};

/// How to install a theme.
#[request]
#[derive(Debug, Clone)]
pub struct InstallRequest {
    /// Which version; the newest unless it is named.
    version: Option<Version>,
    /// Another theme of the store, or this one as it was: what was arranged in it is taken over as far
    /// as it fits.
    keep_settings_from: Option<Slug>,
}

/// A theme, installed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ThemeInstallation")]
pub struct Installed {
    /// The theme on the store.
    installation: InstalledThemeView,
    /// What to arrange further: the theme's defaults, or what was taken over.
    draft: Option<DraftView>,
}

/// What a store may install of a theme.
struct Choice {
    offer: Offer,
    license: Option<ThemeLicense>,
    /// Whether the licence was needed.
    is_paid: bool,
}

/// A theme on a store, and what the store may install of it.
struct Considered {
    before: OnStore,
    choice: Result<Choice, Problem>,
}

impl Considered {
    /// Reads it, in one round trip.
    async fn read(
        app: &App,
        access: &StoreAccess<WriteThemes>,
        slug: &Slug,
        version: Option<&Version>,
    ) -> Result<Self, Problem> {
        let store = &access.store;
        let keys = ChoiceKeys::of(store, slug, version);
        let (before, mut found) =
            OnStore::read(app, &store.id, slug, &keys.all(), ReadConsistency::Strong).await?;
        Ok(Self { before, choice: keys.choose(&mut found, access) })
    }
}

/// The keys that a choice is made over.
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

    /// What the store may install.
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
    /// The licence must still hold when the theme is installed with it.
    fn ensure(&self, write: Write) -> Write {
        let needed = self.license.as_ref().filter(|_| self.is_paid);
        write.also(needed, |write, license| {
            write.check(&license.key(), Condition::is_at(license.version), Code::VersionConflict)
        })
    }
}

/// `POST /v1/themes/{slug}/install` (`installTheme`): Install a theme on a store.
///
/// Installs a theme: one of the catalogue, or the merchant's own. Its draft begins with the theme's defaults.
/// A store has at most [`store::MAX_THEMES`].
///
/// # Errors
/// `not_found`, `license_required` with the price, `already_installed`, `theme_limit`;
/// `theme_not_installed` as a fault of `keep_settings_from`.
pub async fn install(
    access: StoreAccess<WriteThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Body(input): Body<InstallRequest>,
) -> Result<Created<Installed>, Problem> {
    let store = &access.store;
    retry(|| async {
        let now = app.clock.now();
        let read = Considered::read(&app, &access, &slug, input.version.as_ref()).await?;
        let (before, choice) = (read.before, read.choice?);
        let known = before.known.as_ref();
        let installed = InstalledTheme::install(known, &store.id, &slug, &choice.offer, now)?;
        let content = first_content(&app, store, &choice.offer, &before, &slug, &input).await?;
        let by = access.actor.id();
        let edit = Editing { store: &store.id, slug: &slug, number: &installed.number, by, now };
        let draft = ThemeDraft::after(before.draft.as_ref(), Some(content), edit);
        let view = Installed { installation: installed.view(), draft: draft.view() };
        let write = store::theme_installed(app.table.write(), &store.id, slug.as_str());
        choice
            .ensure(write)
            .create_or_replace(&installed, Code::VersionConflict)
            .create_or_replace(&draft, Code::VersionConflict)
            .emit(installed.event(&THEME_INSTALLED, now))
            .answer(Created::new(&view).version(installed.revision), now)
            .await
    })
    .await
}

/// What a newly installed theme is set to.
async fn first_content(
    app: &App,
    store: &Store,
    offer: &Offer,
    before: &OnStore,
    slug: &Slug,
    input: &InstallRequest,
) -> Result<Content, Problem> {
    let new = Contents::load(app, &offer.contents).await?;
    let Some(from) = &input.keep_settings_from else { return Ok(settings::defaults(&new.schema)) };
    let read;
    let other = if from == slug {
        before
    } else {
        read = OnStore::read(app, &store.id, from, &[], ReadConsistency::Strong).await?.0;
        read.installed().map_err(|_| not_installed())?;
        &read
    };
    let content = other.draft.as_ref().and_then(|draft| draft.content.as_ref());
    let (Some(known), Some(content)) = (&other.known, content) else { return Err(not_installed()) };
    let old = Contents::load(app, &known.contents).await?;
    Ok(settings::upgrade(&old.schema, &new.schema, content).content)
}

fn not_installed() -> Problem {
    let detail = "There is no such theme on this store with something arranged in it.";
    Problem::field("/keep_settings_from", "theme_not_installed", detail)
}

/// A theme, uninstalled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Uninstalled {
    /// The theme on the store, as it was.
    installation: InstalledThemeView,
}

/// `POST /v1/themes/{slug}/uninstall` (`uninstallTheme`): Uninstall a theme from a store.
///
/// Its releases stay, and what was arranged in it can be taken over when it is installed again.
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
        // Whoever is editing it does not save into a theme that is gone.
        let draft = before.draft.as_ref().map(|draft| {
            let by = access.actor.id();
            let number = &draft.number;
            let edit = Editing { store: &store.id, slug: &slug, number, by, now };
            ThemeDraft::after(Some(draft), draft.content.clone(), edit)
        });
        let answer = Json::new(&Uninstalled { installation: after.view() }).version(after.revision);
        store::theme_uninstalled(app.table.write(), &store.id, slug.as_str())
            .replace(&after, Code::VersionConflict)
            .also(draft.as_ref(), |write, draft| write.replace(draft, Code::VersionConflict))
            .emit(after.event(&THEME_UNINSTALLED, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// Which version to bring a theme to.
#[request]
#[derive(Debug, Clone)]
pub struct UpgradeRequest {
    /// Which version; the newest unless it is named. It may be an older one.
    version: Option<Version>,
    /// Only says what would become of it.
    #[deserr(default)]
    dry_run: Flag,
}

/// What an upgrade makes, or would make, of a theme and its draft.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Upgraded {
    /// Whether nothing was written.
    dry_run: bool,
    /// The version before.
    from: Version,
    /// The version after.
    to: Version,
    /// What differs between what can be set.
    schema_diff: Difference,
    /// Values of the draft that are taken over, by their pointers.
    carried: Vec<String>,
    /// Values of the draft that fall back to the new default, by their pointers.
    reset: Vec<String>,
    /// What of the draft is left out, by its pointers.
    dropped: Vec<String>,
    /// The theme on the store then.
    installation: InstalledThemeView,
    /// The draft then; none where there is none.
    draft: Option<DraftView>,
}

/// `POST /v1/themes/{slug}/upgrade` (`upgradeTheme`): Upgrade a theme to another version.
///
/// Brings a theme to another version, and its draft with it. What the storefront shows stays as it is until
/// the draft is published.
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
        let read = Considered::read(&app, &access, &slug, input.version.as_ref()).await?;
        let before = read.before;
        let installed = before.installed()?;
        let choice = read.choice?;
        let after = installed.at(&choice.offer, now);
        let content = before.draft.as_ref().and_then(|draft| draft.content.clone());
        let places = (&installed.contents, &choice.offer.contents);
        let plan = plan(&app, places, content.unwrap_or_default()).await?;
        let by = access.actor.id();
        let draft = draft_after(&before, &after, &plan.content, by, now);
        let shown = if input.dry_run.0 { installed } else { &after };
        let view = Upgraded {
            dry_run: input.dry_run.0,
            from: installed.number.clone(),
            to: after.number.clone(),
            schema_diff: plan.difference,
            carried: plan.carried,
            reset: plan.reset,
            dropped: plan.dropped,
            installation: shown.view(),
            draft: draft.as_ref().and_then(ThemeDraft::view),
        };
        let answer = Json::new(&view).version(shown.revision);
        if input.dry_run.0 || installed.number == after.number {
            return Ok(answer);
        }
        choice
            .ensure(app.table.write())
            .replace(&after, Code::VersionConflict)
            .also(draft.as_ref(), |write, draft| write.replace(draft, Code::VersionConflict))
            .emit(after.event(&THEME_UPGRADED, now))
            .answer(answer, now)
            .await
    })
    .await
}

/// What becomes of content between two versions.
async fn plan(
    app: &App,
    (old, new): (&BlobRef, &BlobRef),
    content: Content,
) -> Result<settings::Upgrade, Problem> {
    let (old, new) = tokio::try_join!(Contents::load(app, old), Contents::load(app, new))?;
    Ok(settings::upgrade(&old.schema, &new.schema, &content))
}

/// The draft under another version of its theme; none where nothing is arranged.
fn draft_after(
    before: &OnStore,
    after: &InstalledTheme,
    content: &Content,
    by: &str,
    now: Timestamp,
) -> Option<ThemeDraft> {
    let draft = before.draft.as_ref().filter(|draft| draft.content.is_some())?;
    let number = &after.number;
    let edit = Editing { store: &after.store_id, slug: &after.slug, number, by, now };
    Some(ThemeDraft::after(Some(draft), Some(content.clone()), edit))
}
