//! The catalogue: the apps that merchants can install, and those that a store has installed.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use callers::{AnyMember, IfInstalled, MemberOrPublic};
use core_types::fields::WebUrl;
use core_types::fold::fold;
use core_types::id::{AppId, InstallationId, MerchantId};
use core_types::key;
use core_types::rating::Rating;
use core_types::scope;
use gateway::app::App;
use gateway::caller::Public;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Path, Query};
use platform::app::{AppStatus, Category, CommerceApp};
use platform::developer::Developer;
use platform::installation::{Installation, InstallationStatus};
use platform::submission::{Submission, SubmissionStatus};
use primitives::clock::Timestamp;
use primitives::fields::{Flag, Text, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::{Index, Key};

/// Approved versions in the response of an app, the newest first (our choice).
const VERSIONS_SHOWN: usize = 10;

primitives::string_enum! {
    /// The order of the catalogue. There is one, because one index serves it.
    CatalogueSort {
        /// By category, then by slug.
        Category = "category",
    }
}

/// Filters of the catalogue.
#[request]
#[derive(Debug)]
pub struct CatalogueQuery {
    /// Only apps of this category.
    category: Option<Category>,
    /// Only apps whose name, tagline or slug contains this text, ignoring case.
    q: Option<Text<1, 100>>,
    /// The order of the catalogue: `category` is the only one. The apps of a store have no particular order.
    #[expect(dead_code, reason = "there is one order, which needs no choosing")]
    sort: Option<CatalogueSort>,
    /// `true` for the apps that the store has installed. It requires a member of the store.
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
                let q = fold(q.as_str());
                let tagline = listing.map(|listing| listing.tagline.as_str());
                [Some(app.name.as_str()), Some(app.slug.as_str()), tagline]
                    .into_iter()
                    .flatten()
                    .any(|text| fold(text).contains(&q))
            })
    }
}

/// The developer of an app, as merchants see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "DeveloperSummary")]
pub struct DeveloperSummary {
    /// The company, or the person's name.
    name: String,
    /// Whether the platform has verified the developer.
    verified: bool,
    /// The developer's website.
    website: Option<WebUrl>,
}

core_types::view! {
    /// An app of the catalogue.
    CatalogueView of (app: CommerceApp, developer: Option<DeveloperSummary>) {
        /// The id.
        id: AppId,
        /// The readable name in URLs.
        slug: String = app.slug.as_str().to_owned(),
        /// The name.
        name: String,
        /// The app's purpose in one sentence.
        tagline: Option<String> = app.listing.as_ref().map(|listing| listing.tagline.clone()),
        /// The category of the catalogue.
        category: Option<Category> = app.listing.as_ref().map(|listing| listing.category),
        /// The developer of the app.
        developer: Option<DeveloperSummary> = developer,
        /// The URL of the icon.
        icon: Option<WebUrl> = app.listing.as_ref().and_then(|listing| listing.icon_url.clone()),
        /// The scopes that the app may request.
        scopes: Vec<String> = app.scopes.to_vec(),
        /// The price, in the developer's words.
        pricing: Option<String> = app.listing.as_ref().map(|listing| listing.pricing.clone()),
        /// The average rating and the number of reviews.
        rating: Rating = app.rating(),
        /// Roughly how many stores use it: `<10`, `10+`, `50+`, `100+`, `500+` or `1000+`.
        installs_bucket: &'static str = bucket(app.active_installs),
        /// Whether the app runs inside the admin.
        embedded: bool,
        /// The store's installation; only in a list with `installed=true`.
        #[serde(skip_serializing_if = "Option::is_none")]
        installation: Option<InstalledView> = None,
        /// When the app was created.
        created_at: Timestamp,
        /// When the app last changed, without reviews and installations.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}

/// A store's installation of an app.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "InstalledApp")]
pub struct InstalledView {
    /// The id of the installation.
    id: InstallationId,
    /// The status of the installation.
    status: InstallationStatus,
    /// The status of the app itself. A suspended app cannot act on any store.
    app_status: AppStatus,
}

/// The bucket of a number of stores: only an app's developer sees the exact number (our choice).
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
/// The published apps come sorted by category and slug. With `installed=true`, a member of a store gets the
/// apps that the store has installed instead, in no particular order. Those include pending and suspended
/// installations, and apps that have left the catalogue.
///
/// # Errors
/// `invalid_cursor`, `unauthenticated`, `invalid_token`, `account_disabled`, `origin_not_allowed`, `store_required`,
/// `store_not_found` with `installed=true`.
pub async fn list(
    visitor: MemberOrPublic<IfInstalled>,
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
    let developers = developers(&app, found.items.iter()).await?;
    let view =
        |each: CommerceApp| CatalogueView::of(&each, developers.get(&each.owner_id).cloned());
    paging.finish(&app, found, view).await
}

/// Lists the apps that the store has installed, including those that have left the catalogue.
async fn installed(
    member: &AnyMember,
    services: &Services,
    query: &CatalogueQuery,
    paging: Paging,
) -> Result<Page<CatalogueView>, Problem> {
    let wanted = table::Query::index(Index::Gsi5, key::installations_on(&member.store.id));
    let present = |each: &Installation| each.status != InstallationStatus::Uninstalled;
    let found = paging.read::<Installation>(services, &wanted, present).await?;
    let keys: Vec<Key> = found.items.iter().map(|each| key::app(&each.app_id)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut apps = Vec::new();
    for key in &keys {
        apps.extend(batch.take::<CommerceApp>(key)?.filter(|each| query.admits(each)));
    }
    let found = found.filter_map(|installation| {
        let index = apps.iter().position(|each| each.id == installation.app_id)?;
        Some((installation, apps.swap_remove(index)))
    });
    let developers = developers(services, found.items.iter().map(|(_, each)| each)).await?;
    let view = |(installation, each): (Installation, CommerceApp)| CatalogueView {
        installation: Some(InstalledView {
            id: installation.id,
            status: installation.status,
            app_status: each.status,
        }),
        ..CatalogueView::of(&each, developers.get(&each.owner_id).cloned())
    };
    paging.finish(services, found, view).await
}

/// Loads the developers of these apps, in one round trip.
async fn developers(
    services: &Services,
    apps: impl Iterator<Item = &CommerceApp>,
) -> Result<BTreeMap<MerchantId, DeveloperSummary>, Problem> {
    let owners: BTreeSet<&MerchantId> = apps.map(|each| &each.owner_id).collect();
    let keys: Vec<Key> = owners.iter().map(|owner| key::developer(owner)).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut developers = BTreeMap::new();
    for key in &keys {
        if let Some(profile) = batch.take::<Developer>(key)? {
            developers.insert(profile.merchant_id.clone(), developer_summary(profile));
        }
    }
    Ok(developers)
}

fn developer_summary(profile: Developer) -> DeveloperSummary {
    DeveloperSummary { name: profile.company, verified: profile.verified, website: profile.website }
}

/// A scope with its explanation for merchants.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeView {
    /// The scope, like `read_orders`.
    scope: String,
    /// An explanation of the scope in one sentence.
    explanation: String,
}

/// Scopes with their explanations for merchants.
pub fn explained<'a>(scopes: impl Iterator<Item = &'a str>) -> Vec<ScopeView> {
    let explained =
        |scope: &str| ScopeView { scope: scope.to_owned(), explanation: scope::explain(scope) };
    scopes.map(explained).collect()
}

/// An approved version of an app.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppVersionView {
    /// The version number (Semantic Versioning).
    version: String,
    /// The changes of this version, for merchants.
    changelog: String,
    /// When an operator approved it.
    approved_at: Option<Timestamp>,
}

/// A published app in full.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppDetailView {
    #[serde(flatten)]
    summary: CatalogueView,
    /// The description of the app.
    description: Option<String>,
    /// The URL at which the app runs.
    app_url: WebUrl,
    /// The URL of the privacy policy.
    privacy_policy_url: Option<WebUrl>,
    /// The URL at which merchants get support.
    support_url: Option<WebUrl>,
    /// The scopes that the app may request, with their explanations.
    scope_explanations: Vec<ScopeView>,
    /// The version that was approved last.
    approved_version: Option<String>,
    /// The latest approved versions, at most ten, the newest first.
    versions: Vec<AppVersionView>,
    /// When the app last entered the catalogue.
    published_at: Option<Timestamp>,
}

/// `GET /v1/app-store/apps/{id}` (`getApp`): Get a published app.
///
/// The response adds to the entry of the list: the description, the URLs, an explanation of each scope, and
/// the latest ten approved versions with their changelogs.
///
/// # Errors
/// `not_found`, both for an unknown app and for one that is not in the catalogue.
pub async fn get(
    _: Public,
    State(app): State<App>,
    Path(id): Path<AppId>,
) -> Result<Json<AppDetailView>, Problem> {
    let found = load_published(&app, &id).await?;
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
        summary: CatalogueView::of(&found, profile.map(developer_summary)),
    };
    // No ETag: installs and reviews change the response without a new version of the app.
    Ok(Json::new(&view))
}

/// Loads the app, if it is in the catalogue.
///
/// # Errors
/// `not_found`, both for an unknown app and for one that is not in the catalogue.
pub async fn load_published(services: &Services, id: &AppId) -> Result<CommerceApp, Problem> {
    let found: Option<CommerceApp> = services.table.get(&key::app(id)).await?;
    found.filter(CommerceApp::is_published).ok_or_else(|| Code::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn installs_are_returned_in_buckets() {
        let buckets = [0, 9, 10, 49, 50, 99, 100, 499, 500, 999, 1_000].map(bucket);
        assert_eq!(
            buckets,
            ["<10", "<10", "10+", "10+", "50+", "50+", "100+", "100+", "500+", "500+", "1000+"]
        );
    }
}
