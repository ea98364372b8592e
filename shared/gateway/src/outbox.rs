//! The outbox: what a transaction announces besides its change.
//!
//! An outgoing item is written with the change it reports, carries a due mark in GSI3, and loses
//! it when it has been handed on. The table's stream is the fast path; a sweep of the due marks
//! alone would be enough (traps 21).

use crate::clock::Timestamp;
use crate::item::{Index, Key};
use crate::table::{Query, Write};

/// Something that a transaction announces.
pub trait Outgoing {
    /// Adds its items to the transaction.
    fn put_into(self, write: Write) -> Write;
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
    /// Stores whose data is to be removed.
    Redaction,
    /// Orders that were not paid in time.
    Order,
}

impl Due {
    /// Every kind, in the order a sweep takes them.
    pub const ALL: [Self; 5] =
        [Self::Event, Self::Delivery, Self::Mail, Self::Redaction, Self::Order];

    const fn name(self) -> &'static str {
        match self {
            Self::Event => "EVT",
            Self::Delivery => "DLV",
            Self::Mail => "MAI",
            Self::Redaction => "RED",
            Self::Order => "ORD",
        }
    }

    /// The mark of the work `id` that is due at `at`. Ids end in random digits: the last is the
    /// shard.
    pub fn mark(self, id: &str, at: Timestamp) -> (Index, Key) {
        let shard = id.chars().last().filter(|c| SHARDS.contains(*c)).unwrap_or('0');
        (Index::Gsi3, Key::new(format!("DUE#{}#{shard}", self.name()), format!("{at}#{id}")))
    }

    /// What is due by `now` on one shard, oldest first.
    pub fn query(self, shard: char, now: Timestamp) -> Query {
        Query::index(Index::Gsi3, format!("DUE#{}#{shard}", self.name()))
            .between("0", format!("{now}#~"))
    }
}
