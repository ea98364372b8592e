//! The query of a list of products, and the filter that it becomes.

use std::collections::HashSet;

use catalogue::collection::{Collection, SortOrder, matches_rules};
use catalogue::facets::FacetFilter;
use catalogue::product::{ProductSummary, SummaryOrder};
use catalogue::search;
use catalogue::words::{Term, terms};
use core_types::fields::Handle;
use core_types::id::{CategoryId, ProductId};
use core_types::money::MAX_AMOUNT;
use identity::store::Store;
use primitives::fields::{Flag, Int, Text, Written};
use primitives::input::{Given, Rules, request};
use primitives::problem::FieldError;

primitives::string_enum! {
    /// The order of a list of products.
    ProductSort {
        /// The newest first.
        Newest = "-created_at",
        /// The oldest first.
        Oldest = "created_at",
        /// By the lowest price of their variants, the cheapest first.
        PriceAscending = "price",
        /// By the lowest price of their variants, the most expensive first.
        PriceDescending = "-price",
        /// By title, ignoring case and accents.
        Title = "title",
        /// The best-rated first.
        BestRated = "best",
    }
}

use super::values::{OptionValues, Texts};

/// The filter and the order of a list of products.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Search words: each must be the beginning of a word in the title, SKUs, vendor, type or tags,
    /// ignoring case and accents. `wi-fi` and `wifi` find each other. Without words, all products match.
    pub q: Option<Text<0, 100>>,
    /// Only products of this category and those below it.
    pub category: Option<Handle>,
    /// Only products of this collection, in its own order unless `sort` or `q` is given.
    pub collection: Option<Handle>,
    /// Only products with this tag, ignoring case.
    pub tag: Option<Text<1, 255>>,
    /// Only products with a variant at this price or above, in minor units; with `max_price`, a variant
    /// between the two.
    pub min_price: Option<Written<Int<0, MAX_AMOUNT>>>,
    /// Only products with a variant at this price or below, in minor units.
    pub max_price: Option<Written<Int<0, MAX_AMOUNT>>>,
    /// Only products in stock; with `false`, only those out of stock.
    pub in_stock: Option<Written<Flag>>,
    /// Only products of one of these vendors, separated by commas. Case is ignored. A comma or a backslash in a name
    /// is preceded by a backslash.
    pub vendor: Option<Texts>,
    /// Only products of one of these types, separated by commas as vendors are.
    pub product_type: Option<Texts>,
    /// Only products with a variant that has these values of its options: `Colour:Blue,Colour:Navy,Size:M` is blue or
    /// navy, in size M. The same variant must have the price, and be in stock, if these are filters too. Case is
    /// ignored. A comma or a backslash in a text, or a colon in a name, is preceded by a backslash.
    pub options: Option<OptionValues>,
    /// The order. The default is the newest first; with `q`, products with the words in their title first.
    pub sort: Option<ProductSort>,
}

impl ListQuery {
    /// Whether only the facet index can answer.
    pub fn needs_facets(&self) -> bool {
        let has = |texts: &Option<Texts>| texts.as_ref().is_some_and(|texts| !texts.0.is_empty());
        has(&self.vendor)
            || has(&self.product_type)
            || self.options.as_ref().is_some_and(|options| !options.0.is_empty())
    }

    /// Its filters by values.
    pub fn facet_filter(&self) -> FacetFilter {
        let texts = |texts: &Option<Texts>| texts.as_ref().map(|t| t.0.clone()).unwrap_or_default();
        FacetFilter {
            in_stock: self.in_stock.map(|flag| flag.0.0),
            min_price: self.min_price.map(|Written(Int(amount))| amount),
            max_price: self.max_price.map(|Written(Int(amount))| amount),
            vendors: texts(&self.vendor),
            product_types: texts(&self.product_type),
            tags: self.tag.iter().map(|tag| tag.as_str().to_owned()).collect(),
            options: self.options.as_ref().map(|all| all.0.clone()).unwrap_or_default(),
        }
    }
}

impl Rules for ListQuery {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let price = |name: &str| Some(given.get::<Written<Int<0, MAX_AMOUNT>>>(name)?.0.0);
        match price("min_price").zip(price("max_price")) {
            Some((min, max)) if min > max => {
                let detail = "Must be at least `min_price`.";
                vec![FieldError::new("/max_price", "below_min_price", detail)]
            }
            _ => Vec::new(),
        }
    }
}

/// The filter of a list of products.
#[derive(Debug)]
pub struct Filter<'a> {
    store: &'a Store,
    terms: Vec<Term>,
    tag: Option<String>,
    min_price: Option<i64>,
    max_price: Option<i64>,
    in_stock: Option<bool>,
    /// The allowed categories.
    categories: Option<HashSet<CategoryId>>,
    /// The automated collection whose rules must match.
    automated: Option<Collection>,
    /// The products of a manual collection.
    members: Option<HashSet<ProductId>>,
}

impl<'a> Filter<'a> {
    /// The filter of a query, with the categories and the automated collection that it names.
    pub fn new(
        input: &ListQuery,
        store: &'a Store,
        categories: Option<HashSet<CategoryId>>,
        automated: Option<Collection>,
    ) -> Self {
        Self {
            store,
            terms: input.q.as_ref().map(|q| terms(q.as_str())).unwrap_or_default(),
            tag: input.tag.as_ref().map(|tag| tag.as_str().to_lowercase()),
            min_price: input.min_price.map(|Written(Int(amount))| amount),
            max_price: input.max_price.map(|Written(Int(amount))| amount),
            in_stock: input.in_stock.map(|flag| flag.0.0),
            categories,
            automated,
            members: None,
        }
    }

    /// Removes the words, because a search finds the products by them.
    pub fn clear_terms(&mut self) {
        self.terms.clear();
    }

    /// Restricts the filter to these products, if given.
    pub fn restrict_to(&mut self, members: Option<Vec<ProductId>>) {
        self.members = members.map(|members| members.into_iter().collect());
    }

    /// Whether every visible product matches, so that an index serves the list unfiltered.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
            && self.tag.is_none()
            && self.min_price.is_none()
            && self.max_price.is_none()
            && self.in_stock.is_none()
            && self.categories.is_none()
            && self.automated.is_none()
            && self.members.is_none()
    }

    /// Whether the product is visible and matches.
    pub fn matches(&self, summary: &ProductSummary) -> bool {
        let is_tagged = |tag: &String| summary.tags.iter().any(|own| own.to_lowercase() == *tag);
        let category = summary.category_id.as_ref();
        let among = |wanted: &HashSet<_>| category.is_some_and(|own| wanted.contains(own));
        summary.is_visible()
            && self.members.as_ref().is_none_or(|members| members.contains(summary.id()))
            && self.price_matches(summary)
            && self.in_stock.is_none_or(|wanted| summary.is_in_stock(self.store) == wanted)
            && self.categories.as_ref().is_none_or(among)
            && self.tag.as_ref().is_none_or(is_tagged)
            && self
                .automated
                .as_ref()
                .is_none_or(|collection| matches_rules(&collection.rules, collection.mode, summary))
            && search::matches(summary, &self.terms)
    }

    /// Whether a variant's price is in the range.
    fn price_matches(&self, summary: &ProductSummary) -> bool {
        let (min, max) = (self.min_price.unwrap_or(0), self.max_price.unwrap_or(MAX_AMOUNT));
        summary.prices.iter().any(|price| (min..=max).contains(price))
    }
}

impl From<ProductSort> for SummaryOrder {
    fn from(sort: ProductSort) -> Self {
        match sort {
            ProductSort::Newest => Self::Newest,
            ProductSort::Oldest => Self::Oldest,
            ProductSort::PriceAscending => Self::PriceAscending,
            ProductSort::PriceDescending => Self::PriceDescending,
            ProductSort::Title => Self::Title,
            ProductSort::BestRated => Self::BestRated,
        }
    }
}

/// The index order of a collection; none for a manual order.
pub fn order_of(order: SortOrder) -> Option<SummaryOrder> {
    match order {
        SortOrder::Manual => None,
        SortOrder::Newest => Some(SummaryOrder::Newest),
        SortOrder::Oldest => Some(SummaryOrder::Oldest),
        SortOrder::PriceAscending => Some(SummaryOrder::PriceAscending),
        SortOrder::PriceDescending => Some(SummaryOrder::PriceDescending),
        SortOrder::Title => Some(SummaryOrder::Title),
    }
}
