//! Imports: products, customers and stock from a file.
//!
//! A file is uploaded in parts, and read row by row in steps of long work (`delivery::run`). The ids of
//! created objects follow from the import and the row: an interrupted step is repeated, and creates
//! nothing twice. The progress is saved after each page of rows, with its findings.

mod columns;
mod file;
mod finding;
mod images;
mod kinds;
mod parents;
mod progress;
mod records;
mod rows;
mod seen;
mod sheet;
mod step;
mod transitions;
mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::{ImportId, ProductId, StoreId};
use core_types::key::{self, IndexKey};
use platform::authority::Authority;
use primitives::clock::Timestamp;
use primitives::problem::Code;
use serde::{Deserialize, Serialize};
use table::Query;
use table::item::{Item, Key};
use table::outbox::DueKind;

use crate::FileFormat;
use crate::chunk::RETENTION;
use crate::unfinished::{self, Limited};

pub use file::UploadedPart;
pub use finding::{Finding, Findings, Severity};
pub use parents::{Parent, Parents};
pub use progress::{Counts, ImageProgress, ImportPosition, RunProgress};
pub use step::{fail, step};
pub use view::*;

/// The most parts of one file.
pub const MAX_PARTS: i64 = 50;
/// The largest file, in bytes.
pub const MAX_BYTES: u64 = 50 * 1024 * 1024;
/// The most rows of one file.
pub const MAX_ROWS: u64 = 100_000;
/// The most findings that are stored; further ones are only counted.
pub const MAX_FINDINGS: u64 = 10_000;

/// The page numbers of findings that are reserved for one run of an import.
const FINDINGS_OF_RUN: u64 = 10_000;

primitives::string_enum! {
    /// The data of an import.
    ImportKind {
        /// Products with their variants and first stock.
        Products = "products",
        /// Customers, with an address.
        Customers = "customers",
        /// Quantities of variants at locations.
        Inventory = "inventory",
    }
}

impl ImportKind {
    /// The scope that is required to write this data.
    pub const fn scope(self) -> &'static str {
        match self {
            Self::Products => "write_products",
            Self::Customers => "write_customers",
            Self::Inventory => "write_inventory",
        }
    }
}

primitives::string_enum! {
    /// The treatment of a row whose product or customer already exists.
    OnExisting {
        /// The row fails, with a finding.
        Fail = "fail",
        /// The row is skipped: the existing object stays unchanged.
        Skip = "skip",
        /// The existing object is updated from the row.
        Update = "update",
    }
}

primitives::string_enum! {
    /// The status of an import.
    ImportStatus {
        /// It waits for its parts and for its start.
        Uploading = "uploading",
        /// Its file is being read.
        Running = "running",
        /// A dry run has ended without writing anything: the import can be started again to write.
        Checked = "checked",
        /// Every row succeeded.
        Succeeded = "succeeded",
        /// Some rows succeeded.
        Partial = "partial",
        /// No row succeeded, or the import met a permanent error, which `status_reason` names.
        Failed = "failed",
        /// It was cancelled by request, or because the principal that started it may no longer write,
        /// which `status_reason` says. Rows already imported stay.
        Cancelled = "cancelled",
    }
}

impl ImportStatus {
    /// Whether it has ended.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Partial | Self::Failed | Self::Cancelled)
    }
}

/// An import.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Import {
    /// `imp_…`; later ones sort after it.
    pub id: ImportId,
    /// The store.
    pub store_id: StoreId,
    /// The merchant or app that created it: `mer_…` or `app_…`.
    pub created_by: String,
    /// The principal that started it, on whose behalf it writes.
    pub principal: String,
    /// The authority of that principal, which is checked before each page.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// The data that is imported.
    pub kind: ImportKind,
    /// The format of the file.
    pub format: FileFormat,
    /// Whether it only validates the file, and writes nothing.
    pub dry_run: bool,
    /// The treatment of existing objects.
    pub on_existing: OnExisting,
    /// The status.
    pub status: ImportStatus,
    /// The reason of its early end, unless it was cancelled by request.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// The parts of the file, by number.
    pub parts: BTreeMap<u32, UploadedPart>,
    /// The number of times that it was started. Each run has findings of its own.
    pub runs: u64,
    /// The progress of its current run.
    #[serde(flatten)]
    pub progress: RunProgress,
    /// When the sweep takes the message of the next step for lost.
    pub due_at: Option<Timestamp>,
    /// When it was started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

impl Item for Import {
    const KIND: &'static str = "import";
    fn key(&self) -> Key {
        key::import(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let mut keys = vec![key::imports_of_store(&self.store_id, self.created_at, &self.id)];
        keys.extend(self.due_at.map(|at| DueKind::Run.mark(self.id.as_str(), at)));
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at())
    }
}

impl Limited for Import {
    const LIMIT: usize = 5;
    const REACHED: Code = Code::ImportLimit;
    const LIST: unfinished::TransferList = unfinished::TransferList::Imports;
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn store_id(&self) -> &StoreId {
        &self.store_id
    }
    fn key_of(id: &str) -> Key {
        Key::new(format!("{}{id}", key::IMPORTS), "A")
    }
    fn counts(&self, now: Timestamp) -> bool {
        let waits = matches!(self.status, ImportStatus::Uploading | ImportStatus::Checked);
        waits && now < self.expires_at()
    }
}

/// The import under way on a store: at most one.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "import_under_way", key = key::import_under_way(&self.store_id))]
struct ImportUnderWay {
    store_id: StoreId,
    import_id: ImportId,
    version: u64,
}

/// The validated input of a new import.
#[derive(Debug, Clone, Copy)]
pub struct ImportInput {
    /// The data that is imported.
    pub kind: ImportKind,
    /// The format of the file.
    pub format: FileFormat,
    /// Whether it only validates the file, and writes nothing.
    pub dry_run: bool,
    /// The treatment of existing objects.
    pub on_existing: OnExisting,
}

impl Import {
    /// A new import.
    pub fn new(input: ImportInput, store: &StoreId, by: &str, now: Timestamp) -> Self {
        Self {
            id: ImportId::mint(now),
            store_id: store.clone(),
            created_by: by.to_owned(),
            principal: String::new(),
            authority: None,
            kind: input.kind,
            format: input.format,
            dry_run: input.dry_run,
            on_existing: input.on_existing,
            status: ImportStatus::Uploading,
            status_reason: None,
            parts: BTreeMap::new(),
            runs: 0,
            progress: RunProgress::default(),
            due_at: None,
            started_at: None,
            finished_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// When the file is deleted.
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(RETENTION)
    }

    /// The actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match self.status {
            ImportStatus::Uploading | ImportStatus::Checked => vec!["start", "cancel"],
            ImportStatus::Running => vec!["cancel"],
            _ => Vec::new(),
        }
    }

    /// The query for the findings of the latest run.
    pub fn findings(&self) -> Query {
        let page = |number: u64| key::import_findings(&self.id, self.findings_page(number));
        let (first, last) = (page(0), page(FINDINGS_OF_RUN.saturating_sub(1)));
        Query::partition(first.pk).between(first.sk, last.sk)
    }

    /// The number of a page of findings over all runs.
    fn findings_page(&self, number: u64) -> u64 {
        self.runs.saturating_mul(FINDINGS_OF_RUN).saturating_add(number)
    }

    /// The id of the product of a row, so that a row that is read twice creates one product.
    fn product_id(&self, row: u64) -> ProductId {
        ProductId::derive_at(self.time_of(row), &[self.id.as_str(), &row.to_string()])
    }

    /// The creation time of a row's object: the start of the import plus a millisecond per row, which
    /// keeps the rows' order.
    fn time_of(&self, row: u64) -> Timestamp {
        self.started_at.unwrap_or(self.created_at).plus(Duration::from_millis(row))
    }
}
