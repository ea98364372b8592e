//! How often a discount was used: counted in the transaction of the order that uses it, and given
//! back when that ends without money.
//!
//! Where the uses are limited, they are one counter under a condition. Where they are not, each order
//! counts on one of [`SHARDS`], so that a sale does not queue up at one item: transactions that meet
//! there would reject each other. A limit can therefore not be put on a discount that had none.

use core_types::id::{CustomerId, DiscountId, StoreId};
use core_types::key;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Change, Query, Write};

use super::Discount;

/// Counters of a discount without a limit (our choice).
pub const SHARDS: u64 = 8;

/// A counter: of all orders, or of those of one customer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UseCounter {
    /// Part of the key.
    #[serde(rename = "PK")]
    pk: String,
    /// Part of the key.
    #[serde(rename = "SK")]
    sk: String,
    /// How many orders.
    used: i64,
    /// Nobody replaces it.
    #[serde(default)]
    version: u64,
}

impl Item for UseCounter {
    const KIND: &'static str = "discount_uses";
    fn key(&self) -> Key {
        Key::new(self.pk.clone(), self.sk.clone())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl UseCounter {
    /// How many orders.
    pub fn used(&self) -> u64 {
        u64::try_from(self.used).unwrap_or(0)
    }
}

/// What an order has used, so that it can be given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Which counter: the first, of a discount with a limit.
    pub shard: u64,
    /// Whose use it was, where that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Used {
    /// What the order of this number uses of a discount.
    pub fn of(discount: &Discount, number: u64, who: Option<String>) -> Self {
        let shard = number.checked_rem(SHARDS).filter(|_| discount.usage_limit.is_none());
        let by = who.filter(|_| discount.per_customer_limit.is_some());
        Self { shard: shard.unwrap_or(0), by }
    }
}

/// Counts an order's use. It is rejected when the limit was reached meanwhile.
pub fn take(write: Write, discount: &Discount, used: &Used) -> Write {
    let (store, id) = (&discount.store_id, &discount.id);
    let count = |most: Option<u32>| {
        let change = Change::new("SET used = if_not_exists(used, :none) + :one")
            .value(":none", 0)
            .value(":one", 1);
        match most {
            Some(most) => {
                change.only_if("attribute_not_exists(used) OR used < :most").value(":most", most)
            }
            None => change,
        }
    };
    let all = key::discount_uses(store, id, used.shard);
    let write = write.update(&all, count(discount.usage_limit), Code::VersionConflict);
    write.also(used.by.as_ref(), |write, who| {
        let theirs = key::discount_uses_by(store, id, who);
        write.update(&theirs, count(discount.per_customer_limit), Code::VersionConflict)
    })
}

/// Gives an order's use back.
pub fn give_back(write: Write, store: &StoreId, id: &DiscountId, used: &Used) -> Write {
    // Without a condition: the end of an order is not to depend on a counter.
    let back = || Change::new("ADD used :back").value(":back", -1);
    let all = key::discount_uses(store, id, used.shard);
    let write = write.update(&all, back(), Code::VersionConflict);
    write.also(used.by.as_ref(), |write, who| {
        write.update(&key::discount_uses_by(store, id, who), back(), Code::VersionConflict)
    })
}

/// Counts a use as another account's, of the same person; a limit that they exceed together holds for
/// what they order next.
pub fn hand_over(
    write: Write,
    (store, id): (&StoreId, &DiscountId),
    (from, to): (&CustomerId, &CustomerId),
) -> Write {
    let moved = |by: i64| Change::new("ADD used :by").value(":by", by);
    let counter = |who: &CustomerId| key::discount_uses_by(store, id, who.as_str());
    write.update(&counter(from), moved(-1), Code::VersionConflict).update(
        &counter(to),
        moved(1),
        Code::VersionConflict,
    )
}

/// How many orders use a discount; one round trip.
///
/// # Errors
/// 503.
pub async fn count(services: &Services, discount: &Discount) -> Result<u64, Problem> {
    let partition = discount.key().pk;
    let query = Query::partition(partition).begins_with(key::DISCOUNT_USES);
    let counters: Vec<UseCounter> =
        services.table.all(&query, usize::try_from(SHARDS).unwrap_or(0)).await?;
    Ok(counters.iter().map(UseCounter::used).fold(0, u64::saturating_add))
}
