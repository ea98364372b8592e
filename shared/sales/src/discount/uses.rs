//! The uses of a discount: counted in the transaction of the order that uses it, and given back when the
//! order ends without being paid.
//!
//! Limited uses are one counter with a condition. Unlimited uses are counted in [`SHARDS`] counters, one of
//! them for each order, because concurrent transactions at one item would reject each other during a sale.
//! Therefore a discount without a usage limit cannot get one later.

use core_types::id::{CustomerId, DiscountId, StoreId};
use core_types::key;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Change, Query, Write};

use super::{Discount, ShopperIds};

/// The number of counters of a discount without a usage limit (our choice).
pub const SHARDS: u64 = 8;

/// A counter of all orders that use a discount, or of those of one customer.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "discount_uses", key = Key::new(self.pk.clone(), self.sk.clone()))]
pub struct UseCounter {
    /// Partition key.
    #[serde(rename = "PK")]
    pk: String,
    /// Sort key.
    #[serde(rename = "SK")]
    sk: String,
    /// The number of orders.
    used: i64,
    /// Always 0: the item is never replaced.
    #[serde(default)]
    version: u64,
}

impl UseCounter {
    /// The number of orders.
    pub fn used(&self) -> u64 {
        u64::try_from(self.used).unwrap_or(0)
    }
}

/// An order's use of a discount, with all that is needed to give it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscountUse {
    /// The index of the counter: 0 for a discount with a usage limit.
    pub shard: u64,
    /// The shopper ([`Shopper::ids`](super::Shopper::ids)), if the uses of each are limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The address that the shopper's account has proven, under which the use is counted as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also_by: Option<String>,
}

impl DiscountUse {
    /// The use of a discount by the order with this number.
    pub fn of(discount: &Discount, number: u64, shopper_ids: &ShopperIds) -> Self {
        let shard = number.checked_rem(SHARDS).filter(|_| discount.usage_limit.is_none());
        let mut ids =
            shopper_ids.0.iter().filter(|_| discount.per_customer_limit.is_some()).cloned();
        Self { shard: shard.unwrap_or(0), by: ids.next(), also_by: ids.next() }
    }

    /// The ids of the person that it is counted under.
    fn ids(&self) -> impl Iterator<Item = &String> {
        self.by.iter().chain(&self.also_by)
    }

    /// The use of a guest, as that of the account that has proven the address. None if it is not counted by person.
    pub(crate) fn joined(&self, account: &CustomerId) -> Option<Self> {
        let guest = self.by.clone()?;
        Some(Self { shard: self.shard, by: Some(account.to_string()), also_by: Some(guest) })
    }
}

/// Counts an order's use. The write is rejected if a limit has been reached in the meantime.
pub fn record(write: Write, discount: &Discount, used: &DiscountUse) -> Write {
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
    used.ids().fold(write, |write, shopper_ids| {
        let theirs = key::discount_uses_by(store, id, shopper_ids);
        write.update(&theirs, count(discount.per_customer_limit), Code::VersionConflict)
    })
}

/// Gives an order's use back.
pub fn release(write: Write, store: &StoreId, id: &DiscountId, used: &DiscountUse) -> Write {
    // Unconditional: a counter must not prevent an order from ending.
    let back = || Change::new("ADD used :back").value(":back", -1);
    let all = key::discount_uses(store, id, used.shard);
    let write = write.update(&all, back(), Code::VersionConflict);
    used.ids().fold(write, |write, shopper_ids| {
        write.update(&key::discount_uses_by(store, id, shopper_ids), back(), Code::VersionConflict)
    })
}

/// Counts a guest's use under the account that has proven the address.
pub fn join(write: Write, (store, id): (&StoreId, &DiscountId), account: &CustomerId) -> Write {
    let counter = key::discount_uses_by(store, id, account.as_str());
    let one = Change::new("ADD used :one").value(":one", 1);
    write.update(&counter, one, Code::VersionConflict)
}

/// Moves a use to another account of the same person. If both together exceed a limit, it applies to their
/// next order.
pub fn hand_over(
    write: Write,
    (store, id): (&StoreId, &DiscountId),
    (from, to): (&CustomerId, &CustomerId),
) -> Write {
    let moved = |by: i64| Change::new("ADD used :by").value(":by", by);
    let counter = |shopper_ids: &CustomerId| key::discount_uses_by(store, id, shopper_ids.as_str());
    write.update(&counter(from), moved(-1), Code::VersionConflict).update(
        &counter(to),
        moved(1),
        Code::VersionConflict,
    )
}

/// Counts the orders that use a discount, in one round trip.
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
