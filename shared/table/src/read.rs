//! Reads: one item, many items in one round trip, and pages of a partition.

mod pages;
mod recent;
mod walk;

use std::collections::{HashMap, HashSet};

use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::query::MAX_PAGES;
use super::{Query, ReadConsistency, Table, back_off, count, unavailable};
use crate::item;
use crate::item::{Attributes, FromItem, Index, Item, Key};
use primitives::problem::Problem;

pub use pages::{ReadLimit, Scanned};
pub(super) use recent::Recent;
pub use walk::WalkPosition;

/// Items found by one `BatchGetItem`.
#[derive(Debug, Default)]
pub struct Batch {
    found: HashMap<Key, Attributes>,
    recent: Recent,
}

impl Batch {
    /// Whether the item of this key was found, and not taken yet.
    pub fn has(&self, key: &Key) -> bool {
        self.found.contains_key(key)
    }

    /// Takes the item of this key, if it was found.
    pub fn take<T: Item>(&mut self, key: &Key) -> Result<Option<T>, Problem> {
        self.found.remove(key).map(item::parse).transpose()
    }

    /// As [`Batch::take`], for items that most requests read and that rarely change: an unchanged item is
    /// not parsed again.
    pub fn take_recent<T>(&mut self, key: &Key) -> Result<Option<T>, Problem>
    where
        T: Item + Clone + 'static,
    {
        let found = self.found.remove(key);
        found.map(|attributes| self.recent.parse(key, attributes)).transpose()
    }
}

impl Table {
    /// One item, read consistently.
    pub async fn get<T: Item>(&self, key: &Key) -> Result<Option<T>, Problem> {
        self.get_as(key, ReadConsistency::Strong).await
    }

    /// One item.
    pub async fn get_as<T: Item>(
        &self,
        key: &Key,
        consistency: ReadConsistency,
    ) -> Result<Option<T>, Problem> {
        let answer = self
            .client
            .get_item()
            .table_name(self.name())
            .set_key(Some(key.attributes()))
            .consistent_read(consistency == ReadConsistency::Strong)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .boxed()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        answer.item.map(item::parse).transpose()
    }

    /// One item by an eventually consistent read, at half the price. An item that it does not find may be
    /// too new, and is read again strongly consistently.
    pub async fn peek<T: Item>(&self, key: &Key) -> Result<Option<T>, Problem> {
        match self.get_as(key, ReadConsistency::Eventual).await? {
            Some(found) => Ok(Some(found)),
            None => self.get(key).await,
        }
    }

    /// Up to 100 items in one round trip, read consistently.
    pub async fn get_many(&self, keys: &[&Key]) -> Result<Batch, Problem> {
        self.read(distinct(keys), true).await
    }

    /// Any number of items by eventually consistent reads, 100 in a round trip, with several round trips
    /// in parallel.
    pub async fn get_many_eventually(&self, keys: &[&Key]) -> Result<Batch, Problem> {
        let hundreds: Vec<Vec<Attributes>> = keys.chunks(BATCH).map(distinct).collect();
        let parts: Vec<Batch> = stream::iter(hundreds)
            .map(|hundred| self.read(hundred, false))
            .buffer_unordered(SIDE_BY_SIDE)
            .try_collect()
            .await?;
        let found = parts.into_iter().flat_map(|part| part.found).collect();
        Ok(Batch { found, recent: self.recent.clone() })
    }

    /// Up to 100 items in one round trip.
    pub async fn get_many_with(
        &self,
        keys: &[&Key],
        consistency: ReadConsistency,
    ) -> Result<Batch, Problem> {
        match consistency {
            ReadConsistency::Eventual => self.get_many_eventually(keys).await,
            ReadConsistency::Strong => self.get_many(keys).await,
        }
    }

    async fn read(&self, mut wanted: Vec<Attributes>, consistent: bool) -> Result<Batch, Problem> {
        let mut batch = Batch { found: HashMap::new(), recent: self.recent.clone() };
        for attempt in 0..5 {
            if wanted.is_empty() {
                return Ok(batch);
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
                .boxed()
                .await
                .map_err(|error| unavailable(&error))?;
            count(answer.consumed_capacity());
            for attributes in answer.responses.into_iter().flatten().flat_map(|(_, list)| list) {
                if let Some(key) = Key::of(&attributes) {
                    batch.found.insert(key, attributes);
                }
            }
            let unread = answer.unprocessed_keys.into_iter().flatten();
            wanted = unread.flat_map(|(_, rest)| rest.keys).collect();
            if !wanted.is_empty() {
                back_off(attempt, BATCH_BASE, BATCH_CAP).await;
            }
        }
        if wanted.is_empty() {
            Ok(batch)
        } else {
            Err(Problem::unavailable(format!(
                "{} keys of a batch stayed unprocessed",
                wanted.len()
            )))
        }
    }

    /// Every item of a query that is short by design; stops at `max`.
    pub async fn all<T: FromItem>(&self, query: &Query, max: usize) -> Result<Vec<T>, Problem> {
        let (mut items, mut start) = (Vec::new(), None);
        for _ in 0..query.trips {
            let (found, next) = self.query_once(query, max, start.take()).await?;
            match self.named(query, &found).await? {
                None => items.extend(found.into_iter().filter(|row| query.matches_suffix(row))),
                Some(mut named) => {
                    let keys = found.iter().filter_map(Key::of);
                    items.extend(keys.filter_map(|key| named.found.remove(&key)));
                }
            }
            start = next;
            if start.is_none() || items.len() >= max {
                break;
            }
        }
        items.truncate(max);
        items.into_iter().map(T::from_item).collect()
    }

    /// The first item of a query; none if it has none.
    pub async fn first<T: FromItem>(&self, query: &Query) -> Result<Option<T>, Problem> {
        let (found, _) = self.query_once(query, 0, None).await?;
        found.into_iter().next().map(T::from_item).transpose()
    }

    /// The items of the rows of a keys-only index; none for the other indexes.
    async fn named(&self, query: &Query, rows: &[Attributes]) -> Result<Option<Batch>, Problem> {
        if !query.names_only() {
            return Ok(None);
        }
        let keys: Vec<Key> =
            rows.iter().filter(|row| query.matches_suffix(row)).filter_map(Key::of).collect();
        self.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await.map(Some)
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

    /// The sort key of the first row of an index; none if it is empty.
    pub(crate) async fn first_place(&self, query: &Query) -> Result<Option<String>, Problem> {
        let (found, _) = self.query_once(query, 0, None).await?;
        let name = query.index.map_or("SK", |index| index.key_names().1);
        let place = found.first().and_then(|row| row.get(name)?.as_s().ok());
        Ok(place.cloned())
    }

    async fn query_once(
        &self,
        query: &Query,
        limit: usize,
        start: Option<Attributes>,
    ) -> Result<(Vec<Attributes>, Option<Attributes>), Problem> {
        let (condition, values) = query.condition();
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
            .boxed()
            .await
            .map_err(|error| unavailable(&error))?;
        count(answer.consumed_capacity());
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key.filter(|k| !k.is_empty())))
    }
}

/// Keys that one `BatchGetItem` takes.
const BATCH: usize = 100;
/// Batches of one read that run in parallel (our choice).
const SIDE_BY_SIDE: usize = 8;
/// First wait after keys were left unprocessed.
const BATCH_BASE: std::time::Duration = std::time::Duration::from_millis(20);
/// Longest wait after keys were left unprocessed.
const BATCH_CAP: std::time::Duration = std::time::Duration::from_millis(300);

/// The keys without duplicates, in the form of a batch.
fn distinct(keys: &[&Key]) -> Vec<Attributes> {
    let once: HashSet<&Key> = keys.iter().copied().collect();
    once.into_iter().map(Key::attributes).collect()
}

/// The key after which a query continues.
fn position_of(index: Option<Index>, attributes: &Attributes) -> Attributes {
    let index_keys = index.map(Index::key_names).map(|(pk, sk)| [pk, sk]);
    let names = ["PK", "SK"].into_iter().chain(index_keys.into_iter().flatten());
    names.filter_map(|name| Some((name.to_owned(), attributes.get(name)?.clone()))).collect()
}
