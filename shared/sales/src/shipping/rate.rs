//! Rates: what sending a parcel costs.

use core_types::event::{Example, sample};
use core_types::fields::Currency;
use core_types::id::{LocationId, ShippingRateId};
use core_types::money::{self, Money};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ShippingZone, amount};

primitives::string_enum! {
    /// What a rate asks of a parcel.
    ShippingRateKind {
        /// Nothing.
        Flat = "flat",
        /// That it weighs from `min` to `max` grams.
        ByWeight = "by_weight",
        /// That its goods come to `min` to `max`, in minor units.
        BySubtotal = "by_subtotal",
        /// That it is fetched.
        Pickup = "pickup",
    }
}

/// A shipping rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingRate {
    /// `shr_` and 32 hexadecimal digits.
    pub id: ShippingRateId,
    /// What shoppers read.
    pub name: String,
    /// What it asks of a parcel.
    pub kind: ShippingRateKind,
    /// What it costs.
    pub price: Money,
    /// The least, in grams or minor units.
    pub min: Option<i64>,
    /// The most, in grams or minor units.
    pub max: Option<i64>,
    /// From which sum of its goods it costs nothing.
    pub free_over: Option<Money>,
    /// Days until it arrives, at least.
    pub min_days: Option<u32>,
    /// Days until it arrives, at most.
    pub max_days: Option<u32>,
    /// Where it is fetched.
    pub location_id: Option<LocationId>,
}

/// What is to be sent of a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// What it weighs; goods without a weight weigh nothing.
    pub grams: i64,
    /// What all goods of the cart come to, less their discounts.
    pub goods: Money,
}

impl ShippingRate {
    /// What it costs to send this parcel; nothing when the rate is not for it.
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

    /// Whether its amounts are in this currency: a store without orders may have changed its own.
    pub fn is_in(&self, currency: &Currency) -> bool {
        self.price.currency == *currency
    }
}

/// The rates of a zone for a parcel, cheapest first; of equal ones in the merchant's order.
pub fn offered<'a>(zone: &'a ShippingZone, parcel: &Parcel) -> Vec<(&'a ShippingRate, Money)> {
    let usable = zone.rates.iter().filter(|rate| rate.is_in(&parcel.goods.currency));
    let mut offered: Vec<_> =
        usable.filter_map(|rate| Some((rate, rate.price_of(parcel)?))).collect();
    offered.sort_by_key(|(_, price)| price.amount);
    offered
}

/// What a shopper chose of the rates, and says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShippingService {
    /// The rate.
    pub shipping_rate_id: ShippingRateId,
    /// What it was called.
    pub name: String,
    /// What it asks of a parcel; `pickup` is fetched.
    pub kind: ShippingRateKind,
    /// Days until it arrives, at least.
    pub min_days: Option<u32>,
    /// Days until it arrives, at most.
    pub max_days: Option<u32>,
    /// Where it is fetched.
    pub location_id: Option<LocationId>,
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
        /// `shr_` and 32 hexadecimal digits; what `shipping_rate_id` takes at checkout.
        id: ShippingRateId,
        /// What shoppers read.
        name: String,
        /// What it asks of a parcel.
        kind: ShippingRateKind,
        /// What it costs.
        price: Money,
        /// The least, in grams or minor units.
        min: Option<i64>,
        /// The most, in grams or minor units.
        max: Option<i64>,
        /// From which sum of the goods it costs nothing.
        free_over: Option<Money>,
        /// Days until it arrives, at least.
        min_days: Option<u32>,
        /// Days until it arrives, at most.
        max_days: Option<u32>,
        /// Where it is fetched.
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
    fn a_rate_is_for_parcels_within_its_bounds() {
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
