//! The lines and the shipping that a refund of all that is left covers, so that it has their tax.

use core_types::money::Money;

use super::{RefundLine, RestockType, WantedLine};
use crate::order::{Order, OrderItem};

/// Lines and shipping of a refund.
pub(super) type Parts = (Vec<RefundLine>, Money);

impl Order {
    /// The lines and the shipping in a refund of all of the `refundable` amount: those not refunded yet, or, if less
    /// was paid, those not waived either. What the amount exceeds them by is refunded without lines: an earlier
    /// restocking fee, for example. There are none if they are worth more than the amount, of which it cannot be
    /// said what it is for.
    pub(super) fn rest_within(&self, refundable: &Money) -> Parts {
        let shipping = self.shipping_left();
        let owed = shipping.minus(&self.waived_shipping()).unwrap_or_else(|| self.zero());
        let unrefunded = self.rest(OrderItem::refundable, shipping);
        let fits = |parts: &Parts| {
            self.worth_of(parts).is_some_and(|worth| refundable.minus(&worth).is_some())
        };
        let mut candidates = [unrefunded, self.rest(OrderItem::unwaived, owed)].into_iter();
        candidates.find(fits).unwrap_or_else(|| (Vec::new(), self.zero()))
    }

    /// The amount that is refunded for lines and shipping.
    pub(super) fn worth_of(&self, (items, shipping): &Parts) -> Option<Money> {
        let parts = items.iter().map(|line| &line.amount).chain([shipping]);
        Money::sum(parts, &self.currency).map(|named| self.refund_of(&named))
    }

    fn rest(&self, units: fn(&OrderItem) -> u32, shipping: Money) -> Parts {
        let left = self.items.iter().filter(|item| units(item) > 0);
        let lines = left.map(|item| {
            item.refund_line(&WantedLine {
                order_item_id: item.id.clone(),
                quantity: units(item),
                restock_type: RestockType::NoRestock,
                location_id: None,
            })
        });
        (lines.collect(), shipping)
    }

    fn zero(&self) -> Money {
        Money::zero(&self.currency)
    }
}

impl OrderItem {
    /// The units that were neither refunded nor waived.
    fn unwaived(&self) -> u32 {
        self.refundable().saturating_sub(self.waived)
    }
}
