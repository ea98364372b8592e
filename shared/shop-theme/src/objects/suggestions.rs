//! Suggestions while somebody types: products that the API has found, and collections and pages by their titles.

use std::sync::Arc;

use liquid::Value;
use serde_json::{Value as Json, json};

use super::{collection, links};
use crate::ajax;
use crate::data::{Data, Page, handle, list, text};
use crate::shop::Shop;

/// The kinds of a request that names none.
const KINDS: [&str; 3] = ["product", "collection", "page"];
/// The most of a kind.
const MOST: usize = 10;

/// Whether a request wants suggestions of a kind: `resources[type]=product,collection`.
pub fn suggests(data: &Data, kind: &str) -> bool {
    match data.parameter("resources[type]").filter(|kinds| !kinds.is_empty()) {
        Some(kinds) => kinds.split(',').any(|named| named.trim() == kind),
        None => KINDS.contains(&kind),
    }
}

/// How many of each kind are suggested, after so many products: all kinds together, unless `resources[limit_scope]`
/// is `each`.
fn limit(data: &Data, before: usize) -> usize {
    let wanted = data.parameter("resources[limit]").and_then(|limit| limit.parse().ok());
    let limit = wanted.unwrap_or(MOST).clamp(1, MOST);
    match data.parameter("resources[limit_scope]") {
        Some("each") => limit,
        _ => limit.saturating_sub(before),
    }
}

/// Whether a title has a word that begins with each of the terms.
fn is_named(title: &str, terms: &str) -> bool {
    let title = title.to_lowercase();
    let terms = terms.to_lowercase();
    let has = |term: &str| title.split_whitespace().any(|word| word.starts_with(term));
    !terms.trim().is_empty() && terms.split_whitespace().all(has)
}

/// The items whose titles the terms begin, if the request wants this kind of them.
fn found<'d>(
    data: &'d Data,
    kind: &str,
    (all, terms, before): (impl Iterator<Item = &'d Json>, &str, usize),
) -> Vec<&'d Json> {
    let most = if suggests(data, kind) { limit(data, before) } else { 0 };
    all.filter(|item| is_named(text(item, "/title"), terms)).take(most).collect()
}

fn collections<'d>(data: &'d Data, terms: &str, before: usize) -> Vec<&'d Json> {
    let all = data.collections.iter().map(|(collection, _)| collection);
    found(data, "collection", (all, terms, before))
}

fn pages<'d>(data: &'d Data, terms: &str, before: usize) -> Vec<&'d Json> {
    found(data, "page", (list(&data.store, "/policies").iter(), terms, before))
}

/// `predictive_search`.
pub(crate) fn suggestions(shop: &Arc<Shop>) -> Value {
    let Page::Search { terms, results, predictive: true } = &shop.page else {
        return Value::map([("performed", Value::from(false))]);
    };
    let empty = || Value::from(Vec::new());
    let count = results.products.len();
    let named = collections(&shop.data, terms, count);
    let texts = pages(&shop.data, terms, count.saturating_add(named.len()));
    let named = named.into_iter().map(|raw| collection::of_listing(shop, raw));
    let texts = texts.into_iter().map(|raw| links::text_page(shop, raw));
    let resources = Value::map([
        ("products", collection::products(shop, &results.products, Some(results))),
        ("collections", named.collect()),
        ("pages", texts.collect()),
        ("articles", empty()),
        ("queries", empty()),
    ]);
    Value::map([
        ("performed", Value::from(true)),
        ("terms", terms.as_str().into()),
        ("types", KINDS.iter().map(|kind| Value::from(*kind)).collect()),
        ("resources", resources),
    ])
}

/// The suggestions of `/search/suggest.json`, from the products that the API has found.
pub fn suggestions_json(terms: &str, products: &[Json], data: &Data) -> Json {
    let named = collections(data, terms, products.len());
    let texts = pages(data, terms, products.len().saturating_add(named.len()));
    let one = |kind: &'static str| {
        move |raw: &&Json| {
            json!({
                "id": raw.get("id"), "title": raw.get("title"), "handle": raw.get("handle"),
                "body": raw.get("description"), "featured_image": raw.get("image_url"),
                "published_at": raw.get("published_at"),
                "url": format!("{}/{kind}/{}", data.root, handle(raw)),
            })
        }
    };
    let products: Vec<Json> =
        products.iter().map(|product| ajax::product_json(product, data)).collect();
    json!({
        "products": products,
        "collections": named.iter().map(one("collections")).collect::<Vec<_>>(),
        "pages": texts.iter().map(one("policies")).collect::<Vec<_>>(),
        "articles": [], "queries": [],
    })
}
