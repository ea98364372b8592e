//! The saving of a discount on a cart.

use core_types::fields::Currency;
use core_types::id::{CollectionId, ProductId};
use core_types::money::{Money, ONE_HUNDRED_PERCENT_BPS};

use super::{Discount, DiscountRejection, DiscountValue, Targets};
use crate::tax::share;

/// A line of a cart, as far as discounts need it.
#[derive(Debug, Clone)]
pub struct DiscountableLine {
    /// The product.
    pub product_id: ProductId,
    /// The collections with the product, among those that the evaluated discounts target.
    pub collection_ids: Vec<CollectionId>,
    /// The number of units.
    pub quantity: u32,
    /// The price of one unit.
    pub price: Money,
    /// The price times the quantity.
    pub subtotal: Money,
    /// The subtotal less other discounts.
    pub left: Money,
    /// Whether it needs shipping.
    pub requires_shipping: bool,
}

/// The amounts that a discount takes off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saving {
    /// The amount off each line, at most [`DiscountableLine::left`].
    pub lines: Vec<Money>,
    /// Whether shipping is free.
    pub free_shipping: bool,
}

impl Targets {
    fn contain(&self, goods: &DiscountableLine) -> bool {
        self.is_whole_order()
            || self.product_ids.contains(&goods.product_id)
            || self.collection_ids.iter().any(|id| goods.collection_ids.contains(id))
    }
}

impl Discount {
    /// The saving of the discount on these lines.
    ///
    /// # Errors
    /// The reason why it does not apply to them.
    pub fn saving(
        &self,
        cart: &[DiscountableLine],
        currency: &Currency,
    ) -> Result<Saving, DiscountRejection> {
        let targeted: Vec<bool> = cart.iter().map(|goods| self.applies_to.contain(goods)).collect();
        let targets = || {
            cart.iter().zip(&targeted).filter(|(_, targeted)| **targeted).map(|(goods, _)| goods)
        };
        if targets().next().is_none() {
            return Err(DiscountRejection::NotApplicable);
        }
        let sum = Money::sum(targets().map(|goods| &goods.subtotal), currency);
        let units = targets().map(|goods| goods.quantity).fold(0, u32::saturating_add);
        let least = self.minimum.subtotal.as_ref();
        let is_short = least.is_some_and(|least| sum.is_none_or(|sum| sum.amount < least.amount));
        if is_short || self.minimum.quantity.is_some_and(|least| units < least) {
            return Err(DiscountRejection::MinimumNotMet);
        }
        let left: Vec<Money> = cart
            .iter()
            .zip(&targeted)
            .map(
                |(goods, targeted)| {
                    if *targeted { goods.left.clone() } else { Money::zero(currency) }
                },
            )
            .collect();
        let nothing = || vec![Money::zero(currency); cart.len()];
        match &self.value {
            DiscountValue::FreeShipping { .. }
                if !cart.iter().any(|goods| goods.requires_shipping) =>
            {
                Err(DiscountRejection::NotApplicable)
            }
            DiscountValue::FreeShipping { .. } => {
                Ok(Saving { lines: nothing(), free_shipping: true })
            }
            DiscountValue::Percentage { basis_points } => {
                let total = Money::sum(&left, currency).ok_or(DiscountRejection::NotApplicable)?;
                Ok(Saving::allocated(&left, &share(&total, *basis_points, ONE_HUNDRED_PERCENT_BPS)))
            }
            DiscountValue::Fixed { amount } if amount.currency != *currency => {
                Err(DiscountRejection::CurrencyMismatch)
            }
            DiscountValue::Fixed { amount } => {
                let total = Money::sum(&left, currency).ok_or(DiscountRejection::NotApplicable)?;
                Ok(Saving::allocated(&left, &amount.min(&total)))
            }
            DiscountValue::BuyXGetY { .. } => self.buy_x_get_y(cart, &targeted),
        }
    }

    /// The saving of buy X get Y: the cheapest units get the discount, and no unit is both bought and got.
    fn buy_x_get_y(
        &self,
        cart: &[DiscountableLine],
        bought: &[bool],
    ) -> Result<Saving, DiscountRejection> {
        let DiscountValue::BuyXGetY { buy_quantity, get_quantity, basis_points, get, max_uses } =
            &self.value
        else {
            return Err(DiscountRejection::NotApplicable);
        };
        let got: Vec<bool> = if get.is_whole_order() {
            bought.to_vec()
        } else {
            cart.iter().map(|goods| get.contain(goods)).collect()
        };
        let count = |wanted: (bool, bool)| {
            let kinds = bought.iter().copied().zip(got.iter().copied());
            let here = cart.iter().zip(kinds).filter(|(_, kind)| *kind == wanted);
            here.map(|(goods, _)| u64::from(goods.quantity)).fold(0, u64::saturating_add)
        };
        let pool = UnitCounts {
            bought: count((true, false)),
            got: count((false, true)),
            both: count((true, true)),
        };
        let (x, y) = (u64::from(*buy_quantity), u64::from(*get_quantity));
        let times = pool.times(x, y, max_uses.map(u64::from));
        if times == 0 {
            return Err(DiscountRejection::MinimumNotMet);
        }
        let mut wanted = times.saturating_mul(y);
        // Units that could be either are bought first, as far as the others are too few.
        let bought_of_both = times.saturating_mul(x).saturating_sub(pool.bought);
        let mut shared = pool.both.saturating_sub(bought_of_both);
        let mut order: Vec<usize> = (0..cart.len()).collect();
        order.sort_by_key(|at| cart.get(*at).map(|goods| goods.price.amount));
        let mut lines: Vec<Money> =
            cart.iter().map(|goods| Money::zero(&goods.price.currency)).collect();
        for at in order {
            let (Some(goods), Some(line)) = (cart.get(at), lines.get_mut(at)) else { continue };
            let is = |flags: &[bool]| flags.get(at).copied().unwrap_or(false);
            if !is(&got) {
                continue;
            }
            let capacity = if is(bought) { shared } else { u64::MAX };
            let units = u64::from(goods.quantity).min(capacity).min(wanted);
            wanted = wanted.saturating_sub(units);
            if is(bought) {
                shared = shared.saturating_sub(units);
            }
            let worth = goods.price.times(u32::try_from(units).unwrap_or(u32::MAX));
            let worth = worth.unwrap_or_else(|| goods.subtotal.clone());
            *line = share(&worth, *basis_points, ONE_HUNDRED_PERCENT_BPS).min(&goods.left);
        }
        Ok(Saving { lines, free_shipping: false })
    }
}

/// The number of units that can only be bought, can only be got, or can be either.
struct UnitCounts {
    bought: u64,
    got: u64,
    both: u64,
}

impl UnitCounts {
    /// The number of times that `x` units can be bought and `y` units got.
    fn times(&self, x: u64, y: u64, max_uses: Option<u64>) -> u64 {
        let fits = |times: u64| {
            let bought = times.saturating_mul(x).saturating_sub(self.bought);
            let got = times.saturating_mul(y).saturating_sub(self.got);
            bought.saturating_add(got) <= self.both
        };
        let units = self.bought.saturating_add(self.got).saturating_add(self.both);
        let bound = units.checked_div(x.saturating_add(y)).unwrap_or(0);
        let bound = max_uses.map_or(bound, |max_uses| max_uses.min(bound));
        // A binary search: if a number of times fits, so does each smaller one.
        let (mut low, mut high) = (0, bound);
        while low < high {
            let middle = low.saturating_add(high).saturating_add(1) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle.saturating_sub(1);
            }
        }
        low
    }
}

impl Saving {
    /// Allocates an amount to lines in proportion to `left`, by the largest remainder.
    fn allocated(left: &[Money], amount: &Money) -> Self {
        let weights: Vec<i64> = left.iter().map(|left| left.amount).collect();
        let lines = if amount.is_zero() {
            left.iter().map(|left| Money::zero(&left.currency)).collect()
        } else {
            amount.allocate(&weights)
        };
        Self { lines, free_shipping: false }
    }
}
