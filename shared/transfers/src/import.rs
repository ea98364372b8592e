//! Imports: products, customers and stock out of a file.
//!
//! A file is uploaded in parts, and read row by row in the steps of long work (`delivery::run`). What a row
//! makes follows from the import and the row: a step that was cut off makes it again, and makes nothing
//! twice. How far it has come is written after each page of rows, with what was wrong with them.

mod columns;
mod file;
mod finding;
mod kinds;
mod records;
mod rows;
mod seen;
mod sheet;
mod step;
mod view;

use std::collections::BTreeMap;

use core_types::end_reason::EndReason;
use core_types::id::{ImportId, StoreId};
use core_types::key::{self, IndexKey};
use platform::authority::Authority;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::outbox::Due;
use table::{Condition, Query, Write};

use crate::FileFormat;
use crate::chunk::RETENTION;

pub use file::Part;
pub use finding::{Finding, Findings};
pub use step::{give_up, step};
pub use view::*;

/// Parts of one file.
pub const MAX_PARTS: i64 = 50;
/// Bytes of one file.
pub const MAX_BYTES: u64 = 50 * 1024 * 1024;
/// Rows of one file.
pub const MAX_ROWS: u64 = 100_000;
/// Findings that are kept; further ones are counted.
pub const MAX_FINDINGS: u64 = 10_000;

/// Pages of findings that one run of an import has room for.
const FINDINGS_OF_RUN: u64 = 10_000;

primitives::string_enum! {
    /// What is imported.
    ImportKind {
        /// Products with their variants and first stock.
        Products = "products",
        /// Customers, with an address.
        Customers = "customers",
        /// How much there is of variants, at a location.
        Inventory = "inventory",
    }
}

impl ImportKind {
    /// The scope that writes it.
    pub const fn scope(self) -> &'static str {
        match self {
            Self::Products => "write_products",
            Self::Customers => "write_customers",
            Self::Inventory => "write_inventory",
        }
    }
}

primitives::string_enum! {
    /// What becomes of a row whose product or customer is there already.
    OnExisting {
        /// It is found wrong with the row.
        Fail = "fail",
        /// Nothing.
        Skip = "skip",
        /// It is given what the row says.
        Update = "update",
    }
}

primitives::string_enum! {
    /// Where an import is in its life.
    ImportStatus {
        /// Waiting for its parts, and to be started.
        Uploading = "uploading",
        /// Being read.
        Running = "running",
        /// Read without writing anything: it can be started in earnest.
        Checked = "checked",
        /// Every row is done.
        Succeeded = "succeeded",
        /// Some rows are.
        Partial = "partial",
        /// None is; or it met an error that it would meet again, which `status_reason` says.
        Failed = "failed",
        /// Given up, or whoever started it may no longer, which `status_reason` says; what was done stays.
        Cancelled = "cancelled",
    }
}

impl ImportStatus {
    /// Whether nothing more happens.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Partial | Self::Failed | Self::Cancelled)
    }
}

/// What rows came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Made.
    pub created: u64,
    /// Given what the file says.
    pub updated: u64,
    /// There already, and left alone.
    pub skipped: u64,
    /// Wrong.
    pub failed: u64,
}

impl Counts {
    /// All of them.
    pub const fn all(self) -> u64 {
        let right = self.created.saturating_add(self.updated).saturating_add(self.skipped);
        right.saturating_add(self.failed)
    }
}

/// Where an import goes on in its file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Place {
    /// The byte.
    pub byte: u64,
    /// The row, from 1: of CSV the first holds the names of the columns.
    pub row: u64,
    /// The names of the columns, once they are known; of those that are not read, nothing.
    pub header: Vec<String>,
    /// What is between two cells.
    pub delimiter: Option<char>,
}

/// An import.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Import {
    /// `imp_…`; later ones sort after it.
    pub id: ImportId,
    /// The store.
    pub store_id: StoreId,
    /// Who asked for it: `mer_…` or `app_…`.
    pub created_by: String,
    /// In whose name it writes: who started it.
    pub principal: String,
    /// What that takes, and of whom.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// What is imported.
    pub kind: ImportKind,
    /// How the file is written.
    pub format: FileFormat,
    /// Whether it only says what it would come to.
    pub dry_run: bool,
    /// What becomes of what is there already.
    pub on_existing: OnExisting,
    /// Where it is in its life.
    pub status: ImportStatus,
    /// Why it ended early, unless its owner wanted it so.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// The parts of the file, by their numbers.
    pub parts: BTreeMap<u32, Part>,
    /// How often it was started: findings of an earlier time are another's.
    pub runs: u64,
    /// Where it goes on.
    pub place: Place,
    /// What the rows came to.
    pub counts: Counts,
    /// What was wrong.
    pub findings_count: u64,
    /// Pages of findings.
    pub findings_pages: u64,
    /// Pages of what a dry run has seen.
    pub seen_pages: u64,
    /// Columns that are not read: the first of them.
    pub ignored_columns: Vec<String>,
    /// How many columns are not read.
    #[serde(default)]
    pub ignored_columns_count: u64,
    /// When the sweep takes the next step's message for lost.
    pub due_at: Option<Timestamp>,
    /// When it was started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
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
        keys.extend(self.due_at.map(|at| Due::Run.mark(self.id.as_str(), at)));
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at())
    }
}

/// The import that is under way on a store: there is one at most.
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

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct ImportInput {
    /// What is imported.
    pub kind: ImportKind,
    /// How the file is written.
    pub format: FileFormat,
    /// Whether it only says what it would come to.
    pub dry_run: bool,
    /// What becomes of what is there already.
    pub on_existing: OnExisting,
}

impl Import {
    /// An import that is asked for.
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
            findings_pages: 0,
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

    /// When the file is forgotten.
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(RETENTION)
    }

    /// The actions that its state allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        match self.status {
            ImportStatus::Uploading | ImportStatus::Checked => vec!["start", "cancel"],
            ImportStatus::Running => vec!["cancel"],
            _ => Vec::new(),
        }
    }

    /// What was found when it was started last.
    pub fn findings(&self) -> Query {
        let page = |number: u64| key::import_findings(&self.id, self.findings_page(number));
        let (first, last) = (page(0), page(FINDINGS_OF_RUN.saturating_sub(1)));
        Query::partition(first.pk).between(first.sk, last.sk)
    }

    /// The number of a page of findings, among those of all its runs.
    fn findings_page(&self, number: u64) -> u64 {
        self.runs.saturating_mul(FINDINGS_OF_RUN).saturating_add(number)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    fn rejected(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
    }

    /// The import with a part of its file, in place of one of the same number.
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

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.parts.values().map(|part| part.bytes).sum()
    }

    /// The import at its beginning, under way.
    ///
    /// # Errors
    /// `invalid_state_transition`; `parts_missing`.
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
            place: Place { row: 1, ..Place::default() },
            counts: Counts::default(),
            findings_count: 0,
            findings_pages: 0,
            seen_pages: 0,
            ignored_columns: Vec::new(),
            ignored_columns_count: 0,
            due_at: Some(now.plus(MINUTE)),
            started_at: Some(now),
            finished_at: None,
            ..self.changed(now)
        })
    }

    /// The import, which writes in this name.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// The import, which whoever started it may no longer make: what was done stays.
    #[must_use]
    pub fn revoked(&self, reason: EndReason, now: Timestamp) -> Self {
        Self { status_reason: Some(reason), ..self.ended(ImportStatus::Cancelled, now) }
    }

    /// The import after an error that it would meet again, without what may be large.
    #[must_use]
    pub fn broken(&self, reason: EndReason, now: Timestamp) -> Self {
        let place = Place { header: Vec::new(), ..self.place.clone() };
        let (status_reason, ignored_columns) = (Some(reason), Vec::new());
        let ended = self.ended(ImportStatus::Failed, now);
        Self { status_reason, place, ignored_columns, ..ended }
    }

    /// The import given up: what was done stays.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is over.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_over() {
            return Err(self.rejected());
        }
        Ok(self.ended(ImportStatus::Cancelled, now))
    }

    /// The import, read to its end.
    fn read(&self, now: Timestamp) -> Self {
        let right = self.counts.all() > self.counts.failed;
        let status = match (self.dry_run, self.findings_count, right) {
            (true, ..) => ImportStatus::Checked,
            (false, 0, _) => ImportStatus::Succeeded,
            (false, _, true) => ImportStatus::Partial,
            (false, _, false) => ImportStatus::Failed,
        };
        self.ended(status, now)
    }

    fn ended(&self, status: ImportStatus, now: Timestamp) -> Self {
        Self { status, due_at: None, finished_at: Some(now), ..self.changed(now) }
    }

    /// Adds its start: it is the only one under way on its store.
    pub fn begin(&self, write: Write) -> Write {
        let (store_id, import_id) = (self.store_id.clone(), self.id.clone());
        let under_way = ImportUnderWay { store_id, import_id, version: 1 };
        write.create(&under_way, Code::ImportRunning).replace(self, Code::VersionConflict)
    }

    /// Adds the write of the import in place of `before`; one that is no longer under way says so, and
    /// makes room for another.
    pub fn save(&self, before: &Self, write: Write) -> Write {
        let write = write.replace(self, Code::VersionConflict);
        if self.status == ImportStatus::Running {
            return write;
        }
        let was_running = before.status == ImportStatus::Running;
        let under_way = key::import_under_way(&self.store_id);
        let is_ours = Condition::is("import_id", self.id.as_str());
        write
            .also(was_running.then_some(()), |write, ()| {
                write.delete_if(&under_way, is_ours, Code::VersionConflict)
            })
            .emit(self.finished())
    }
}
