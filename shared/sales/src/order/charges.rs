//! The totals, shipping and discounts of an order.

use core_types::fields::Currency;
use core_types::id::DiscountId;
use core_types::money::{Money, MoneyDifference};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Order;
use crate::discount::uses::DiscountUse;
use crate::discount::{Discount, DiscountClass, DiscountCode, DiscountKind, ShopperIds};
use crate::shipping::ShippingService;
use crate::tax::{LineTax, TaxLine, share};

/// The amounts of what an order sells: units that were cancelled or returned before they were paid are not in
/// them (docs/commerce.md §4).
///
/// `total` is `subtotal` less `discount` plus `shipping`, plus `tax` unless prices include it, plus `rounding`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OrderTotals")]
pub struct Totals {
    /// The sum of the lines, each price times the units sold.
    pub subtotal: Money,
    /// The discounts on lines and shipping.
    pub discount: Money,
    /// The price of shipping, before discounts.
    pub shipping: Money,
    /// The tax on lines and shipping.
    pub tax: Money,
    /// Whether prices include tax, so that `tax` is a part of the other amounts.
    pub tax_included: bool,
    /// The tax by rate.
    pub tax_lines: Vec<TaxLine>,
    /// The rounding of the amount due to what the payment provider can count; zero for most currencies.
    #[serde(default)]
    pub rounding: Option<MoneyDifference>,
    /// The amount to be paid.
    pub total: Money,
    /// The part of the total that gift cards pay.
    pub gift_cards: Money,
    /// The part of the total that gift cards do not pay.
    pub due: Money,
}

impl Totals {
    /// These totals with the amount due rounded to multiples of `step` minor units, if it is not one.
    #[must_use]
    pub fn rounded_to(self, step: i64) -> Self {
        let due = self.due.rounded_to(step);
        let difference = MoneyDifference::between(&self.due, &due);
        let total = self.total.amount.saturating_add(difference.amount);
        match Money::new(total, &self.due.currency) {
            Some(total) if difference.amount != 0 => {
                let rounding =
                    self.rounding.map_or(difference.clone(), |before| before.plus(&difference));
                Self { total, due, rounding: Some(rounding), ..self }
            }
            _ => self,
        }
    }

    /// The total before it was rounded.
    pub fn exact_total(&self) -> Money {
        let rounding = self.rounding.as_ref().map_or(0, |rounding| rounding.amount);
        Money {
            amount: self.total.amount.saturating_sub(rounding),
            currency: self.total.currency.clone(),
        }
    }

    /// Totals of zero.
    pub fn zero(currency: &Currency) -> Self {
        let zero = Money::zero(currency);
        Self {
            subtotal: zero.clone(),
            discount: zero.clone(),
            shipping: zero.clone(),
            tax: zero.clone(),
            tax_included: false,
            tax_lines: Vec::new(),
            rounding: None,
            total: zero.clone(),
            gift_cards: zero.clone(),
            due: zero,
        }
    }
}

/// The part of a discount on a line or on shipping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscountAllocation {
    /// The discount.
    pub discount_id: DiscountId,
    /// The amount.
    pub amount: Money,
}

/// The shipping of an order and its price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippingLine {
    /// The chosen rate.
    #[serde(flatten)]
    pub service: ShippingService,
    /// The price before the store's tax was deducted from it, for a buyer who pays no tax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_price: Option<Money>,
    /// The price.
    pub price: Money,
    /// The discount on the price.
    pub discount: Money,
    /// The part of each discount.
    pub discounts: Vec<DiscountAllocation>,
    /// The tax on shipping.
    pub tax: Money,
    /// The tax by rate.
    pub tax_lines: Vec<LineTax>,
    /// The price less the discount, plus tax unless prices include it.
    pub total: Money,
}

impl DiscountAllocation {
    /// Discounts of an amount that is another one now: each keeps its share, and together they are rounded half up.
    pub(super) fn scaled(parts: &[Self], before: &Money, after: &Money) -> Vec<Self> {
        let Some(whole) = Money::sum(parts.iter().map(|part| &part.amount), &before.currency)
            .filter(|_| before != after)
        else {
            return parts.to_vec();
        };
        let weights: Vec<i64> = parts.iter().map(|part| part.amount.amount).collect();
        let amounts = share(&whole, after.amount, before.amount).allocate(&weights);
        let pairs = parts.iter().zip(amounts);
        pairs.map(|(part, amount)| Self { amount, ..part.clone() }).collect()
    }
}

impl ShippingLine {
    /// The line with this price before the store's tax was deducted from it.
    #[must_use]
    pub(super) fn listed_at(self, price: Money) -> Self {
        let list_price = (price != self.price).then_some(price);
        Self { list_price, ..self }
    }
}

/// A discount of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderDiscount {
    /// The discount.
    pub discount_id: DiscountId,
    /// The title at placement.
    pub title: String,
    /// The discount code; none for an automatic discount.
    pub code: Option<DiscountCode>,
    /// The kind.
    pub kind: DiscountKind,
    /// What it reduces; none for what its kind reduces by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<DiscountClass>,
    /// The amount that it saves in all.
    pub amount: Money,
    /// The counters that its use was counted on.
    pub used: DiscountUse,
    /// Whether the use was given back, because the order ended unpaid or wholly refunded.
    #[serde(default)]
    pub given_back: bool,
}

impl OrderDiscount {
    /// The entry of a discount in the order with this number.
    pub fn of(discount: &Discount, amount: Money, number: u64, shopper_ids: &ShopperIds) -> Self {
        let kind = discount.value.kind();
        Self {
            discount_id: discount.id.clone(),
            title: discount.title.clone(),
            code: discount.code.clone(),
            kind,
            class: Some(discount.class()).filter(|class| *class != kind.default_class()),
            amount,
            used: DiscountUse::of(discount, number, shopper_ids),
            given_back: false,
        }
    }
}

core_types::view! {
    /// A discount of an order.
    OrderDiscountView of discount: OrderDiscount {
        /// The discount.
        discount_id: DiscountId,
        /// The title at placement.
        title: String,
        /// The discount code; none for an automatic discount.
        code: Option<DiscountCode>,
        /// The kind.
        kind: DiscountKind,
        /// What it reduces: the whole order, the lines of some products, or shipping.
        class: DiscountClass = discount.class.unwrap_or(discount.kind.default_class()),
        /// The amount that it saves in all.
        amount: Money,
    }
}

impl Order {
    /// The final cost of shipping, with discounts and tax.
    pub fn shipping_total(&self) -> Money {
        let line = self.shipping_line.as_ref();
        line.map_or_else(|| self.totals.shipping.clone(), |line| line.total.clone())
    }

    /// The shipping that need not be paid: all of it if every unit is waived, none otherwise.
    pub(super) fn waived_shipping(&self) -> Money {
        let is_called_off = self.items.iter().all(|item| item.waived == item.sold());
        if is_called_off { self.shipping_total() } else { Money::zero(&self.currency) }
    }

    /// Marks the uses of its discounts as given back, each once, if the order has ended and nothing of its money
    /// is left. Returns those that are new.
    pub(super) fn release_uses(&mut self) -> Vec<OrderDiscount> {
        if !self.is_over() || !self.unreturned().is_zero() {
            return Vec::new();
        }
        let open = self.discounts.iter_mut().filter(|discount| !discount.given_back);
        open.map(|discount| {
            discount.given_back = true;
            discount.clone()
        })
        .collect()
    }
}
