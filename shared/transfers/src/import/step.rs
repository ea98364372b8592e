//! Steps of an import: each processes pages of rows, and saves the progress after each page.

use std::collections::HashSet;
use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::ImportId;
use core_types::key;
use futures_util::FutureExt;
use http::HeaderMap;
use identity::store::{Store, StoreStatus};
use platform::authority::AuthorityCheck;
use primitives::clock::{MINUTE, Timestamp};
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Write;
use tokio::time::Instant;

use super::file::{ByteSource, Chunks};
use super::finding::{Finding, Findings, paged};
use super::kinds::{RecordResult, Work, unknown_locations};
use super::records::CellSettings;
use super::seen::SeenValues;
use super::sheet::{ReadOutcome, RecordPage, Sheet};
use super::{ImageProgress, Import, ImportStatus, MAX_FINDINGS, images};
use crate::chunk;

/// The time for which one message works on an import.
const STAY: Duration = Duration::from_secs(5);
/// The most findings of one record that are stored; further ones are only counted.
const FINDINGS_OF_RECORD: usize = 100;
/// The most findings about the columns that are stored.
const FINDINGS_OF_HEADER: usize = 200;

/// Takes the next step. Returns when the following step is due; none when the import has ended.
///
/// # Errors
/// `version_conflict` when the import was written meanwhile; 503 when the table cannot be reached.
pub async fn step(services: &Services, id: &ImportId) -> Result<Option<Timestamp>, Problem> {
    let found = services.table.get::<Import>(&key::import(id)).await?;
    let is_under_way =
        |import: &Import| import.status == ImportStatus::Running || import.is_fetching();
    let Some(import) = found.filter(is_under_way) else { return Ok(None) };
    let store: Option<Store> = services.table.get(&key::store(&import.store_id)).await?;
    let Some(store) = store.filter(|store| store.status != StoreStatus::Deleted) else {
        end(services, &import, EndReason::StoreDeleted).await?;
        return Ok(None);
    };
    // Its writes are attributed to the principal that started it.
    let context = Context::new(&HeaderMap::new(), "", services.clock.now());
    context.identify(import.principal.clone(), Some(store.id.to_string()));
    if import.is_fetching() {
        return Box::pin(context.scope(images::step(services, &store, import))).await;
    }
    Box::pin(context.scope(run(services, &store, import))).await
}

/// Ends an import early; one that is fetching images leaves the others where they are.
async fn end(services: &Services, import: &Import, reason: EndReason) -> Result<(), Problem> {
    let now = services.clock.now();
    let write = services.table.write();
    let write = if import.is_fetching() {
        write.replace(&import.without_images(now), Code::VersionConflict)
    } else {
        import.failed_permanently(reason, now).save(import, write)
    };
    write.commit().await
}

async fn run(
    services: &Services,
    store: &Store,
    import: Import,
) -> Result<Option<Timestamp>, Problem> {
    let whole = import.clone();
    let (mut import, mut sheet) = (import, Sheet::of(&whole, Chunks::of(services, &whole)));
    let mut seen = if import.dry_run {
        SeenValues::read(services, &import).await?
    } else {
        SeenValues::default()
    };
    let mut authority = AuthorityCheck::of(import.authority.as_ref());
    let settings = cell_settings(store, &import);
    let began = Instant::now();
    while import.status == ImportStatus::Running {
        if let Some(reason) = authority.revocation(services).await? {
            let ended = import.revoked(reason, services.clock.now());
            ended.save(&import, services.table.write()).commit().await?;
            import = ended;
            break;
        }
        if began.elapsed() >= STAY {
            return Ok(Some(services.clock.now()));
        }
        let read = match sheet.page(&settings).await? {
            ReadOutcome::Page(page) => at_locations(services, store, &mut sheet, page).await?,
            unreadable @ ReadOutcome::Unreadable(_) => unreadable,
        };
        import = match read {
            ReadOutcome::Unreadable(findings) => {
                end_unreadable(services, &import, findings).await?
            }
            ReadOutcome::Page(page) => process(services, store, (&import, page), &mut seen).await?,
        };
    }
    if import.status.is_over() && !import.is_fetching() {
        chunk::delete_all(services, import.id.as_str()).await;
    }
    tracing::info!(
        import = import.id.as_str(),
        store = import.store_id.as_str(),
        kind = import.kind.as_str(),
        status = import.status.as_str(),
        created = import.progress.counts.created,
        failed = import.progress.counts.failed,
        "import rows processed"
    );
    Ok(import.is_fetching().then(|| services.clock.now()))
}

/// The settings by which the cells of an import are converted.
pub(super) fn cell_settings(store: &Store, import: &Import) -> CellSettings {
    let today = store.timezone.day(import.started_at.unwrap_or(import.created_at));
    CellSettings { currency: store.currency.clone(), today }
}

/// The page of the header of a file with a column for each location, without those that the store does not
/// have: each is a finding. Without any known location, the file cannot be read.
async fn at_locations<S: ByteSource>(
    services: &Services,
    store: &Store,
    sheet: &mut Sheet<S>,
    mut page: RecordPage,
) -> Result<ReadOutcome, Problem> {
    if page.locations.is_empty() {
        return Ok(ReadOutcome::Page(page));
    }
    let mut unknown = unknown_locations(services, store, &page.locations).await?;
    let is_none_known = unknown.len() == page.locations.len();
    let mut seen = HashSet::new();
    unknown.retain(|name| seen.insert(name.clone()));
    let row = page.place.row.saturating_sub(1);
    let finding = |name: &String| {
        let detail = "There is no such location. Its quantities are not imported.";
        Finding::error((row, Some(name)), "unknown_location", detail)
    };
    let findings: Vec<Finding> = unknown.iter().map(finding).collect();
    if is_none_known {
        return Ok(ReadOutcome::Unreadable(findings));
    }
    sheet.leave_out(&unknown, &mut page);
    // Before the warnings, of which only the first ones are stored.
    page.warnings.splice(0..0, findings);
    Ok(ReadOutcome::Page(page))
}

/// Ends an import after a permanent error, which admits another on the store.
///
/// # Errors
/// `version_conflict` when the import was written meanwhile; 503 when the table cannot be reached.
pub async fn fail(services: &Services, id: &ImportId) -> Result<(), Problem> {
    let found = services.table.get::<Import>(&key::import(id)).await?;
    let is_under_way =
        |import: &Import| import.status == ImportStatus::Running || import.is_fetching();
    let Some(import) = found.filter(is_under_way) else { return Ok(()) };
    end(services, &import, EndReason::InternalError).await?;
    chunk::delete_all(services, id.as_str()).await;
    Ok(())
}

/// Processes a page, and saves the progress.
async fn process(
    services: &Services,
    store: &Store,
    (import, page): (&Import, RecordPage),
    seen: &mut SeenValues,
) -> Result<Import, Problem> {
    let work = Work { services, store, import };
    let has_images: Vec<bool> = page.records.iter().map(images::has_images).collect();
    let outcomes = work.apply(page.records, seen).boxed().await?;
    let now = services.clock.now();
    let mut next = import.changed(now);
    let mut findings = PageFindings::default();
    findings.add(page.warnings, FINDINGS_OF_HEADER);
    for (outcome, has_images) in outcomes.into_iter().zip(has_images) {
        let is_written = matches!(outcome.result, RecordResult::Created | RecordResult::Updated);
        if has_images && is_written && !import.dry_run {
            next.progress.images.get_or_insert_with(ImageProgress::begin);
        }
        let counts = &mut next.progress.counts;
        let count = match outcome.result {
            RecordResult::Created => &mut counts.created,
            RecordResult::Updated => &mut counts.updated,
            RecordResult::Skipped => &mut counts.skipped,
            RecordResult::Failed => &mut counts.failed,
        };
        *count = count.saturating_add(1);
        findings.add(outcome.findings, FINDINGS_OF_RECORD);
    }
    next.progress.place = page.place;
    next.due_at = Some(now.plus(MINUTE));
    if let Some((names, count)) = page.ignored {
        (next.progress.ignored_columns, next.progress.ignored_columns_count) = (names, count);
    }
    if import.dry_run {
        next.progress.seen_pages = seen.write(services, import).await?;
    }
    if page.is_last {
        let read = findings.counted_in(next).read(now);
        next = Import { version: import.version.saturating_add(1), ..uncounted(read, import) };
    }
    save(services, import, next, findings).await
}

/// The findings of a page: the first of each record, the number of all, and the number of warnings.
#[derive(Debug, Default)]
pub(super) struct PageFindings {
    first: Vec<Finding>,
    count: u64,
    warnings: u64,
}

impl PageFindings {
    fn add(&mut self, found: Vec<Finding>, most: usize) {
        let count = |found: usize| u64::try_from(found).unwrap_or(u64::MAX);
        let errors = found.iter().filter(|finding| finding.is_error()).count();
        self.count = self.count.saturating_add(count(found.len()));
        let warnings = count(found.len().saturating_sub(errors));
        self.warnings = self.warnings.saturating_add(warnings);
        self.first.extend(found.into_iter().take(most).map(Finding::cut));
    }

    /// The import with the number of its findings and warnings.
    fn counted_in(&self, mut import: Import) -> Import {
        let progress = &mut import.progress;
        progress.findings_count = progress.findings_count.saturating_add(self.count);
        progress.warnings_count = progress.warnings_count.saturating_add(self.warnings);
        import
    }
}

/// Adds findings about a record.
pub(super) fn add(found: &mut PageFindings, findings: Vec<Finding>) {
    found.add(findings, FINDINGS_OF_RECORD);
}

/// Ends an import whose file cannot be read any further.
async fn end_unreadable(
    services: &Services,
    import: &Import,
    found: Vec<Finding>,
) -> Result<Import, Problem> {
    let mut findings = PageFindings::default();
    findings.add(found, FINDINGS_OF_RECORD);
    let read = findings.counted_in(import.clone()).read(services.clock.now());
    save(services, import, uncounted(read, import), findings).await
}

/// The import with the findings of `before`: [`save`] counts those of the page.
fn uncounted(mut import: Import, before: &Import) -> Import {
    import.progress.findings_count = before.progress.findings_count;
    import.progress.warnings_count = before.progress.warnings_count;
    import
}

/// Saves an import with its findings: both, or neither.
async fn save(
    services: &Services,
    import: &Import,
    next: Import,
    findings: PageFindings,
) -> Result<Import, Problem> {
    let (next, pages) = with_findings(import, next, findings);
    let write = next.save(import, services.table.write());
    create(write, &pages).commit().await?;
    Ok(next)
}

/// Saves the progress of an ended import, with its findings.
///
/// # Errors
/// `version_conflict`; 503.
pub(super) async fn save_progress(
    services: &Services,
    import: &Import,
    next: Import,
    findings: PageFindings,
) -> Result<(), Problem> {
    let (next, pages) = with_findings(import, next, findings);
    let write = services.table.write().replace(&next, Code::VersionConflict);
    create(write, &pages).commit().await
}

fn create(write: Write, pages: &[Findings]) -> Write {
    pages.iter().fold(write, |write, page| write.create(page, Code::VersionConflict))
}

/// The import with the number of its findings, and the pages that have them.
fn with_findings(
    import: &Import,
    mut next: Import,
    findings: PageFindings,
) -> (Import, Vec<Findings>) {
    let remaining = MAX_FINDINGS.saturating_sub(next.progress.findings_count);
    let remaining = usize::try_from(remaining).unwrap_or(usize::MAX);
    next = findings.counted_in(next);
    let mut pages = Vec::new();
    for page in paged(findings.first.into_iter().take(remaining).collect()) {
        let number = import.findings_page(next.progress.findings_pages);
        pages.push(Findings::page(&import.id, number, page, import.created_at));
        next.progress.findings_pages = next.progress.findings_pages.saturating_add(1);
    }
    (next, pages)
}
