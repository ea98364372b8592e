//! Reads: one item, many items in one round trip, and pages of a partition.

mod pages;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::{Sight, Table, back_off, count, unavailable};
use crate::item::{self, Attributes, Index, Item, Key};
use crate::problem::Problem;

pub use pages::Scanned;

/// Pages a bounded loop reads before it gives up or hands out a cursor: pages may be empty and
/// still have a next key (docs/platform.md §1).
const MAX_PAGES: u32 = 20;

/// Items found by one `BatchGetItem`.
#[derive(Debug, Default)]
pub struct Batch(HashMap<Key, Attributes>);

impl Batch {
    /// Takes the item of this key, if it was found.
    pub fn take<T: Item>(&mut self, key: &Key) -> Result<Option<T>, Problem> {
        self.0.remove(key).map(item::parse).transpose()
    }
}

/// A query over one partition of the table or of an index.
#[derive(Debug, Clone)]
pub struct Query {
    index: Option<Index>,
    partition: String,
    range: Range,
    newest_first: bool,
    consistent: bool,
    /// How the sort keys end that are meant.
    ending: Option<String>,
    /// Items that one round trip looks at, at least.
    ahead: usize,
    /// Round trips for one page, at most.
    trips: u32,
    /// Whether it is read to its end, however much that is.
    is_whole: bool,
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
            is_whole: false,
        }
    }

    /// All items of an index partition; indexes are eventually consistent.
    pub fn index(index: Index, partition: impl Into<String>) -> Self {
        Self { index: Some(index), consistent: false, ..Self::partition(partition) }
    }

    /// All items of the index partition that an entry lies in, whatever its sort key.
    pub fn partition_of((index, entry): (Index, Key)) -> Self {
        Self::index(index, entry.pk)
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

    /// Only sort keys that end with this. Others are looked at, but of an index that holds keys alone
    /// their items are not read.
    #[must_use]
    pub fn ends_with(mut self, suffix: impl Into<String>) -> Self {
        self.ending = Some(suffix.into());
        self
    }

    /// For a filter that lets little through: each round trip looks at `ahead` items, and a page
    /// takes at most `trips` of them. Then it ends early, with a cursor.
    #[must_use]
    pub fn looking_ahead(mut self, ahead: usize, trips: u32) -> Self {
        self.ahead = ahead;
        self.trips = trips;
        self
    }

    /// For what cannot be done in part: it does not end early because of what was read for a list
    /// ([`has_read_enough`](crate::budget::has_read_enough)).
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// At half the price, and perhaps a moment old.
    #[must_use]
    pub fn glancing(mut self) -> Self {
        self.consistent = false;
        self
    }

    /// As it is, or at a glance; an index is always glanced at.
    #[must_use]
    pub fn seen(mut self, sight: Sight) -> Self {
        self.consistent = sight == Sight::Settled && self.index.is_none();
        self
    }

    /// Whether the sort key of a row ends as it should.
    fn means(&self, row: &Attributes) -> bool {
        let name = self.index.map_or("SK", |index| index.key_names().1);
        let key = row.get(name).and_then(|key| key.as_s().ok());
        self.ending.as_ref().is_none_or(|end| key.is_some_and(|key| key.ends_with(end.as_str())))
    }

    /// Whether its rows name items and do not hold them.
    fn names_only(&self) -> bool {
        self.index.is_some_and(Index::is_keys_only)
    }

    /// The partition.
    pub(crate) fn partition_key(&self) -> &str {
        &self.partition
    }

    /// The attribute that names the partition.
    pub(crate) fn partition_name(&self) -> &'static str {
        self.index.map_or("PK", |index| index.key_names().0)
    }

    /// Descending by sort key.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.newest_first = true;
        self
    }
}

impl Table {
    /// One item, read consistently.
    pub async fn get<T: Item>(&self, key: &Key) -> Result<Option<T>, Problem> {
        self.get_as(key, Sight::Settled).await
    }

    /// One item.
    pub async fn get_as<T: Item>(&self, key: &Key, sight: Sight) -> Result<Option<T>, Problem> {
        let answer = self
            .client
            .get_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .consistent_read(sight == Sight::Settled)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        answer.item.map(item::parse).transpose()
    }

    /// Up to 100 items in one round trip, read consistently.
    pub async fn get_many(&self, keys: &[&Key]) -> Result<Batch, Problem> {
        self.read(distinct(keys), true).await
    }

    /// Any number of items, 100 in a round trip and several such trips side by side, at half the
    /// price and perhaps a moment old.
    pub async fn glance(&self, keys: &[&Key]) -> Result<Batch, Problem> {
        let hundreds: Vec<Vec<Attributes>> = keys.chunks(BATCH).map(distinct).collect();
        let parts: Vec<Batch> = stream::iter(hundreds)
            .map(|hundred| self.read(hundred, false))
            .buffer_unordered(SIDE_BY_SIDE)
            .try_collect()
            .await?;
        Ok(Batch(parts.into_iter().flat_map(|Batch(items)| items).collect()))
    }

    /// Up to 100 items in one round trip.
    pub async fn look(&self, keys: &[&Key], sight: Sight) -> Result<Batch, Problem> {
        match sight {
            Sight::Glance => self.glance(keys).await,
            Sight::Settled => self.get_many(keys).await,
        }
    }

    async fn read(&self, mut wanted: Vec<Attributes>, consistent: bool) -> Result<Batch, Problem> {
        let mut found = Batch::default();
        for attempt in 0..5 {
            if wanted.is_empty() {
                return Ok(found);
            }
            let request = KeysAndAttributes::builder()
                .set_keys(Some(std::mem::take(&mut wanted)))
                .consistent_read(consistent)
                .build()
                .map_err(Problem::internal)?;
            let answer = self
                .client
                .batch_get_item()
                .request_items(self.name(), request)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(|error| unavailable(&error))?;
            count(answer.consumed_capacity());
            for attributes in answer.responses.into_iter().flatten().flat_map(|(_, list)| list) {
                if let Some(key) = Key::of(&attributes) {
                    found.0.insert(key, attributes);
                }
            }
            let unread = answer.unprocessed_keys.into_iter().flatten();
            wanted = unread.flat_map(|(_, rest)| rest.keys).collect();
            if !wanted.is_empty() {
                back_off(attempt, BATCH_BASE, BATCH_CAP).await;
            }
        }
        if wanted.is_empty() { Ok(found) } else { Err(Problem::unavailable("unprocessed keys")) }
    }

    /// Every item of a query that is known to be short; stops at `max`.
    pub async fn all<T: Item>(&self, query: &Query, max: usize) -> Result<Vec<T>, Problem> {
        let (mut items, mut start) = (Vec::new(), None);
        for _ in 0..query.trips {
            let (found, next) = self.query_once(query, max, start.take()).await?;
            match self.named(query, &found).await? {
                None => items.extend(found.into_iter().filter(|row| query.means(row))),
                Some(Batch(mut named)) => {
                    let keys = found.iter().filter_map(Key::of);
                    items.extend(keys.filter_map(|key| named.remove(&key)));
                }
            }
            start = next;
            if start.is_none() || items.len() >= max {
                break;
            }
        }
        items.truncate(max);
        items.into_iter().map(item::parse).collect()
    }

    /// The items that rows of an index name which holds keys alone; none of the other indexes.
    async fn named(&self, query: &Query, rows: &[Attributes]) -> Result<Option<Batch>, Problem> {
        if !query.names_only() {
            return Ok(None);
        }
        let keys: Vec<Key> =
            rows.iter().filter(|row| query.means(row)).filter_map(Key::of).collect();
        self.glance(&keys.iter().collect::<Vec<_>>()).await.map(Some)
    }

    /// Only the keys, as GSI3 projects nothing else.
    pub async fn keys(&self, query: &Query, limit: usize) -> Result<Vec<Key>, Problem> {
        let mut keys = Vec::new();
        let mut start = None;
        for _ in 0..MAX_PAGES {
            let (found, next) = self.query_once(query, limit, start).await?;
            keys.extend(found.iter().filter_map(Key::of));
            start = next;
            if start.is_none() || keys.len() >= limit {
                break;
            }
        }
        Ok(keys)
    }

    async fn query_once(
        &self,
        query: &Query,
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<(Vec<Attributes>, Option<Attributes>), Problem> {
        let (pk, sk) = query.index.map_or(("PK", "SK"), Index::key_names);
        let mut values =
            HashMap::from([(":p".to_owned(), AttributeValue::S(query.partition.clone()))]);
        let condition = match &query.range {
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
        let answer = self
            .client
            .query()
            .table_name(self.name())
            .set_index_name(query.index.map(|index| index.name().to_owned()))
            .key_condition_expression(condition)
            .set_expression_attribute_values(Some(values))
            .scan_index_forward(!query.newest_first)
            .consistent_read(query.consistent)
            .limit(i32::try_from(limit.saturating_add(1)).unwrap_or(i32::MAX))
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key.filter(|k| !k.is_empty())))
    }
}

/// Keys that one `BatchGetItem` takes.
const BATCH: usize = 100;
/// Batches of one reading that are under way at once (our choice).
const SIDE_BY_SIDE: usize = 8;
/// First wait after keys were left unprocessed.
const BATCH_BASE: std::time::Duration = std::time::Duration::from_millis(20);
/// Longest wait after keys were left unprocessed.
const BATCH_CAP: std::time::Duration = std::time::Duration::from_millis(300);

/// Each of these keys once, as a batch wants them.
fn distinct(keys: &[&Key]) -> Vec<Attributes> {
    let mut wanted: Vec<Attributes> = Vec::new();
    for key in keys {
        let attributes = key.attributes();
        if !wanted.contains(&attributes) {
            wanted.push(attributes);
        }
    }
    wanted
}

/// The key from which a query goes on after this item.
fn position_of(index: Option<Index>, attributes: &Attributes) -> Attributes {
    let index_keys = index.map(Index::key_names).map(|(pk, sk)| [pk, sk]);
    let names = ["PK", "SK"].into_iter().chain(index_keys.into_iter().flatten());
    names.filter_map(|name| Some((name.to_owned(), attributes.get(name)?.clone()))).collect()
}
