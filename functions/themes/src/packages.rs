//! Packages: uploaded and inspected by the merchant who makes the theme, with a session of their own.

use axum::extract::State;
use core_types::id::{MerchantId, ThemePackageId};
use core_types::key;
use core_types::resource::{Resource, load};
use gateway::app::App;
use table::item::Index;
use gateway::page::Paging;
use primitives::problem::{Code, Problem};
use gateway::reply::{Created, Either, Json, Page};
use primitives::fields::{Flag, Written};
use gateway::request::{Path, Query, request};
use table::retry;
use platform::caller::Merchant;
use schemars::JsonSchema;
use serde::Serialize;
use themes::contents::Contents;
use themes::file::FileRef;
use themes::finding::Finding;
use themes::manifest::Manifest;
use themes::package::{self, Package};
use themes::status::PackageStatus;
use themes::theme::{Theme, ThemeVersion};
use themes::upload::{PACKAGE_UPLOADED, PackageView, ThemePackage};

use crate::upload::Archive;

/// How to take a package.
#[request]
#[derive(Debug)]
pub struct UploadQuery {
    /// Only says what is found in it.
    #[deserr(default)]
    dry_run: Written<Flag>,
}

/// A package, taken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UploadedPackage {
    /// The package.
    package: PackageView,
}

/// What is in a package that is not taken, because it was only asked about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ValidatedPackage {
    /// Always true.
    dry_run: bool,
    /// What its `theme.json` says.
    manifest: Manifest,
    /// What was found in it: nothing that keeps it from being taken.
    findings: Vec<Finding>,
    /// Its files.
    files: Vec<FileRef>,
}

/// `POST /v1/themes/packages/upload` (`uploadThemePackage`): Upload a theme package.
///
/// Takes a package of a theme, which is a zip.
///
/// The body is the archive, or a form with the archive as `file`. Everything that is wrong with it is
/// named at once, and then nothing is written. With `dry_run=true` nothing is written either way. A
/// slug is the merchant's who uploads a package of it first. A theme is its owner's, on whichever stores it is
/// installed: no access to a store, and no app, reaches it.
///
/// # Errors
/// `invalid_package` with every finding, `version_exists`, `slug_taken`, `body_too_large`,
/// `unsupported_media_type`, `invalid_form`, `invalid_json`; `required` as a fault of its field.
pub async fn upload(
    owner: Merchant,
    State(app): State<App>,
    Archive(zip): Archive,
    Query(asked): Query<UploadQuery>,
) -> Result<Either<Created<UploadedPackage>, Json<ValidatedPackage>>, Problem> {
    let reading = package::read(&zip);
    let findings = reading.findings;
    let Some(package) = reading.package else {
        let shown = serde_json::to_value(&findings).map_err(Problem::internal)?;
        let rejected = Code::InvalidPackage.with("findings", shown);
        return Err(if reading.more > 0 { rejected.with("more", reading.more) } else { rejected });
    };
    // Before anything is kept for it.
    let before = check_is_new(&app, &owner.account.id, &package).await?;
    if asked.dry_run.0.0 {
        let files = package.files.iter().map(themes::file::File::reference).collect();
        let manifest = package.manifest;
        let validated = ValidatedPackage { dry_run: true, manifest, findings, files };
        return Ok(Either::Right(Json::new(&validated)));
    }
    let contents = Contents::keep(&app, &package).await?;
    let now = app.clock.now();
    let made = ThemePackage::uploaded(&owner.account.id, &zip, &package, findings, contents, now);
    let taken = match take(&app, &made, before).await {
        Err(problem) if problem.code == Code::VersionConflict => {
            let key = key::theme(made.manifest.slug.as_str());
            retry(|| async { take(&app, &made, app.table.get(&key).await?).await }).await
        }
        outcome => outcome,
    };
    taken.map(Either::Left)
}

/// The theme that the package is of, if there is one.
///
/// # Errors
/// `version_exists`, `slug_taken`.
async fn check_is_new(
    app: &App,
    owner: &MerchantId,
    package: &Package,
) -> Result<Option<Theme>, Problem> {
    let Manifest { slug, version, .. } = &package.manifest;
    let (theme_key, version_key) =
        (key::theme(slug.as_str()), key::theme_version(slug.as_str(), &version.sort_key()));
    let mut found = app.table.get_many(&[&theme_key, &version_key]).await?;
    let theme: Option<Theme> = found.take(&theme_key)?;
    if theme.as_ref().is_some_and(|theme| theme.owner_id != *owner) {
        return Err(Code::SlugTaken.with("slug", slug.as_str()));
    }
    match found.take::<ThemeVersion>(&version_key)? {
        Some(_) => Err(Code::VersionExists.with("version", version.to_string())),
        None => Ok(theme),
    }
}

/// Writes the package, its version and its theme. The theme comes first: who loses a race for its slug
/// is told of that, whichever version they have.
async fn take(
    app: &App,
    made: &ThemePackage,
    before: Option<Theme>,
) -> Result<Created<UploadedPackage>, Problem> {
    let now = app.clock.now();
    let theme = match &before {
        Some(theme) => theme.with(made, now)?,
        None => Theme::begun(made, now),
    };
    let exists = Code::VersionExists.with("version", made.manifest.version.to_string());
    let answer = Created::new(&UploadedPackage { package: made.view() }).version(made.revision);
    app.table
        .write()
        .create_or_replace(&theme, Code::VersionConflict)
        .create(&ThemeVersion::of(made, now), exists)
        .create(made, Code::VersionConflict)
        .emit(made.event(&PACKAGE_UPLOADED, now))
        .answer(answer, now)
        .await
}

/// Which packages.
#[request]
#[derive(Debug)]
pub struct PackagesQuery {
    /// Only this status.
    status: Option<PackageStatus>,
    /// Only of this theme.
    slug: Option<themes::manifest::Slug>,
}

/// `GET /v1/themes/packages` (`listThemePackages`): List your own theme packages.
///
/// Lists the caller's own packages, the newest first.
pub async fn list(
    owner: Merchant,
    State(app): State<App>,
    Query(asked): Query<PackagesQuery>,
    paging: Paging,
) -> Result<Page<PackageView>, Problem> {
    let partition = key::theme_packages_of(&owner.account.id);
    let query = table::Query::index(Index::Gsi5, partition).newest_first();
    let admits = |package: &ThemePackage| {
        asked.status.is_none_or(|status| package.status == status)
            && asked.slug.as_ref().is_none_or(|slug| package.manifest.slug == *slug)
    };
    paging.answer(&app, &query, admits, |package| package.view()).await
}

/// `GET /v1/themes/packages/{id}` (`getThemePackage`): Get a theme package and its findings.
///
/// Findings name the file and the line.
///
/// # Errors
/// `not_found`.
pub async fn show(
    owner: Merchant,
    State(app): State<App>,
    Path(id): Path<ThemePackageId>,
) -> Result<Json<PackageView>, Problem> {
    own(&app, &owner.account.id, &id).await.map(|package| package.to_response())
}

/// A package of a merchant's.
///
/// # Errors
/// `not_found`, the same for somebody else's.
pub(crate) async fn own(
    app: &App,
    owner: &MerchantId,
    id: &ThemePackageId,
) -> Result<ThemePackage, Problem> {
    let found: ThemePackage = load(app, &key::theme_package(id)).await?;
    if found.owner_id == *owner { Ok(found) } else { Err(Code::NotFound.into()) }
}
