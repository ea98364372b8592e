//! The shipping, tax and discount rules for a cart, and the validation of its shipping rate.

use std::collections::HashMap;

use core_types::id::{CollectionId, LocationId, ProductId, ShippingRateId};
use core_types::money::Money;
use primitives::problem::FieldError;

use super::taxes::TaxRules;
use crate::discount::Discount;
use crate::order::cart::violation;
use crate::shipping::{self, Parcel, ShippingRate, ShippingRateKind, ShippingZone};
use crate::tax::TaxLocation;

/// The shipping, tax and discount rules that a cart is priced by.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The store's shipping zones; without any, shipping is free.
    pub zones: Vec<ShippingZone>,
    /// The shipping destination, if known.
    pub destination: Option<TaxLocation>,
    /// The chosen shipping rate.
    pub shipping_rate_id: Option<ShippingRateId>,
    /// Whether a rate must be chosen.
    pub requires_rate: bool,
    /// The step in minor units that the amount due is rounded to, as the payment provider counts: 1 for most
    /// currencies.
    pub rounds_to: i64,
    /// The tax rules.
    pub taxes: TaxRules,
    /// The discount of the cart's code, with the code's position.
    pub named: Option<(usize, Discount)>,
    /// The usable automatic discounts.
    pub automatic: Vec<Discount>,
    /// The collections of each product, among those that the discounts apply to.
    pub collections: HashMap<ProductId, Vec<CollectionId>>,
}

impl Rules {
    /// The location where the goods are collected, if the chosen rate is a pickup at one.
    pub(super) fn pickup_location(&self) -> Option<&LocationId> {
        let mut rates = self.zones.iter().flat_map(|zone| &zone.rates);
        let chosen = rates.find(|rate| Some(&rate.id) == self.shipping_rate_id.as_ref());
        chosen.and_then(ShippingRate::pickup_location)
    }

    /// Validates the chosen rate, except for the conditions on the parcel. `is_sent` is none if it is not known
    /// whether any of the goods are shipped.
    pub(super) fn rate(
        &self,
        is_sent: Option<bool>,
        errors: &mut Vec<FieldError>,
    ) -> Option<&ShippingRate> {
        let mut reject = |field: &str, code, detail: &'static str| {
            errors.push(violation(&format!("/{field}"), code, detail));
            None
        };
        let (id, place) = (self.shipping_rate_id.as_ref(), self.destination.as_ref());
        let known = |zone: &&ShippingZone| zone.rates.iter().any(|rate| Some(&rate.id) == id);
        let its_zone = self.zones.iter().find(known);
        let rate = its_zone.and_then(|zone| zone.rates.iter().find(|rate| Some(&rate.id) == id));
        match (id, rate) {
            (Some(_), None) => {
                let detail = "There is no such shipping rate in the store.";
                return reject("shipping_rate_id", "unknown_shipping_rate", detail);
            }
            (Some(_), _) if is_sent == Some(false) => {
                let detail = "Not allowed: the cart has nothing to ship.";
                return reject("shipping_rate_id", "not_applicable", detail);
            }
            (Some(_), Some(rate)) if rate.kind == ShippingRateKind::Pickup => return Some(rate),
            (None, _) if is_sent != Some(true) => return None,
            _ => {}
        }
        let zone = place.and_then(|place| shipping::find(&self.zones, place));
        let is_nowhere = place.is_some() && zone.is_none() && !self.zones.is_empty();
        match rate {
            _ if is_nowhere && (self.requires_rate || id.is_some()) => {
                let detail = "The store does not ship to this address.";
                reject("shipping_address", "no_shipping_to_address", detail)
            }
            None if self.requires_rate && zone.is_some() => {
                reject("shipping_rate_id", "required", "A shipping rate is required.")
            }
            None => None,
            Some(_) if place.is_none() => {
                reject("shipping_address", "required", "A shipping address is required.")
            }
            Some(_) if zone.map(|zone| &zone.id) != its_zone.map(|zone| &zone.id) => reject(
                "shipping_rate_id",
                UNAVAILABLE,
                "The rate does not apply to this shipping address.",
            ),
            Some(rate) => Some(rate),
        }
    }
}

/// The error code of a rate that does not apply to the address or the goods.
pub(super) const UNAVAILABLE: &str = "shipping_rate_unavailable";

/// The price of a rate for a parcel.
///
/// # Errors
/// `shipping_rate_unavailable`.
pub(super) fn charge(rate: &ShippingRate, parcel: &Parcel) -> Result<Money, FieldError> {
    let price = rate.price_of(parcel).filter(|_| rate.is_in(&parcel.goods.currency));
    price.ok_or_else(|| {
        let detail = "The rate does not apply to the goods in the cart.";
        violation("/shipping_rate_id", UNAVAILABLE, detail)
    })
}
