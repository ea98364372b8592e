//! An import as whoever asked for it sees it.

use core_types::end_reason::EndReason;
use core_types::event::{EXAMPLE_TIME, Event, EventSubject, Example};
use core_types::id::{ImportId, StoreId};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Import, ImportInput, ImportKind, ImportStatus, OnExisting, Part};
use crate::FileFormat;

core_types::topics! {
    IMPORT_FINISHED = "import.finished", "import", Some("read_imports"), ImportView,
        "An import is over, or was checked: it has done what it could, or was cancelled.";
}

/// A part of an import's file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportPart {
    /// From 1.
    pub number: u32,
    /// How many bytes.
    pub bytes: u64,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
}

/// How far an import has come.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportProgress {
    /// Bytes of the file that are read.
    pub bytes: u64,
    /// Of so many.
    pub total_bytes: u64,
    /// Products, customers or quantities that are done: a product may have several rows.
    pub done: u64,
    /// Of them, those that were made; in a dry run, that would be.
    pub created: u64,
    /// Those that were given what the file says.
    pub updated: u64,
    /// Those that were there already, and were left alone.
    pub skipped: u64,
    /// Those that are wrong.
    pub failed: u64,
}

core_types::view! {
    /// An import.
    ImportView of import: Import {
        /// The id.
        id: ImportId,
        /// What is imported.
        kind: ImportKind,
        /// How the file is written.
        format: FileFormat,
        /// Whether it only says what it would come to.
        dry_run: bool,
        /// What becomes of what is there already.
        on_existing: OnExisting,
        /// Where it is in its life.
        status: ImportStatus,
        /// Why it ended before its end, unless its owner gave it up.
        status_reason: Option<EndReason>,
        /// The parts of the file.
        parts: Vec<ImportPart> = import.parts_shown(),
        /// How far it has come.
        progress: ImportProgress = import.progress(),
        /// How much is wrong: `GET …/findings` shows it, the first 10,000, and 100 of a row.
        findings_count: u64,
        /// Columns that are not read: the first 100, by the first 100 characters of their names.
        ignored_columns: Vec<String>,
        /// How many columns are not read.
        ignored_columns_count: u64,
        /// When the file is forgotten.
        expires_at: Timestamp = import.expires_at(),
        /// Who asked for it.
        created_by: String,
        /// When it was started last.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The actions that its state allows now.
        allowed_actions: Vec<&'static str> = import.allowed_actions(),
        /// When it was asked for.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// Counts its changes.
        version: u64,
    }
}

impl Import {
    fn parts_shown(&self) -> Vec<ImportPart> {
        let part = |(number, part): (&u32, &Part)| ImportPart {
            number: *number,
            bytes: part.bytes,
            sha256: part.sha256.clone(),
        };
        self.parts.iter().map(part).collect()
    }

    fn progress(&self) -> ImportProgress {
        let counts = self.counts;
        ImportProgress {
            bytes: self.place.byte,
            total_bytes: self.bytes(),
            done: counts.all(),
            created: counts.created,
            updated: counts.updated,
            skipped: counts.skipped,
            failed: counts.failed,
        }
    }

    /// That it is over.
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
        let (parts, counts) = (
            [(1, Part::of(b"Handle,Title\nmug,Mug\n", EXAMPLE_TIME))].into(),
            super::Counts { created: 1, ..super::Counts::default() },
        );
        let started = Import { parts, counts, started_at: Some(EXAMPLE_TIME), ..import };
        Self::from(&started.read(EXAMPLE_TIME))
    }
}
