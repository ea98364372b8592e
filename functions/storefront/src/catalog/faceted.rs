//! A list of products from the store's facet index: filtered by any value, with the number of products of each.
//!
//! The index has every product of the store, so that a list is filtered, counted and sorted as a whole; only the products of
//! the page are read.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use catalogue::collection::{Collection, CollectionKind, CollectionProducts, matches_rules};
use catalogue::facets::{self, FacetFilter, FacetIndex, FacetRow, Facets};
use catalogue::product::{ProductSummary, SummaryOrder, summaries};
use catalogue::search::Rank;
use catalogue::words::{Term, terms};
use core_types::fields::Handle;
use core_types::id::{CategoryId, ProductId, StoreId};
use identity::store::Store;
use primitives::problem::Problem;
use services::Services;
use table::item::Attributes;
use table::{Listed, Scanned, cursor};

use super::input::{ListQuery, order_of};
use super::source;

/// Which products a list has, and in which order.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Search words.
    pub q: Option<String>,
    /// The products of this category and those below it.
    pub category: Option<Handle>,
    /// The products of this collection.
    pub collection: Option<Handle>,
    /// The products with this tag, whatever the filters.
    pub tag: Option<String>,
    /// The order; by default the collection's own, by relevance with search words, or the newest first.
    pub sort: Option<SummaryOrder>,
    /// Whether the order is turned around.
    pub is_reversed: bool,
    /// The filters.
    pub filter: FacetFilter,
}

impl From<&ListQuery> for Selection {
    fn from(input: &ListQuery) -> Self {
        Self {
            q: input.q.as_ref().map(|q| q.as_str().to_owned()),
            category: input.category.clone(),
            collection: input.collection.clone(),
            tag: None,
            sort: input.sort.map(SummaryOrder::from),
            is_reversed: false,
            filter: input.facet_filter(),
        }
    }
}

/// A list of products in its order.
#[derive(Debug)]
pub struct FacetedList {
    store: StoreId,
    /// The products with their sort keys.
    products: Vec<(String, ProductId)>,
    /// Whether the order is a merchant's, which no key tells.
    is_manual: bool,
    /// The number of its products without the filters.
    unfiltered: usize,
    /// The filters of the list.
    pub facets: Facets,
}

/// The products of a list before they are filtered.
struct Scope {
    categories: Option<HashSet<CategoryId>>,
    automated: Option<Collection>,
    /// The places of the products of a manual collection.
    members: Option<HashMap<ProductId, usize>>,
    tag: Option<String>,
    terms: Vec<Term>,
}

impl Scope {
    fn of(
        selection: &Selection,
        categories: Option<HashSet<CategoryId>>,
        collection: Option<(Collection, Option<CollectionProducts>)>,
    ) -> Self {
        let (automated, members) = match collection {
            None => (None, None),
            Some((collection, members)) => match collection.kind {
                CollectionKind::Automated => (Some(collection), None),
                CollectionKind::Manual => {
                    let ids = members.map(|list| list.product_ids).unwrap_or_default();
                    (None, Some(ids.into_iter().zip(0..).collect()))
                }
            },
        };
        let terms = selection.q.as_deref().map(terms).unwrap_or_default();
        let tag = selection.tag.as_ref().map(|tag| tag.to_lowercase());
        Self { categories, automated, members, tag, terms }
    }

    fn has(&self, row: &FacetRow) -> bool {
        let category = row.category_id.as_ref();
        let among = |wanted: &HashSet<_>| category.is_some_and(|own| wanted.contains(own));
        let is_tagged = |tag: &String| row.tags.iter().any(|own| own.to_lowercase() == *tag);
        self.members.as_ref().is_none_or(|members| members.contains_key(&row.id))
            && self.tag.as_ref().is_none_or(is_tagged)
            && self.categories.as_ref().is_none_or(among)
            && self
                .automated
                .as_ref()
                .is_none_or(|collection| matches_rules(&collection.rules, collection.mode, row))
    }

    /// The rows of the list, and the ranks of those that were searched for.
    fn rows<'i>(&self, index: &'i FacetIndex) -> (Vec<&'i FacetRow>, HashMap<&'i ProductId, Rank>) {
        if self.terms.is_empty() {
            return (index.rows.iter().filter(|row| self.has(row)).collect(), HashMap::new());
        }
        let found = index.search(&self.terms).filter(|(row, _)| self.has(row));
        found.map(|(row, rank)| (row, (&row.id, rank))).unzip()
    }
}

impl FacetedList {
    /// Opens a list: one read of the index, unless the process has it, with the category and the collection that are
    /// named.
    ///
    /// # Errors
    /// `not_found`: the category is unknown, or the collection is unknown or unpublished. `too_many_products`.
    pub async fn open(
        services: &Services,
        store: &Store,
        selection: &Selection,
    ) -> Result<Self, Problem> {
        let (index, categories, collection) = tokio::try_join!(
            facets::load(services, &store.id),
            source::categories(services, &store.id, selection.category.as_ref()),
            source::members(services, &store.id, selection.collection.as_ref()),
        )?;
        let own_order = collection.as_ref().and_then(|(found, _)| order_of(found.sort_order));
        let scope = Scope::of(selection, categories, collection);
        let (rows, ranks) = scope.rows(&index);
        let unfiltered = rows.len();
        let counted = selection.filter.count(rows, store);
        let is_search = !scope.terms.is_empty();
        let sort = selection.sort.or(own_order.filter(|_| !is_search));
        let newest = SummaryOrder::Newest;
        let key = |row: &FacetRow| match (sort, &scope.members) {
            (Some(sort), _) => sort.key(row),
            (None, _) if is_search => {
                let rank = ranks.get(&row.id).map_or("", |rank| rank.as_str());
                format!("{rank}#{}", newest.key(row))
            }
            (None, Some(members)) => format!("{:06}", members.get(&row.id).unwrap_or(&0)),
            (None, None) => newest.key(row),
        };
        let mut products: Vec<(String, ProductId)> =
            counted.matching.into_iter().map(|row| (key(row), row.id.clone())).collect();
        if selection.is_reversed {
            products.sort_by(|one, other| other.cmp(one));
        } else {
            products.sort();
        }
        let is_manual = sort.is_none() && !is_search && scope.members.is_some();
        let (store, facets) = (store.id.clone(), counted.facets);
        Ok(Self { store, products, is_manual, unfiltered, facets })
    }

    /// The number of its products.
    pub fn total(&self) -> usize {
        self.products.len()
    }

    /// The number of products that it would have without its filters.
    pub fn unfiltered(&self) -> usize {
        self.unfiltered
    }

    /// Reads a page from `start` on.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn page(
        &self,
        services: &Services,
        limit: usize,
        start: Option<&Attributes>,
    ) -> Result<Scanned<ProductSummary>, Problem> {
        let all: Vec<&(String, ProductId)> = self.products.iter().collect();
        let page = if self.is_manual {
            cursor::part(all, limit, start, |(_, id)| id.to_string())?
        } else {
            cursor::sorted(all, limit, start, |(key, _)| key.clone())?
        };
        let ids: Vec<ProductId> = page.items.iter().map(|(_, id)| id.clone()).collect();
        let mut found: HashMap<ProductId, ProductSummary> = self
            .read(services, &ids)
            .await?
            .into_iter()
            .map(|summary| (summary.id().clone(), summary))
            .collect();
        Ok(page.filter_map(|(_, id)| found.remove(id)))
    }

    /// Reads the products at these places.
    ///
    /// # Errors
    /// 503.
    pub async fn range(
        &self,
        services: &Services,
        places: Range<usize>,
    ) -> Result<Vec<ProductSummary>, Problem> {
        let places = self.products.iter().skip(places.start).take(places.len());
        let ids: Vec<ProductId> = places.map(|(_, id)| id.clone()).collect();
        self.read(services, &ids).await
    }

    /// The summaries of these products that are visible still.
    async fn read(
        &self,
        services: &Services,
        ids: &[ProductId],
    ) -> Result<Vec<ProductSummary>, Problem> {
        Listed::count_read(ids.len());
        let mut found = summaries(services, &self.store, ids).await?;
        found.retain(ProductSummary::is_visible);
        Ok(found)
    }
}
