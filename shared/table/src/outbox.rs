//! The outbox: the announcements that a transaction writes with its change.
//!
//! An outgoing item is written with the change that it reports, with a due mark in GSI3. It loses the mark
//! when it has been processed. The table's stream is the fast path; the sweep of the due marks alone would
//! be enough (docs/platform.md §2).

use std::any::Any;
use std::fmt::Debug;
use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::Change;
use crate::Condition;
use crate::Query;
use crate::Table;
use crate::Write;
use crate::item::{Index, Key};
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};

/// Something that a transaction announces.
pub trait Outgoing {
    /// Adds its items to the transaction.
    fn put_into(self, write: Write) -> Write;
}

/// An announcement that shares items with others of its kind. The items are decided when all of the
/// transaction's announcements are known.
pub trait Grouped: Debug + Send + Sync + Sized + 'static {
    /// Adds the items of all that the transaction announces of this kind.
    fn put_all(all: Vec<Self>, write: Write) -> Write;
}

/// All announcements of one kind in a transaction.
pub(crate) trait Group: Debug + Send + Sync {
    fn as_any(&mut self) -> &mut dyn Any;
    fn put_into(self: Box<Self>, write: Write) -> Write;
}

impl<T: Grouped> Group for Vec<T> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn put_into(self: Box<Self>, write: Write) -> Write {
        T::put_all(*self, write)
    }
}

/// Shards of each kind of due work: one hot kind of work must not be one hot partition.
pub const SHARDS: &str = "0123456789abcdef";

/// A kind of work that is due at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueKind {
    /// Events that have no deliveries yet.
    Event,
    /// Deliveries whose next attempt is due.
    Delivery,
    /// Mail that has not been sent.
    Mail,
    /// Deleted stores whose grace period ends.
    Redaction,
    /// Orders that were not paid in time.
    Order,
    /// Deleted categories that products still name.
    Category,
    /// Deferred work of product changes.
    Product,
    /// Long work that takes its next step.
    Run,
    /// Refunds that no provider has confirmed, and captured amounts to be refunded.
    Payment,
    /// Purchases of themes that may have been paid, and amounts of theirs to be refunded.
    Purchase,
}

impl DueKind {
    /// Every kind, in the order a sweep takes them.
    pub const ALL: [Self; 10] = [
        Self::Event,
        Self::Delivery,
        Self::Mail,
        Self::Redaction,
        Self::Category,
        Self::Product,
        Self::Run,
        // These call slow services: no other kind waits for them.
        Self::Payment,
        Self::Order,
        Self::Purchase,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Event => "EVT",
            Self::Delivery => "DLV",
            Self::Mail => "MAI",
            Self::Redaction => "RED",
            Self::Order => "ORD",
            Self::Category => "CAT",
            Self::Product => "PRD",
            Self::Run => "RUN",
            Self::Payment => "PAY",
            Self::Purchase => "THP",
        }
    }

    /// The mark of the work `id` that is due at `at`. Ids end in random digits: the last is the
    /// shard.
    pub fn mark(self, id: &str, at: Timestamp) -> (Index, Key) {
        let shard = id.chars().last().filter(|c| SHARDS.contains(*c)).unwrap_or('0');
        (Index::Gsi3, Key::new(self.partition(shard), format!("{at}#{id}")))
    }

    /// The wait after this many failed tries: a minute, doubled by each try, up to eight and a half hours.
    pub fn wait(tries: u32) -> Duration {
        MINUTE.saturating_mul(1 << tries.min(9))
    }

    /// The time at which the first unfinished work of this kind is or was due. The index may lag a little.
    ///
    /// # Errors
    /// 503.
    pub async fn first(self, table: &Table) -> Result<Option<Timestamp>, Problem> {
        let firsts: Vec<Option<String>> = stream::iter(SHARDS.chars())
            .map(|shard| async move {
                table.first_place(&Query::index(Index::Gsi3, self.partition(shard))).await
            })
            .buffer_unordered(SHARDS.len())
            .try_collect()
            .await?;
        let time = |place: String| Timestamp::parse(place.split('#').next()?);
        Ok(firsts.into_iter().flatten().filter_map(time).min())
    }

    fn partition(self, shard: char) -> String {
        format!("DUE#{}#{shard}", self.name())
    }

    /// Whether marks of this kind have this partition key.
    pub fn has(self, partition: &str) -> bool {
        partition.split('#').nth(1) == Some(self.name())
    }

    /// The query of the work of one shard that is due by `now`, oldest first.
    pub fn query(self, shard: char, now: Timestamp) -> Query {
        Query::index(Index::Gsi3, self.partition(shard)).between("0", format!("{now}#~"))
    }
}

/// Removes the due mark of work that can never succeed, so that it is not tried for ever. It is due again
/// when a later write of its item sets a mark. The change makes any item smaller, so it always fits. An
/// alarm reads the line that it logs.
///
/// # Errors
/// 503.
pub async fn remove_due_mark(
    table: &Table,
    key: &Key,
    mark: DueMark,
    problem: &Problem,
) -> Result<(), Problem> {
    tracing::error!(
        ?key, code = problem.code.as_str(), cause = %problem,
        "work given up: due mark removed"
    );
    let change = Change::new("REMOVE GSI3PK, GSI3SK").under(mark.condition());
    match table.write().update(key, change, Code::VersionConflict).commit().await {
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        outcome => outcome,
    }
}

/// The due mark to remove. A mark that was set meanwhile stays.
#[derive(Debug, Clone, Copy)]
pub enum DueMark {
    /// Any due mark.
    Any,
    /// A mark whose time has passed.
    DueBy(Timestamp),
    /// A mark whose time has passed, or that of the item's next version: the work moves its mark before it
    /// begins.
    DueByOrNextVersion(Timestamp, u64),
}

impl DueMark {
    fn condition(self) -> Condition {
        let past = |now: Timestamp| format!("{now}#~");
        match self {
            Self::Any => Condition::exists(),
            Self::DueBy(now) => Condition::new("GSI3SK <= :now").value(":now", past(now)),
            Self::DueByOrNextVersion(now, version) => {
                Condition::new("GSI3SK <= :now OR #version = :next")
                    .name("#version", "version")
                    .value(":now", past(now))
                    .value(":next", version.saturating_add(1))
            }
        }
    }
}

/// Passes on the outcome of due work. Work that met a permanent error loses its due mark, which is logged
/// once.
///
/// # Errors
/// As the outcome has it; 503 when the mark cannot be removed.
pub async fn remove_mark_if_permanent<T>(
    table: &Table,
    key: &Key,
    mark: DueMark,
    outcome: Result<T, Problem>,
) -> Result<T, Problem> {
    if let Err(problem) = &outcome
        && problem.is_permanent()
    {
        remove_due_mark(table, key, mark, problem).await?;
    }
    outcome
}
