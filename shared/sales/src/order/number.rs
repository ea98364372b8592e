//! Numbers: what people call an order, and how it is found by that.

use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::page;
use gateway::problem::Problem;
use ground::id::{OrderId, StoreId};
use ground::key;
use serde::{Deserialize, Serialize};

use super::Order;

/// What the first order's number comes after.
pub(crate) const FIRST: u64 = 1_000;

/// Which order has a number: written with the order, and never changed. It holds the number
/// without the store's prefix, because the merchant may change that.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NumberedOrder {
    /// The store.
    pub store_id: StoreId,
    /// The number, without a prefix.
    pub serial: u64,
    /// The order.
    pub order_id: OrderId,
    /// Counts writes.
    pub version: u64,
}

impl Item for NumberedOrder {
    const KIND: &'static str = "numbered_order";
    fn key(&self) -> Key {
        key::numbered_order(&self.store_id, self.serial)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl NumberedOrder {
    /// What leads from its number to an order.
    pub fn of(order: &Order, serial: u64) -> Self {
        Self { store_id: order.store_id.clone(), serial, order_id: order.id.clone(), version: 1 }
    }
}

/// The orders that people call this, with or without the prefix: `1001` and `#1001`. There is
/// mostly one; a prefix that ends in digits can make two orders look alike. Two round trips,
/// however many orders the store has.
///
/// # Errors
/// The table does not answer.
pub async fn find(app: &App, store: &StoreId, text: &str) -> Result<Vec<Order>, Problem> {
    let serials: Vec<u64> = serials_in(text).collect();
    let places: Vec<Key> =
        serials.iter().map(|serial| key::numbered_order(store, *serial)).collect();
    let mut batch = app.table.get_many(&places.iter().collect::<Vec<_>>()).await?;
    let mut named = Vec::new();
    for place in &places {
        named.extend(batch.take::<NumberedOrder>(place)?);
    }
    let keys: Vec<Key> = named.iter().map(|named| key::order(store, &named.order_id)).collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    page::count_read(keys.len());
    let mut found = Vec::new();
    for (named, key) in named.iter().zip(&keys) {
        let order: Option<Order> = batch.take(key)?;
        let is_meant = |order: &Order| order.number == text || named.serial.to_string() == text;
        found.extend(order.filter(is_meant));
    }
    Ok(found)
}

/// The numbers that a text can end in: where its prefix ends, the text does not say.
fn serials_in(text: &str) -> impl Iterator<Item = u64> + '_ {
    let prefix = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let digits = text.get(prefix..).unwrap_or_default();
    let ends = (0..digits.len()).filter_map(move |start| digits.get(start..));
    let plain = ends.filter(|end| !end.starts_with('0'));
    plain.filter_map(|end| end.parse().ok()).filter(|serial| *serial > FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_looked_for_wherever_its_prefix_may_end() {
        let serials = |text| serials_in(text).collect::<Vec<_>>();
        assert_eq!(serials("1001"), [1001]);
        assert_eq!(serials("#1001"), [1001]);
        assert_eq!(serials("B2-1001"), [1001]);
        assert_eq!(serials("202410017"), [202_410_017, 2_410_017, 410_017, 10_017]);
        assert!(serials("#1000").is_empty() && serials("1001x").is_empty());
        assert_eq!(serials("Bücher1001"), [1001]);
        assert_eq!(serials(&"9".repeat(40)).len(), 16);
    }
}
