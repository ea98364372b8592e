//! The order in which the records of a page are written: several at once, but those that share a key one
//! after the other, in the order of the file.

use std::collections::HashMap;

use core_types::id::ImportId;
use core_types::key;
use crypto::seal;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Item;
use table::{Condition, Write};

use super::work::{ParsedRecords, RecordOutcome, RecordResult, Work};
use crate::import::records::Record;

/// The number of records written at once.
const AT_ONCE: usize = 8;

/// The keys that a record locks while it is written.
#[derive(Debug, Default)]
pub(super) struct RecordLocks {
    /// Keys that it locks exclusively.
    pub(super) own: Vec<String>,
    /// Keys that it locks for sharing.
    pub(super) shared: Vec<String>,
}

/// The locked keys of records that can be written at once.
#[derive(Debug, Default)]
struct LockedKeys {
    /// Each key, and whether it is locked exclusively.
    keys: HashMap<String, bool>,
}

impl LockedKeys {
    fn can_add(&self, keys: &RecordLocks) -> bool {
        let is_free = |key: &String| !self.keys.contains_key(key);
        let is_shared = |key: &String| self.keys.get(key) != Some(&true);
        keys.own.iter().all(is_free) && keys.shared.iter().all(is_shared)
    }

    fn lock(&mut self, keys: RecordLocks) {
        self.keys.extend(keys.shared.into_iter().map(|key| (key, false)));
        self.keys.extend(keys.own.into_iter().map(|key| (key, true)));
    }
}

/// Writes records. Returns their outcomes, in order.
///
/// # Errors
/// Those of `make`.
pub(super) async fn in_order<'a, T>(
    read: ParsedRecords<T>,
    keys: impl Fn(&T) -> RecordLocks,
    make: impl Fn(Record, T) -> BoxFuture<'a, Result<RecordOutcome, Problem>>,
) -> Result<Vec<RecordOutcome>, Problem> {
    let mut outcomes = Vec::new();
    for batch in batches(read, keys) {
        let make = |(record, asked): (Record, Option<T>)| match asked {
            Some(asked) => make(record, asked),
            None => ready(Ok(RecordOutcome::of(record, RecordResult::Failed))).boxed(),
        };
        let all: Vec<_> = batch.into_iter().map(make).collect();
        let done: Vec<RecordOutcome> = stream::iter(all).buffered(AT_ONCE).try_collect().await?;
        outcomes.extend(done);
    }
    Ok(outcomes)
}

/// The records in order, split before each whose keys conflict with its batch.
fn batches<T>(read: ParsedRecords<T>, keys: impl Fn(&T) -> RecordLocks) -> Vec<ParsedRecords<T>> {
    let (mut all, mut batch) = (vec![Vec::new()], LockedKeys::default());
    for (record, asked) in read {
        let own = asked.as_ref().map(&keys).unwrap_or_default();
        if !batch.can_add(&own) {
            batch = LockedKeys::default();
            all.push(Vec::new());
        }
        batch.lock(own);
        if let Some(last) = all.last_mut() {
            last.push((record, asked));
        }
    }
    all
}

/// The last row that has updated an object: a delayed worker writes no earlier one.
#[derive(Debug, Serialize, Deserialize, Item)]
#[item(kind = "import_last_row", key = key::import_last_row(&self.import_id, &self.digest))]
#[item(forget_at = Some(self.forgotten_at))]
struct LastRow {
    import_id: ImportId,
    digest: String,
    row: u64,
    forgotten_at: Timestamp,
    version: u64,
}

/// Adds to the write of an update the condition that neither this row nor a later one has updated the
/// object; `is_done` recognizes the rejection.
pub(super) fn last_row(work: &Work<'_>, key: &str, row: u64) -> impl Fn(Write) -> Write {
    marked(work, (key, row), "attribute_not_exists(PK) OR #row < :row")
}

/// As [`last_row`], for one of several writes of a row: only a later row rejects it.
pub(super) fn part_of_row(work: &Work<'_>, key: &str, row: u64) -> impl Fn(Write) -> Write {
    marked(work, (key, row), "attribute_not_exists(PK) OR #row <= :row")
}

fn marked(
    work: &Work<'_>,
    (key, row): (&str, u64),
    condition: &'static str,
) -> impl Fn(Write) -> Write + use<> {
    let import = work.import;
    let digest = seal::digest_of(key.as_bytes());
    let (import_id, forgotten_at) = (import.id.clone(), import.expires_at());
    let mark = LastRow { import_id, digest, row, forgotten_at, version: 1 };
    move |write| {
        let is_later = Condition::new(condition).name("#row", "row").value(":row", mark.row);
        write.put_if(&mark, is_later, Code::IdempotencyKeyReused)
    }
}

/// Whether the rejection means that this row, or a later one, was written before.
pub(super) fn is_done(problem: &Problem) -> bool {
    problem.code == Code::IdempotencyKeyReused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[(&[&str], &[&str])]) -> Vec<Vec<u64>> {
        let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let read: ParsedRecords<(Vec<String>, Vec<String>)> = (0..)
            .zip(all)
            .map(|(row, (own, shared))| (Record::rejected(row), Some((texts(own), texts(shared)))))
            .collect();
        let keys = |(own, shared): &(Vec<String>, Vec<String>)| RecordLocks {
            own: own.clone(),
            shared: shared.clone(),
        };
        let batches = batches(read, keys);
        batches.iter().map(|batch| batch.iter().map(|(record, _)| record.row).collect()).collect()
    }

    #[test]
    fn records_that_share_a_key_are_written_in_order() {
        assert_eq!(
            rows(&[(&["a"], &[]), (&["b"], &[]), (&["a"], &[]), (&["b"], &[])]),
            [vec![0, 1], vec![2, 3]]
        );
        assert_eq!(
            rows(&[(&["a", "s"], &[]), (&["b", "s"], &[]), (&["c"], &[])]),
            [vec![0], vec![1, 2]]
        );
        assert_eq!(
            rows(&[(&[], &["m"]), (&[], &["m"]), (&["m"], &[]), (&[], &["m"])]),
            [vec![0, 1], vec![2], vec![3]]
        );
    }
}
