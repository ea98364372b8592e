//! Submissions of packages to the catalogue, and operators' decisions.

use axum::extract::State;
use callers::{Developer, Operator};
use core_types::fields::WebUrl;
use core_types::id::{StoreId, ThemePackageId};
use core_types::key;
use core_types::resource::{Resource, load};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Accepted, Json, Page};
use gateway::request::{Body, IfMatch, Path, Ruled};
use identity::member::Role;
use identity::store::{Store, StoreStatus};
use platform::review::{DecisionRequest, RejectionRequest};
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use services::Services;
use table::item::Index;
use table::{Write, retry};
use themes::status::{PackageAction, PackageStatus};
use themes::theme::{Offer, Theme, ThemeVersion};
use themes::upload::{
    Listing, PACKAGE_APPROVED, PACKAGE_REJECTED, PACKAGE_SUBMITTED, PACKAGE_WITHDRAWN, PackageView,
    ThemePackage,
};

use crate::packages::load_own;

/// The maximum number of preview images of a theme.
const MAX_IMAGES: usize = 10;
/// The page size of the search for the newest published version.
const VERSIONS_PER_PAGE: usize = 100;

/// The details of a submission, in addition to the package's manifest.
#[request]
#[derive(Debug, Clone)]
pub struct SubmitRequest {
    /// Images of storefronts with the theme.
    preview_images: Option<AtMost<WebUrl, MAX_IMAGES>>,
    /// The developer's store that receives payments; required for a paid theme.
    seller_store_id: Option<StoreId>,
    /// The changes in this version.
    changelog: Option<Text<1, 5000>>,
}

/// `POST /v1/themes/packages/{id}/submit` (`submitThemePackage`): Submit a theme package for the catalogue.
///
/// A paid theme needs a store of the developer's own, which receives payments through its account with a
/// payment provider.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `account_disabled`, `precondition_failed`; `required` and
/// `store_not_found` as field errors.
pub async fn submit(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<ThemePackageId>,
    if_match: IfMatch,
    Body(input): Body<SubmitRequest>,
) -> Result<Accepted<PackageView>, Problem> {
    developer.profile.ensure_may_publish()?;
    let listing = Listing {
        preview_images: input.preview_images.map(|images| images.0).unwrap_or_default(),
        seller_store_id: input.seller_store_id,
        changelog: input.changelog.map(String::from),
    };
    retry(|| async {
        let now = app.clock.now();
        let before = load_own(&app, &developer.account.id, &id).await?;
        if_match.check(before.revision)?;
        let after = before.submit(listing.clone(), now)?;
        ensure_seller(&app, &developer, &after, &listing).await?;
        save(app.table.write(), &after)
            .emit(after.event(&PACKAGE_SUBMITTED, now))
            .answer(Accepted::new(&after.view()).version(after.revision), now)
            .await
    })
    .await
}

/// Ensures that a paid theme has a seller's store, and that the developer owns it.
async fn ensure_seller(
    services: &Services,
    developer: &Developer,
    package: &ThemePackage,
    listing: &Listing,
) -> Result<(), Problem> {
    let violation = |code, detail: &'static str| Problem::field("/seller_store_id", code, detail);
    let Some(id) = &listing.seller_store_id else {
        return match package.manifest.price {
            Some(_) => {
                let detail =
                    "Required for a theme with a price: the store that receives the payments.";
                Err(violation("required", detail))
            }
            None => Ok(()),
        };
    };
    let store: Option<Store> = services.table.get(&key::store(id)).await?;
    let is_own = |store: &Store| {
        let grant = developer.account.grant_on(store);
        grant.is_some_and(|grant| grant.role == Role::Owner) && store.status != StoreStatus::Deleted
    };
    if store.as_ref().is_some_and(is_own) {
        return Ok(());
    }
    Err(violation("store_not_found", "You own no such store."))
}

fn save(write: Write, after: &ThemePackage) -> Write {
    write.replace(after, Code::VersionConflict)
}

/// `POST /v1/themes/packages/{id}/withdraw` (`withdrawThemePackage`): Withdraw a theme package.
///
/// Withdraws a package from the queue or the catalogue. Stores that have installed it keep it.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn withdraw(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<ThemePackageId>,
    if_match: IfMatch,
) -> Result<Accepted<PackageView>, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let before = load_own(&app, &developer.account.id, &id).await?;
        if_match.check(before.revision)?;
        let after = before.withdraw(now)?;
        let write = save(app.table.write(), &after);
        let write = if before.status == PackageStatus::Published {
            unlist(&app, write, &after, now).await?
        } else {
            write
        };
        write
            .emit(after.event(&PACKAGE_WITHDRAWN, now))
            .answer(Accepted::new(&after.view()).version(after.revision), now)
            .await
    })
    .await
}

/// Adds the removal of a package's version from the catalogue, which then offers the newest remaining one.
async fn unlist(
    services: &Services,
    write: Write,
    package: &ThemePackage,
    now: Timestamp,
) -> Result<Write, Problem> {
    let (theme, version) = theme_and_version(services, package).await?;
    let left = newest_listed(services, &theme, &version).await?;
    let theme = theme.without(&package.manifest.version, left, now);
    Ok(write
        .replace(&theme, Code::VersionConflict)
        .replace(&version.listed(false, None, now), Code::VersionConflict))
}

/// Loads the newest version in the catalogue other than this one.
async fn newest_listed(
    services: &Services,
    theme: &Theme,
    but: &ThemeVersion,
) -> Result<Option<Offer>, Problem> {
    let query = table::Query::partition(key::theme(theme.slug.as_str()).pk)
        .begins_with(key::THEME_VERSIONS)
        .newest_first()
        .with_scan_limit(VERSIONS_PER_PAGE, 20)
        .without_read_limit();
    let listed = |other: &ThemeVersion| other.published && other.offer != but.offer;
    let mut found = services.table.page(&query, 1, None, listed).await?;
    Ok(found.items.pop().map(|version| version.offer.into()))
}

async fn theme_and_version(
    services: &Services,
    package: &ThemePackage,
) -> Result<(Theme, ThemeVersion), Problem> {
    let (slug, version) = (&package.manifest.slug, &package.manifest.version);
    let theme_key = key::theme(slug.as_str());
    let version_key = key::theme_version(slug.as_str(), &version.sort_key());
    let mut found = services.table.get_many(&[&theme_key, &version_key]).await?;
    let pair = found.take(&theme_key)?.zip(found.take(&version_key)?);
    pair.ok_or_else(|| Problem::internal("the theme of a package is missing"))
}

/// `GET /v1/themes/packages/submissions` (`listThemeSubmissions`): List theme packages in the review queue.
///
/// Lists submitted packages, the oldest first. Only operators can list them.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list_all(
    _: Operator,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<PackageView>, Problem> {
    let query = table::Query::index(Index::Gsi6, key::THEME_PACKAGES_SUBMITTED);
    // The index is eventually consistent: packages that were decided meanwhile are skipped.
    let waits = |package: &ThemePackage| package.status == PackageStatus::Submitted;
    paging.query(&app, &query, waits, |package| package.view()).await
}

/// `POST /v1/themes/packages/{id}/approve` (`approveThemePackage`): Approve a theme package.
///
/// Publishes a package in the catalogue: every store can install it.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn approve(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<ThemePackageId>,
    if_match: IfMatch,
    Body(input): Body<DecisionRequest>,
) -> Result<Json<PackageView>, Problem> {
    let notes = input.notes();
    retry(|| async {
        let now = app.clock.now();
        let before: ThemePackage = load(&app, &key::theme_package(&id)).await?;
        if_match.check(before.revision)?;
        let by = &operator.account.id;
        let after = before.decide(PackageAction::Approve, notes.clone(), by, now)?;
        let (theme, version) = theme_and_version(&app, &after).await?;
        let listing = after.listing.clone().unwrap_or_default();
        let theme = theme.accepted(&after, &listing, now);
        save(app.table.write(), &after)
            .replace(&theme, Code::VersionConflict)
            .replace(&version.listed(true, listing.changelog, now), Code::VersionConflict)
            .emit(after.event(&PACKAGE_APPROVED, now))
            .answer(after.to_response(), now)
            .await
    })
    .await
}

/// `POST /v1/themes/packages/{id}/reject` (`rejectThemePackage`): Reject a theme package with reasons.
///
/// The reasons are returned to the owner with the package.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn reject(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<ThemePackageId>,
    if_match: IfMatch,
    Ruled(Body(input)): Ruled<Body<RejectionRequest>>,
) -> Result<Json<PackageView>, Problem> {
    let notes = input.notes();
    retry(|| async {
        let now = app.clock.now();
        let before: ThemePackage = load(&app, &key::theme_package(&id)).await?;
        if_match.check(before.revision)?;
        let by = &operator.account.id;
        let after = before.decide(PackageAction::Reject, notes.clone(), by, now)?;
        save(app.table.write(), &after)
            .emit(after.event(&PACKAGE_REJECTED, now))
            .answer(after.to_response(), now)
            .await
    })
    .await
}
