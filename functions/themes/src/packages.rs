//! Packages: uploaded and listed by the merchant who owns the theme, with their own session.

use std::sync::Arc;

use axum::extract::State;
use callers::Merchant;
use core_types::id::{MerchantId, ThemePackageId};
use core_types::key;
use core_types::resource::{Resource, load};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Either, Json, Page};
use gateway::request::{Path, Query};
use primitives::fields::{Flag, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use shop_theme::FindingCode;
use table::item::Index;
use table::retry;
use themes::contents::Contents;
use themes::file::{File, FileRef};
use themes::finding::Finding;
use themes::manifest::Manifest;
use themes::package::{self, Package};
use themes::status::PackageStatus;
use themes::theme::{Theme, ThemeVersion};
use themes::upload::{PACKAGE_UPLOADED, PackageView, ThemePackage};

use crate::upload::Archive;

/// The options of an upload.
#[request]
#[derive(Debug)]
pub struct UploadQuery {
    /// Whether only to return the findings, without storing the package.
    #[deserr(default)]
    dry_run: Written<Flag>,
}

/// A stored package.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UploadedPackage {
    /// The package.
    package: PackageView,
}

/// The contents of a package that was validated with `dry_run` and not stored.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ValidatedPackage {
    /// Always true.
    dry_run: bool,
    /// The manifest, from `theme.json`.
    manifest: Manifest,
    /// The findings in it: warnings alone.
    findings: Vec<Finding>,
    /// Its files.
    files: Vec<FileRef>,
}

/// `POST /v1/themes/packages/upload` (`uploadThemePackage`): Upload a theme package.
///
/// Validates a package of a theme, which is a zip, and stores it.
///
/// The body is the archive, or a form with the archive as `file`. All problems are returned at once; with
/// an error, or with `dry_run=true`, nothing is stored. A slug belongs to the merchant who first uploads a
/// package with it; without a `theme.json` it is that of the theme's name, with a suffix if it is somebody
/// else's. A theme belongs to its owner, not to the stores that install it: neither access to a
/// store nor an app gives access to its packages.
///
/// # Errors
/// `invalid_package` with every finding, `version_exists`, `slug_taken`, `body_too_large`,
/// `unsupported_media_type`, `invalid_form`, `invalid_json`; `required` as a field error.
pub async fn upload(
    owner: Merchant,
    State(app): State<App>,
    Archive(zip): Archive,
    Query(query): Query<UploadQuery>,
) -> Result<Either<Created<UploadedPackage>, Json<ValidatedPackage>>, Problem> {
    let reading = tokio::task::spawn_blocking(move || (package::read_with(&zip, check), zip));
    let (reading, zip) = reading.await.map_err(Problem::internal)?;
    let findings = reading.findings;
    let Some(mut package) = reading.package else {
        let findings = serde_json::to_value(&findings).map_err(Problem::internal)?;
        let rejected = Code::InvalidPackage.with("findings", findings);
        return Err(if reading.more > 0 { rejected.with("more", reading.more) } else { rejected });
    };
    // Validated before its files are stored.
    let before = match ensure_is_new(&app, &owner.account.id, &package).await {
        Err(problem) if problem.code == Code::SlugTaken && package.is_manifest_derived => {
            package.manifest.slug = package.manifest.slug.of_owner(&owner.account.id);
            ensure_is_new(&app, &owner.account.id, &package).await?
        }
        outcome => outcome?,
    };
    if query.dry_run.0.0 {
        let files = package.files.iter().map(File::reference).collect();
        let manifest = package.manifest;
        let validated = ValidatedPackage { dry_run: true, manifest, findings, files };
        return Ok(Either::Right(Json::new(&validated)));
    }
    let contents = Contents::store(&app, &package).await?;
    let now = app.clock.now();
    let uploaded =
        ThemePackage::uploaded(&owner.account.id, &zip, &package, findings, contents, now);
    let stored = match store(&app, &uploaded, before).await {
        Err(problem) if problem.code == Code::VersionConflict => {
            let key = key::theme(uploaded.manifest.slug.as_str());
            retry(|| async { store(&app, &uploaded, app.table.get(&key).await?).await }).await
        }
        outcome => outcome,
    };
    stored.map(Either::Left)
}

/// What the files of a theme ask for in vain.
fn check(files: &[File]) -> Vec<Finding> {
    let read = files.iter().filter(|file| shop_theme::Theme::reads(&file.path)).map(|file| {
        let sha256 = file.sha256.to_string().into();
        (file.path.clone(), shop_theme::File { sha256, bytes: file.bytes.clone() })
    });
    let theme = shop_theme::Theme { files: Arc::new(read.collect()), ..Default::default() };
    let finding = |found: shop_theme::Finding| {
        let code = match found.code {
            FindingCode::UnknownTag => themes::finding::Code::TagUnknown,
            FindingCode::UnknownFilter => themes::finding::Code::FilterUnknown,
            FindingCode::MissingFile => themes::finding::Code::FileMissing,
            // JSON was validated as such.
            _ if found.path.strip_suffix(".json").is_some() => return None,
            _ => themes::finding::Code::LiquidInvalid,
        };
        Some(Finding::new(code, &found.path, found.message))
    };
    shop_theme::check(&theme).into_iter().filter_map(finding).collect()
}

/// Ensures that the package's version is new. Returns its theme, if there is one.
///
/// # Errors
/// `version_exists`, `slug_taken`.
async fn ensure_is_new(
    services: &Services,
    owner: &MerchantId,
    package: &Package,
) -> Result<Option<Theme>, Problem> {
    let Manifest { slug, version, .. } = &package.manifest;
    let (theme_key, version_key) =
        (key::theme(slug.as_str()), key::theme_version(slug.as_str(), &version.sort_key()));
    let mut found = services.table.get_many(&[&theme_key, &version_key]).await?;
    let theme: Option<Theme> = found.take(&theme_key)?;
    if theme.as_ref().is_some_and(|theme| theme.owner_id != *owner) {
        return Err(Code::SlugTaken.with("slug", slug.as_str()));
    }
    match found.take::<ThemeVersion>(&version_key)? {
        Some(_) => Err(Code::VersionExists.with("version", version.to_string())),
        None => Ok(theme),
    }
}

/// Writes the package, its version and its theme. The theme comes first in the transaction: the loser of a
/// race for its slug gets `slug_taken`, whichever version they upload.
async fn store(
    services: &Services,
    package: &ThemePackage,
    before: Option<Theme>,
) -> Result<Created<UploadedPackage>, Problem> {
    let now = services.clock.now();
    let theme = match &before {
        Some(theme) => theme.with(package, now)?,
        None => Theme::begun(package, now),
    };
    let exists = Code::VersionExists.with("version", package.manifest.version.to_string());
    let answer =
        Created::new(&UploadedPackage { package: package.view() }).version(package.revision);
    services
        .table
        .write()
        .create_or_replace(&theme, Code::VersionConflict)
        .create(&ThemeVersion::of(package, now), exists)
        .create(package, Code::VersionConflict)
        .emit(package.event(&PACKAGE_UPLOADED, now))
        .answer(answer, now)
        .await
}

/// The filter of a list of packages.
#[request]
#[derive(Debug)]
pub struct PackagesQuery {
    /// Only packages with this status.
    status: Option<PackageStatus>,
    /// Only packages of this theme.
    slug: Option<themes::manifest::Slug>,
}

/// `GET /v1/themes/packages` (`listThemePackages`): List your own theme packages.
///
/// Lists the caller's own packages, the newest first.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    owner: Merchant,
    State(app): State<App>,
    Query(query): Query<PackagesQuery>,
    paging: Paging,
) -> Result<Page<PackageView>, Problem> {
    let partition = key::theme_packages_of(&owner.account.id);
    let packages = table::Query::index(Index::Gsi5, partition).newest_first();
    let admits = |package: &ThemePackage| {
        query.status.is_none_or(|status| package.status == status)
            && query.slug.as_ref().is_none_or(|slug| package.manifest.slug == *slug)
    };
    paging.query(&app, &packages, admits, |package| package.view()).await
}

/// `GET /v1/themes/packages/{id}` (`getThemePackage`): Get a theme package and its findings.
///
/// Findings name the file and, in JSON, the pointer.
///
/// # Errors
/// `not_found`.
pub async fn get(
    owner: Merchant,
    State(app): State<App>,
    Path(id): Path<ThemePackageId>,
) -> Result<Json<PackageView>, Problem> {
    load_own(&app, &owner.account.id, &id).await.map(|package| package.to_response())
}

/// Loads a merchant's own package.
///
/// # Errors
/// `not_found`, the same for somebody else's.
pub(crate) async fn load_own(
    services: &Services,
    owner: &MerchantId,
    id: &ThemePackageId,
) -> Result<ThemePackage, Problem> {
    let found: ThemePackage = load(services, &key::theme_package(id)).await?;
    if found.owner_id == *owner { Ok(found) } else { Err(Code::NotFound.into()) }
}
