//! Batches of deliveries: those that were made together, named by one item instead of a due mark each.
//!
//! Most deliveries succeed within seconds. A due mark for each, put with it and deleted with its outcome, would
//! be two of five write units. A batch costs one for all that it names, and is never written again: the sweep
//! loads each batch once, when its messages should have been processed, gives a due mark to each delivery that
//! is unfinished and has none, and sends its message again. What it has loaded, it remembers as one position a
//! shard; the batches are deleted by their time to live.
//!
//! Nothing is lost, wherever a process ends:
//!
//! - An event stays pending, and due, until its deliveries *and* a batch that names them were written.
//!   So what is made and not named is made again, and named.
//! - A batch that took longer than a minute to be written counts as not written
//!   ([`DeliveryBatch::ensure_in_time`]): the sweep might have passed its place.
//! - The position moves when every delivery before it has ended or has a due mark. A sweep that ends before
//!   is repeated.

use std::collections::BTreeMap;
use std::time::Duration;

use core_types::id::DeliveryId;
use core_types::key;
use crypto::seal;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use services::Services;
use table::Query;
use table::item::{self, Attributes, FromItem, Item, Key};

use super::{QUEUE_GRACE, RETENTION};

/// The shards of the batches. A batch names what a dispatcher makes at once, so that few are enough.
pub const SHARDS: &str = "0123";
/// The time within which a batch is written: less than the sweep waits, by more than clocks differ.
const IN_TIME: Duration = MINUTE;

/// Deliveries that were made together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeliveryBatch {
    /// The deliveries.
    pub deliveries: Vec<DeliveryId>,
    /// Distinguishes it from others of the same moment.
    nonce: String,
    shard: char,
    created_at: Timestamp,
}

impl Item for DeliveryBatch {
    const KIND: &'static str = "delivery_batch";
    fn key(&self) -> Key {
        key::delivery_batch(self.shard, self.created_at, &self.nonce)
    }
    fn version(&self) -> u64 {
        1
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

impl DeliveryBatch {
    /// A batch of these deliveries, in a random shard.
    pub fn of(deliveries: impl IntoIterator<Item = DeliveryId>, now: Timestamp) -> Self {
        let drawn = u64::from_be_bytes(seal::random_bytes());
        let number = usize::try_from(drawn).unwrap_or_default().checked_rem(SHARDS.len());
        let shard = number.and_then(|number| SHARDS.chars().nth(number)).unwrap_or('0');
        let nonce = format!("{drawn:016x}");
        Self { deliveries: deliveries.into_iter().collect(), nonce, shard, created_at: now }
    }

    /// Writes it by a call of its own.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn create(&self, services: &Services) -> Result<(), Problem> {
        services.table.put_new(self).await.map(drop)
    }

    /// Requires that it was written before the sweep could pass it; `now` is a time after the write.
    ///
    /// # Errors
    /// 503 otherwise.
    pub fn ensure_in_time(&self, now: Timestamp) -> Result<(), Problem> {
        if now <= self.created_at.plus(IN_TIME) {
            return Ok(());
        }
        Err(Problem::unavailable("a batch of deliveries was written too late"))
    }
}

/// A batch at its place in a shard.
#[derive(Debug)]
pub struct BatchRow {
    /// The place: batches of a shard are ordered by it.
    pub place: String,
    /// The batch, unless it cannot be parsed.
    pub batch: Result<DeliveryBatch, Problem>,
}

impl FromItem for BatchRow {
    fn from_item(attributes: Attributes) -> Result<Self, Problem> {
        let place = attributes.get("SK").and_then(|place| place.as_s().ok());
        let place = place.cloned().unwrap_or_default();
        Ok(Self { place, batch: item::parse(attributes) })
    }
}

/// How far the sweep has come: the place of the last batch of each shard whose deliveries need it no more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPositions {
    places: BTreeMap<String, String>,
    version: u64,
}

impl Item for BatchPositions {
    const KIND: &'static str = "delivery_batch_positions";
    fn key(&self) -> Key {
        key::batch_positions()
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl BatchPositions {
    /// Loads them.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn load(services: &Services) -> Result<Self, Problem> {
        Ok(services.table.get(&key::batch_positions()).await?.unwrap_or_default())
    }

    /// The place in a shard; none before the first batch.
    pub fn place(&self, shard: char) -> Option<&str> {
        self.places.get(shard.encode_utf8(&mut [0; 4])).map(String::as_str)
    }

    /// The positions with these places reached.
    #[must_use]
    pub fn reaching(&self, places: impl IntoIterator<Item = (char, String)>) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        next.places.extend(places.into_iter().map(|(shard, place)| (shard.to_string(), place)));
        next
    }

    /// Replaces the previous positions. Where another sweep came first, its positions stay: both have
    /// finished what is before theirs.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn save(&self, services: &Services) -> Result<(), Problem> {
        let write = match self.version {
            ..=1 => services.table.put_new(self).await,
            _ => services.table.put_next(self).await,
        };
        write.map(drop)
    }

    /// Whether any batch awaits the sweep.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn is_any_due(services: &Services) -> Result<bool, Problem> {
        let positions = Self::load(services).await?;
        let until = DeliveryBatch::due_by(services.clock.now());
        for shard in SHARDS.chars() {
            let place = positions.place(shard);
            if !DeliveryBatch::after(services, shard, place, until, 1).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl DeliveryBatch {
    /// The time before which batches were made that the sweep loads at `now`.
    pub fn due_by(now: Timestamp) -> Timestamp {
        now.minus(QUEUE_GRACE)
    }

    /// When the sweep loads it.
    pub fn due_at(&self) -> Timestamp {
        self.created_at.plus(QUEUE_GRACE)
    }

    /// Loads the next batches of a shard after a place that were made until a time, oldest first. The read is
    /// strongly consistent: the position passes what is not in it.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn after(
        services: &Services,
        shard: char,
        place: Option<&str>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<BatchRow>, Problem> {
        // A tilde comes after all digits and letters.
        let first = place.map_or_else(|| "0".to_owned(), |place| format!("{place}~"));
        let query = Query::partition(key::delivery_batches(shard));
        let query = query.between(first, format!("{until}#~"));
        services.table.all(&query, limit).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn a_batch_is_found_by_its_place_and_forgotten_with_its_deliveries() {
        let ids = ["one", "two"].map(|name| DeliveryId::derive(&[name]));
        let batch = DeliveryBatch::of(ids.clone(), NOW);
        assert_eq!(batch.deliveries, ids);
        assert!(SHARDS.contains(batch.shard));
        assert!(batch.key().sk.starts_with(&NOW.to_string()));
        assert_ne!(batch.key(), DeliveryBatch::of(ids, NOW).key(), "nothing is overwritten");
        assert_eq!(batch.forget_at(), Some(NOW.plus(RETENTION)));
        // The sweep passes it after it was certainly written.
        assert!(batch.ensure_in_time(NOW.plus(IN_TIME)).is_ok());
        assert!(batch.ensure_in_time(NOW.plus(IN_TIME * 2)).is_err());
        assert!(DeliveryBatch::due_by(NOW.plus(IN_TIME)) < NOW);
        assert_eq!(DeliveryBatch::due_by(batch.due_at()), NOW);
    }

    #[test]
    fn positions_of_shards_advance_apart() {
        let begun = BatchPositions::default();
        assert_eq!((begun.place('0'), begun.version()), (None, 0));
        let first = begun.reaching([('0', "a".to_owned()), ('3', "b".to_owned())]);
        let second = first.reaching([('3', "c".to_owned())]);
        assert_eq!((second.place('0'), second.place('3')), (Some("a"), Some("c")));
        assert_eq!((first.version(), second.version()), (1, 2));
    }
}
