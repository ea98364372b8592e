//! What a discount takes off a cart.

use core_types::fields::Currency;
use core_types::id::{CollectionId, ProductId};
use core_types::money::Money;

use super::{Discount, DiscountRejection, DiscountValue, Targets};
use crate::tax::{WHOLE, share};

/// A line as a discount looks at it.
#[derive(Debug, Clone)]
pub struct Goods {
    /// What is sold.
    pub product_id: ProductId,
    /// Those of the collections in question that the product is in.
    pub collection_ids: Vec<CollectionId>,
    /// How many.
    pub quantity: u32,
    /// The price of one.
    pub price: Money,
    /// Price times quantity.
    pub subtotal: Money,
    /// What other discounts have left of it.
    pub left: Money,
    /// Whether it has to be sent.
    pub requires_shipping: bool,
}

/// What a discount takes off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saving {
    /// Of each line, at most what was left of it.
    pub lines: Vec<Money>,
    /// Whether sending it costs nothing.
    pub free_shipping: bool,
}

impl Targets {
    fn hold(&self, goods: &Goods) -> bool {
        self.is_everything()
            || self.product_ids.contains(&goods.product_id)
            || self.collection_ids.iter().any(|id| goods.collection_ids.contains(id))
    }
}

impl Discount {
    /// What it takes off these lines, if it is for them at all.
    ///
    /// # Errors
    /// Why it is not.
    pub fn saving(&self, cart: &[Goods], currency: &Currency) -> Result<Saving, DiscountRejection> {
        let meant: Vec<bool> = cart.iter().map(|goods| self.applies_to.hold(goods)).collect();
        let named = || cart.iter().zip(&meant).filter(|(_, meant)| **meant).map(|(goods, _)| goods);
        if named().next().is_none() {
            return Err(DiscountRejection::NotApplicable);
        }
        let sum = Money::sum(named().map(|goods| &goods.subtotal), currency);
        let units = named().map(|goods| goods.quantity).fold(0, u32::saturating_add);
        let least = self.minimum.subtotal.as_ref();
        let is_short = least.is_some_and(|least| sum.is_none_or(|sum| sum.amount < least.amount));
        if is_short || self.minimum.quantity.is_some_and(|least| units < least) {
            return Err(DiscountRejection::MinimumNotMet);
        }
        let left: Vec<Money> = cart
            .iter()
            .zip(&meant)
            .map(|(goods, meant)| if *meant { goods.left.clone() } else { Money::zero(currency) })
            .collect();
        let nothing = || vec![Money::zero(currency); cart.len()];
        match &self.value {
            DiscountValue::FreeShipping if !cart.iter().any(|goods| goods.requires_shipping) => {
                Err(DiscountRejection::NotApplicable)
            }
            DiscountValue::FreeShipping => Ok(Saving { lines: nothing(), free_shipping: true }),
            DiscountValue::Percentage { basis_points } => {
                let whole = Money::sum(&left, currency).ok_or(DiscountRejection::NotApplicable)?;
                Ok(Saving::over(&left, &share(&whole, *basis_points, WHOLE)))
            }
            DiscountValue::Fixed { amount } if amount.currency != *currency => {
                Err(DiscountRejection::CurrencyMismatch)
            }
            DiscountValue::Fixed { amount } => {
                let whole = Money::sum(&left, currency).ok_or(DiscountRejection::NotApplicable)?;
                Ok(Saving::over(&left, &amount.min(&whole)))
            }
            DiscountValue::BuyXGetY { .. } => self.given(cart, &meant),
        }
    }

    /// Buy X get Y: the cheapest of what can be got are given, and no unit is both bought and got.
    fn given(&self, cart: &[Goods], bought: &[bool]) -> Result<Saving, DiscountRejection> {
        let DiscountValue::BuyXGetY { buy_quantity, get_quantity, basis_points, get, most } =
            &self.value
        else {
            return Err(DiscountRejection::NotApplicable);
        };
        let got: Vec<bool> = if get.is_everything() {
            bought.to_vec()
        } else {
            cart.iter().map(|goods| get.hold(goods)).collect()
        };
        let count = |wanted: (bool, bool)| {
            let kinds = bought.iter().copied().zip(got.iter().copied());
            let here = cart.iter().zip(kinds).filter(|(_, kind)| *kind == wanted);
            here.map(|(goods, _)| u64::from(goods.quantity)).fold(0, u64::saturating_add)
        };
        let pool = Pool {
            bought: count((true, false)),
            got: count((false, true)),
            both: count((true, true)),
        };
        let (x, y) = (u64::from(*buy_quantity), u64::from(*get_quantity));
        let times = pool.times(x, y, most.map(u64::from));
        if times == 0 {
            return Err(DiscountRejection::MinimumNotMet);
        }
        let mut wanted = times.saturating_mul(y);
        // Of what could be both, so much is bought.
        let taken = times.saturating_mul(x).saturating_sub(pool.bought);
        let mut shared = pool.both.saturating_sub(taken);
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
            let room = if is(bought) { shared } else { u64::MAX };
            let units = u64::from(goods.quantity).min(room).min(wanted);
            wanted = wanted.saturating_sub(units);
            if is(bought) {
                shared = shared.saturating_sub(units);
            }
            let worth = goods.price.times(u32::try_from(units).unwrap_or(u32::MAX));
            let worth = worth.unwrap_or_else(|| goods.subtotal.clone());
            *line = share(&worth, *basis_points, WHOLE).min(&goods.left);
        }
        Ok(Saving { lines, free_shipping: false })
    }
}

/// Units that are bought, got, or could be either.
struct Pool {
    bought: u64,
    got: u64,
    both: u64,
}

impl Pool {
    /// How often `x` can be bought and `y` got.
    fn times(&self, x: u64, y: u64, most: Option<u64>) -> u64 {
        let fits = |times: u64| {
            let bought = times.saturating_mul(x).saturating_sub(self.bought);
            let got = times.saturating_mul(y).saturating_sub(self.got);
            bought.saturating_add(got) <= self.both
        };
        let units = self.bought.saturating_add(self.got).saturating_add(self.both);
        let bound = units.checked_div(x.saturating_add(y)).unwrap_or(0);
        let bound = most.map_or(bound, |most| most.min(bound));
        // It fits up to some number, and not beyond.
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
    /// So much, over lines of which so much is left: by the largest remainder.
    fn over(left: &[Money], amount: &Money) -> Self {
        let weights: Vec<i64> = left.iter().map(|left| left.amount).collect();
        let lines = if amount.is_zero() {
            left.iter().map(|left| Money::zero(&left.currency)).collect()
        } else {
            amount.allocate(&weights)
        };
        Self { lines, free_shipping: false }
    }
}
