//! What an order costs besides its goods, and what is taken off, as it was when it was placed.

use core_types::fields::Currency;
use core_types::id::DiscountId;
use core_types::money::Money;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Order;
use crate::discount::uses::Used;
use crate::discount::{Discount, DiscountCode, DiscountKind};
use crate::shipping::ShippingService;
use crate::tax::{LineTax, TaxLine};

/// What an order comes to (docs/commerce.md §4).
///
/// `total` is `subtotal` less `discount` plus `shipping`, and plus `tax` unless prices hold it already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OrderTotals")]
pub struct Totals {
    /// The lines, each price times quantity.
    pub subtotal: Money,
    /// Taken off the lines and the shipping.
    pub discount: Money,
    /// Sending it, before what is taken off that.
    pub shipping: Money,
    /// Tax on all of it.
    pub tax: Money,
    /// Whether prices hold their tax: `tax` is then a part of the other amounts.
    pub tax_included: bool,
    /// The tax by rate.
    pub tax_lines: Vec<TaxLine>,
    /// What is to be paid in all.
    pub total: Money,
    /// What gift cards pay of the total.
    pub gift_cards: Money,
    /// What is left to pay when it is placed.
    pub due: Money,
}

impl Totals {
    /// Nothing.
    pub fn zero(currency: &Currency) -> Self {
        let zero = Money::zero(currency);
        Self {
            subtotal: zero.clone(),
            discount: zero.clone(),
            shipping: zero.clone(),
            tax: zero.clone(),
            tax_included: false,
            tax_lines: Vec::new(),
            total: zero.clone(),
            gift_cards: zero.clone(),
            due: zero,
        }
    }
}

/// What a discount takes off a line, or off the shipping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscountAllocation {
    /// The discount.
    pub discount_id: DiscountId,
    /// How much.
    pub amount: Money,
}

/// How an order is sent, and what that costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippingLine {
    /// The rate that was chosen.
    #[serde(flatten)]
    pub service: ShippingService,
    /// Its price.
    pub price: Money,
    /// Taken off it.
    pub discount: Money,
    /// By which discounts.
    pub discounts: Vec<DiscountAllocation>,
    /// Tax on it.
    pub tax: Money,
    /// By which rates.
    pub tax_lines: Vec<LineTax>,
    /// Price less discount, plus tax unless the price holds it already.
    pub total: Money,
}

/// A discount that an order has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderDiscount {
    /// The discount.
    pub discount_id: DiscountId,
    /// What it was called.
    pub title: String,
    /// The code that was named; none of an automatic one.
    pub code: Option<DiscountCode>,
    /// What it does.
    pub kind: DiscountKind,
    /// What it takes off in all.
    pub amount: Money,
    /// Which counters it was counted on.
    pub used: Used,
    /// Whether its use was given back: the order ended without money.
    #[serde(default)]
    pub given_back: bool,
}

impl OrderDiscount {
    /// What the order of this number has of a discount.
    pub fn of(discount: &Discount, amount: Money, number: u64, who: Option<String>) -> Self {
        Self {
            discount_id: discount.id.clone(),
            title: discount.title.clone(),
            code: discount.code.clone(),
            kind: discount.value.kind(),
            amount,
            used: Used::of(discount, number, who),
            given_back: false,
        }
    }
}

core_types::view! {
    /// A discount that an order has.
    OrderDiscountView of discount: OrderDiscount {
        /// The discount.
        discount_id: DiscountId,
        /// What it was called.
        title: String,
        /// The code that was named; none of an automatic one.
        code: Option<DiscountCode>,
        /// What it does.
        kind: DiscountKind,
        /// What it takes off in all.
        amount: Money,
    }
}

impl Order {
    /// What sending it costs in the end: less discounts, with tax.
    pub fn shipping_total(&self) -> Money {
        let line = self.shipping_line.as_ref();
        line.map_or_else(|| self.totals.shipping.clone(), |line| line.total.clone())
    }

    /// What need not be paid for sending it: all of it, when nothing is sent any more that is not
    /// paid for.
    pub(super) fn waived_shipping(&self) -> Money {
        let is_called_off = self.items.iter().all(|item| item.waived == item.quantity);
        if is_called_off { self.shipping_total() } else { Money::zero(&self.currency) }
    }

    /// Has its discounts' uses be given back, each once; those that are now.
    pub(super) fn give_back_uses(&mut self) -> Vec<OrderDiscount> {
        let open = self.discounts.iter_mut().filter(|discount| !discount.given_back);
        open.map(|discount| {
            discount.given_back = true;
            discount.clone()
        })
        .collect()
    }
}
