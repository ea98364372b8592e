//! Pickups: the place where they are taxed, and the stock of their locations.

use catalogue::inventory::Level;
use catalogue::location::Location;
use core_types::id::{LocationId, ShippingRateId};
use core_types::key;
use identity::store::Store;
use primitives::problem::Problem;
use services::Services;
use table::ReadConsistency;
use table::item::Key;

use super::super::input::{Cart, PricedCart};
use super::LoadedItems;
use crate::order::pricing::{OfferedVariant, TaxRules};
use crate::pricing_document::PricingDocument;
use crate::shipping::{ShippingRate, ShippingRateKind, ShippingZone};
use crate::tax::{TaxLocation, TaxRate};

/// The chosen rate, if it is a pickup.
pub(super) fn chosen<'a>(
    zones: &'a [ShippingZone],
    id: Option<&ShippingRateId>,
) -> Option<&'a ShippingRate> {
    let rate = zones.iter().flat_map(|zone| &zone.rates).find(|rate| Some(&rate.id) == id);
    rate.filter(|rate| rate.kind == ShippingRateKind::Pickup)
}

/// The tax rules with the place of a pickup: that of its location, or else the store's. Adds to the offers the
/// stock of a location that fulfils no online orders. Takes a read for a pickup at a location.
pub(super) async fn load(
    services: &Services,
    (store, rate): (&Store, &ShippingRate),
    cart: &Cart,
    taxes: TaxRules,
    offers: &mut [OfferedVariant],
) -> Result<TaxRules, Problem> {
    let Some(id) = &rate.location_id else {
        return Ok(TaxRules { pickup: Some(TaxLocation::from(store)), ..taxes });
    };
    let location_key = key::location(&store.id, id);
    let is_read = store.online_locations.contains(id);
    let mut keys = vec![location_key.clone()];
    for line in cart.lines.iter().filter(|_| !is_read) {
        let level = key::level(&store.id, &line.variant_id, id);
        if !keys.contains(&level) {
            keys.push(level);
        }
    }
    let wanted: Vec<&Key> = keys.iter().collect();
    let mut found = LoadedItems::read(services, &wanted, ReadConsistency::Strong).await?;
    let location: Option<Location> = found.take(&location_key)?;
    let mut levels = Vec::new();
    for key in keys.iter().skip(1) {
        levels.extend(found.take::<Level>(key)?);
    }
    let is_open = location.as_ref().is_some_and(Location::is_open);
    for (line, offer) in cart.lines.iter().zip(offers).filter(|_| is_open) {
        let of_line = levels.iter().filter(|level| level.variant_id == line.variant_id);
        offer.levels.extend(of_line.cloned());
    }
    let place = location.map_or_else(
        || TaxLocation::from(store),
        |location| TaxLocation {
            country: location.address.country,
            region: location.address.region,
            postal_code: location.address.postal_code,
        },
    );
    let is_loaded = place.country == store.country
        || Some(&place.country) == taxes.place.as_ref().map(|at| &at.country);
    let mut rates = taxes.rates;
    if !is_loaded {
        let key = key::tax_rates(&store.id, place.country.as_str());
        rates.extend(PricingDocument::<TaxRate>::load(services, key).await?.entries);
    }
    Ok(TaxRules { rates, pickup: Some(place), ..taxes })
}

/// Adds to the lines of a priced cart their stock at the pickup locations of these rates. Takes a read only for
/// locations that fulfil no online orders.
///
/// # Errors
/// 503.
pub async fn load_stock(
    services: &Services,
    priced: &mut PricedCart,
    rates: &[ShippingRate],
) -> Result<(), Problem> {
    let is_read = |id: &&LocationId| priced.store.online_locations.contains(id);
    let mut keys = Vec::new();
    for id in rates.iter().filter_map(ShippingRate::pickup_location).filter(|id| !is_read(id)) {
        for line in &priced.quote.lines {
            let level = key::level(&priced.store.id, &line.sellable.variant_id, id);
            if !keys.contains(&level) {
                keys.push(level);
            }
        }
    }
    let wanted: Vec<&Key> = keys.iter().collect();
    let mut found = LoadedItems::read(services, &wanted, ReadConsistency::Eventual).await?;
    for key in &keys {
        let Some(level) = found.take::<Level>(key)? else { continue };
        let lines = priced.quote.lines.iter_mut();
        for line in lines.filter(|line| line.sellable.variant_id == level.variant_id) {
            line.levels.push(level.clone());
        }
    }
    Ok(())
}
