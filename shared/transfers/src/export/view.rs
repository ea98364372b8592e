//! An export as whoever asked for it sees it.

use core_types::end_reason::EndReason;
use core_types::event::{EXAMPLE_TIME, Event, EventSubject, Example};
use core_types::id::{CustomerId, ExportId, StoreId};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Export, ExportKind, ExportStatus};
use crate::FileFormat;

core_types::topics! {
    EXPORT_FINISHED = "export.finished", "export", Some("read_exports"), ExportView,
        "An export is over: its file is there, or it failed or was cancelled.";
}

/// A part of an export's file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExportPart {
    /// From 1. The file is its parts, one after the other.
    pub number: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Where it is fetched, by anybody, for 15 minutes; each time that the export is shown there is
    /// another. None in an event.
    pub url: Option<String>,
}

core_types::view! {
    /// An export.
    ExportView of export: Export {
        /// The id.
        id: ExportId,
        /// What is exported.
        kind: ExportKind,
        /// The customer whose data it is, of a request for data.
        customer_id: Option<CustomerId>,
        /// How it is written.
        format: FileFormat,
        /// Only what was made at this time or later.
        since: Option<Timestamp>,
        /// Only what was made before this time.
        until: Option<Timestamp>,
        /// Where it is in its life.
        status: ExportStatus,
        /// Why it ended before its end, unless its owner gave it up.
        status_reason: Option<EndReason>,
        /// Products, orders, customers or movements that are written.
        done: u64,
        /// Rows that are written: those of CSV without the first.
        rows: u64,
        /// The file, once it is there.
        parts: Vec<ExportPart> = export.parts_shown(),
        /// When the file is forgotten.
        expires_at: Timestamp = export.expires_at(),
        /// Who asked for it.
        created_by: String,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The actions that its state allows now.
        allowed_actions: Vec<&'static str> = export.allowed_actions(),
        /// When it was asked for.
        created_at: Timestamp,
        /// When it changed last.
        updated_at: Timestamp,
        /// Counts its changes.
        version: u64,
    }
}

impl Export {
    fn parts_shown(&self) -> Vec<ExportPart> {
        if self.status != ExportStatus::Succeeded {
            return Vec::new();
        }
        let part = |(number, chunks): (u64, &[u32])| {
            let bytes = chunks.iter().map(|bytes| u64::from(*bytes)).sum();
            ExportPart { number, bytes, url: None }
        };
        (1..).zip(self.parts()).map(part).collect()
    }

    /// What an event says that it is about.
    pub(super) fn finished(&self) -> Event {
        let (store, entity): (Option<&StoreId>, &str) = (Some(&self.store_id), self.id.as_str());
        let about = EventSubject { store, app: None, entity, version: self.version };
        Event::new(&EXPORT_FINISHED, about, &ExportView::from(self), self.updated_at)
    }
}

impl Example for ExportView {
    fn example() -> Self {
        let kind = (ExportKind::Products, FileFormat::Csv);
        let store = StoreId::derive(&["example"]);
        let export = Export::new(&store, kind, (None, None), "mer_example", EXAMPLE_TIME);
        let export = Export { id: ExportId::derive(&["example"]), done: 2, rows: 3, ..export };
        let written = Export { chunks: vec![1_024], ..export };
        Self::from(&written.ended(ExportStatus::Succeeded, EXAMPLE_TIME))
    }
}
