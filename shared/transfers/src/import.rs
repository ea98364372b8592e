//! Imports: products, customers and stock from a file.
//!
//! A file is uploaded in parts, and read row by row in steps of long work (`delivery::run`). The ids of
//! created objects follow from the import and the row: an interrupted step is repeated, and creates
//! nothing twice. The progress is saved after each page of rows, with its findings.

mod columns;
mod file;
mod finding;
mod kinds;
mod parents;
mod pictures;
mod records;
mod rows;
mod seen;
mod sheet;
mod step;
mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use core_types::end_reason::EndReason;
use core_types::id::{ImportId, ProductId, StoreId};
use core_types::key::{self, IndexKey};
use platform::authority::Authority;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::outbox::DueKind;
use table::{Condition, Query, Write};

use crate::FileFormat;
use crate::chunk::RETENTION;
use crate::unfinished::{self, Limited};

pub use file::Part;
pub use finding::{Finding, Findings, Severity};
pub use parents::{Parent, Parents};
pub use pictures::Pictures;
pub use step::{give_up, step};
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

/// The numbers of records by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Created.
    pub created: u64,
    /// Updated from the file.
    pub updated: u64,
    /// Skipped, because they existed.
    pub skipped: u64,
    /// Failed.
    pub failed: u64,
}

impl Counts {
    /// The number of all records.
    pub const fn all(self) -> u64 {
        let right = self.created.saturating_add(self.updated).saturating_add(self.skipped);
        right.saturating_add(self.failed)
    }
}

/// Where an import goes on in its file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Place {
    /// The offset in bytes.
    pub byte: u64,
    /// The row, from 1; the first row of CSV is the header.
    pub row: u64,
    /// The names of the columns, once they are known; empty for ignored columns.
    pub header: Vec<String>,
    /// The delimiter of cells; none before the header was read.
    pub delimiter: Option<char>,
    /// The number of blank rows before it, which do not count towards the limit. None where the progress
    /// was stored before they were counted.
    #[serde(default)]
    pub blank: Option<u64>,
    /// Whether numbers of the file have commas before their decimals.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_decimal_commas: bool,
    /// The rows before it that later rows may belong to.
    #[serde(default, skip_serializing_if = "Parents::is_empty")]
    pub parents: Parents,
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
    pub parts: BTreeMap<u32, Part>,
    /// How often it was started. Each run has findings of its own.
    pub runs: u64,
    /// Where it goes on.
    pub place: Place,
    /// The outcomes of the records.
    pub counts: Counts,
    /// The number of findings.
    pub findings_count: u64,
    /// The number of those that are warnings.
    #[serde(default)]
    pub warnings_count: u64,
    /// The number of pages of findings.
    pub findings_pages: u64,
    /// The progress of fetching the pictures of its products; none when there are none to fetch.
    #[serde(default)]
    pub pictures: Option<Pictures>,
    /// The number of pages of unique values that a dry run has seen.
    pub seen_pages: u64,
    /// The first of the ignored columns.
    pub ignored_columns: Vec<String>,
    /// The number of ignored columns.
    #[serde(default)]
    pub ignored_columns_count: u64,
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
    const LIST: unfinished::List = unfinished::List::Imports;
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
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ImportUnderWay {
    store_id: StoreId,
    import_id: ImportId,
    version: u64,
}

impl Item for ImportUnderWay {
    const KIND: &'static str = "import_under_way";
    fn key(&self) -> Key {
        key::import_under_way(&self.store_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
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
            place: Place::default(),
            counts: Counts::default(),
            findings_count: 0,
            warnings_count: 0,
            findings_pages: 0,
            pictures: None,
            seen_pages: 0,
            ignored_columns: Vec::new(),
            ignored_columns_count: 0,
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

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    fn rejected(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
    }

    /// The import with a part of its file, replacing one of the same number.
    ///
    /// # Errors
    /// `invalid_state_transition` unless it waits for its parts; `import_too_large`.
    pub fn with_part(&self, number: u32, part: Part, now: Timestamp) -> Result<Self, Problem> {
        if self.status != ImportStatus::Uploading {
            return Err(self.rejected());
        }
        let mut next = self.changed(now);
        next.parts.insert(number, part);
        if next.bytes() > MAX_BYTES {
            return Err(Code::ImportTooLarge.with("limit", MAX_BYTES));
        }
        Ok(next)
    }

    /// The size of the file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.values().map(|part| part.bytes).sum()
    }

    /// The import started anew from its first row.
    ///
    /// # Errors
    /// `invalid_state_transition`; `parts_missing` when there is none, or a number is left out.
    pub fn started(&self, dry_run: bool, principal: &str, now: Timestamp) -> Result<Self, Problem> {
        if !matches!(self.status, ImportStatus::Uploading | ImportStatus::Checked) {
            return Err(self.rejected());
        }
        if self.parts.is_empty() || !self.parts.keys().copied().eq((1..).take(self.parts.len())) {
            return Err(Code::PartsMissing.into());
        }
        Ok(Self {
            dry_run,
            principal: principal.to_owned(),
            status: ImportStatus::Running,
            runs: self.runs.saturating_add(1),
            place: Place { row: 1, blank: Some(0), ..Place::default() },
            counts: Counts::default(),
            findings_count: 0,
            warnings_count: 0,
            findings_pages: 0,
            pictures: None,
            seen_pages: 0,
            ignored_columns: Vec::new(),
            ignored_columns_count: 0,
            due_at: Some(now.plus(MINUTE)),
            started_at: Some(now),
            finished_at: None,
            ..self.changed(now)
        })
    }

    /// The import with the authority on whose behalf it writes.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// The import cancelled because the principal that started it may no longer write. Rows already
    /// imported stay.
    #[must_use]
    pub fn revoked(&self, reason: EndReason, now: Timestamp) -> Self {
        Self { status_reason: Some(reason), ..self.ended(ImportStatus::Cancelled, now) }
    }

    /// The import failed by a permanent error, without its larger fields.
    #[must_use]
    pub fn broken(&self, reason: EndReason, now: Timestamp) -> Self {
        let (header, parents) = (Vec::new(), Parents::default());
        let place = Place { header, parents, ..self.place.clone() };
        let (status_reason, ignored_columns) = (Some(reason), Vec::new());
        let ended = self.ended(ImportStatus::Failed, now);
        Self { status_reason, place, ignored_columns, ..ended }
    }

    /// The import cancelled. Rows already imported stay.
    ///
    /// # Errors
    /// `invalid_state_transition` when it has ended.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_over() {
            return Err(self.rejected());
        }
        Ok(self.ended(ImportStatus::Cancelled, now))
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

    /// The import after its last row. Its pictures are fetched next.
    fn read(&self, now: Timestamp) -> Self {
        let right = self.counts.all() > self.counts.failed;
        let errors = self.findings_count.saturating_sub(self.warnings_count);
        let status = match (self.dry_run, errors, right) {
            (true, ..) => ImportStatus::Checked,
            (false, 0, _) => ImportStatus::Succeeded,
            (false, _, true) => ImportStatus::Partial,
            (false, _, false) => ImportStatus::Failed,
        };
        let pictures = self.pictures.clone().filter(|_| status != ImportStatus::Failed);
        let due_at = pictures.as_ref().map(|_| now.plus(MINUTE));
        Self { pictures, due_at, ..self.ended(status, now) }
    }

    fn ended(&self, status: ImportStatus, now: Timestamp) -> Self {
        let (due_at, finished_at) = (None, Some(now));
        Self { status, due_at, finished_at, pictures: None, ..self.changed(now) }
    }

    /// Adds the start of the import, on condition that no other is under way on its store
    /// (`import_running`).
    pub fn begin(&self, write: Write) -> Write {
        let (store_id, import_id) = (self.store_id.clone(), self.id.clone());
        let under_way = ImportUnderWay { store_id, import_id, version: 1 };
        write.create(&under_way, Code::ImportRunning).replace(self, Code::VersionConflict)
    }

    /// Adds the replacement of `before` by this import. When it is not running, it also adds the event;
    /// when `before` was running, it admits another import on the store.
    pub fn save(&self, before: &Self, write: Write) -> Write {
        let write = write.replace(self, Code::VersionConflict);
        if self.status == ImportStatus::Running {
            return write;
        }
        let was_running = before.status == ImportStatus::Running;
        let under_way = key::import_under_way(&self.store_id);
        let is_ours = Condition::is("import_id", self.id.as_str());
        write
            .when_some(was_running.then_some(()), |write, ()| {
                write.delete_if(&under_way, is_ours, Code::VersionConflict)
            })
            .emit(self.finished())
    }
}
