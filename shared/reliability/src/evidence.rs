//! Reliability evidence: what was measured, stated once, and never changed.
//!
//! Records are a chain: each has a number, one more than the one before it, and a hash over that
//! one's hash and its own text, `SHA-256(previous_hash ‖ record)` in lower-case hex. The text is the
//! record as canonical JSON (RFC 8785), so that anybody can make it again of what the API shows. The
//! first follows [`GENESIS`]. Who knows the last hash and finds the chain whole ([`check`]) knows that
//! nothing in it was changed, taken out or put in since.
//!
//! A record is stored as that text and nothing beside it: what is shown is what was hashed.

mod append;
mod check;
mod records;
pub mod summary;
#[cfg(test)]
mod tests;

use core_types::id::{EvidenceId, StoreId};
use core_types::key;
use crypto::seal;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use table::item::{Element, Item, Key};

pub use append::{Addition, addition, append};
pub use check::{
    Broken, Checked, Fault, MOST_CHECKED, Position, check, months_of, newest_of, within,
};

/// What the first record follows, in place of a hash.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

primitives::string_enum! {
    /// The kind of result that a record states.
    EvidenceKind {
        /// A failover drill that ended.
        Drill = "drill",
        /// A load test that ended.
        LoadTest = "load_test",
        /// A replay that ended.
        Replay = "replay",
        /// An incident that is resolved.
        Incident = "incident",
        /// A certification report that was issued.
        Report = "report",
    }
}

/// What is to be recorded.
#[derive(Debug, Clone)]
pub struct Record {
    /// What it is evidence of.
    pub kind: EvidenceKind,
    /// The id of the drill, the replay …
    pub subject: String,
    /// What it came to, in one word: the verdict of a drill, the last state of a replay. The same
    /// outcome of the same subject is recorded once.
    pub outcome: String,
    /// The store whose business it is; none where it is the platform's. Nobody but that store and
    /// operators sees it.
    pub store_id: Option<StoreId>,
    /// What was measured: no secrets, and nothing of customers. Numbers are integers below 2^53,
    /// which every reader of JSON takes as they are (RFC 8785 §3.2.2.3).
    pub summary: Value,
}

impl Record {
    /// Its id, which follows from what it states.
    pub fn id(&self) -> EvidenceId {
        EvidenceId::derive(&[self.kind.as_str(), &self.subject, &self.outcome])
    }
}

/// A record as it was hashed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The id.
    pub id: EvidenceId,
    /// Its place in the chain, from 1.
    pub number: u64,
    /// What it is evidence of.
    pub kind: EvidenceKind,
    /// What it is about.
    pub subject: String,
    /// What that came to.
    pub outcome: String,
    /// The store whose business it is.
    pub store_id: Option<StoreId>,
    /// What was measured.
    pub summary: Value,
    /// When it was recorded; never before the record before it.
    pub recorded_at: Timestamp,
}

/// A record of the chain, as it lies in the table.
///
/// Whatever is found there can be read: evidence that somebody has spoilt is to be pointed at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// A [`Statement`] as canonical JSON (RFC 8785).
    #[serde(default, deserialize_with = "text")]
    pub record: String,
    /// The hash of the record before it; of the first, [`GENESIS`].
    #[serde(default, deserialize_with = "text")]
    pub previous_hash: String,
    /// SHA-256 over the hash before it and the record, in hex.
    #[serde(default, deserialize_with = "text")]
    pub hash: String,
    /// The sort key that it was found at.
    #[serde(rename = "SK", default, skip_serializing)]
    place: String,
}

/// A text, or nothing where there is something else.
fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Found {
        Text(String),
        Else(IgnoredAny),
    }
    Ok(match Found::deserialize(from)? {
        Found::Text(text) => text,
        Found::Else(_) => String::new(),
    })
}

impl Evidence {
    /// The record that follows `head`.
    ///
    /// # Errors
    /// 500: it has no canonical form.
    fn after(head: Option<&Head>, record: Record, now: Timestamp) -> Result<Self, Problem> {
        let statement = Statement {
            id: record.id(),
            number: head.map_or(0, |head| head.number).saturating_add(1),
            kind: record.kind,
            subject: record.subject,
            outcome: record.outcome,
            store_id: record.store_id,
            summary: record.summary,
            // Clocks of two machines differ, and the chain has one order.
            recorded_at: head.map_or(now, |head| head.recorded_at.max(now)),
        };
        let record = serde_json_canonicalizer::to_string(&statement).map_err(Problem::internal)?;
        let previous_hash = head.map_or_else(|| GENESIS.to_owned(), |head| head.hash.clone());
        let place = key::evidence_place(statement.number);
        Ok(Self { hash: hash_of(&previous_hash, &record), previous_hash, record, place })
    }

    /// What it states; none if its text was spoilt.
    pub fn statement(&self) -> Option<Statement> {
        serde_json::from_str(&self.record).ok()
    }

    /// Whether its hash is that of its text and of the hash that it says is before it.
    fn is_hashed(&self) -> bool {
        self.hash == hash_of(&self.previous_hash, &self.record)
    }
}

/// The hash of a record that follows the one with this hash.
fn hash_of(previous_hash: &str, record: &str) -> String {
    seal::digest(&format!("{previous_hash}{record}"))
}

impl Item for Evidence {
    const KIND: &'static str = "evidence";

    fn key(&self) -> Key {
        let stated = self.statement();
        let (at, number) = stated
            .map_or((Timestamp::from_millis(0), 0), |stated| (stated.recorded_at, stated.number));
        key::evidence(at, number)
    }

    /// It is written once.
    fn version(&self) -> u64 {
        1
    }
}

/// A record that can be read, with what it states.
#[derive(Debug, Clone)]
pub struct Stated {
    /// The record as it lies in the table.
    pub evidence: Evidence,
    /// What it states.
    pub statement: Statement,
}

/// What was spoilt states nothing, and is in no list.
impl Element for Stated {
    type Container = Evidence;

    fn held_by(evidence: Evidence) -> Vec<Self> {
        let stated = evidence.statement().map(|statement| Self { evidence, statement });
        stated.into_iter().collect()
    }
}

/// The end of the chain: what the next record follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last record: how many there are.
    pub number: u64,
    /// The hash of the last record.
    pub hash: String,
    /// When the first was recorded.
    pub begun_at: Timestamp,
    /// When the last was recorded.
    pub recorded_at: Timestamp,
}

impl Item for Head {
    const KIND: &'static str = "evidence_head";

    fn key(&self) -> Key {
        key::evidence_head()
    }

    fn version(&self) -> u64 {
        self.number
    }
}

/// That a record is there, and where: it is found by its id, and there is one of each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EvidenceName {
    id: EvidenceId,
    number: u64,
    recorded_at: Timestamp,
}

impl EvidenceName {
    /// The key of the record.
    pub fn leads_to(&self) -> Key {
        key::evidence(self.recorded_at, self.number)
    }
}

impl Item for EvidenceName {
    const KIND: &'static str = "evidence_name";

    fn key(&self) -> Key {
        key::evidence_named(&self.id)
    }

    fn version(&self) -> u64 {
        1
    }
}
