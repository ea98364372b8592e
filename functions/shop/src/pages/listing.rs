//! Lists of products: a collection's, or a search's, with the theme's sort orders and filters.

use serde_json::{Value, json};
use shop_theme::Listing;

use super::filters;
use crate::fault::Fault;
use crate::form::Fields;
use crate::paths::segment;
use crate::values::{items, text};
use crate::visit::Visit;

/// Products of one answer of the API.
const LIMIT: usize = 100;
/// The most answers of a list: pages and filters go over five hundred products.
const ANSWERS: usize = 5;

/// The orders of themes, and those of the API that they are. A descending title is read from the end.
const ORDERS: [(&str, &str); 8] = [
    ("manual", ""),
    ("best-selling", "best"),
    ("title-ascending", "title"),
    ("title-descending", "title"),
    ("price-ascending", "price"),
    ("price-descending", "-price"),
    ("created-ascending", "created_at"),
    ("created-descending", "-created_at"),
];

/// A collection; `all` has every product.
///
/// # Errors
/// `not_found`.
pub(super) async fn of_collection(
    visit: &Visit,
    handle: &str,
    tag: Option<&str>,
    query: &Fields,
) -> Result<Listing, Fault> {
    let (collection, filter) = if handle == "all" {
        (json!({"handle": "all", "title": "Products"}), String::new())
    } else {
        match visit.get(&format!("/collections/{}", segment(handle))).await {
            Ok(found) => (found, format!("&collection={}", segment(handle))),
            Err(fault) if fault.is("not_found") => of_category(visit, handle).await?,
            Err(fault) => return Err(fault),
        }
    };
    let tagged = tag.map(|tag| format!("&tag={}", segment(tag))).unwrap_or_default();
    let listing = load(visit, &format!("{filter}{tagged}"), query).await?;
    // Of a list that goes on, a manual collection says how many products it has.
    let goes_on = listing.total > Some(listing.products.len());
    let is_whole = tag.is_none() && !filters::is_active(query);
    let counted = collection.get("products_count").and_then(Value::as_u64);
    let counted = counted.and_then(|count| usize::try_from(count).ok());
    let total = counted.filter(|_| goes_on && is_whole).max(listing.total);
    Ok(Listing { collection, total, ..listing })
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
    query: &Fields,
) -> Result<Listing, Fault> {
    let terms: String = terms.chars().take(100).collect();
    load(visit, &format!("&q={}", segment(&terms)), query).await
}

async fn load(visit: &Visit, filter: &str, query: &Fields) -> Result<Listing, Fault> {
    let sort_by = query.text("sort_by").unwrap_or_default().to_owned();
    let order = ORDERS.iter().find(|(name, _)| *name == sort_by).map_or("", |(_, order)| order);
    let order = if order.is_empty() { String::new() } else { format!("&sort={order}") };
    let is_filtered = filters::is_active(query);
    let number: usize = query.text("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let needed = if is_filtered || sort_by == "title-descending" {
        LIMIT.saturating_mul(ANSWERS)
    } else {
        number.saturating_mul(LIMIT)
    };
    let (mut products, is_all) = read(visit, &format!("{filter}{order}"), needed).await?;
    if sort_by == "title-descending" {
        products.reverse();
    }
    let filters = filters::of(&products, query);
    products.retain(|product| filters::admits(product, query));
    let total = products.len();
    // Of a list that goes on it is not known how many products it has.
    let total = if is_all { total } else { total.saturating_add(1) };
    Ok(Listing { products, filters, sort_by, total: Some(total), ..Listing::default() })
}

/// Reads a list up to so many products; whether that is all of it.
async fn read(visit: &Visit, filter: &str, needed: usize) -> Result<(Vec<Value>, bool), Fault> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    for _ in 0..ANSWERS {
        let path = format!("/products?limit={LIMIT}{filter}{cursor}");
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
