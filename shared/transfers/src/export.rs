//! Exports: what a store keeps, in a file.
//!
//! An export is long work (`delivery::run`): each step reads some pages, and writes what is in them as the
//! next chunk of the file, under a number that follows from the export. A step that is cut off writes the
//! same chunk again. The file is fetched in parts of a few chunks each, by links that end.

mod columns;
mod customers;
mod link;
mod movements;
mod orders;
mod person;
mod products;
mod step;
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
use table::outbox::Due;
use table::{WalkPlace, Write};

use crate::FileFormat;
use crate::chunk::RETENTION;

pub use link::Link;
pub use person::EventSubject;
pub use step::{give_up, step};
pub use view::*;

/// Chunks of one part: what fits into one answer.
pub const CHUNKS_OF_PART: usize = 11;

primitives::string_enum! {
    /// What is exported.
    ExportKind {
        /// Products with their variants: a row for each variant, and for each further image.
        Products = "products",
        /// Orders with their lines: a row for each line.
        Orders = "orders",
        /// Customers.
        Customers = "customers",
        /// Movements of stock, by product.
        Movements = "movements",
        /// All that is kept of one customer: what a request for data makes.
        Customer = "customer",
    }
}

impl ExportKind {
    /// The scopes that read it.
    pub const fn scopes(self) -> &'static [&'static str] {
        match self {
            Self::Products => &["read_products"],
            Self::Orders => &["read_orders"],
            Self::Customers => &["read_customers"],
            Self::Movements => &["read_inventory"],
            Self::Customer => &["read_customers", "read_orders"],
        }
    }

    /// Whether people are named in it.
    pub const fn is_personal(self) -> bool {
        matches!(self, Self::Orders | Self::Customers | Self::Customer)
    }
}

primitives::string_enum! {
    /// Where an export is in its life.
    ExportStatus {
        /// Not begun.
        Queued = "queued",
        /// Being written.
        Running = "running",
        /// The file is there.
        Succeeded = "succeeded",
        /// It met an error that it would meet again, which `status_reason` says.
        Failed = "failed",
        /// Given up; or whoever asked for it may no longer, which `status_reason` says.
        Cancelled = "cancelled",
    }
}

impl ExportStatus {
    /// Whether nothing more happens.
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
    /// Who asked for it: `mer_…` or `app_…`.
    pub created_by: String,
    /// In whose name it reads.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// What is exported.
    pub kind: ExportKind,
    /// How it is written.
    pub format: FileFormat,
    /// Only what was made at this time or later.
    pub since: Option<Timestamp>,
    /// Only what was made before this time.
    pub until: Option<Timestamp>,
    /// Where it is in its life.
    pub status: ExportStatus,
    /// Why it ended early, unless its owner wanted it so.
    #[serde(default)]
    pub status_reason: Option<EndReason>,
    /// What it has written: products, orders, customers or movements.
    pub done: u64,
    /// Rows of the file, without the first.
    pub rows: u64,
    /// Bytes of each chunk.
    #[serde(rename = "pieces")]
    pub chunks: Vec<u32>,
    /// Where it goes on.
    pub place: Option<WalkPlace>,
    /// The product whose movements it is in the midst of, and where.
    pub within: Option<(ProductId, Option<WalkPlace>)>,
    /// Whose data it is, and how far that has come, of one customer's.
    #[serde(default)]
    pub about: Option<EventSubject>,
    /// The customer whose data it is.
    #[serde(default)]
    pub customer_id: Option<CustomerId>,
    /// When the sweep takes the next step's message for lost.
    pub due_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
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
        keys.extend(self.due_at.map(|at| Due::Run.mark(self.id.as_str(), at)));
        keys
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at())
    }
}

impl Export {
    /// An export that is asked for.
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

    /// An export of all that is kept of a person.
    pub fn of_person(person: Person, by: &str, now: Timestamp) -> Self {
        let what = (ExportKind::Customer, FileFormat::Jsonl);
        let customer_id = person.customer_id.clone();
        let export = Self::new(&person.store_id, what, (None, None), by, now);
        Self { customer_id, about: Some(EventSubject { person, part: Part::Account }), ..export }
    }

    /// The export, which reads in this name.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// When the file is forgotten.
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(RETENTION)
    }

    /// Whether something that was made at this time is asked for.
    pub fn is_asked_for(&self, made: Timestamp) -> bool {
        self.since.is_none_or(|since| made >= since) && self.until.is_none_or(|until| made < until)
    }

    /// Parts of the file.
    pub fn parts(&self) -> impl Iterator<Item = &[u32]> {
        self.chunks.chunks(CHUNKS_OF_PART)
    }

    /// The place of a chunk.
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

    /// The export at work, whose next message is lost when a minute has passed.
    fn running(&self, now: Timestamp) -> Self {
        let (status, due_at) = (ExportStatus::Running, Some(now.plus(MINUTE)));
        Self { status, due_at, ..self.changed(now) }
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

    /// The export, of which there will be no file.
    #[must_use]
    pub fn broken(&self, status: ExportStatus, reason: EndReason, now: Timestamp) -> Self {
        Self { status_reason: Some(reason), chunks: Vec::new(), ..self.ended(status, now) }
    }

    /// The export given up.
    ///
    /// # Errors
    /// `invalid_state_transition` when it is over.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_over() {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        Ok(self.ended(ExportStatus::Cancelled, now))
    }

    /// Adds the write of the export in place of its version before; one that is over says so.
    pub fn save(&self, write: Write) -> Write {
        let write = write.replace(self, Code::VersionConflict);
        if self.status.is_over() { write.emit(self.finished()) } else { write }
    }
}
