//! Zones: which places they cover.

use core_types::event::EventSubject;
use core_types::fields::Country;
use core_types::id::{ShippingZoneId, StoreId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Key;

use super::{MAX_RATES_IN_ALL, MAX_ZONES, ShippingRate, ShippingZoneView};
use crate::document::{self, Document, Entry};
use crate::tax::TaxLocation;

/// Places. Without countries: wherever no other zone sends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// ISO 3166-1.
    pub countries: Vec<Country>,
    /// ISO 3166-2 without the country, of the only country; none for all of it.
    #[serde(default)]
    pub regions: Vec<String>,
    /// What postal codes begin with, of the only country: capitals and digits; none for all.
    #[serde(default)]
    pub postal_prefixes: Vec<String>,
}

/// A shipping zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingZone {
    /// `shz_` and 32 hexadecimal digits.
    pub id: ShippingZoneId,
    /// The store that sends there.
    pub store_id: StoreId,
    /// What the merchant calls it.
    pub name: String,
    /// Which places it covers.
    pub places: Places,
    /// At what the store sends there.
    pub rates: Vec<ShippingRate>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Entry for ShippingZone {
    const KIND: &'static str = "shipping_zones";
    type View = ShippingZoneView;

    fn document(&self) -> Key {
        key::shipping_zones(&self.store_id)
    }

    fn event_subject(&self) -> EventSubject<'_> {
        document::about(&self.store_id, self.id.as_str(), self.version)
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

/// A postal code, or what one begins with, as it is compared: capitals and digits alone.
pub(super) fn plain(postal_code: &str) -> String {
    let kept = postal_code.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_uppercase()).collect()
}

impl Places {
    /// These places with their prefixes as they are compared, each once.
    #[must_use]
    pub fn tidy(self) -> Self {
        let mut prefixes: Vec<String> =
            self.postal_prefixes.iter().map(|prefix| plain(prefix)).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        Self { postal_prefixes: prefixes, ..self }
    }

    /// How particular they are of a place: nothing when they do not cover it.
    fn covers(&self, place: &TaxLocation) -> Option<(bool, usize, bool)> {
        let in_country = self.countries.contains(&place.country);
        if !in_country && !self.countries.is_empty() {
            return None;
        }
        if !self.regions.is_empty() && !self.regions.iter().any(|region| place.is_in(region)) {
            return None;
        }
        let code = place.postal_code.as_deref().map(plain).unwrap_or_default();
        let prefixes = self.postal_prefixes.iter().filter(|prefix| code.starts_with(&***prefix));
        let longest = prefixes.map(String::len).max();
        if !self.postal_prefixes.is_empty() && longest.is_none() {
            return None;
        }
        Some((in_country, longest.unwrap_or(0), !self.regions.is_empty()))
    }

    /// Whether there is a place that these and the others are equally particular of.
    fn overlap(&self, others: &Self) -> bool {
        fn meet<T: PartialEq>(ours: &[T], theirs: &[T]) -> bool {
            (ours.is_empty() && theirs.is_empty()) || ours.iter().any(|one| theirs.contains(one))
        }
        let folded = |places: &Self| -> Vec<String> {
            places.regions.iter().map(|region| region.to_lowercase()).collect()
        };
        meet(&self.countries, &others.countries)
            && meet(&folded(self), &folded(others))
            && meet(&self.postal_prefixes, &others.postal_prefixes)
    }
}

impl ShippingZone {
    /// Whether it goes into a book with the others.
    ///
    /// # Errors
    /// `zone_limit`, `zone_overlap`; `too_many` of its rates.
    pub fn fits(document: &Document<Self>, zone: &Self) -> Result<(), Problem> {
        let others = || document.others(zone.id.as_str());
        if others().count() >= MAX_ZONES {
            return Err(Code::ZoneLimit.with("limit", MAX_ZONES));
        }
        let rates =
            others().map(|other| other.rates.len()).fold(zone.rates.len(), usize::saturating_add);
        if rates > MAX_RATES_IN_ALL {
            let detail = format!("A store has at most {MAX_RATES_IN_ALL} shipping rates.");
            return Err(Problem::field("/rates", "too_many", detail));
        }
        match others().find(|other| other.places.overlap(&zone.places)) {
            Some(other) => Err(Code::ZoneOverlap
                .detail(format!("A place would be in the zone “{}” as well.", other.name))
                .with("zone_id", other.id.to_string())),
            None => Ok(()),
        }
    }
}

/// The zone that a place is in.
pub fn find<'a>(zones: &'a [ShippingZone], place: &TaxLocation) -> Option<&'a ShippingZone> {
    let covering = zones.iter().filter_map(|zone| Some((zone.places.covers(place)?, zone)));
    covering.max_by_key(|(particular, _)| *particular).map(|(_, zone)| zone)
}

#[cfg(test)]
mod tests {
    use core_types::event::{EXAMPLE_TIME, sample};

    use super::*;

    fn zone(name: &str, countries: &[&str], regions: &[&str], prefixes: &[&str]) -> ShippingZone {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let places = Places {
            countries: countries.iter().map(|country| sample(country)).collect(),
            regions: words(regions),
            postal_prefixes: words(prefixes),
        };
        ShippingZone {
            id: ShippingZoneId::derive(&[name]),
            store_id: StoreId::derive(&["store"]),
            name: name.into(),
            places: places.tidy(),
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
    fn the_most_particular_zone_counts() {
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
    fn no_place_is_in_two_zones_alike() {
        let rejected = |ours: &ShippingZone, theirs: &ShippingZone| {
            let document = Document::empty(ours.document()).with(theirs.clone());
            ShippingZone::fits(&document, ours).err().map(|problem| problem.code)
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
        // A zone does not stand in its own way.
        assert_eq!(rejected(&paris, &paris), None);
    }

    #[test]
    fn a_store_has_so_many_zones() {
        let mut document = Document::empty(key::shipping_zones(&StoreId::derive(&["store"])));
        for n in 0..MAX_ZONES {
            document = document.with(zone(&n.to_string(), &["FR"], &[], &[&n.to_string()]));
        }
        let one_more = zone("more", &["DE"], &[], &[]);
        assert_eq!(ShippingZone::fits(&document, &one_more).unwrap_err().code, Code::ZoneLimit);
        let known = document.entries[0].clone();
        ShippingZone::fits(&document, &known).unwrap();
    }
}
