//! Steps of an export: each reads some pages and writes them as chunks of the file.

use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::{ExportId, StoreId};
use core_types::key;
use delivery::run::RunMessage;
use platform::authority::AuthorityCheck;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use serde::Serialize;
use services::Services;
use tokio::time::Instant;

use super::{
    Export, ExportKind, ExportStatus, columns, customers, movements, orders, pages, products, stock,
};
use crate::FileFormat;
use crate::chunk::{self, CHUNK, FileChunk};
use crate::unfinished;

/// The time for which one message works on an export.
const STAY: Duration = Duration::from_secs(5);
/// The output of some pages.
#[derive(Debug, Default)]
pub(super) struct ExportOutput {
    bytes: Vec<u8>,
    done: u64,
    rows: u64,
}

impl ExportOutput {
    /// Adds one object, as rows or as a JSON line.
    pub(super) fn add(
        &mut self,
        format: FileFormat,
        rows: impl FnOnce() -> Vec<Vec<String>>,
        line: &impl Serialize,
    ) {
        self.done = self.done.saturating_add(1);
        match format {
            FileFormat::Csv => {
                let rows = rows();
                let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
                self.rows = self.rows.saturating_add(count);
                self.bytes.extend(crate::csv::rows(&rows));
            }
            FileFormat::Jsonl => self.line(line),
        }
    }

    fn line(&mut self, line: &impl Serialize) {
        self.rows = self.rows.saturating_add(1);
        self.bytes.extend(serde_json::to_vec(line).unwrap_or_default());
        self.bytes.push(b'\n');
    }

    /// Adds one object as a JSON line.
    pub(super) fn add_line(&mut self, line: &impl Serialize) {
        self.done = self.done.saturating_add(1);
        self.line(line);
    }
}

/// Takes the next step. Returns when the following step is due; none when the export has ended.
///
/// # Errors
/// `version_conflict` when the export was written meanwhile; 503 when the table cannot be reached.
pub async fn step(services: &Services, id: &ExportId) -> Result<Option<Timestamp>, Problem> {
    let found = services.table.get::<Export>(&key::export(id)).await?;
    let Some(mut export) = found.filter(|export| !export.status.is_over()) else {
        return Ok(None);
    };
    if export.status == ExportStatus::Queued && is_behind_another(services, &export).await? {
        return Ok(None);
    }
    let mut authority = AuthorityCheck::of(export.authority.as_ref());
    let began = Instant::now();
    while !export.status.is_over() {
        if began.elapsed() >= STAY {
            return Ok(Some(services.clock.now()));
        }
        export = match advance(services, &export, &mut authority).await? {
            Ok(next) => next,
            Err(reason) => end(services, &export, ExportStatus::Cancelled, reason).await?,
        };
    }
    tracing::info!(
        export = id.as_str(),
        store = export.store_id.as_str(),
        kind = export.kind.as_str(),
        done = export.done,
        rows = export.rows,
        "export ended"
    );
    start_next(services, &export.store_id).await;
    Ok(None)
}

/// Whether an export waits for an earlier one of its store: they are written one after the other, so that a
/// store holds one worker with them.
async fn is_behind_another(services: &Services, export: &Export) -> Result<bool, Problem> {
    let unfinished = unfinished::of_store::<Export>(services, &export.store_id).await?;
    if unfinished.iter().take_while(|other| other.id != export.id).next().is_none() {
        return Ok(false);
    }
    let now = services.clock.now();
    if export.due_at.is_some_and(|at| at <= now) {
        export.waiting(now).save(services.table.write()).commit().await?;
    }
    Ok(true)
}

/// Sends the message of the store's next export. A failure is only logged: the sweep finds the export.
pub async fn start_next(services: &Services, store: &StoreId) {
    match unfinished::of_store::<Export>(services, store).await {
        Ok(unfinished) => {
            if let Some(next) = unfinished.into_iter().next() {
                RunMessage::Export { id: next.id }.send(services, Duration::ZERO).await;
            }
        }
        Err(problem) => {
            tracing::warn!(
                cause = %problem, store = store.as_str(),
                "next export of a store not started; the sweep starts it"
            );
        }
    }
}

/// Ends an export after a permanent error.
///
/// # Errors
/// `version_conflict` when the export was written meanwhile; 503 when the table cannot be reached.
pub async fn fail(services: &Services, id: &ExportId) -> Result<(), Problem> {
    let found = services.table.get::<Export>(&key::export(id)).await?;
    let Some(export) = found.filter(|export| !export.status.is_over()) else { return Ok(()) };
    end(services, &export, ExportStatus::Failed, EndReason::InternalError).await?;
    start_next(services, &export.store_id).await;
    Ok(())
}

/// Ends an export without a file.
async fn end(
    services: &Services,
    export: &Export,
    status: ExportStatus,
    reason: EndReason,
) -> Result<Export, Problem> {
    let ended = export.ended_without_file(status, reason, services.clock.now());
    ended.save(services.table.write()).commit().await?;
    chunk::delete_all(services, export.id.as_str()).await;
    Ok(ended)
}

/// Reads until a chunk is full, writes it, and saves the progress. Returns a reason when the authority
/// was lost.
async fn advance(
    services: &Services,
    export: &Export,
    authority: &mut AuthorityCheck,
) -> Result<Result<Export, EndReason>, Problem> {
    let mut next = export.running(services.clock.now());
    let mut output = ExportOutput::default();
    if export.chunks.is_empty() && export.format == FileFormat::Csv {
        output.bytes = crate::csv::rows(&[columns::names(names(export.kind))]);
    }
    let mut is_last = false;
    while output.bytes.len() < CHUNK / 2 && !is_last {
        if let Some(reason) = authority.revocation(services).await? {
            return Ok(Err(reason));
        }
        is_last = pages::page(services, &mut next, &mut output).await?;
    }
    next.done = next.done.saturating_add(output.done);
    next.rows = next.rows.saturating_add(output.rows);
    let mut chunks = Vec::new();
    for bytes in output.bytes.chunks(CHUNK) {
        let place = Export::chunk(next.chunks.len());
        next.chunks.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        chunks.push(FileChunk::new(export.id.as_str(), place, bytes.to_vec(), export.created_at));
    }
    chunk::write_of(services, export, &chunks).await?;
    if is_last {
        let ended = next.ended(ExportStatus::Succeeded, services.clock.now());
        next = Export { version: next.version, ..ended };
    }
    next.save(services.table.write()).commit().await?;
    Ok(Ok(next))
}

fn names(kind: ExportKind) -> &'static [&'static str] {
    match kind {
        ExportKind::Products => products::COLUMNS,
        ExportKind::Orders => orders::COLUMNS,
        ExportKind::Customers => customers::COLUMNS,
        ExportKind::Movements => movements::COLUMNS,
        ExportKind::Inventory => stock::COLUMNS,
        // This kind is always written as JSON lines.
        ExportKind::Customer => &[],
    }
}
