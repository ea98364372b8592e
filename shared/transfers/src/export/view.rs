//! The response for an export.

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
        "An export ended: it completed, failed or was cancelled.";
}

/// A part of an export's file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExportPart {
    /// The number of the part, from 1. The parts in order make up the file.
    pub number: u64,
    /// The size of the part, in bytes.
    pub bytes: u64,
    /// A link to download it, valid for 15 minutes for anybody who has it. Each response has a new link;
    /// an event has `null`.
    pub url: Option<String>,
}

core_types::view! {
    /// An export.
    ExportView of export: Export {
        /// The id.
        id: ExportId,
        /// The data that is exported.
        kind: ExportKind,
        /// The customer whose data is exported, for a data request.
        customer_id: Option<CustomerId>,
        /// The format of the file.
        format: FileFormat,
        /// Only data created at this time or later.
        since: Option<Timestamp>,
        /// Only data created before this time.
        until: Option<Timestamp>,
        /// The status of the export.
        status: ExportStatus,
        /// The reason of its early end, unless it was cancelled by request.
        status_reason: Option<EndReason>,
        /// Products, orders, customers or movements written.
        done: u64,
        /// Rows written, without the header row of CSV.
        rows: u64,
        /// The parts of the file, once it is ready.
        parts: Vec<ExportPart> = export.part_views(),
        /// When the file is deleted.
        expires_at: Timestamp = export.expires_at(),
        /// The merchant, app or customer who requested it: `mer_…`, `app_…` or `cus_…`.
        created_by: String,
        /// When it ended.
        finished_at: Option<Timestamp>,
        /// The actions that its status allows.
        allowed_actions: Vec<&'static str> = export.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// Incremented by each change.
        version: u64,
    }
}

impl Export {
    fn part_views(&self) -> Vec<ExportPart> {
        if self.status != ExportStatus::Succeeded {
            return Vec::new();
        }
        let part = |(number, chunks): (u64, &[u32])| {
            let bytes = chunks.iter().map(|bytes| u64::from(*bytes)).sum();
            ExportPart { number, bytes, url: None }
        };
        (1..).zip(self.parts()).map(part).collect()
    }

    /// The event that it has ended.
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
