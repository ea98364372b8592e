//! A query, and its conditions.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use super::ReadConsistency;
use crate::item::{Attributes, Index, IndexPartition};

/// Pages that a bounded loop reads before it stops or returns a cursor: pages may be empty and still have a next
/// key (docs/platform.md §1).
pub(super) const MAX_PAGES: u32 = 20;

/// A query over one partition of the table or of an index.
#[derive(Debug, Clone)]
pub struct Query {
    pub(super) index: Option<Index>,
    partition: String,
    range: Range,
    pub(super) newest_first: bool,
    pub(super) consistent: bool,
    /// The suffix of the sort keys that match.
    ending: Option<String>,
    /// The least number of items that one round trip reads.
    pub(super) ahead: usize,
    /// The most round trips for one page.
    pub(super) trips: u32,
    /// Whether it is read to its end, whatever its size.
    pub(super) is_unlimited: bool,
}

#[derive(Debug, Clone)]
enum Range {
    Everything,
    BeginsWith(String),
    Between(String, String),
}

impl Query {
    /// All items of a partition, read consistently.
    pub fn partition(partition: impl Into<String>) -> Self {
        Self {
            index: None,
            partition: partition.into(),
            range: Range::Everything,
            newest_first: false,
            consistent: true,
            ending: None,
            ahead: 0,
            trips: MAX_PAGES,
            is_unlimited: false,
        }
    }

    /// All items of an index partition; indexes are eventually consistent.
    pub fn index(index: Index, partition: impl Into<String>) -> Self {
        Self { index: Some(index), consistent: false, ..Self::partition(partition) }
    }

    /// All items of a list.
    pub fn list(list: IndexPartition) -> Self {
        Self::index(list.index, list.pk)
    }

    /// Only sort keys that begin with this.
    #[must_use]
    pub fn begins_with(mut self, prefix: impl Into<String>) -> Self {
        self.range = Range::BeginsWith(prefix.into());
        self
    }

    /// Only sort keys from `low` to `high`, both included.
    #[must_use]
    pub fn between(mut self, low: impl Into<String>, high: impl Into<String>) -> Self {
        self.range = Range::Between(low.into(), high.into());
        self
    }

    /// Only sort keys that end with this. Others are read and skipped; of a keys-only index their items
    /// are not read.
    #[must_use]
    pub fn ends_with(mut self, suffix: impl Into<String>) -> Self {
        self.ending = Some(suffix.into());
        self
    }

    /// For a filter that few items pass: each round trip reads `ahead` items, and a page takes at most
    /// `trips` of them. Then it ends early, with a cursor.
    #[must_use]
    pub fn with_scan_limit(mut self, ahead: usize, trips: u32) -> Self {
        self.ahead = ahead;
        self.trips = trips;
        self
    }

    /// For work that needs all items: the page does not end early because of the reads for a list
    /// ([`ReadLimit`](crate::ReadLimit)).
    #[must_use]
    pub fn without_read_limit(mut self) -> Self {
        self.is_unlimited = true;
        self
    }

    /// Sets the consistency of the read; an index is always read eventually consistently.
    #[must_use]
    pub fn with_consistency(mut self, consistency: ReadConsistency) -> Self {
        self.consistent = consistency == ReadConsistency::Strong && self.index.is_none();
        self
    }

    /// Whether the sort key of a row has the required suffix.
    pub(super) fn matches_suffix(&self, row: &Attributes) -> bool {
        let name = self.index.map_or("SK", |index| index.key_names().1);
        let key = row.get(name).and_then(|key| key.as_s().ok());
        self.ending.as_ref().is_none_or(|end| key.is_some_and(|key| key.ends_with(end.as_str())))
    }

    /// Whether its rows have keys only.
    pub(super) fn names_only(&self) -> bool {
        self.index.is_some_and(Index::is_keys_only)
    }

    /// The partition.
    pub fn partition_key(&self) -> &str {
        &self.partition
    }

    /// The attribute that names the partition.
    pub fn partition_name(&self) -> &'static str {
        self.index.map_or("PK", |index| index.key_names().0)
    }

    /// Descending by sort key.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.newest_first = true;
        self
    }

    /// The key condition expression, with its values.
    pub(super) fn condition(&self) -> (String, Attributes) {
        let (pk, sk) = self.index.map_or(("PK", "SK"), Index::key_names);
        let mut values =
            HashMap::from([(":p".to_owned(), AttributeValue::S(self.partition.clone()))]);
        let condition = match &self.range {
            Range::Everything => format!("{pk} = :p"),
            Range::BeginsWith(prefix) => {
                values.insert(":b".into(), AttributeValue::S(prefix.clone()));
                format!("{pk} = :p AND begins_with({sk}, :b)")
            }
            Range::Between(low, high) => {
                values.insert(":l".into(), AttributeValue::S(low.clone()));
                values.insert(":h".into(), AttributeValue::S(high.clone()));
                format!("{pk} = :p AND {sk} BETWEEN :l AND :h")
            }
        };
        (condition, values)
    }
}
