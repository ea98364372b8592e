//! The catalogue of themes, and the installed themes of a store.

use ::catalogue::blob::pinned::BlobRef;
use std::collections::BTreeMap;

use axum::extract::State;
use callers::{IfStoreNamed, MemberOrPublic, StoreAccess};
use core_types::fields;
use core_types::fold::fold;
use core_types::key;
use core_types::money::Money;
use core_types::scope::ReadThemes;
use gateway::app::App;
use gateway::caller::Public;
use gateway::page::Paging;
use gateway::reply::{Json, Page, Tagged};
use gateway::request::{Path, Query};
use identity::store::Store;
use primitives::fields::{Flag, Text, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::ReadConsistency;
use table::item::{Index, Key};
use themes::contents::Contents;
use themes::entitlement::Entitlement;
use themes::installed::InstalledThemeView;
use themes::manifest::{Slug, Version};
use themes::schema::{BlockType, Group, SectionType, ThemeInfo};
use themes::settings::Sections;
use themes::theme::{Theme, ThemeAccess, ThemeStatus, ThemeVersion, ThemeView, VersionView};
use themes::theme_license::ThemeLicense;

use crate::on_store::{OnStore, take};

/// The maximum number of versions in the response about a theme (our choice).
const LISTED_VERSIONS: usize = 10;

primitives::string_enum! {
    /// Whether a theme is free or paid.
    PriceKind {
        /// The theme is free.
        Free = "free",
        /// The theme has a price.
        Paid = "paid",
    }
}

/// The filter of a list of themes.
#[request]
#[derive(Debug)]
pub struct CatalogueQuery {
    /// Only themes of this category.
    category: Option<fields::Slug>,
    /// Only free or only paid themes.
    price: Option<PriceKind>,
    /// Only themes whose name, author, description or slug contains this text, ignoring case.
    q: Option<Text<1, 100>>,
    /// Only themes that the store has installed.
    #[deserr(default)]
    installed: Written<Flag>,
    /// The store.
    #[expect(dead_code, reason = "it has been selected")]
    store_id: Option<Text<1, 100>>,
}

impl CatalogueQuery {
    fn admits(&self, theme: &Theme) -> bool {
        let kind = if theme.price.is_some() { PriceKind::Paid } else { PriceKind::Free };
        let in_category = |wanted: &fields::Slug| match &theme.category {
            Some(category) => category == wanted,
            None => wanted.as_str() == themes::theme::UNSORTED,
        };
        self.category.as_ref().is_none_or(in_category)
            && self.price.is_none_or(|wanted| wanted == kind)
            && self.q.as_ref().is_none_or(|q| {
                let q = fold(q.as_str());
                let texts = [&theme.name, &theme.author].map(String::as_str);
                let more = [Some(theme.slug.as_str()), theme.description.as_deref()];
                let mut all = texts.into_iter().chain(more.into_iter().flatten());
                all.any(|text| fold(text).contains(&q))
            })
    }
}

/// A theme in a list. A list of the store's installed themes also has their installations.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTheme {
    #[serde(flatten)]
    theme: ThemeView,
    /// The installation, in a list of the store's installed themes.
    #[serde(skip_serializing_if = "Option::is_none")]
    installation: Option<InstalledThemeView>,
}

/// `GET /v1/themes` (`listThemes`): List themes of the catalogue.
///
/// Lists the themes of the catalogue by category and slug. With `installed=true`, lists the store's
/// installed themes; only a member of the store can request them.
///
/// # Errors
/// `invalid_cursor`, `unauthenticated`, `invalid_token`, `account_disabled`, `origin_not_allowed`, `store_required`,
/// `store_not_found` with `installed=true` or a named store.
pub async fn list(
    visitor: MemberOrPublic<IfStoreNamed>,
    State(app): State<App>,
    Query(query): Query<CatalogueQuery>,
    paging: Paging,
) -> Result<Page<ListedTheme>, Problem> {
    let store = visitor.member().map(|member| &member.store);
    if let (Some(store), true) = (store, query.installed.0.0) {
        return installed(store, &app, &query, paging).await;
    }
    let partition = key::themes_of_status(ThemeStatus::Published.as_str());
    let mut wanted = table::Query::index(Index::Gsi5, partition);
    if let Some(category) = &query.category {
        wanted = wanted.begins_with(format!("{category}#"));
    }
    let admits = |theme: &Theme| theme.is_published() && query.admits(theme);
    let found = paging.read::<Theme>(&app, &wanted, admits).await?;
    let licenses = match store {
        Some(store) => licenses(&app, store, found.items.iter()).await?,
        None => Vec::new(),
    };
    let view = |theme: Theme| {
        let access = store.map(|store| access(store, &theme, &licenses));
        let theme = ThemeView::of(&theme, access.unwrap_or_default());
        ListedTheme { theme, installation: None }
    };
    paging.finish(&app, found, view).await
}

/// The store's relation to a theme: installed, licensed.
fn access(store: &Store, theme: &Theme, licenses: &[ThemeLicense]) -> ThemeAccess {
    let license = licenses.iter().find(|license| license.slug == theme.slug);
    let price = theme.price_for(&store.owner_id);
    let licensed = Entitlement::of(price, license.map(|license| &license.term)).may_install();
    ThemeAccess { installed: store.themes.contains(theme.slug.as_str()), licensed }
}

/// Loads the store's licences for those themes that it must pay for, in one round trip.
async fn licenses(
    services: &Services,
    store: &Store,
    themes: impl Iterator<Item = &Theme>,
) -> Result<Vec<ThemeLicense>, Problem> {
    let paid = themes.filter(|theme| theme.price_for(&store.owner_id).is_some());
    let keys: Vec<Key> =
        paid.map(|theme| key::theme_license(&store.id, theme.slug.as_str())).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut found = Vec::new();
    for key in &keys {
        found.extend(batch.take::<ThemeLicense>(key)?);
    }
    Ok(found)
}

/// Lists the store's installed themes, including those that have left the catalogue.
async fn installed(
    store: &Store,
    services: &Services,
    query: &CatalogueQuery,
    paging: Paging,
) -> Result<Page<ListedTheme>, Problem> {
    let keys: Vec<[Key; 3]> = store
        .themes
        .iter()
        .map(|slug| {
            let license = key::theme_license(&store.id, slug);
            [key::theme(slug), key::installed_theme(&store.id, slug), license]
        })
        .collect();
    let mut batch = services.table.get_many(&keys.iter().flatten().collect::<Vec<_>>()).await?;
    let mut all = Vec::new();
    for [theme_key, installed_key, license_key] in &keys {
        let theme: Option<Theme> = batch.take(theme_key)?;
        let known: Option<themes::installed::InstalledTheme> = batch.take(installed_key)?;
        let license: Option<ThemeLicense> = batch.take(license_key)?;
        let (Some(theme), Some(known)) = (theme, known) else { continue };
        if query.admits(&theme) {
            let access = access(store, &theme, license.as_slice());
            let installation = Some(InstalledThemeView::from(&known));
            all.push(ListedTheme { theme: ThemeView::of(&theme, access), installation });
        }
    }
    paging.slice(services, all, |listed| listed.theme.slug.to_string()).await
}

/// A theme with its versions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ThemeDetail {
    #[serde(flatten)]
    theme: ThemeView,
    /// Its newest versions in the catalogue, at most 10, newest first.
    versions: Vec<VersionView>,
}

/// `GET /v1/themes/{slug}` (`getTheme`): Get a theme and its versions.
///
/// Versions come newest first.
///
/// # Errors
/// `not_found`, the same for an unknown theme and one that is not in the catalogue.
pub async fn get(
    _: Public,
    State(app): State<App>,
    Path(slug): Path<Slug>,
) -> Result<Json<ThemeDetail>, Problem> {
    let theme_key = key::theme(slug.as_str());
    let query = table::Query::partition(theme_key.pk.clone())
        .begins_with(key::THEME_VERSIONS)
        .newest_first()
        .with_consistency(ReadConsistency::Eventual);
    let listed = |version: &ThemeVersion| version.published;
    let (theme, versions) = tokio::try_join!(
        app.table.peek::<Theme>(&theme_key),
        app.table.page(&query, LISTED_VERSIONS, None, listed),
    )?;
    let theme = theme.filter(Theme::is_published).ok_or(Code::NotFound)?;
    let licensed = theme.price.is_none();
    Ok(Json::new(&ThemeDetail {
        theme: ThemeView::of(&theme, ThemeAccess { installed: false, licensed }),
        versions: versions.items.iter().map(VersionView::from).collect(),
    }))
}

/// The version of a requested schema.
#[request]
#[derive(Debug)]
pub struct SchemaQuery {
    /// The version of the theme. By default the installed one, otherwise the newest available.
    version: Option<Version>,
}

/// The schema of a version of a theme.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SchemaView {
    /// The theme's name in URLs.
    slug: Slug,
    /// The version.
    version: Version,
    /// The price of a licence for one store; none for a free theme.
    price: Option<Money>,
    /// The theme's description.
    theme_info: ThemeInfo,
    /// The settings of the whole theme.
    settings_schema: Vec<Group>,
    /// The section types.
    sections: Vec<SectionType>,
    /// The block types that every section can allow.
    blocks: Vec<BlockType>,
    /// The sections of the theme's JSON templates but the home page's, by the template's name: `product`.
    templates: BTreeMap<String, Sections>,
    /// The sections of the theme's section groups, by the group's name: `header-group`.
    section_groups: BTreeMap<String, Sections>,
    /// The languages of the theme's texts, the default first.
    locales: Vec<String>,
}

/// `GET /v1/themes/{slug}/schema` (`getThemeSchema`): Get the settings schema of a theme.
///
/// Returns the settings, sections and blocks of a version of a theme, and the sections that its templates and section
/// groups have to begin with. The `ETag` is the digest of the
/// version's contents.
///
/// # Errors
/// `not_found`, also for a version that is neither published, nor installed, nor of the caller's own theme.
pub async fn schema(
    access: StoreAccess<ReadThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Query(query): Query<SchemaQuery>,
) -> Result<Tagged<Json<SchemaView>>, Problem> {
    let place = schema_of(&app, &access, &slug, query.version.as_ref()).await?;
    let contents = Contents::load(&app, &place).await?;
    let schema = contents.schema.clone();
    let view = SchemaView {
        slug: contents.manifest.slug.clone(),
        version: contents.manifest.version.clone(),
        price: contents.manifest.price.clone(),
        theme_info: schema.theme_info,
        settings_schema: schema.settings_schema,
        sections: schema.sections,
        blocks: schema.blocks,
        templates: schema.templates,
        section_groups: schema.section_groups,
        locales: schema.locales,
    };
    Ok(Json::new(&view).tagged(&place.sha256))
}

/// Returns the reference to the contents of the requested version.
async fn schema_of(
    services: &Services,
    access: &StoreAccess<ReadThemes>,
    slug: &Slug,
    version: Option<&Version>,
) -> Result<BlobRef, Problem> {
    let (store, owner) = (&access.store, access.acting_owner());
    let theme_key = key::theme(slug.as_str());
    let version_key = version.map(|version| key::theme_version(slug.as_str(), &version.sort_key()));
    let more: Vec<&Key> = std::iter::once(&theme_key).chain(version_key.as_ref()).collect();
    let (on_store, mut found) =
        OnStore::read(services, &store.id, slug, &more, ReadConsistency::Strong).await?;
    let installed = on_store.installed().ok();
    let theme: Option<Theme> = found.take(&theme_key)?;
    let named: Option<ThemeVersion> = take(&mut found, version_key.as_ref())?;
    let is_own = theme.as_ref().is_some_and(|theme| theme.is_of(owner));
    let place = match version {
        Some(version) if installed.is_some_and(|known| known.theme_version == *version) => {
            installed.map(|known| known.contents.clone())
        }
        Some(_) => {
            named.filter(|named| named.published || is_own).map(|named| named.offer.contents)
        }
        None => installed.map(|known| known.contents.clone()).or_else(|| {
            let offer = theme.as_ref()?.offered_to(owner)?;
            Some(offer.contents.clone())
        }),
    };
    place.ok_or_else(|| Code::NotFound.into())
}
