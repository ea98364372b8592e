//! Reliability evidence: records of measured results, written once and never changed.
//!
//! Records form a hash chain. Each has a number, one more than that of the record before it, and the hash
//! `SHA-256(previous_hash ‖ record)` in lower-case hex. `record` is its text: canonical JSON (RFC 8785),
//! which anybody can rebuild from the API's response. The first record follows [`GENESIS`]. Whoever knows the
//! last hash and verifies the whole chain ([`check`]) knows that no record was changed, removed or inserted
//! since.
//!
//! A record is stored as that text alone: a response returns exactly what was hashed.

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

pub use append::{ADDITION_ATTEMPTS, Addition, addition, append};
pub use check::{
    ChainBreak, ChainDefect, Checked, MAX_CHECKED_RECORDS, Position, check, load_between,
    months_of, newest_of,
};

/// The previous hash of the first record.
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

/// A record before it is appended to the chain.
#[derive(Debug, Clone)]
pub struct Record {
    /// The kind of result.
    pub kind: EvidenceKind,
    /// The id of the subject: a drill, a replay …
    pub subject: String,
    /// The outcome in one word: the verdict of a drill, the final status of a replay. The same outcome of
    /// the same subject is recorded once.
    pub outcome: String,
    /// The store that it concerns; none if it concerns the platform. It is visible to that store and to
    /// operators only.
    pub store_id: Option<StoreId>,
    /// The measurements, without secrets or customers' data. Numbers are integers below 2^53, which every
    /// JSON parser reads exactly (RFC 8785 §3.2.2.3).
    pub summary: Value,
}

impl Record {
    /// Its id, derived from kind, subject and outcome.
    pub fn id(&self) -> EvidenceId {
        EvidenceId::derive(&[self.kind.as_str(), &self.subject, &self.outcome])
    }
}

/// The content of a record, as it was hashed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The id.
    pub id: EvidenceId,
    /// Its place in the chain, from 1.
    pub number: u64,
    /// The kind of result.
    pub kind: EvidenceKind,
    /// The id of the subject.
    pub subject: String,
    /// The outcome in one word.
    pub outcome: String,
    /// The store that it concerns; none if it concerns the platform.
    pub store_id: Option<StoreId>,
    /// The measurements.
    pub summary: Value,
    /// When it was recorded; never earlier than the previous record.
    pub recorded_at: Timestamp,
}

/// A record of the chain, as it is stored in the table.
///
/// Deserializing it never fails, so that a check can name a corrupted record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// A [`Statement`] as canonical JSON (RFC 8785).
    #[serde(default, deserialize_with = "text")]
    pub record: String,
    /// The hash of the previous record; [`GENESIS`] for the first.
    #[serde(default, deserialize_with = "text")]
    pub previous_hash: String,
    /// SHA-256 over the previous hash and the record, in lower-case hex.
    #[serde(default, deserialize_with = "text")]
    pub hash: String,
    /// The sort key that it was found at.
    #[serde(rename = "SK", default, skip_serializing)]
    place: String,
}

/// Deserializes a string; any other value becomes the empty string.
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
    /// Builds the record that follows `head`.
    ///
    /// # Errors
    /// 500: it has no canonical JSON.
    fn after(head: Option<&Head>, record: Record, now: Timestamp) -> Result<Self, Problem> {
        let statement = Statement {
            id: record.id(),
            number: head.map_or(0, |head| head.number).saturating_add(1),
            kind: record.kind,
            subject: record.subject,
            outcome: record.outcome,
            store_id: record.store_id,
            summary: record.summary,
            // The clocks of two machines differ, but the chain is ordered by time.
            recorded_at: head.map_or(now, |head| head.recorded_at.max(now)),
        };
        let record = serde_json_canonicalizer::to_string(&statement).map_err(Problem::internal)?;
        let previous_hash = head.map_or_else(|| GENESIS.to_owned(), |head| head.hash.clone());
        let place = key::evidence_place(statement.number);
        Ok(Self { hash: hash_of(&previous_hash, &record), previous_hash, record, place })
    }

    /// Its content; none if its text is corrupted.
    pub fn statement(&self) -> Option<Statement> {
        serde_json::from_str(&self.record).ok()
    }

    /// Whether its hash matches its text and its previous hash.
    fn is_hashed(&self) -> bool {
        self.hash == hash_of(&self.previous_hash, &self.record)
    }
}

/// The hash of a record with this previous hash.
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

    /// Always 1: it is written once.
    fn version(&self) -> u64 {
        1
    }
}

/// A readable record, with its content.
#[derive(Debug, Clone)]
pub struct Stated {
    /// The record as it is stored in the table.
    pub evidence: Evidence,
    /// Its content.
    pub statement: Statement,
}

/// A corrupted record has no content, and is left out of lists.
impl Element for Stated {
    type Container = Evidence;

    fn held_by(evidence: Evidence) -> Vec<Self> {
        let stated = evidence.statement().map(|statement| Self { evidence, statement });
        stated.into_iter().collect()
    }
}

/// The head of the chain: the last record, which the next one follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "evidence_head", key = key::evidence_head(), version = self.number)]
pub struct Head {
    /// The number of the last record, which is also the count of records.
    pub number: u64,
    /// The hash of the last record.
    pub hash: String,
    /// When the first record was written.
    pub begun_at: Timestamp,
    /// When the last record was written.
    pub recorded_at: Timestamp,
}

/// The lookup item of a record: its key by its id. It makes the id unique.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "evidence_name", key = key::evidence_named(&self.id), version = 1)]
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
