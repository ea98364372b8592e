//! Shipping: zones of places, and the rates at which a store sends there (docs/commerce.md §1).
//!
//! All zones of a store are one [`Document`](crate::book::Book). Of the zones that cover a place the most
//! particular one counts: a postal prefix before a region, a region before a country, and a zone
//! without countries for whatever no other covers. Two zones that would be equally particular of one
//! place are rejected when they are written.

mod rate;
mod zone;

use core_types::fields::Country;
use core_types::id::{ShippingZoneId, StoreId};
use core_types::money::Money;
use primitives::clock::Timestamp;

pub use rate::{
    Parcel, ShippingRate, ShippingRateKind, ShippingRateView, ShippingService, offered,
};
pub use zone::{Places, ShippingZone, find};

/// Zones of one store.
pub const MAX_ZONES: usize = 100;
/// Rates of one zone.
pub const MAX_RATES: usize = 50;
/// Rates of all zones of a store (our choice): a book is one item, which a checkout reads.
pub const MAX_RATES_IN_ALL: usize = 500;
/// Regions, and postal prefixes, of one zone (our choice).
pub const MAX_PLACES: usize = 100;

core_types::topics! {
    SHIPPING_ZONE_CREATED = "shipping_zone.created", "shipping_zone", Some("read_shipping"),
        ShippingZoneView, "A shipping zone was made.";
    SHIPPING_ZONE_UPDATED = "shipping_zone.updated", "shipping_zone", Some("read_shipping"),
        ShippingZoneView, "A shipping zone, or one of its rates, changed.";
    SHIPPING_ZONE_DELETED = "shipping_zone.deleted", "shipping_zone", Some("read_shipping"),
        ShippingZoneView, "A shipping zone was removed.";
}

core_types::view! {
    /// A shipping zone.
    ShippingZoneView of zone: ShippingZone {
        /// `shz_` and 32 hexadecimal digits.
        id: ShippingZoneId,
        /// The store that sends there.
        store_id: StoreId,
        /// What the merchant calls it.
        name: String,
        /// Its countries; none for every country that no other zone covers.
        countries: Vec<Country> = zone.places.countries.clone(),
        /// In these regions alone, of its only country.
        regions: Vec<String> = zone.places.regions.clone(),
        /// Where postal codes begin like this alone, in its only country.
        postal_prefixes: Vec<String> = zone.places.postal_prefixes.clone(),
        /// At what the store sends there.
        rates: Vec<ShippingRateView> = zone.rates.iter().map(ShippingRateView::from).collect(),
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}

impl core_types::event::Example for ShippingZoneView {
    fn example() -> Self {
        use core_types::event::{EXAMPLE_TIME, sample};
        Self {
            id: ShippingZoneId::derive(&["example"]),
            store_id: StoreId::derive(&["example"]),
            name: "India".into(),
            countries: vec![sample("IN")],
            regions: Vec::new(),
            postal_prefixes: Vec::new(),
            rates: vec![ShippingRateView::example()],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

/// An amount's number, where it may be missing.
fn amount(money: Option<&Money>) -> Option<i64> {
    money.map(|money| money.amount)
}
