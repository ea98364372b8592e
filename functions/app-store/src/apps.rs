//! The catalogue: the apps that merchants can choose, and those a store has chosen.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use gateway::app::App;
use gateway::caller::Public;
use gateway::clock::Timestamp;
use gateway::item::{Index, Key};
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::reply::{Json, Page};
use gateway::request::{Flag, Path, Query, Text, Written, request};
use gateway::table;
use ground::fields::WebUrl;
use ground::id::{AppId, InstallationId, MerchantId};
use ground::key;
use ground::rating::Rating;
use ground::scope;
use platform::app::{AppStatus, Category, CommerceApp};
use platform::caller::{AnyMember, Visitor, WhenInstalled};
use platform::developer::Developer;
use platform::installation::{Installation, InstallationStatus};
use platform::submission::{Submission, SubmissionStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// Approved versions that an app's page shows, the newest first (our choice).
const VERSIONS_SHOWN: usize = 10;

gateway::words! {
    /// The order of the catalogue. One order only: an index serves it, and a list that is sorted
    /// page by page would be a lie (our choice).
    CatalogueSort {
        /// By category, then by slug.
        Category = "category",
    }
}

/// Which apps.
#[request]
#[derive(Debug)]
pub struct CatalogueQuery {
    /// Only this category.
    category: Option<Category>,
    /// Only apps whose name, tagline or slug holds this, whatever its case.
    q: Option<Text<1, 100>>,
    /// The order; there is one.
    #[expect(dead_code, reason = "there is one order, which needs no choosing")]
    sort: Option<CatalogueSort>,
    /// Only apps that the store has installed.
    #[deserr(default)]
    installed: Written<Flag>,
    /// With `installed`: the store.
    #[expect(dead_code, reason = "it has been selected")]
    store_id: Option<Text<1, 100>>,
}

impl CatalogueQuery {
    fn admits(&self, app: &CommerceApp) -> bool {
        let listing = app.listing.as_ref();
        let in_category = self
            .category
            .is_none_or(|wanted| listing.is_some_and(|listing| listing.category == wanted));
        in_category
            && self.q.as_ref().is_none_or(|q| {
                let q = q.as_str().to_lowercase();
                let tagline = listing.map(|listing| listing.tagline.as_str());
                [Some(app.name.as_str()), Some(app.slug.as_str()), tagline]
                    .into_iter()
                    .flatten()
                    .any(|text| text.to_lowercase().contains(&q))
            })
    }
}

/// Who makes an app, as merchants see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "DeveloperSummary")]
pub struct MakerView {
    /// The company, or the person's name.
    name: String,
    /// Whether the platform has verified who they are.
    verified: bool,
    /// The developer's site.
    website: Option<WebUrl>,
}

ground::view! {
    /// An app as the catalogue lists it.
    CatalogueView of (app: CommerceApp, developer: Option<MakerView>) {
        id: AppId,
        slug: String = app.slug.as_str().to_owned(),
        name: String,
        tagline: Option<String> = app.listing.as_ref().map(|listing| listing.tagline.clone()),
        category: Option<Category> = app.listing.as_ref().map(|listing| listing.category),
        developer: Option<MakerView> = developer,
        icon: Option<WebUrl> = app.listing.as_ref().and_then(|listing| listing.icon_url.clone()),
        scopes: Vec<String> = app.scopes.to_vec(),
        pricing: Option<String> = app.listing.as_ref().map(|listing| listing.pricing.clone()),
        rating: Rating = app.rating(),
        installs_bucket: &'static str = bucket(app.active_installs),
        embedded: bool,
        /// The store's installation, when the store's own apps are listed.
        #[serde(skip_serializing_if = "Option::is_none")]
        installation: Option<InstalledView> = None,
        created_at: Timestamp,
        updated_at: Timestamp,
        version: u64,
    }
}

/// That a store has installed an app.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "InstalledApp")]
pub struct InstalledView {
    id: InstallationId,
    status: InstallationStatus,
    /// Where the app itself is in its life: a suspended one does nothing on any store.
    app_status: AppStatus,
}

/// About how many stores use an app: the exact number is its developer's own (our choice).
fn bucket(installs: u64) -> &'static str {
    match installs {
        0..10 => "<10",
        10..50 => "10+",
        50..100 => "50+",
        100..500 => "100+",
        500..1_000 => "500+",
        _ => "1000+",
    }
}

/// `GET /v1/app-store/apps` (`listApps`): List published apps.
///
/// Lists the published apps by category and slug; with `installed=true`, for a merchant, those of the store.
///
/// # Errors
/// `unauthenticated`, `invalid_token`, `account_disabled`, `origin_not_allowed`, `store_required`,
/// `store_not_owned` with `installed=true`.
pub async fn list(
    visitor: Visitor<WhenInstalled>,
    State(app): State<App>,
    Query(query): Query<CatalogueQuery>,
    paging: Paging,
) -> Result<Page<CatalogueView>, Problem> {
    if let (Some(member), true) = (visitor.member(), query.installed.0.0) {
        return installed(member, &app, &query, paging).await;
    }
    let partition = key::apps_of_status(AppStatus::Published.as_str());
    let mut wanted = table::Query::index(Index::Gsi5, partition);
    if let Some(category) = query.category {
        wanted = wanted.begins_with(format!("{category}#"));
    }
    let found = paging.read::<CommerceApp>(&app, &wanted, |each| query.admits(each)).await?;
    let makers = makers(&app, found.items.iter()).await?;
    let view = |each: CommerceApp| CatalogueView::of(&each, makers.get(&each.owner_id).cloned());
    paging.finish(&app, found, view).await
}

/// The store's own apps, also those that have left the catalogue since.
async fn installed(
    member: &AnyMember,
    app: &App,
    query: &CatalogueQuery,
    paging: Paging,
) -> Result<Page<CatalogueView>, Problem> {
    let wanted = table::Query::index(Index::Gsi5, key::installations_on(&member.store.id));
    let present = |each: &Installation| each.status != InstallationStatus::Uninstalled;
    let found = paging.read::<Installation>(app, &wanted, present).await?;
    let keys: Vec<Key> = found.items.iter().map(|each| key::app(&each.app_id)).collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut apps = Vec::new();
    for key in &keys {
        apps.extend(batch.take::<CommerceApp>(key)?.filter(|each| query.admits(each)));
    }
    let found = found.filter_map(|installation| {
        let index = apps.iter().position(|each| each.id == installation.app_id)?;
        Some((installation, apps.swap_remove(index)))
    });
    let makers = makers(app, found.items.iter().map(|(_, each)| each)).await?;
    let view = |(installation, each): (Installation, CommerceApp)| CatalogueView {
        installation: Some(InstalledView {
            id: installation.id,
            status: installation.status,
            app_status: each.status,
        }),
        ..CatalogueView::of(&each, makers.get(&each.owner_id).cloned())
    };
    paging.finish(app, found, view).await
}

/// The developers of these apps, in one round trip.
async fn makers(
    app: &App,
    apps: impl Iterator<Item = &CommerceApp>,
) -> Result<BTreeMap<MerchantId, MakerView>, Problem> {
    let owners: BTreeSet<&MerchantId> = apps.map(|each| &each.owner_id).collect();
    let keys: Vec<Key> = owners.iter().map(|owner| key::developer(owner)).collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut makers = BTreeMap::new();
    for key in &keys {
        if let Some(profile) = batch.take::<Developer>(key)? {
            makers.insert(profile.merchant_id.clone(), maker(profile));
        }
    }
    Ok(makers)
}

fn maker(profile: Developer) -> MakerView {
    MakerView { name: profile.company, verified: profile.verified, website: profile.website }
}

/// A scope, and what a merchant is told about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeView {
    scope: String,
    explanation: String,
}

/// Scopes with what merchants are told about them.
pub fn explained<'a>(scopes: impl Iterator<Item = &'a str>) -> Vec<ScopeView> {
    let explained =
        |scope: &str| ScopeView { scope: scope.to_owned(), explanation: scope::explain(scope) };
    scopes.map(explained).collect()
}

/// An approved version of an app.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppVersionView {
    version: String,
    changelog: String,
    approved_at: Option<Timestamp>,
}

/// An app on its own page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppDetailView {
    #[serde(flatten)]
    summary: CatalogueView,
    description: Option<String>,
    app_url: WebUrl,
    privacy_policy_url: Option<WebUrl>,
    support_url: Option<WebUrl>,
    scope_explanations: Vec<ScopeView>,
    approved_version: Option<String>,
    versions: Vec<AppVersionView>,
    published_at: Option<Timestamp>,
}

/// `GET /v1/app-store/apps/{id}` (`getApp`): Get a published app.
///
/// Shows a published app with what its scopes mean.
///
/// # Errors
/// `not_found`, the same for an unknown app and one that is not in the catalogue.
pub async fn show(
    _: Public,
    State(app): State<App>,
    Path(id): Path<AppId>,
) -> Result<Json<AppDetailView>, Problem> {
    let found = published(&app, &id).await?;
    let developer = key::developer(&found.owner_id);
    let submissions =
        table::Query::partition(key::app(&id).pk).begins_with(key::SUBMISSIONS).newest_first();
    let approved = |each: &Submission| each.status == SubmissionStatus::Approved;
    let (profile, submissions) = tokio::try_join!(
        app.table.get::<Developer>(&developer),
        app.table.page(&submissions, VERSIONS_SHOWN, None, approved),
    )?;
    let versions = submissions.items.into_iter().map(|each| AppVersionView {
        version: each.proposal.app_version.as_str().to_owned(),
        changelog: each.proposal.changelog,
        approved_at: each.decided_at,
    });
    let listing = found.listing.as_ref();
    let view = AppDetailView {
        description: listing.map(|listing| listing.description.clone()),
        app_url: found.app_url.clone(),
        privacy_policy_url: listing.map(|listing| listing.privacy_policy_url.clone()),
        support_url: listing.and_then(|listing| listing.support_url.clone()),
        scope_explanations: explained(found.scopes.iter()),
        approved_version: found.approved_version.clone(),
        versions: versions.collect(),
        published_at: found.published_at,
        summary: CatalogueView::of(&found, profile.map(maker)),
    };
    // No ETag: installs and reviews change the page without a new version of the app.
    Ok(Json::new(&view))
}

/// The app, if it is in the catalogue.
///
/// # Errors
/// `not_found`, the same for an unknown app and one that is not in the catalogue.
pub async fn published(app: &App, id: &AppId) -> Result<CommerceApp, Problem> {
    let found: Option<CommerceApp> = app.table.get(&key::app(id)).await?;
    found.filter(CommerceApp::is_published).ok_or_else(|| Code::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn installs_are_told_in_buckets() {
        let buckets = [0, 9, 10, 49, 50, 99, 100, 499, 500, 999, 1_000].map(bucket);
        assert_eq!(
            buckets,
            ["<10", "<10", "10+", "10+", "50+", "50+", "100+", "100+", "500+", "500+", "1000+"]
        );
    }
}
