//! Lists of products: a collection's, or a search's, with the theme's sort orders and filters.

use catalogue::product::SummaryOrder;
use core_types::fields::Handle;
use primitives::fields::FromText;
use primitives::problem::Code;
use serde_json::{Value, json};
use shop_theme::Listing;
use storefront::{Selection, filtered_products};

use super::filters;
use crate::fault::Fault;
use crate::form::Fields;
use crate::paths::segment;
use crate::values::{items, text};
use crate::visit::Visit;

/// Products of one answer of the API.
const LIMIT: usize = 100;
/// The most answers of a list that has no filters.
const ANSWERS: usize = 5;
/// Products of a page of a theme that does not say how many it shows.
const SIZE: usize = 50;

/// The orders of themes, with those of lists and of the API that they are.
const ORDERS: [(&str, Option<SummaryOrder>, &str); 8] = [
    ("manual", None, ""),
    ("best-selling", Some(SummaryOrder::BestRated), "best"),
    ("title-ascending", Some(SummaryOrder::Title), "title"),
    ("title-descending", Some(SummaryOrder::Title), "title"),
    ("price-ascending", Some(SummaryOrder::PriceAscending), "price"),
    ("price-descending", Some(SummaryOrder::PriceDescending), "-price"),
    ("created-ascending", Some(SummaryOrder::Oldest), "created_at"),
    ("created-descending", Some(SummaryOrder::Newest), "-created_at"),
];

/// What a page requests of a list.
pub(super) struct ListRequest<'a> {
    pub(super) query: &'a Fields,
    /// The number of products of a page, if the theme says it.
    pub(super) size: Option<usize>,
}

/// The products of a list: those of the selection, or of this filter of the API.
struct Products {
    selection: Selection,
    filter: String,
}

impl ListRequest<'_> {
    fn page(&self) -> usize {
        self.query.text("page").and_then(|page| page.parse().ok()).unwrap_or(1).max(1)
    }

    fn sort_by(&self) -> &str {
        self.query.text("sort_by").unwrap_or_default()
    }

    /// Whether the order is read from its end.
    fn is_reversed(&self) -> bool {
        self.sort_by() == "title-descending"
    }

    fn order(&self) -> (Option<SummaryOrder>, &'static str) {
        let found = ORDERS.iter().find(|(name, ..)| *name == self.sort_by());
        found.map_or((None, ""), |(_, order, of_api)| (*order, *of_api))
    }

    /// The order as the API's list takes it.
    fn order_of_api(&self) -> String {
        let (_, order) = self.order();
        if order.is_empty() { String::new() } else { format!("&sort={order}") }
    }

    /// The page, and its size; without a size all pages up to it, which the theme divides.
    fn place(&self) -> (usize, usize) {
        match self.size {
            Some(size) => (self.page(), size),
            None => (1, self.page().saturating_mul(SIZE).min(LIMIT.saturating_mul(ANSWERS))),
        }
    }
}

/// A collection; `all` has every product.
///
/// # Errors
/// `not_found`.
pub(super) async fn of_collection(
    visit: &Visit,
    handle: &str,
    tag: Option<&str>,
    request: ListRequest<'_>,
) -> Result<Listing, Fault> {
    let (collection, named, category, filter) = if handle == "all" {
        (json!({"handle": "all", "title": visit.words().pages.products}), None, None, String::new())
    } else {
        match visit.get(&format!("/collections/{}", segment(handle))).await {
            Ok(found) => {
                (found, Some(handle_of(handle)?), None, format!("&collection={}", segment(handle)))
            }
            Err(fault) if fault.is("not_found") => {
                let (found, filter) = of_category(visit, handle).await?;
                (found, None, Some(handle_of(handle)?), filter)
            }
            Err(fault) => return Err(fault),
        }
    };
    let tagged = tag.map(|tag| format!("&tag={}", segment(tag))).unwrap_or_default();
    let tag = tag.map(str::to_owned);
    let selection = Selection { collection: named, category, tag, ..Selection::default() };
    let products = Products { selection, filter: format!("{filter}{tagged}") };
    Ok(Listing { collection, ..load(visit, products, request).await? })
}

fn handle_of(text: &str) -> Result<Handle, Fault> {
    Handle::from_text(text).map_err(|_| Fault::not_found())
}

/// A category as a collection, for menus lead to categories, and themes have no page for one. Its products are those in it and
/// below it.
async fn of_category(visit: &Visit, handle: &str) -> Result<(Value, String), Fault> {
    let found = visit.get(&format!("/categories/{}", segment(handle))).await?;
    let collection = json!({
        "id": found.get("id"), "handle": handle, "title": text(&found, "name"),
        "description": text(&found, "description"),
    });
    Ok((collection, format!("&category={}", segment(handle))))
}

/// The results of a search.
///
/// # Errors
/// 429, 503.
pub(super) async fn of_search(
    visit: &Visit,
    terms: &str,
    request: ListRequest<'_>,
) -> Result<Listing, Fault> {
    let terms: String = terms.chars().take(100).collect();
    let filter = format!("&q={}", segment(&terms));
    let selection = Selection { q: Some(terms), ..Selection::default() };
    load(visit, Products { selection, filter }, request).await
}

async fn load(
    visit: &Visit,
    products: Products,
    request: ListRequest<'_>,
) -> Result<Listing, Fault> {
    let Products { selection, filter } = products;
    let values = filters::of_query(request.query, visit.store().currency.as_str());
    let selection = Selection {
        sort: request.order().0,
        is_reversed: request.is_reversed(),
        filter: values.clone(),
        ..selection
    };
    let (page, size) = request.place();
    let needed = page.saturating_mul(size);
    if values.is_empty() && !request.is_reversed() && needed <= LIMIT {
        return first(visit, (&selection, &filter), &request, needed).await;
    }
    if let Some(q) = &selection.q {
        // A search costs what it costs in the API.
        let charged = visit.get_charged(&format!("/product-filters?q={}", segment(q))).await;
        charged.map(drop).or_else(unless_unfiltered)?;
    }
    let found =
        filtered_products(&visit.shops.app, visit.store(), &selection, Some((page, size))).await;
    match found.map_err(Fault::from) {
        Ok(found) => Ok(Listing {
            products: found.products.iter().map(|product| visit.with_own_urls(product)).collect(),
            offset: found.offset,
            total: Some(found.total),
            unfiltered: Some(found.unfiltered),
            filters: filters::of(found.facets, &values, visit.words()),
            sort_by: request.sort_by().to_owned(),
            ..Listing::default()
        }),
        Err(fault) => {
            unless_unfiltered(fault)?;
            unfiltered(visit, &filter, &request).await
        }
    }
}

/// Goes on without filters where the store has no index for them.
fn unless_unfiltered(fault: Fault) -> Result<(), Fault> {
    let has_none = fault.is(Code::TooManyProducts.as_str()) || fault.status.as_u16() == 503;
    if has_none { Ok(()) } else { Err(fault) }
}

/// The first pages of a list that nothing filters: the API has them in their order, as they are now.
async fn first(
    visit: &Visit,
    (selection, filter): (&Selection, &str),
    request: &ListRequest<'_>,
    needed: usize,
) -> Result<Listing, Fault> {
    let of_api = format!("{filter}{}", request.order_of_api());
    let (found, counted) = tokio::join!(
        read(visit, &of_api, needed),
        filtered_products(&visit.shops.app, visit.store(), selection, None),
    );
    let (products, is_all) = found?;
    let counted = match counted.map_err(Fault::from) {
        Ok(counted) => Some(counted),
        Err(fault) => unless_unfiltered(fault).map(|()| None)?,
    };
    let here = products.len();
    let total = match &counted {
        _ if is_all => here,
        Some(counted) => counted.total.max(here.saturating_add(1)),
        // Of a list that goes on it is not known how many products it has.
        None => here.saturating_add(1),
    };
    let is_known = is_all || counted.is_some();
    Ok(Listing {
        products,
        total: Some(total),
        unfiltered: is_known.then_some(total),
        filters: counted
            .map(|counted| filters::of(counted.facets, &selection.filter, visit.words()))
            .unwrap_or_default(),
        sort_by: request.sort_by().to_owned(),
        ..Listing::default()
    })
}

/// A list without filters, of which the first five hundred products are read.
async fn unfiltered(
    visit: &Visit,
    filter: &str,
    request: &ListRequest<'_>,
) -> Result<Listing, Fault> {
    let order = request.order_of_api();
    let needed = if request.is_reversed() {
        LIMIT.saturating_mul(ANSWERS)
    } else {
        request.page().saturating_mul(request.size.unwrap_or(LIMIT))
    };
    let (mut products, is_all) = read(visit, &format!("{filter}{order}"), needed).await?;
    if request.is_reversed() {
        products.reverse();
    }
    // Of a list that goes on it is not known how many products it has.
    let total = products.len().saturating_add(usize::from(!is_all));
    let sort_by = request.sort_by().to_owned();
    Ok(Listing { products, sort_by, total: Some(total), ..Listing::default() })
}

/// Reads a list up to so many products; whether that is all of it.
async fn read(visit: &Visit, filter: &str, needed: usize) -> Result<(Vec<Value>, bool), Fault> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    for _ in 0..ANSWERS {
        let limit = needed.saturating_sub(found.len()).clamp(1, LIMIT);
        let path = format!("/products?limit={limit}{filter}{cursor}");
        let is_search = filter.contains("&q=");
        let page = if is_search { visit.get_charged(&path).await } else { visit.get(&path).await }?;
        found.extend(items(&page));
        let next = page.get("page").map(|page| text(page, "next_cursor").to_owned());
        match next.filter(|next| !next.is_empty()) {
            None => return Ok((found, true)),
            Some(_) if found.len() >= needed => return Ok((found, false)),
            Some(next) => cursor = format!("&cursor={}", segment(&next)),
        }
    }
    Ok((found, false))
}
