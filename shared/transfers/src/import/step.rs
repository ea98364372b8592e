//! Steps of an import: each processes pages of rows, and saves the progress after each page.

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::ImportId;
use core_types::key;
use futures_util::FutureExt;
use http::HeaderMap;
use identity::store::{Store, StoreStatus};
use platform::authority::Standing;
use primitives::clock::{MINUTE, Timestamp};
use primitives::context::Context;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Write;
use tokio::time::Instant;

use super::file::Chunks;
use super::finding::{Finding, Findings, paged};
use super::kinds::{Done, Work};
use super::seen::Seen;
use super::sheet::{Page, Read, Sheet};
use super::{Import, ImportStatus, MAX_FINDINGS};
use crate::chunk;

/// How long one message works on an import.
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
    let Some(import) = found.filter(|import| import.status == ImportStatus::Running) else {
        return Ok(None);
    };
    let store: Option<Store> = services.table.get(&key::store(&import.store_id)).await?;
    let Some(store) = store.filter(|store| store.status != StoreStatus::Deleted) else {
        let over = import.broken(EndReason::StoreDeleted, services.clock.now());
        over.save(&import, services.table.write()).commit().await?;
        return Ok(None);
    };
    // Its writes are attributed to the principal that started it.
    let context = Context::new(&HeaderMap::new(), "", services.clock.now());
    context.identify(import.principal.clone(), Some(store.id.to_string()));
    Box::pin(context.scope(run(services, &store, import))).await
}

async fn run(
    services: &Services,
    store: &Store,
    import: Import,
) -> Result<Option<Timestamp>, Problem> {
    let whole = import.clone();
    let (mut import, mut sheet) = (import, Sheet::of(&whole, Chunks::of(services, &whole)));
    let mut seen =
        if import.dry_run { Seen::read(services, &import).await? } else { Seen::default() };
    let mut standing = Standing::of(import.authority.as_ref());
    let began = Instant::now();
    while import.status == ImportStatus::Running {
        if let Some(reason) = standing.lost(services).await? {
            let over = import.revoked(reason, services.clock.now());
            over.save(&import, services.table.write()).commit().await?;
            import = over;
            break;
        }
        if began.elapsed() >= STAY {
            return Ok(Some(services.clock.now()));
        }
        import = match sheet.page(&store.currency).await? {
            Read::Broken(findings) => broken(services, &import, findings).await?,
            Read::Page(page) => process(services, store, (&import, page), &mut seen).await?,
        };
    }
    if import.status.is_over() {
        chunk::remove(services, import.id.as_str()).await;
    }
    tracing::info!(
        import = import.id.as_str(),
        store = import.store_id.as_str(),
        kind = import.kind.as_str(),
        status = import.status.as_str(),
        created = import.counts.created,
        failed = import.counts.failed,
        "import"
    );
    Ok(None)
}

/// Ends an import after a permanent error, which admits another on the store.
///
/// # Errors
/// `version_conflict` when the import was written meanwhile; 503 when the table cannot be reached.
pub async fn give_up(services: &Services, id: &ImportId) -> Result<(), Problem> {
    let found = services.table.get::<Import>(&key::import(id)).await?;
    let Some(import) = found.filter(|import| import.status == ImportStatus::Running) else {
        return Ok(());
    };
    let over = import.broken(EndReason::InternalError, services.clock.now());
    over.save(&import, services.table.write()).commit().await?;
    chunk::remove(services, id.as_str()).await;
    Ok(())
}

/// Processes a page, and saves the progress.
async fn process(
    services: &Services,
    store: &Store,
    (import, page): (&Import, Page),
    seen: &mut Seen,
) -> Result<Import, Problem> {
    let work = Work { services, store, import };
    let outcomes = work.apply(page.records, seen).boxed().await?;
    let now = services.clock.now();
    let mut next = import.changed(now);
    let mut findings = Found::default();
    findings.add(page.warnings, FINDINGS_OF_HEADER);
    for outcome in outcomes {
        let counts = &mut next.counts;
        let count = match outcome.result {
            Done::Created => &mut counts.created,
            Done::Updated => &mut counts.updated,
            Done::Skipped => &mut counts.skipped,
            Done::Failed => &mut counts.failed,
        };
        *count = count.saturating_add(1);
        findings.add(outcome.findings, FINDINGS_OF_RECORD);
    }
    next.place = page.place;
    next.due_at = Some(now.plus(MINUTE));
    if let Some((names, count)) = page.ignored {
        (next.ignored_columns, next.ignored_columns_count) = (names, count);
    }
    if import.dry_run {
        next.seen_pages = seen.write(services, import).await?;
    }
    if page.is_last {
        next = findings.counted_in(next).read(now);
        next = Import {
            version: import.version.saturating_add(1),
            findings_count: import.findings_count,
            warnings_count: import.warnings_count,
            ..next
        };
    }
    save(services, import, next, findings).await
}

/// The findings of a page: the first of each record, the number of all, and the number of warnings.
#[derive(Debug, Default)]
struct Found {
    first: Vec<Finding>,
    count: u64,
    warnings: u64,
}

impl Found {
    fn add(&mut self, found: Vec<Finding>, most: usize) {
        let count = |found: usize| u64::try_from(found).unwrap_or(u64::MAX);
        let errors = found.iter().filter(|finding| finding.is_error()).count();
        self.count = self.count.saturating_add(count(found.len()));
        let warnings = count(found.len().saturating_sub(errors));
        self.warnings = self.warnings.saturating_add(warnings);
        self.first.extend(found.into_iter().take(most).map(Finding::cut));
    }

    /// The import with the number of its findings and warnings.
    fn counted_in(&self, import: Import) -> Import {
        Import {
            findings_count: import.findings_count.saturating_add(self.count),
            warnings_count: import.warnings_count.saturating_add(self.warnings),
            ..import
        }
    }
}

/// Ends an import whose file cannot be read any further.
async fn broken(
    services: &Services,
    import: &Import,
    found: Vec<Finding>,
) -> Result<Import, Problem> {
    let mut findings = Found::default();
    findings.add(found, FINDINGS_OF_RECORD);
    let over = Import {
        findings_count: import.findings_count,
        warnings_count: import.warnings_count,
        ..findings.counted_in(import.clone()).read(services.clock.now())
    };
    save(services, import, over, findings).await
}

/// Saves an import with its findings: both, or neither.
async fn save(
    services: &Services,
    import: &Import,
    mut next: Import,
    findings: Found,
) -> Result<Import, Problem> {
    let remaining = MAX_FINDINGS.saturating_sub(next.findings_count);
    let remaining = usize::try_from(remaining).unwrap_or(usize::MAX);
    next = findings.counted_in(next);
    let mut pages = Vec::new();
    for page in paged(findings.first.into_iter().take(remaining).collect()) {
        let number = import.findings_page(next.findings_pages);
        pages.push(Findings::page(&import.id, number, page, import.created_at));
        next.findings_pages = next.findings_pages.saturating_add(1);
    }
    let write = next.save(import, services.table.write());
    let create = |write: Write, page: &Findings| write.create(page, Code::VersionConflict);
    pages.iter().fold(write, create).commit().await?;
    Ok(next)
}
