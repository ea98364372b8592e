//! Suggestions while somebody types, and recommendations beside a product, as themes' scripts ask for them.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Value, json};
use shop_theme::{Limits, Listing, Page};

use super::rendering::blocking;
use super::{data, respond, theme};
use crate::document;
use crate::fault::Fault;
use crate::form::Fields;
use crate::paths::segment;
use crate::values::{items, text};
use crate::visit::Visit;

/// Products of an answer unless the request says fewer.
const MOST: usize = 10;

fn limit(query: &Fields, name: &str) -> usize {
    let wanted = query.text(name).and_then(|text| text.parse().ok());
    wanted.unwrap_or(MOST).clamp(1, MOST)
}

async fn found(visit: &Visit, query: &Fields) -> Result<(String, Vec<Value>), Fault> {
    let terms: String = query.text("q").unwrap_or_default().chars().take(100).collect();
    if terms.is_empty() || !shop_theme::suggests(&data::bare(visit, &visit.location), "product") {
        return Ok((terms, Vec::new()));
    }
    let limit = limit(query, "resources[limit]");
    let path = format!("/products?limit={limit}&q={}", segment(&terms));
    let page = visit.get_charged(&path).await?;
    Ok((terms, items(&page)))
}

/// `GET /search/suggest?q=…&section_id=predictive-search`.
pub(crate) async fn suggest(visit: Visit) -> Response {
    let query = Fields::of_query(visit.query().as_bytes());
    let Some(id) = query.text("section_id").map(str::to_owned) else {
        return suggest_json(visit).await;
    };
    let page = match found(&visit, &query).await {
        Ok((terms, products)) => {
            let results = Box::new(Listing { products, ..Listing::default() });
            Page::Search { terms, results, predictive: true }
        }
        Err(fault) => return fault.into_response(),
    };
    section(&visit, page, id, Vec::new()).await
}

/// Renders one section of a page.
async fn section(visit: &Visit, page: Page, id: String, related: Vec<Value>) -> Response {
    let rendered = async {
        let theme = theme::of(visit).await?.ok_or_else(Fault::not_found)?;
        let carts = data::of_visitor(visit).await?;
        let mut data = data::load(visit, &theme, &page, carts).await?;
        if !related.is_empty() {
            data.recommendations = related;
        }
        let limits = Limits::default();
        blocking(move || shop_theme::sections(&theme, page, &data, &[id], limits)).await
    };
    match rendered.await {
        Ok(sections) => match sections.into_iter().next() {
            Some((_, Value::String(html))) => respond::section(html),
            _ => Fault::not_found().into_response(),
        },
        Err(fault) => fault.into_response(),
    }
}

/// `GET /search/suggest.json?q=…`.
pub(crate) async fn suggest_json(visit: Visit) -> Response {
    match suggested(&visit).await {
        Ok(results) => document::json(StatusCode::OK, &json!({"resources": {"results": results}})),
        Err(fault) => fault.into_response(),
    }
}

async fn suggested(visit: &Visit) -> Result<Value, Fault> {
    let query = Fields::of_query(visit.query().as_bytes());
    let (terms, products) = found(visit, &query).await?;
    let mut data = data::bare(visit, &visit.location);
    let suggests = |kind| shop_theme::suggests(&data, kind);
    let (collections, pages) = (suggests("collection"), suggests("page"));
    if collections || pages {
        data::fill_shell(visit, &mut data, (collections, pages)).await?;
    }
    Ok(shop_theme::suggestions_json(&terms, &products, &data))
}

/// The product that a request is about, and those that are related to it.
///
/// # Errors
/// `not_found`, 429, 503.
pub(crate) async fn recommended(visit: &Visit) -> Result<(Value, Vec<Value>), Fault> {
    let query = Fields::of_query(visit.query().as_bytes());
    let id = query.text("product_id").unwrap_or_default();
    let found = data::products_by_id(visit, &[id]).await?;
    let handle = found.first().map(|product| text(product, "handle").to_owned());
    let handle = handle.ok_or_else(Fault::not_found)?;
    let product = visit.get(&format!("/products/{}", segment(&handle))).await?;
    let related = product.get("related").and_then(Value::as_array).cloned().unwrap_or_default();
    let related = related.into_iter().take(limit(&query, "limit")).collect();
    Ok((product, related))
}

/// `GET /recommendations/products?product_id=…`, as a section or as JSON.
pub(crate) async fn recommend(visit: Visit) -> Response {
    let query = Fields::of_query(visit.query().as_bytes());
    let (product, related) = match recommended(&visit).await {
        Ok(found) => found,
        Err(fault) => return fault.into_response(),
    };
    if let Some(section_id) = query.text("section_id").map(str::to_owned) {
        return section(&visit, Page::Product(Box::new(product)), section_id, related).await;
    }
    let products: Vec<Value> =
        related.iter().map(|product| data::product_json(&visit, product)).collect();
    document::json(StatusCode::OK, &json!({ "products": products }))
}
