//! The response for an import.

use core_types::end_reason::EndReason;
use core_types::event::{EXAMPLE_TIME, Event, EventSubject, Example};
use core_types::id::{ImportId, StoreId};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    ImageProgress, Import, ImportInput, ImportKind, ImportStatus, OnExisting, UploadedPart,
};
use crate::FileFormat;

core_types::topics! {
    IMPORT_FINISHED = "import.finished", "import", Some("read_imports"), ImportView,
        "An import ended, or its check did: it completed, failed or was cancelled.";
}

/// A part of an import's file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportPart {
    /// The number of the part, from 1.
    pub number: u32,
    /// The size of the part, in bytes.
    pub bytes: u64,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
}

/// The progress of an import.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportProgress {
    /// Bytes of the file that were read.
    pub bytes: u64,
    /// The size of the file, in bytes.
    pub total_bytes: u64,
    /// Products, customers or quantities that were processed. A product may have several rows.
    pub done: u64,
    /// Those that were created; in a dry run, that would be created.
    pub created: u64,
    /// Those that were updated; in a dry run, that would be updated.
    pub updated: u64,
    /// Those that existed and were skipped.
    pub skipped: u64,
    /// Those that failed.
    pub failed: u64,
}

/// The images of an import's products, which are fetched into the store once all rows are read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportImages {
    /// Whether there are more to fetch.
    pub pending: bool,
    /// Those that were fetched.
    pub fetched: u64,
    /// Those that could not be fetched, and stay where they are; each is a finding.
    pub failed: u64,
}

core_types::view! {
    /// An import.
    ImportView of import: Import {
        /// The id.
        id: ImportId,
        /// The data that is imported.
        kind: ImportKind,
        /// The format of the file.
        format: FileFormat,
        /// Whether it only validates the file, and writes nothing.
        dry_run: bool,
        /// The treatment of rows whose product or customer already exists.
        on_existing: OnExisting,
        /// The status of the import.
        status: ImportStatus,
        /// The reason of its early end, unless it was cancelled by request.
        status_reason: Option<EndReason>,
        /// The parts of the file.
        parts: Vec<ImportPart> = import.part_views(),
        /// Its progress.
        progress: ImportProgress = import.progress(),
        /// The number of findings. `GET …/findings` returns the first 10,000, at most 100 of one product,
        /// customer or quantity.
        findings_count: u64 = import.progress.findings_count,
        /// The number of findings that are warnings: their records were imported all the same.
        warnings_count: u64 = import.progress.warnings_count,
        /// The images of its products.
        images: ImportImages = import.images(),
        /// The ignored columns: the first 100, each by the first 100 characters of its name.
        ignored_columns: Vec<String> = import.progress.ignored_columns.clone(),
        /// The number of ignored columns.
        ignored_columns_count: u64 = import.progress.ignored_columns_count,
        /// When the file is deleted.
        expires_at: Timestamp = import.expires_at(),
        /// The merchant or app that created it: `mer_…` or `app_…`.
        created_by: String,
        /// When it was last started.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The actions that its status allows.
        allowed_actions: Vec<&'static str> = import.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}

impl Import {
    fn part_views(&self) -> Vec<ImportPart> {
        let part = |(number, part): (&u32, &UploadedPart)| ImportPart {
            number: *number,
            bytes: part.bytes,
            sha256: part.sha256.clone(),
        };
        self.parts.iter().map(part).collect()
    }

    fn progress(&self) -> ImportProgress {
        let counts = self.progress.counts;
        ImportProgress {
            bytes: self.progress.place.byte,
            total_bytes: self.bytes(),
            done: counts.all(),
            created: counts.created,
            updated: counts.updated,
            skipped: counts.skipped,
            failed: counts.failed,
        }
    }

    fn images(&self) -> ImportImages {
        let count = |of: fn(&ImageProgress) -> u64| self.progress.images.as_ref().map_or(0, of);
        ImportImages {
            pending: self.progress.images.as_ref().is_some_and(|images| !images.is_over),
            fetched: count(|images| images.fetched),
            failed: count(|images| images.failed),
        }
    }

    /// The event that it has ended.
    pub(super) fn finished(&self) -> Event {
        let (store, entity): (Option<&StoreId>, &str) = (Some(&self.store_id), self.id.as_str());
        let about = EventSubject { store, app: None, entity, version: self.version };
        Event::new(&IMPORT_FINISHED, about, &ImportView::from(self), self.updated_at)
    }
}

impl Example for ImportView {
    fn example() -> Self {
        let input = ImportInput {
            kind: ImportKind::Products,
            format: FileFormat::Csv,
            dry_run: false,
            on_existing: OnExisting::Fail,
        };
        let store = StoreId::derive(&["example"]);
        let import = Import::new(input, &store, "mer_example", EXAMPLE_TIME);
        let import = Import { id: ImportId::derive(&["example"]), ..import };
        let parts = [(1, UploadedPart::of(b"Handle,Title\nmug,Mug\n", EXAMPLE_TIME))].into();
        let mut started = Import { parts, started_at: Some(EXAMPLE_TIME), ..import };
        started.progress.counts.created = 1;
        Self::from(&started.read(EXAMPLE_TIME))
    }
}
