//! Exports: a store's data, written to a file.
//!
//! An export is long work (`delivery::run`): each step reads some pages, and writes their content as the
//! next chunks of the file. A chunk's key follows from the export and a number, so an interrupted step
//! writes the same chunk again. The file is downloaded in parts of a few chunks each, by links that
//! expire.

mod columns;
mod customers;
mod link;
mod movements;
mod orders;
mod pages;
mod person;
mod products;
mod step;
mod stock;
mod view;

use core_types::end_reason::EndReason;
use core_types::id::{CustomerId, ExportId, ProductId, StoreId};
use core_types::key::{self, IndexKey};
use platform::authority::Authority;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use privacy::person::{Part, Person};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::outbox::DueKind;
use table::{WalkPosition, Write};

use crate::FileFormat;
use crate::chunk::RETENTION;
use crate::unfinished::{self, Limited};

pub use link::Link;
pub use person::ExportedPerson;
pub use step::{fail, start_next, step};
pub use view::*;

/// The number of chunks in one part: as many as fit into one response.
pub const CHUNKS_OF_PART: usize = 11;

primitives::string_enum! {
    /// The data of an export.
    ExportKind {
        /// Products with their variants: a row for each variant, and for each further image.
        Products = "products",
        /// Orders with their lines: a row for each line.
        Orders = "orders",
        /// Customers.
        Customers = "customers",
        /// Stock: a row for each tracked variant and location.
        Inventory = "inventory",
        /// Movements of stock, by product.
        Movements = "movements",
        /// All data stored about one customer, for a data request.
        Customer = "customer",
    }
}

impl ExportKind {
    /// The scopes that are required to read this data.
    pub const fn scopes(self) -> &'static [&'static str] {
        match self {
            Self::Products => &["read_products"],
            Self::Orders => &["read_orders"],
            Self::Customers => &["read_customers"],
            Self::Inventory | Self::Movements => &["read_inventory"],
            Self::Customer => &["read_customers", "read_orders"],
        }
    }

    /// Whether the file has personal data.
    pub const fn is_personal(self) -> bool {
        matches!(self, Self::Orders | Self::Customers | Self::Customer)
    }
}

primitives::string_enum! {
    /// The status of an export.
    ExportStatus {
        /// It has not begun.
        Queued = "queued",
        /// Its file is being written.
        Running = "running",
        /// Its file is ready.
        Succeeded = "succeeded",
        /// It met a permanent error, which `status_reason` names.
        Failed = "failed",
        /// It was cancelled by request, or because its creator may no longer read the data, which
        /// `status_reason` says.
        Cancelled = "cancelled",
    }
}

impl ExportStatus {
    /// Whether it has ended.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// An export.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Export {
    /// `exp_…`; later ones sort after it.
    pub id: ExportId,
    /// The store.
    pub store_id: StoreId,
    /// The merchant, app or customer who requested it: `mer_…`, `app_…` or `cus_…`.
    pub created_by: String,
    /// The authority on whose behalf it reads.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// The data that is exported.
    pub kind: ExportKind,
    /// The format of the file.
    pub format: FileFormat,
    /// Only data created at this time or later.
    pub since: Option<Timestamp>,
    /// Only data created before this time.
    pub until: Option<Timestamp>,
    /// The status.
    pub status: ExportStatus,
    /// The reason of its early end, unless it was cancelled by request.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// Products, orders, customers or movements written.
    pub done: u64,
    /// Rows of the file, without the header.
    pub rows: u64,
    /// The sizes of the chunks, in bytes.
    #[serde(rename = "pieces")]
    pub chunks: Vec<u32>,
    /// The position at which the walk continues.
    pub place: Option<WalkPosition>,
    /// The product whose movements are being read, and the place within them.
    pub within: Option<(ProductId, Option<WalkPosition>)>,
    /// For an export of one customer: the person, and the part that is read next.
    #[serde(default)]
    pub about: Option<ExportedPerson>,
    /// The customer whose data is exported, for a data request.
    #[serde(default)]
    pub customer_id: Option<CustomerId>,
    /// When the sweep takes the message of the next step for lost.
    pub due_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

impl Item for Export {
    const KIND: &'static str = "export";
    fn key(&self) -> Key {
        key::export(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let mut keys = vec![key::exports_of_store(&self.store_id, self.created_at, &self.id)];
        keys.extend(self.due_at.map(|at| DueKind::Run.mark(self.id.as_str(), at)));
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at())
    }
}

impl Limited for Export {
    const LIMIT: usize = 5;
    const REACHED: Code = Code::ExportLimit;
    const LIST: unfinished::TransferList = unfinished::TransferList::Exports;
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn store_id(&self) -> &StoreId {
        &self.store_id
    }
    fn key_of(id: &str) -> Key {
        Key::new(format!("{}{id}", key::EXPORTS), "A")
    }
    fn counts(&self, now: Timestamp) -> bool {
        !self.status.is_over() && now < self.expires_at()
    }
}

impl Export {
    /// A new export.
    pub fn new(
        store: &StoreId,
        (kind, format): (ExportKind, FileFormat),
        (since, until): (Option<Timestamp>, Option<Timestamp>),
        by: &str,
        now: Timestamp,
    ) -> Self {
        Self {
            id: ExportId::mint(now),
            store_id: store.clone(),
            created_by: by.to_owned(),
            authority: None,
            kind,
            format,
            since,
            until,
            status: ExportStatus::Queued,
            status_reason: None,
            done: 0,
            rows: 0,
            chunks: Vec::new(),
            place: None,
            within: None,
            about: None,
            customer_id: None,
            due_at: Some(now.plus(MINUTE)),
            finished_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// An export of all data stored about a person.
    pub fn of_person(person: Person, by: &str, now: Timestamp) -> Self {
        let what = (ExportKind::Customer, FileFormat::Jsonl);
        let customer_id = person.customer_id.clone();
        let export = Self::new(&person.store_id, what, (None, None), by, now);
        Self { customer_id, about: Some(ExportedPerson { person, part: Part::Account }), ..export }
    }

    /// The export with the authority on whose behalf it reads.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// When the file is deleted.
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(RETENTION)
    }

    /// Whether data created at this time is within the range of the export.
    pub fn is_requested(&self, made: Timestamp) -> bool {
        self.since.is_none_or(|since| made >= since) && self.until.is_none_or(|until| made < until)
    }

    /// The parts of the file, each as the sizes of its chunks.
    pub fn parts(&self) -> impl Iterator<Item = &[u32]> {
        self.chunks.chunks(CHUNKS_OF_PART)
    }

    /// The key of a chunk within the file.
    pub fn chunk(number: usize) -> String {
        format!("{number:06}")
    }

    /// The actions that its state allows now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if self.status.is_over() { Vec::new() } else { vec!["cancel"] }
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The export under way. The sweep takes its next message for lost after a minute.
    fn running(&self, now: Timestamp) -> Self {
        let (status, due_at) = (ExportStatus::Running, Some(now.plus(MINUTE)));
        Self { status, due_at, ..self.changed(now) }
    }

    /// The export that waits on for those before it. The sweep sends its message again after a minute.
    fn waiting(&self, now: Timestamp) -> Self {
        Self { due_at: Some(now.plus(MINUTE)), ..self.changed(now) }
    }

    fn ended(&self, status: ExportStatus, now: Timestamp) -> Self {
        let next = self.changed(now);
        Self {
            status,
            due_at: None,
            finished_at: Some(now),
            place: None,
            within: None,
            about: None,
            ..next
        }
    }

    /// The export ended early in this status, without a file.
    #[must_use]
    pub fn ended_without_file(
        &self,
        status: ExportStatus,
        reason: EndReason,
        now: Timestamp,
    ) -> Self {
        Self { status_reason: Some(reason), chunks: Vec::new(), ..self.ended(status, now) }
    }

    /// The export cancelled.
    ///
    /// # Errors
    /// `invalid_state_transition` when it has ended.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_over() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.ended(ExportStatus::Cancelled, now))
    }

    /// Adds the replacement of the export by its next version, and the event when it has ended.
    pub fn save(&self, write: Write) -> Write {
        let write = write.replace(self, Code::VersionConflict);
        if self.status.is_over() { write.emit(self.finished()) } else { write }
    }
}
