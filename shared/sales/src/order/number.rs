//! Numbers: what people call an order, and how it is found by that.

use gateway::item::{Item, Key};
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
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The number, without a prefix.
    pub serial: u64,
    /// The order that it belongs to.
    pub order_id: OrderId,
    /// Starts at 1, and grows by 1 with each write.
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

/// The numbers that a text can end in: where its prefix ends, the text does not say.
pub(super) fn serials_in(text: &str) -> impl Iterator<Item = u64> + '_ {
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
