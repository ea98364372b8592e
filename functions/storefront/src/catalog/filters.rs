//! The filters of a list of products, with the number of products of each value.

use axum::extract::State;
use catalogue::facets::{FacetValue, Facets, OptionFacet};
use catalogue::product::ProductSummary;
use core_types::money::Money;
use gateway::app::App;
use gateway::reply::Json;
use gateway::request::{Query, Ruled};
use identity::store::Store;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::faceted::{FacetedList, Selection};
use super::input::ListQuery;
use super::view::StorefrontProductSummary;
use crate::viewer::Viewer;

/// The filters of a list of products.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProductFilters {
    /// The number of products that match all filters.
    products_count: usize,
    /// The number of products in stock and out of stock.
    availability: AvailabilityFilter,
    /// The lowest and the highest price of the list without its filters; null for an empty list.
    price: Option<PriceFilter>,
    /// The options of the variants, by name.
    options: Vec<OptionFilter>,
    /// The vendors.
    vendors: Vec<FilterValue>,
    /// The types.
    product_types: Vec<FilterValue>,
    /// The tags.
    tags: Vec<FilterValue>,
}

/// How many products can be bought.
#[derive(Debug, Serialize, JsonSchema)]
struct AvailabilityFilter {
    /// The number of products in stock.
    in_stock: usize,
    /// The number of products out of stock.
    out_of_stock: usize,
}

/// The range of prices.
#[derive(Debug, Serialize, JsonSchema)]
struct PriceFilter {
    /// The lowest price of any variant.
    min: Money,
    /// The highest price of any variant.
    max: Money,
}

/// An option of variants as a filter.
#[derive(Debug, Serialize, JsonSchema)]
struct OptionFilter {
    /// The name of the option.
    name: String,
    /// Its values; at most 100.
    values: Vec<FilterValue>,
}

/// A value of a filter.
#[derive(Debug, Serialize, JsonSchema)]
struct FilterValue {
    /// The value.
    value: String,
    /// The number of products with it that match all other filters.
    count: usize,
    /// Whether the request has it.
    selected: bool,
}

impl From<FacetValue> for FilterValue {
    fn from(value: FacetValue) -> Self {
        Self { value: value.value, count: value.count, selected: value.is_selected }
    }
}

impl From<OptionFacet> for OptionFilter {
    fn from(option: OptionFacet) -> Self {
        Self { name: option.name, values: all(option.values) }
    }
}

fn all(values: Vec<FacetValue>) -> Vec<FilterValue> {
    values.into_iter().map(FilterValue::from).collect()
}

impl ProductFilters {
    fn of(facets: Facets, products_count: usize, store: &Store) -> Self {
        let money = |amount| Money { amount, currency: store.currency.clone() };
        Self {
            products_count,
            availability: AvailabilityFilter {
                in_stock: facets.in_stock,
                out_of_stock: facets.out_of_stock,
            },
            price: facets.price.map(|(min, max)| PriceFilter { min: money(min), max: money(max) }),
            options: facets.options.into_iter().map(OptionFilter::from).collect(),
            vendors: all(facets.vendors),
            product_types: all(facets.product_types),
            tags: all(facets.tags),
        }
    }
}

/// `GET /v1/storefront/{subdomain}/product-filters` (`getStorefrontProductFilters`): Get the filters of a list of products.
///
/// The parameters are those of the list. Each value comes with the number of products that have it under all other
/// filters. The index behind it follows a change of a product within seconds.
///
/// # Errors
/// `storefront_not_found`; `not_found` for an unknown category or collection; `validation_failed`;
/// `too_many_products` for a store of more than 10,000 products.
pub(crate) async fn get(
    caller: Viewer,
    State(app): State<App>,
    Ruled(Query(input)): Ruled<Query<ListQuery>>,
) -> Result<Json<ProductFilters>, Problem> {
    let store = caller.store();
    let list = FacetedList::open(&app, store, &Selection::from(&input)).await?;
    let count = list.total();
    Ok(Json::new(&ProductFilters::of(list.facets, count, store)).cached(caller.keeping()))
}

/// A page of a filtered list.
#[derive(Debug)]
pub struct FilteredProducts {
    /// The products, as a list has them.
    pub products: Vec<Value>,
    /// The number of products before the first one.
    pub offset: usize,
    /// The number of products of the whole list.
    pub total: usize,
    /// The number of products of the list without the filters.
    pub unfiltered: usize,
    /// The filters of the list.
    pub facets: Facets,
}

/// The products of a page of a list, from 1, with its filters. Behind the last page is the last page again. Without a
/// page, the filters alone.
///
/// # Errors
/// `not_found`; `too_many_products`; 503.
pub async fn filtered_products(
    app: &App,
    store: &Store,
    selection: &Selection,
    page: Option<(usize, usize)>,
) -> Result<FilteredProducts, Problem> {
    let list = FacetedList::open(app, store, selection).await?;
    let (total, unfiltered) = (list.total(), list.unfiltered());
    let Some((page, size)) = page else {
        return Ok(FilteredProducts {
            products: Vec::new(),
            offset: 0,
            total,
            unfiltered,
            facets: list.facets,
        });
    };
    let size = size.max(1);
    let page = page.clamp(1, total.div_ceil(size).max(1));
    let offset = page.saturating_sub(1).saturating_mul(size);
    let found = list.range(app, offset..offset.saturating_add(size)).await?;
    let view = |summary: ProductSummary| {
        serde_json::to_value(StorefrontProductSummary::of(summary, store, &app.config.base_url))
    };
    let products = found.into_iter().filter_map(|summary| view(summary).ok()).collect();
    Ok(FilteredProducts { products, offset, total, unfiltered, facets: list.facets })
}
