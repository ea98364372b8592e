//! The outbox: what a transaction announces besides its change.
//!
//! An outgoing item is written with the change it reports, carries a due mark in GSI3, and loses
//! it when it has been handed on. The table's stream is the fast path; a sweep of the due marks
//! alone would be enough (docs/platform.md §2).

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

/// What a transaction announces in items that several announcements share: which ones is decided
/// when all of them are known.
pub trait Gathered: Debug + Send + Sync + Sized + 'static {
    /// Adds the items of all that the transaction announces of this kind.
    fn put_all(all: Vec<Self>, write: Write) -> Write;
}

/// All that a transaction announces of one kind.
pub(crate) trait Gathering: Debug + Send + Sync {
    fn as_any(&mut self) -> &mut dyn Any;
    fn put_into(self: Box<Self>, write: Write) -> Write;
}

impl<T: Gathered> Gathering for Vec<T> {
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
pub enum Due {
    /// Events that have not been fanned out.
    Event,
    /// Deliveries whose next attempt has come.
    Delivery,
    /// Mail that has not been sent.
    Mail,
    /// Deleted stores whose grace ends.
    Redaction,
    /// Orders that were not paid in time.
    Order,
    /// Deleted categories that products still name.
    Category,
    /// What changes of products have left to do.
    Product,
    /// Long work that takes its next step.
    Run,
    /// Refunds that no provider has confirmed, and money that is to go back.
    Payment,
    /// Purchases of themes that may have been paid, and money of theirs that is to go back.
    Purchase,
}

impl Due {
    /// Every kind, in the order a sweep takes them.
    pub const ALL: [Self; 10] = [
        Self::Event,
        Self::Delivery,
        Self::Mail,
        Self::Redaction,
        Self::Category,
        Self::Product,
        Self::Run,
        // These ask others, who may be slow: nobody else waits for them.
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

    /// How long work that was tried so often in vain is left alone: a minute, twice as long each
    /// time, eight and a half hours at most.
    pub fn wait(tries: u32) -> Duration {
        MINUTE.saturating_mul(1 << tries.min(9))
    }

    /// When the first work of this kind is due, or was: of all that is to be done. The index is late, by
    /// little.
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

    /// What is due by `now` on one shard, oldest first.
    pub fn query(self, shard: char, now: Timestamp) -> Query {
        Query::index(Index::Gsi3, self.partition(shard)).between("0", format!("{now}#~"))
    }
}

/// Takes due work that can never succeed off the list of what is due, so that nobody tries it for ever; it is
/// due again once something writes its item with a mark. Whatever the item holds, this makes it smaller.
/// The line that it logs is what the alarm reads.
///
/// # Errors
/// 503.
pub async fn give_up(
    table: &Table,
    key: &Key,
    mark: Marked,
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

/// Which due mark is taken off: no other that somebody has set meanwhile.
#[derive(Debug, Clone, Copy)]
pub enum Marked {
    /// Whichever there is.
    Ever,
    /// One whose time has passed.
    By(Timestamp),
    /// The same, or that of the item's next version: the work has moved its mark on before it began.
    ByOrAfter(Timestamp, u64),
}

impl Marked {
    fn condition(self) -> Condition {
        let past = |now: Timestamp| format!("{now}#~");
        match self {
            Self::Ever => Condition::exists(),
            Self::By(now) => Condition::new("GSI3SK <= :now").value(":now", past(now)),
            Self::ByOrAfter(now, version) => Condition::new("GSI3SK <= :now OR #version = :next")
                .name("#version", "version")
                .value(":now", past(now))
                .value(":next", version.saturating_add(1)),
        }
    }
}

/// What became of a chunk of due work: one that can never succeed is given up, and is told of once.
///
/// # Errors
/// As the outcome has it; 503 when it cannot be given up.
pub async fn settled<T>(
    table: &Table,
    key: &Key,
    mark: Marked,
    outcome: Result<T, Problem>,
) -> Result<T, Problem> {
    if let Err(problem) = &outcome
        && problem.is_permanent()
    {
        give_up(table, key, mark, problem).await?;
    }
    outcome
}
