//! Filters over the rows of a facet index, and what a row does not meet of them.
//!
//! As in Shopify's storefront filtering: values of one filter are alternatives, and all filters must hold. Price,
//! availability and options must hold for one and the same variant.

use std::collections::BTreeMap;

use super::{FacetRow, FacetVariant};

/// Filters of a list. Texts are compared regardless of case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FacetFilter {
    /// Only products in stock, or only those out of stock.
    pub in_stock: Option<bool>,
    /// The least price, in minor units.
    pub min_price: Option<i64>,
    /// The highest price, in minor units.
    pub max_price: Option<i64>,
    /// Any of these vendors.
    pub vendors: Vec<String>,
    /// Any of these types.
    pub product_types: Vec<String>,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// Values of options, by the option's name: any of the values of each option.
    pub options: Vec<(String, String)>,
}

impl FacetFilter {
    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A filter that a product or a variant does not meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmet {
    Vendor,
    ProductType,
    Tag,
    Price,
    /// That of the option at this place among those of the filter.
    Option(usize),
}

/// The filters that are not met, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missed {
    Nothing,
    One(Unmet),
    Several,
}

impl Missed {
    fn of(all: impl IntoIterator<Item = Unmet>) -> Self {
        let mut all = all.into_iter();
        match (all.next(), all.next()) {
            (None, _) => Self::Nothing,
            (Some(one), None) => Self::One(one),
            (Some(_), Some(_)) => Self::Several,
        }
    }

    /// Whether all filters but this one are met.
    pub(super) fn is_at_most(self, own: Unmet) -> bool {
        self == Self::Nothing || self == Self::One(own)
    }
}

/// Variants that meet the filters by option and price: whether there is one, and whether one can be bought.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Variants {
    pub(super) any: bool,
    pub(super) available: bool,
}

impl Variants {
    pub(super) fn add(&mut self, is_available: bool) {
        self.any = true;
        self.available |= is_available;
    }
}

/// A filter with its texts in lower case, for many rows.
pub(super) struct Filtering<'f> {
    filter: &'f FacetFilter,
    pub(super) vendors: Vec<String>,
    pub(super) product_types: Vec<String>,
    pub(super) tags: Vec<String>,
    /// The values of each option, by its name.
    options: Vec<(String, Vec<String>)>,
}

impl<'f> Filtering<'f> {
    pub(super) fn by(filter: &'f FacetFilter) -> Self {
        let folded = |texts: &[String]| texts.iter().map(|text| text.to_lowercase()).collect();
        let mut options: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in &filter.options {
            options.entry(name.to_lowercase()).or_default().push(value.to_lowercase());
        }
        Self {
            filter,
            vendors: folded(&filter.vendors),
            product_types: folded(&filter.product_types),
            tags: folded(&filter.tags),
            options: options.into_iter().collect(),
        }
    }

    /// The filter by an option, if there is one.
    pub(super) fn option(&self, name: &str) -> Option<Unmet> {
        self.options.iter().position(|(other, _)| equals(name, other)).map(Unmet::Option)
    }

    /// The values of the filter by an option, whose name is in lower case.
    pub(super) fn selected(&self, folded: &str) -> &[String] {
        let found = self.options.iter().find(|(name, _)| name == folded);
        found.map_or(&[], |(_, values)| values)
    }

    /// The filters of products that a product does not meet.
    pub(super) fn missed_by_product(&self, row: &FacetRow) -> Missed {
        let is_wanted = |own: Option<&String>, wanted: &[String]| {
            wanted.is_empty() || own.is_some_and(|own| is_among(own, wanted))
        };
        let is_tagged =
            self.tags.is_empty() || row.tags.iter().any(|tag| is_among(tag, &self.tags));
        let vendor = !is_wanted(row.vendor.as_ref(), &self.vendors);
        let product_type = !is_wanted(row.product_type.as_ref(), &self.product_types);
        let unmet =
            [(vendor, Unmet::Vendor), (product_type, Unmet::ProductType), (!is_tagged, Unmet::Tag)];
        Missed::of(unmet.into_iter().filter_map(|(is_unmet, filter)| is_unmet.then_some(filter)))
    }

    /// The filters of variants, but for availability, that a variant does not meet.
    pub(super) fn missed_by_variant(&self, row: &FacetRow, variant: &FacetVariant) -> Missed {
        let (min, max) = (self.filter.min_price, self.filter.max_price);
        let is_priced = min.is_none_or(|min| variant.price >= min)
            && max.is_none_or(|max| variant.price <= max);
        let price = (!is_priced).then_some(Unmet::Price);
        let options = self.options.iter().enumerate().filter_map(|(place, (name, values))| {
            let own = row.options.iter().position(|own| equals(own, name));
            let own = own.and_then(|own| variant.values.get(own));
            let is_met = own.is_some_and(|own| is_among(own, values));
            (!is_met).then_some(Unmet::Option(place))
        });
        Missed::of(price.into_iter().chain(options))
    }

    /// Whether the filter by availability holds for a product of which these variants meet the other filters.
    pub(super) fn admits(&self, variants: Variants) -> bool {
        match self.filter.in_stock {
            None => variants.any,
            Some(true) => variants.available,
            Some(false) => variants.any && !variants.available,
        }
    }
}

/// Whether two texts are equal regardless of case; `folded` is in lower case.
fn equals(text: &str, folded: &str) -> bool {
    text.chars().flat_map(char::to_lowercase).eq(folded.chars())
}

fn is_among(text: &str, folded: &[String]) -> bool {
    folded.iter().any(|other| equals(text, other))
}
