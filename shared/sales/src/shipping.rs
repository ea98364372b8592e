//! Shipping: zones, and the rates at which a store ships to them (docs/commerce.md §1).
//!
//! All zones of a store are stored in one [`PricingDocument`](crate::pricing_document::PricingDocument). Of the
//! zones that cover an address, the most specific one counts: a postal prefix before a region, a region before
//! a country, and last a zone without countries. Two zones that would be equally specific for one address are
//! rejected when they are written.

mod rate;
mod zone;

use core_types::fields::Country;
use core_types::id::{ShippingZoneId, StoreId};
use core_types::money::Money;
use primitives::clock::Timestamp;

pub use rate::{
    Parcel, ShippingRate, ShippingRateKind, ShippingRateView, ShippingService, offered,
};
pub use zone::{ShippingZone, ZoneArea, find};

/// The most zones of one store.
pub const MAX_ZONES: usize = 100;
/// The most rates of one zone.
pub const MAX_RATES: usize = 50;
/// The most rates of all zones of a store (our choice), because they are one item that a checkout reads.
pub const MAX_RATES_IN_ALL: usize = 500;
/// The most regions, and the most postal prefixes, of one zone (our choice).
pub const MAX_REGIONS: usize = 100;

core_types::topics! {
    SHIPPING_ZONE_CREATED = "shipping_zone.created", "shipping_zone", Some("read_shipping"),
        ShippingZoneView, "A shipping zone was created.";
    SHIPPING_ZONE_UPDATED = "shipping_zone.updated", "shipping_zone", Some("read_shipping"),
        ShippingZoneView, "A shipping zone, or one of its rates, changed.";
    SHIPPING_ZONE_DELETED = "shipping_zone.deleted", "shipping_zone", Some("read_shipping"),
        ShippingZoneView, "A shipping zone was deleted.";
}

core_types::view! {
    /// A shipping zone.
    ShippingZoneView of zone: ShippingZone {
        /// The id: `shz_` and 32 hexadecimal digits.
        id: ShippingZoneId,
        /// The store.
        store_id: StoreId,
        /// The merchant's name for it.
        name: String,
        /// The countries. If empty, all addresses that no other zone covers.
        countries: Vec<Country> = zone.places.countries.clone(),
        /// The regions that it is limited to, of its only country; not limited if empty.
        regions: Vec<String> = zone.places.regions.clone(),
        /// The beginnings of postal codes that it is limited to, of its only country; not limited if empty.
        postal_prefixes: Vec<String> = zone.places.postal_prefixes.clone(),
        /// The shipping rates.
        rates: Vec<ShippingRateView> = zone.rates.iter().map(ShippingRateView::from).collect(),
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
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

/// The minor units of an optional amount.
fn amount(money: Option<&Money>) -> Option<i64> {
    money.map(|money| money.amount)
}
