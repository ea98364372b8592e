//! Shipping zones: the addresses that they cover.

use std::collections::HashSet;

use core_types::event::EventSubject;
use core_types::fields::Country;
use core_types::id::{ShippingZoneId, StoreId};
use core_types::key;
use identity::address;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Key;

use super::{MAX_RATES_IN_ALL, MAX_ZONES, ShippingRate, ShippingZoneView};
use crate::postal;
use crate::pricing_document::{self, PricingDocument, PricingEntry};
use crate::tax::TaxLocation;

/// The addresses of a zone. Without countries: all addresses that no other zone covers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneArea {
    /// The countries, in ISO 3166-1.
    pub countries: Vec<Country>,
    /// The regions of the only country, in ISO 3166-2 without the country; all if empty.
    #[serde(default)]
    pub regions: Vec<String>,
    /// The beginnings of postal codes of the only country, in capitals and digits; all if empty. A blank at the
    /// end of one says that a part of the code ends there.
    #[serde(default)]
    pub postal_prefixes: Vec<String>,
}

/// A shipping zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingZone {
    /// The id: `shz_` and 32 hexadecimal digits.
    pub id: ShippingZoneId,
    /// The store.
    pub store_id: StoreId,
    /// The merchant's name for it.
    pub name: String,
    /// The addresses that it covers.
    pub places: ZoneArea,
    /// The shipping rates.
    pub rates: Vec<ShippingRate>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl PricingEntry for ShippingZone {
    const KIND: &'static str = "shipping_zones";
    type View = ShippingZoneView;

    fn document_key(&self) -> Key {
        key::shipping_zones(&self.store_id)
    }

    fn event_subject(&self) -> EventSubject<'_> {
        pricing_document::subject_of(&self.store_id, self.id.as_str(), self.version)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// # Errors
    /// `zone_limit`, `zone_overlap`; `too_many` of its rates.
    fn ensure_fits(&self, document: &PricingDocument<Self>) -> Result<(), Problem> {
        let others = || document.others(self.id.as_str());
        if others().count() >= MAX_ZONES {
            return Err(Code::ZoneLimit.with("limit", MAX_ZONES));
        }
        let rates =
            others().map(|other| other.rates.len()).fold(self.rates.len(), usize::saturating_add);
        if rates > MAX_RATES_IN_ALL {
            let detail = format!("A store can have at most {MAX_RATES_IN_ALL} shipping rates.");
            return Err(Problem::field("/rates", "too_many", detail));
        }
        match others().find(|other| other.places.overlap(&self.places)) {
            Some(other) => Err(Code::ZoneOverlap
                .detail(format!("The regions overlap with those of the zone “{}”.", other.name))
                .with("zone_id", other.id.to_string())),
            None => Ok(()),
        }
    }
}

impl ZoneArea {
    /// Normalizes the postal prefixes, and removes duplicates.
    #[must_use]
    pub fn normalized(self) -> Self {
        let Some(country) = self.country() else { return self };
        let prefixes = self.postal_prefixes.iter();
        let mut prefixes: Vec<String> =
            prefixes.map(|prefix| postal::prefix_of(country, prefix)).collect();
        prefixes.sort_unstable();
        let mut seen = HashSet::new();
        prefixes.retain(|prefix| seen.insert(postal::prefix_key(country, prefix)));
        Self { postal_prefixes: prefixes, ..self }
    }

    /// Their specificity for an address, as a key to compare; none if they do not cover it.
    fn covers(&self, place: &TaxLocation) -> Option<(bool, usize, bool)> {
        let in_country = self.countries.contains(&place.country);
        if !in_country && !self.countries.is_empty() {
            return None;
        }
        if !self.regions.is_empty() && !self.regions.iter().any(|region| place.is_in(region)) {
            return None;
        }
        let code = place.postal_code.as_deref().unwrap_or_default();
        let prefixes = self
            .postal_prefixes
            .iter()
            .filter(|prefix| postal::has_prefix(&place.country, code, prefix));
        let length = |prefix: &String| postal::prefix_key(&place.country, prefix).len();
        let longest = prefixes.map(length).max();
        if !self.postal_prefixes.is_empty() && longest.is_none() {
            return None;
        }
        Some((in_country, longest.unwrap_or(0), !self.regions.is_empty()))
    }

    /// Whether these and the others are equally specific for some address.
    fn overlap(&self, others: &Self) -> bool {
        fn intersects<T: PartialEq>(ours: &[T], theirs: &[T]) -> bool {
            (ours.is_empty() && theirs.is_empty()) || ours.iter().any(|one| theirs.contains(one))
        }
        intersects(&self.countries, &others.countries)
            && intersects(&self.region_keys(), &others.region_keys())
            && intersects(&self.prefix_keys(), &others.prefix_keys())
    }

    /// The only country; none if there is not exactly one, and so no regions or prefixes.
    fn country(&self) -> Option<&Country> {
        let [country] = self.countries.as_slice() else { return None };
        Some(country)
    }

    /// The regions for comparison.
    fn region_keys(&self) -> Vec<String> {
        let Some(country) = self.country() else { return Vec::new() };
        let key = |region: &String| address::region_key(country.as_str(), region);
        self.regions.iter().map(key).collect()
    }

    /// The postal prefixes for comparison.
    fn prefix_keys(&self) -> Vec<String> {
        let Some(country) = self.country() else { return Vec::new() };
        self.postal_prefixes.iter().map(|prefix| postal::prefix_key(country, prefix)).collect()
    }
}

/// The most specific zone that covers an address.
pub fn find<'a>(zones: &'a [ShippingZone], place: &TaxLocation) -> Option<&'a ShippingZone> {
    let covering = zones.iter().filter_map(|zone| Some((zone.places.covers(place)?, zone)));
    covering.max_by_key(|(specific, _)| *specific).map(|(_, zone)| zone)
}

#[cfg(test)]
mod tests {
    use core_types::event::{EXAMPLE_TIME, sample};

    use super::*;

    fn zone(name: &str, countries: &[&str], regions: &[&str], prefixes: &[&str]) -> ShippingZone {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let places = ZoneArea {
            countries: countries.iter().map(|country| sample(country)).collect(),
            regions: words(regions),
            postal_prefixes: words(prefixes),
        };
        ShippingZone {
            id: ShippingZoneId::derive(&[name]),
            store_id: StoreId::derive(&["store"]),
            name: name.into(),
            places: places.normalized(),
            rates: Vec::new(),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }

    fn place(country: &str, region: &str, postal_code: &str) -> TaxLocation {
        TaxLocation {
            country: sample(country),
            region: Some(region.into()),
            postal_code: Some(postal_code.into()),
        }
    }

    #[test]
    fn the_most_specific_zone_counts() {
        let zones = [
            zone("rest", &[], &[], &[]),
            zone("Europe", &["DE", "FR", "GB"], &[], &[]),
            zone("Scotland", &["GB"], &["SCT"], &[]),
            zone("Highlands", &["GB"], &[], &["IV", "KW1"]),
            zone("Inverness", &["GB"], &[], &["iv1 "]),
        ];
        let found =
            |place: &TaxLocation| find(&zones, place).map(|zone| zone.name.clone()).unwrap();
        assert_eq!(found(&place("US", "CA", "90210")), "rest");
        assert_eq!(found(&place("FR", "IDF", "75001")), "Europe");
        assert_eq!(found(&place("GB", "SCT", "EH1 1AA")), "Scotland");
        assert_eq!(found(&place("GB", "SCT", "iv27 4aa")), "Highlands");
        assert_eq!(found(&place("GB", "SCT", "IV1-1AA")), "Inverness");
        assert_eq!(find(&zones[1..], &place("US", "CA", "90210")), None);
    }

    #[test]
    fn equally_specific_zones_are_rejected() {
        let rejected = |ours: &ShippingZone, theirs: &ShippingZone| {
            let document = PricingDocument::empty(ours.document_key()).with(theirs.clone());
            ours.ensure_fits(&document).err().map(|problem| problem.code)
        };
        let europe = zone("Europe", &["DE", "FR"], &[], &[]);
        assert_eq!(rejected(&zone("A", &["FR"], &[], &[]), &europe), Some(Code::ZoneOverlap));
        assert_eq!(rejected(&zone("A", &["FR"], &[], &["75"]), &europe), None);
        assert_eq!(rejected(&zone("A", &["US"], &["CA"], &[]), &europe), None);
        assert_eq!(rejected(&zone("A", &[], &[], &[]), &europe), None);
        let rest = zone("rest", &[], &[], &[]);
        assert_eq!(rejected(&zone("A", &[], &[], &[]), &rest), Some(Code::ZoneOverlap));
        let paris = zone("Paris", &["FR"], &[], &["75"]);
        assert_eq!(
            rejected(&zone("A", &["FR"], &[], &["751", "75"]), &paris),
            Some(Code::ZoneOverlap)
        );
        assert_eq!(rejected(&zone("A", &["FR"], &[], &["751"]), &paris), None);
        let riga = zone("Riga", &["LV"], &[], &["LV-10"]);
        for prefix in ["10", "lv10", "LV 10"] {
            let same = zone("A", &["LV"], &[], &[prefix]);
            assert_eq!(rejected(&same, &riga), Some(Code::ZoneOverlap), "{prefix}");
        }
        assert_eq!(rejected(&zone("A", &["LV"], &[], &["101"]), &riga), None);
        // Stored before names in Latin letters stood in for codes.
        let kowloon = zone("Kowloon", &["HK"], &["九龍"], &[]);
        let same = zone("A", &["HK"], &["Kowloon"], &[]);
        assert_eq!(rejected(&same, &kowloon), Some(Code::ZoneOverlap));
        assert!(find(&[kowloon], &place("HK", "Kowloon", "")).is_some());
        // A zone does not overlap itself.
        assert_eq!(rejected(&paris, &paris), None);
    }

    #[test]
    fn the_zones_of_a_store_are_limited() {
        let mut document =
            PricingDocument::empty(key::shipping_zones(&StoreId::derive(&["store"])));
        for n in 0..MAX_ZONES {
            document = document.with(zone(&n.to_string(), &["FR"], &[], &[&n.to_string()]));
        }
        let one_more = zone("more", &["DE"], &[], &[]);
        assert_eq!(one_more.ensure_fits(&document).unwrap_err().code, Code::ZoneLimit);
        let known = document.entries[0].clone();
        known.ensure_fits(&document).unwrap();
    }
}
