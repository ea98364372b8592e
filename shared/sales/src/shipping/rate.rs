//! Shipping rates: the prices of shipping a parcel.

use core_types::event::{Example, sample};
use core_types::fields::Currency;
use core_types::id::{LocationId, ShippingRateId};
use core_types::money::{self, Money};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ShippingZone, amount};

primitives::string_enum! {
    /// The condition under which a rate applies to a parcel.
    ShippingRateKind {
        /// None: it applies to every parcel.
        Flat = "flat",
        /// The weight is from `min` to `max` grams.
        ByWeight = "by_weight",
        /// The subtotal of the goods, less discounts, is from `min` to `max` minor units.
        BySubtotal = "by_subtotal",
        /// The customer picks it up.
        Pickup = "pickup",
    }
}

/// A shipping rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingRate {
    /// The id: `shr_` and 32 hexadecimal digits.
    pub id: ShippingRateId,
    /// The name that shoppers see.
    pub name: String,
    /// The condition under which it applies.
    pub kind: ShippingRateKind,
    /// The price.
    pub price: Money,
    /// The minimum, in grams or minor units.
    pub min: Option<i64>,
    /// The maximum, in grams or minor units.
    pub max: Option<i64>,
    /// The subtotal of the goods, less discounts, from which shipping is free.
    pub free_over: Option<Money>,
    /// The minimum delivery time, in days.
    pub min_days: Option<u32>,
    /// The maximum delivery time, in days.
    pub max_days: Option<u32>,
    /// The pickup location.
    pub location_id: Option<LocationId>,
}

/// The parcel of a cart, as far as rates need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// The weight of the goods to ship, in grams. Goods without a weight count as 0.
    pub grams: i64,
    /// The subtotal of the goods to ship, less discounts.
    pub goods: Money,
}

impl ShippingRate {
    /// The price of shipping this parcel; none if the rate does not apply to it.
    pub fn price_of(&self, parcel: &Parcel) -> Option<Money> {
        let measured = match self.kind {
            ShippingRateKind::Flat | ShippingRateKind::Pickup => None,
            ShippingRateKind::ByWeight => Some(parcel.grams),
            ShippingRateKind::BySubtotal => Some(parcel.goods.amount),
        };
        let fits = measured.is_none_or(|measured| {
            self.min.is_none_or(|least| least <= measured)
                && self.max.is_none_or(|most| measured <= most)
        });
        let is_free =
            amount(self.free_over.as_ref()).is_some_and(|from| from <= parcel.goods.amount);
        let price = if is_free { Money::zero(&self.price.currency) } else { self.price.clone() };
        fits.then_some(price)
    }

    /// The location where the goods are collected, if it is a pickup at one.
    pub fn pickup_location(&self) -> Option<&LocationId> {
        self.location_id.as_ref().filter(|_| self.kind == ShippingRateKind::Pickup)
    }

    /// Whether its amounts are in this currency. A store without orders may have changed its currency.
    pub fn is_in(&self, currency: &Currency) -> bool {
        self.price.currency == *currency
    }
}

/// The rates of a zone that apply to a parcel, with their prices: cheapest first, then in the merchant's
/// order.
pub fn offered<'a>(zone: &'a ShippingZone, parcel: &Parcel) -> Vec<(&'a ShippingRate, Money)> {
    let usable = zone.rates.iter().filter(|rate| rate.is_in(&parcel.goods.currency));
    let mut offered: Vec<_> =
        usable.filter_map(|rate| Some((rate, rate.price_of(parcel)?))).collect();
    offered.sort_by_key(|(_, price)| price.amount);
    offered
}

/// The shipping rate that a shopper chose, as it was at checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippingService {
    /// The rate.
    pub shipping_rate_id: ShippingRateId,
    /// The name of the rate.
    pub name: String,
    /// The condition under which it applies; with `pickup` the customer picks it up.
    pub kind: ShippingRateKind,
    /// The minimum delivery time, in days.
    pub min_days: Option<u32>,
    /// The maximum delivery time, in days.
    pub max_days: Option<u32>,
    /// The pickup location.
    pub location_id: Option<LocationId>,
}

impl ShippingService {
    /// The location where the goods are collected, if it is a pickup at one.
    pub fn pickup_location(&self) -> Option<&LocationId> {
        self.location_id.as_ref().filter(|_| self.kind == ShippingRateKind::Pickup)
    }
}

impl From<&ShippingRate> for ShippingService {
    fn from(rate: &ShippingRate) -> Self {
        Self {
            shipping_rate_id: rate.id.clone(),
            name: rate.name.clone(),
            kind: rate.kind,
            min_days: rate.min_days,
            max_days: rate.max_days,
            location_id: rate.location_id.clone(),
        }
    }
}

core_types::view! {
    /// A shipping rate.
    ShippingRateView of rate: ShippingRate {
        /// The id: `shr_` and 32 hexadecimal digits. It is the `shipping_rate_id` of a checkout.
        id: ShippingRateId,
        /// The name that shoppers see.
        name: String,
        /// The condition under which it applies.
        kind: ShippingRateKind,
        /// The price.
        price: Money,
        /// The minimum, in grams or minor units.
        min: Option<i64>,
        /// The maximum, in grams or minor units.
        max: Option<i64>,
        /// The subtotal of the goods, less discounts, from which shipping is free.
        free_over: Option<Money>,
        /// The minimum delivery time, in days.
        min_days: Option<u32>,
        /// The maximum delivery time, in days.
        max_days: Option<u32>,
        /// The pickup location.
        location_id: Option<LocationId>,
    }
}

impl Example for ShippingRateView {
    fn example() -> Self {
        Self {
            id: ShippingRateId::derive(&["example"]),
            name: "Standard".into(),
            kind: ShippingRateKind::Flat,
            price: money::sample(9_900),
            min: None,
            max: None,
            free_over: Some(Money { amount: 200_000, currency: sample("INR") }),
            min_days: Some(2),
            max_days: Some(5),
            location_id: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(
        kind: ShippingRateKind,
        price: i64,
        min: Option<i64>,
        max: Option<i64>,
    ) -> ShippingRate {
        ShippingRate {
            id: ShippingRateId::derive(&[kind.as_str(), &price.to_string()]),
            name: kind.as_str().into(),
            kind,
            price: money::sample(price),
            min,
            max,
            free_over: None,
            min_days: None,
            max_days: None,
            location_id: None,
        }
    }

    fn parcel(grams: i64, goods: i64) -> Parcel {
        Parcel { grams, goods: money::sample(goods) }
    }

    #[test]
    fn a_rate_applies_to_parcels_within_its_bounds() {
        let heavy = rate(ShippingRateKind::ByWeight, 900, Some(1_000), Some(5_000));
        let prices = |rate: &ShippingRate, parcels: &[(i64, i64)]| {
            let price = |(grams, goods): &(i64, i64)| {
                rate.price_of(&parcel(*grams, *goods)).map(|price| price.amount)
            };
            parcels.iter().map(price).collect::<Vec<_>>()
        };
        let of_weights = prices(&heavy, &[(999, 0), (1_000, 0), (5_000, 0), (5_001, 0)]);
        assert_eq!(of_weights, [None, Some(900), Some(900), None]);
        let dear = rate(ShippingRateKind::BySubtotal, 0, Some(5_000), None);
        assert_eq!(prices(&dear, &[(1, 4_999), (1, 5_000)]), [None, Some(0)]);
        let mut flat = rate(ShippingRateKind::Flat, 500, None, None);
        flat.free_over = Some(money::sample(3_000));
        assert_eq!(prices(&flat, &[(1, 2_999), (1, 3_000)]), [Some(500), Some(0)]);
    }
}
