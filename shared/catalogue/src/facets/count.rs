//! The products of a facet index that match a filter, and the number of products of each value.
//!
//! As in Shopify's storefront filtering: the count of a value is under all other filters, not under its own one, so that
//! it says what choosing the value adds.

use std::collections::{BTreeMap, HashMap};

use identity::store::Store;

use super::filter::{Filtering, Missed, Unmet, Variants};
use super::{FacetFilter, FacetRow, FacetVariant};

/// The most values of a filter (our choice): those that are selected, then those with the most products.
const MAX_VALUES: usize = 100;
/// The most options that are filters, those of the most products (our choice).
const MAX_OPTIONS: usize = 20;

/// A value of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetValue {
    /// The value, as its products spell it.
    pub value: String,
    /// The number of products with it, under all other filters.
    pub count: usize,
    /// Whether the filter has it.
    pub is_selected: bool,
}

/// An option with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionFacet {
    /// The name of the option.
    pub name: String,
    /// Its values.
    pub values: Vec<FacetValue>,
}

/// The filters of a list with the number of products of each value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// The number of products that can be bought, under all other filters.
    pub in_stock: usize,
    /// The number of those that cannot.
    pub out_of_stock: usize,
    /// The lowest and the highest price of the list without filters; none of an empty list.
    pub price: Option<(i64, i64)>,
    /// The vendors.
    pub vendors: Vec<FacetValue>,
    /// The types.
    pub product_types: Vec<FacetValue>,
    /// The tags.
    pub tags: Vec<FacetValue>,
    /// The options of the variants.
    pub options: Vec<OptionFacet>,
}

/// The products that match a filter, in the order of the rows, with the filters of the list.
#[derive(Debug, Default)]
pub struct Counted<'a> {
    /// The products.
    pub matching: Vec<&'a FacetRow>,
    /// The filters.
    pub facets: Facets,
}

/// Counts by the spelling of the values.
type Counts<'a> = HashMap<&'a str, usize>;

impl FacetFilter {
    /// The rows that match, and the filters of the list that all rows are.
    pub fn count<'a>(
        &self,
        rows: impl IntoIterator<Item = &'a FacetRow>,
        store: &Store,
    ) -> Counted<'a> {
        let mut counting = Counting::of(self, store);
        for row in rows {
            counting.add(row);
        }
        counting.finish()
    }
}

struct Counting<'a, 'f> {
    store: &'f Store,
    filter: Filtering<'f>,
    matching: Vec<&'a FacetRow>,
    facets: Facets,
    by_vendor: Counts<'a>,
    by_type: Counts<'a>,
    by_tag: Counts<'a>,
    by_option: HashMap<&'a str, Counts<'a>>,
}

impl<'a, 'f> Counting<'a, 'f> {
    fn of(filter: &'f FacetFilter, store: &'f Store) -> Self {
        Self {
            store,
            filter: Filtering::by(filter),
            matching: Vec::new(),
            facets: Facets::default(),
            by_vendor: Counts::new(),
            by_type: Counts::new(),
            by_tag: Counts::new(),
            by_option: HashMap::new(),
        }
    }

    fn add(&mut self, row: &'a FacetRow) {
        self.add_prices(row);
        let missed = self.filter.missed_by_product(row);
        let variants: Vec<(&'a FacetVariant, Missed, bool)> = row
            .variants
            .iter()
            .map(|variant| {
                let missed = self.filter.missed_by_variant(row, variant);
                (variant, missed, variant.is_available(self.store))
            })
            .collect();
        let mut all = Variants::default();
        for (_, missed, is_available) in &variants {
            if *missed == Missed::Nothing {
                all.add(*is_available);
            }
        }
        let is_admitted = self.filter.admits(all);
        if missed == Missed::Nothing && is_admitted {
            self.matching.push(row);
        }
        if missed == Missed::Nothing && all.any {
            let count = if all.available {
                &mut self.facets.in_stock
            } else {
                &mut self.facets.out_of_stock
            };
            *count = count.saturating_add(1);
        }
        let counted = |own: Unmet| is_admitted && missed.is_at_most(own);
        let (vendor, product_type, tag) =
            (counted(Unmet::Vendor), counted(Unmet::ProductType), counted(Unmet::Tag));
        count(&mut self.by_vendor, row.vendor.as_deref(), vendor);
        count(&mut self.by_type, row.product_type.as_deref(), product_type);
        count(&mut self.by_tag, row.tags.iter().map(String::as_str), tag);
        self.add_options(row, &variants, missed == Missed::Nothing);
    }

    fn add_prices(&mut self, row: &FacetRow) {
        for variant in &row.variants {
            let (low, high) = self.facets.price.unwrap_or((variant.price, variant.price));
            self.facets.price = Some((low.min(variant.price), high.max(variant.price)));
        }
    }

    fn add_options(
        &mut self,
        row: &'a FacetRow,
        variants: &[(&'a FacetVariant, Missed, bool)],
        is_counted: bool,
    ) {
        for (place, name) in row.options.iter().enumerate() {
            let own = self.filter.option(name);
            let mut by_value: Vec<(&'a str, Variants)> = Vec::new();
            for (variant, missed, is_available) in variants {
                let Some(value) = variant.values.get(place).map(String::as_str) else { continue };
                let found = by_value.iter().position(|(other, _)| *other == value);
                let found = found.unwrap_or_else(|| {
                    by_value.push((value, Variants::default()));
                    by_value.len().saturating_sub(1)
                });
                let meets = *missed == Missed::Nothing
                    || own.is_some_and(|own| *missed == Missed::One(own));
                if let Some((_, set)) = by_value.get_mut(found).filter(|_| meets) {
                    set.add(*is_available);
                }
            }
            for (value, set) in by_value {
                let is_counted = is_counted && self.filter.admits(set);
                count(self.by_option.entry(name.as_str()).or_default(), [value], is_counted);
            }
        }
    }

    fn finish(self) -> Counted<'a> {
        let mut options: BTreeMap<String, (&str, Counts<'_>)> = BTreeMap::new();
        for (name, counts) in self.by_option {
            let (_, all) =
                options.entry(name.to_lowercase()).or_insert_with(|| (name, Counts::new()));
            for (value, count) in counts {
                let sum = all.entry(value).or_default();
                *sum = sum.saturating_add(count);
            }
        }
        let mut options: Vec<OptionFacet> = options
            .into_iter()
            .map(|(folded, (name, counts))| OptionFacet {
                name: name.to_owned(),
                values: values(counts, self.filter.selected(&folded)),
            })
            .collect();
        if options.len() > MAX_OPTIONS {
            let products = |option: &OptionFacet| {
                option.values.iter().map(|value| value.count).max().unwrap_or(0)
            };
            options.sort_by_key(|option| std::cmp::Reverse(products(option)));
            options.truncate(MAX_OPTIONS);
            options.sort_by_key(|option| option.name.to_lowercase());
        }
        let facets = Facets {
            vendors: values(self.by_vendor, &self.filter.vendors),
            product_types: values(self.by_type, &self.filter.product_types),
            tags: values(self.by_tag, &self.filter.tags),
            options,
            ..self.facets
        };
        Counted { matching: self.matching, facets }
    }
}

/// Adds a product to the counts of its values, or notes the values alone.
fn count<'a>(counts: &mut Counts<'a>, values: impl IntoIterator<Item = &'a str>, is_counted: bool) {
    for value in values {
        let count = counts.entry(value).or_default();
        *count = count.saturating_add(usize::from(is_counted));
    }
}

/// The values of a filter by their texts. Spellings of one value are one, under the commonest.
fn values(counts: Counts<'_>, selected: &[String]) -> Vec<FacetValue> {
    let mut merged: BTreeMap<String, (usize, FacetValue)> = BTreeMap::new();
    for (text, count) in counts {
        let folded = text.to_lowercase();
        let is_selected = selected.contains(&folded);
        let (commonest, value) = merged.entry(folded).or_insert_with(|| {
            (count, FacetValue { value: text.to_owned(), count: 0, is_selected })
        });
        value.count = value.count.saturating_add(count);
        let is_commoner = (count, std::cmp::Reverse(text))
            > (*commonest, std::cmp::Reverse(value.value.as_str()));
        if is_commoner {
            *commonest = count;
            text.clone_into(&mut value.value);
        }
    }
    let mut values: Vec<(String, FacetValue)> =
        merged.into_iter().map(|(folded, (_, value))| (folded, value)).collect();
    if values.len() > MAX_VALUES {
        values.sort_by_key(|(_, value)| std::cmp::Reverse((value.is_selected, value.count)));
        values.truncate(MAX_VALUES);
        values.sort_by(|(one, _), (other, _)| one.cmp(other));
    }
    values.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use core_types::event::EXAMPLE_TIME;
    use core_types::id::{LocationId, MerchantId, ProductId};
    use identity::store::NewStore;

    use super::*;

    fn variant(values: &[&str], price: i64, is_available: bool) -> FacetVariant {
        FacetVariant {
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            price,
            sells_beyond: Some(is_available),
            stocked_at: Vec::<LocationId>::new(),
        }
    }

    fn row(name: &str, vendor: &str, tags: &[&str], variants: Vec<FacetVariant>) -> FacetRow {
        let has_options = variants.iter().any(|variant| !variant.values.is_empty());
        let options = if has_options { vec!["Colour".into(), "Size".into()] } else { vec![] };
        FacetRow {
            id: ProductId::derive(&[name]),
            title: name.into(),
            vendor: (!vendor.is_empty()).then(|| vendor.to_owned()),
            product_type: None,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            category_id: None,
            sku_words: Vec::new(),
            on_sale: false,
            rating: None,
            options,
            variants,
        }
    }

    fn rows() -> Vec<FacetRow> {
        vec![
            row(
                "shirt",
                "Acme",
                &["new"],
                vec![
                    variant(&["Blue", "S"], 1_000, true),
                    variant(&["Blue", "M"], 1_000, false),
                    variant(&["Red", "M"], 1_500, true),
                ],
            ),
            row("hat", "Bell", &["new", "sale"], vec![variant(&["blue", "M"], 2_000, true)]),
            row("mug", "Bell", &[], vec![variant(&[], 3_000, false)]),
        ]
    }

    fn filter(options: &[(&str, &str)]) -> FacetFilter {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        FacetFilter { options: options.collect(), ..FacetFilter::default() }
    }

    fn store() -> Store {
        Store::create(&MerchantId::derive(&["owner"]), NewStore::sample(), EXAMPLE_TIME)
    }

    fn counts(values: &[FacetValue]) -> Vec<(&str, usize)> {
        values.iter().map(|value| (value.value.as_str(), value.count)).collect()
    }

    fn found(filter: &FacetFilter) -> Vec<String> {
        let rows = rows();
        let found = filter.count(&rows, &store());
        found.matching.iter().map(|row| row.title.clone()).collect()
    }

    #[test]
    fn filters_of_variants_hold_for_one_variant() {
        assert_eq!(found(&filter(&[("colour", "BLUE"), ("size", "m")])), ["shirt", "hat"]);
        let in_stock =
            FacetFilter { in_stock: Some(true), ..filter(&[("Colour", "Blue"), ("Size", "M")]) };
        assert_eq!(found(&in_stock), ["hat"]);
        let out = FacetFilter { in_stock: Some(false), ..in_stock.clone() };
        assert_eq!(found(&out), ["shirt"]);
        let dear = FacetFilter { min_price: Some(1_200), ..filter(&[("Colour", "Blue")]) };
        assert_eq!(found(&dear), ["hat"]);
        assert_eq!(found(&filter(&[("Colour", "Blue"), ("Colour", "Red")])), ["shirt", "hat"]);
        assert_eq!(found(&filter(&[("Material", "Wool")])), [""; 0]);
    }

    #[test]
    fn a_count_is_under_all_filters_but_its_own() {
        let rows = rows();
        let all = FacetFilter::default().count(&rows, &store()).facets;
        assert_eq!((all.in_stock, all.out_of_stock, all.price), (2, 1, Some((1_000, 3_000))));
        assert_eq!(counts(&all.vendors), [("Acme", 1), ("Bell", 2)]);
        assert_eq!(counts(&all.tags), [("new", 2), ("sale", 1)]);
        assert_eq!(counts(&all.options[0].values), [("Blue", 2), ("Red", 1)]);
        assert_eq!(counts(&all.options[1].values), [("M", 2), ("S", 1)]);
        let blue = filter(&[("Colour", "Blue")]).count(&rows, &store()).facets;
        assert_eq!(counts(&blue.options[0].values), [("Blue", 2), ("Red", 1)]);
        assert_eq!(counts(&blue.vendors), [("Acme", 1), ("Bell", 1)]);
        assert_eq!((blue.in_stock, blue.out_of_stock), (2, 0));
        assert_eq!(blue.price, Some((1_000, 3_000)));
        let bell = FacetFilter { vendors: vec!["bell".into()], ..filter(&[("Size", "S")]) };
        let bell = bell.count(&rows, &store()).facets;
        assert_eq!(counts(&bell.vendors), [("Acme", 1), ("Bell", 0)]);
        assert_eq!(counts(&bell.options[1].values), [("M", 1), ("S", 0)]);
        assert!(bell.vendors[1].is_selected && !bell.vendors[0].is_selected);
        let in_stock = FacetFilter { in_stock: Some(true), ..FacetFilter::default() };
        let in_stock = in_stock.count(&rows, &store()).facets;
        assert_eq!((in_stock.in_stock, in_stock.out_of_stock), (2, 1));
        assert_eq!(counts(&in_stock.options[1].values), [("M", 2), ("S", 1)]);
        assert_eq!(counts(&in_stock.vendors), [("Acme", 1), ("Bell", 1)]);
    }
}
