//! The places where rates are levied: a country, a region of it, or postal codes.

use core_types::fields::Country;
use core_types::fold::fold;
use identity::address::{self, PostalAddress};
use identity::store::Store;
use primitives::fields::Violation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaxRate;
use crate::postal;

/// The location by which tax and shipping are determined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaxPlace")]
pub struct TaxLocation {
    /// The country, in ISO 3166-1.
    pub country: Country,
    /// The region, in ISO 3166-2 without the country, for countries that use them.
    pub region: Option<String>,
    /// The postal code.
    pub postal_code: Option<String>,
}

impl TaxLocation {
    /// Whether it has what addresses of its country require, by which taxes may differ there: region and postal code.
    pub fn is_complete(&self) -> bool {
        let (region, postal_code) = (self.region.as_deref(), self.postal_code.as_deref());
        let validated = address::validate(self.country.as_str(), region, postal_code);
        let is_there = |(_, violation): &(_, Violation)| violation.code != "required";
        validated.err().iter().flatten().all(is_there)
    }

    /// Whether it is in this region, without case and accents: the regions of some countries are free text.
    pub fn is_in(&self, region: &str) -> bool {
        let is_it = |own: &String| address::is_same_region(self.country.as_str(), own, region);
        self.region.as_ref().is_some_and(is_it)
    }
}

impl From<&Store> for TaxLocation {
    fn from(store: &Store) -> Self {
        Self { country: store.country.clone(), region: store.region.clone(), postal_code: None }
    }
}

impl From<&PostalAddress> for TaxLocation {
    fn from(address: &PostalAddress) -> Self {
        Self {
            country: address.country.clone(),
            region: address.region.clone(),
            postal_code: address.postal_code.clone(),
        }
    }
}

/// The postal codes of a jurisdiction: those with a prefix, or those within a range.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaxPostalCodes")]
pub struct PostalCodes {
    /// The prefix of the codes; a space at its end means that a part of the code ends there.
    #[serde(default)]
    pub prefix: Option<String>,
    /// The first code of a range.
    #[serde(default)]
    pub from: Option<String>,
    /// The last code of a range, of the same length.
    #[serde(default)]
    pub to: Option<String>,
}

impl PostalCodes {
    /// The codes of a country that begin with this; none if the prefix has no letter or digit.
    pub fn prefix(country: &Country, prefix: &str) -> Option<Self> {
        let prefix = postal::prefix_of(country, prefix);
        let codes = Self { prefix: Some(prefix.clone()), from: None, to: None };
        (!prefix.is_empty()).then_some(codes)
    }

    /// The codes from one to another; none if they have different lengths, or the first is after the last.
    pub fn range(country: &Country, from: &str, to: &str) -> Option<Self> {
        postal::range_key(country, (from, to))?;
        Some(Self { prefix: None, from: Some(from.to_owned()), to: Some(to.to_owned()) })
    }

    fn cover(&self, country: &Country, code: &str) -> bool {
        let in_range = self.from.as_deref().zip(self.to.as_deref());
        match (&self.prefix, in_range) {
            (Some(prefix), _) => postal::has_prefix(country, code, prefix),
            (None, Some(range)) => postal::is_within(country, code, range),
            (None, None) => false,
        }
    }

    /// Their specificity: the length of their common prefix.
    fn narrowness(&self, country: &Country) -> usize {
        let (prefix, range) = self.key(country);
        prefix.map(|it| it.len()).or_else(|| range.as_ref().map(postal::common_length)).unwrap_or(0)
    }

    /// The prefix or the ends of the range, for comparison with others.
    fn key(&self, country: &Country) -> (Option<String>, Option<(String, String)>) {
        let prefix = self.prefix.as_ref().map(|prefix| postal::prefix_key(country, prefix));
        let ends = self.from.as_deref().zip(self.to.as_deref());
        (prefix, ends.and_then(|ends| postal::range_key(country, ends)))
    }
}

/// The specificity of a jurisdiction: postal codes are narrower than a region, and a region than its country.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Specificity {
    postal: Option<usize>,
    is_regional: bool,
}

impl TaxRate {
    /// Whether the place is in its jurisdiction.
    pub(super) fn covers(&self, place: &TaxLocation) -> bool {
        let here = |region: &String| place.is_in(region);
        let coded = |codes: &PostalCodes| {
            place.postal_code.as_deref().is_some_and(|code| codes.cover(&place.country, code))
        };
        self.country == place.country
            && self.region.as_ref().is_none_or(here)
            && self.postal_codes.as_ref().is_none_or(coded)
    }

    /// The specificity of its jurisdiction.
    pub(super) fn specificity(&self) -> Specificity {
        let postal = self.postal_codes.as_ref().map(|codes| codes.narrowness(&self.country));
        Specificity { postal, is_regional: self.region.is_some() }
    }

    /// Whether both are levied at one jurisdiction, on one class, under one name.
    pub fn repeats(&self, other: &Self) -> bool {
        let country = self.country.as_str();
        let region =
            |rate: &Self| rate.region.as_ref().map(|region| address::region_key(country, region));
        let codes = |rate: &Self| rate.postal_codes.as_ref().map(|codes| codes.key(&self.country));
        self.country == other.country
            && region(self) == region(other)
            && codes(self) == codes(other)
            && self.tax_class == other.tax_class
            && fold(&self.name) == fold(&other.name)
    }
}
