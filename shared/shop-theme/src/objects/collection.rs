//! Collections, results of searches, and their filters.

use std::sync::Arc;

use liquid::Value;
use serde_json::{Value as Json, json};

use super::plain::{nothing, plain};
use super::record::{Kind, Listed, Record, no_text};
use super::{media, product, swatch};
use crate::data::{Labels, Listing, Page, handle, list, text};
use crate::shop::Shop;

pub(crate) static COLLECTION: Kind = Kind { name: "collection", get: member, shape, text: no_text };

/// The orders that a shopper can choose.
const ORDERS: [&str; 8] = [
    "manual",
    "best-selling",
    "title-ascending",
    "title-descending",
    "price-ascending",
    "price-descending",
    "created-ascending",
    "created-descending",
];

/// The collection of this handle, if the page's data has it; `all` has every product.
pub(crate) fn named(shop: &Arc<Shop>, name: &str) -> Option<Value> {
    let name = name.strip_prefix("shopify://collections/").unwrap_or(name);
    if let Page::Collection(listing) = &shop.page
        && handle(&listing.collection) == name
    {
        return Some(of_listing(shop, &listing.collection));
    }
    let known = shop.data.collections.iter().find(|(collection, _)| handle(collection) == name);
    match known {
        Some((collection, _)) => Some(of_listing(shop, collection)),
        None if name == "all" => Some(everything(shop)),
        None => None,
    }
}

/// All collections of the page's data.
pub(crate) fn all(shop: &Arc<Shop>) -> Vec<Value> {
    shop.data.collections.iter().map(|(collection, _)| of_listing(shop, collection)).collect()
}

fn everything(shop: &Arc<Shop>) -> Value {
    of_listing(shop, &json!({"handle": "all", "title": shop.data.labels.all_products}))
}

pub(crate) fn of_listing(shop: &Arc<Shop>, raw: &Json) -> Value {
    Record::new(&COLLECTION, shop, Arc::new(raw.clone())).value()
}

/// The collection of the page.
pub(crate) fn of_page(shop: &Arc<Shop>) -> Value {
    match &shop.page {
        Page::Collection(listing) => of_listing(shop, &listing.collection),
        _ => Value::Nil,
    }
}

/// The listing of the page, if it is this collection's.
fn listing(collection: &Record) -> Option<&Listing> {
    match &collection.shop.page {
        Page::Collection(listing)
            if handle(&listing.collection) == collection.text_at("/handle") =>
        {
            Some(listing)
        }
        _ => None,
    }
}

fn raw_products(collection: &Record) -> &[Json] {
    if let Some(listing) = listing(collection) {
        return &listing.products;
    }
    let name = collection.text_at("/handle");
    let data = &collection.shop.data;
    let known = data.collections.iter().find(|(other, _)| handle(other) == name);
    match known {
        Some((_, products)) => products,
        None if name == "all" => &data.products,
        None => &[],
    }
}

/// Products of the page's data as a list.
pub(crate) fn products(shop: &Arc<Shop>, products: &[Json], listing: Option<&Listing>) -> Value {
    let shared = shop.shared(products);
    let items: Arc<[Value]> =
        shared.iter().map(|raw| product::shared(shop, Arc::clone(raw))).collect();
    let offset = listing.map_or(0, |listing| listing.offset);
    let here = offset.saturating_add(items.len());
    let total = listing.and_then(|listing| listing.total).unwrap_or(here);
    Value::object(Listed { items, offset, total })
}

fn member(collection: &Record, name: &str) -> Option<Value> {
    let products_of = || raw_products(collection);
    Some(match name {
        "id" | "title" | "handle" | "published_at" | "updated_at" => {
            collection.at(&format!("/{name}"))
        }
        "description" => Value::html(collection.text_at("/description")),
        "url" => {
            let path = format!("/collections/{}", collection.text_at("/handle"));
            collection.shop.to(&path).into()
        }
        "image" => media::image(
            &collection.shop,
            collection.text_at("/image_url"),
            collection.text_at("/title"),
        ),
        "featured_image" => match member(collection, "image")? {
            Value::Nil => {
                let mut url = products_of().iter().map(|product| text(product, "/images/0/url"));
                let url = url.find(|url| !url.is_empty()).unwrap_or_default();
                media::image(&collection.shop, url, collection.text_at("/title"))
            }
            image => image,
        },
        "products" => products(&collection.shop, products_of(), listing(collection)),
        "products_count" => match listing(collection) {
            Some(listing) => listing
                .total
                .unwrap_or_else(|| listing.offset.saturating_add(listing.products.len()))
                .into(),
            None => whole_count(collection),
        },
        "all_products_count" => all_count(collection),
        "filters" => listing(collection)
            .map_or_else(|| Value::from(Vec::new()), |listing| filters(&collection.shop, listing)),
        "sort_options" => orders(&collection.shop.data.labels, false),
        "sort_by" => listing(collection).map_or("", |listing| listing.sort_by.as_str()).into(),
        "default_sort_by" => "manual".into(),
        "all_tags" | "tags" => distinct(
            products_of()
                .iter()
                .flat_map(|product| list(product, "/tags").iter().filter_map(Json::as_str)),
        ),
        "all_types" => distinct(products_of().iter().map(|product| text(product, "/product_type"))),
        "all_vendors" => distinct(products_of().iter().map(|product| text(product, "/vendor"))),
        "current_type" | "current_vendor" | "next_product" | "previous_product"
        | "template_suffix" => Value::Nil,
        "metafields" => nothing(),
        _ => return None,
    })
}

/// How many products a collection has without the filters of the page: never fewer than with them.
fn all_count(collection: &Record) -> Value {
    let Some(listing) = listing(collection) else { return whole_count(collection) };
    let here = listing.offset.saturating_add(listing.products.len());
    let shown = listing.total.unwrap_or(here);
    let chosen = || collection.raw.get("products_count").and_then(Json::as_u64);
    let chosen = || chosen().and_then(|count| usize::try_from(count).ok());
    listing.unfiltered.or_else(chosen).unwrap_or_default().max(shown).into()
}

/// How many products a collection has. The API counts those that a merchant chose; of others there are as many as the page
/// has, and where it has none, the number is not known: nil.
fn whole_count(collection: &Record) -> Value {
    match collection.at("/products_count") {
        Value::Nil => match raw_products(collection).len() {
            0 => Value::Nil,
            count => count.into(),
        },
        count => count,
    }
}

fn shape(collection: &Record) -> Json {
    json!({
        "id": collection.raw.get("id"), "handle": collection.raw.get("handle"),
        "title": collection.raw.get("title"), "description": collection.raw.get("description"),
        "updated_at": collection.raw.get("updated_at"), "products_count": collection.raw.get("products_count"),
    })
}

/// The texts without repetitions and empty ones.
fn distinct<'t>(texts: impl Iterator<Item = &'t str>) -> Value {
    let mut seen: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.into_iter().map(Value::from).collect()
}

/// The orders of a list.
pub(crate) fn orders(labels: &Labels, is_search: bool) -> Value {
    let one = |(value, name): (&str, &str)| {
        Value::map([("value", Value::from(value)), ("name", Value::from(name))])
    };
    let all = ORDERS.into_iter().zip(labels.orders);
    if is_search {
        let by_price = all.filter(|(value, _)| value.starts_with("price-"));
        return std::iter::once(("relevance", labels.relevance)).chain(by_price).map(one).collect();
    }
    all.map(one).collect()
}

/// The filters of a listing, with the addresses that add and remove each value.
pub(crate) fn filters(shop: &Arc<Shop>, listing: &Listing) -> Value {
    let all = listing.filters.as_array();
    all.into_iter().flatten().map(|filter| one_filter(shop, filter)).collect()
}

fn one_filter(shop: &Arc<Shop>, filter: &Json) -> Value {
    let param = text(filter, "/param_name");
    let kind = match text(filter, "/type") {
        "" => "list",
        kind => kind,
    };
    let option = param.strip_prefix("filter.v.option.");
    let has_swatches = option.is_some_and(swatch::is_of_colors);
    let values: Vec<Value> = list(filter, "/values")
        .iter()
        .map(|value| filter_value(shop, param, value, has_swatches))
        .collect();
    let (active, inactive): (Vec<Value>, Vec<Value>) =
        values.iter().cloned().partition(|value| value.get("active").is_truthy());
    let without = |names: &[String]| {
        let rest =
            shop.data.query.iter().filter(|(name, _)| !names.contains(name) && name != "page");
        shop.here_with(&rest.cloned().collect::<Vec<_>>())
    };
    // Amounts of the list are in minor units.
    let cents = |name: &str| {
        let minor = filter.get(name).and_then(Json::as_i64);
        minor.map(|minor| shop.money.of_minor(minor))
    };
    let bound = |end: &str| {
        let name = format!("{param}.{}", if end == "min" { "gte" } else { "lte" });
        let value = cents(end).map_or(Value::Nil, Value::Int);
        let active = !value.is_nil();
        Value::map([
            ("param_name", Value::from(name)),
            ("value", value),
            ("label", Value::from(end)),
            ("active", active.into()),
            ("count", Value::Int(0)),
        ])
    };
    let bounds = [format!("{param}.gte"), format!("{param}.lte"), param.to_owned()];
    Value::map([
        ("param_name", Value::from(param)),
        ("label", text(filter, "/label").into()),
        ("type", kind.into()),
        ("operator", "OR".into()),
        ("presentation", if has_swatches { "swatch" } else { "text" }.into()),
        ("values", Value::from(values)),
        ("active_values", Value::from(active)),
        ("inactive_values", Value::from(inactive)),
        ("min_value", bound("min")),
        ("max_value", bound("max")),
        ("range_max", Value::Int(cents("range_max").unwrap_or_default())),
        ("url_to_remove", without(&bounds).into()),
        ("true_value", Value::Nil),
        ("false_value", Value::Nil),
    ])
}

fn filter_value(shop: &Arc<Shop>, param: &str, value: &Json, has_swatch: bool) -> Value {
    let chosen = match value.get("value") {
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let rest = shop.data.query.iter();
    let rest = rest.filter(|(name, other)| (name != param || *other != chosen) && name != "page");
    let without: Vec<(String, String)> = rest.cloned().collect();
    let mut with = without.clone();
    with.push((param.to_owned(), chosen.clone()));
    let label = match text(value, "/label") {
        "" => chosen.as_str(),
        label => label,
    };
    Value::map([
        ("param_name", Value::from(param)),
        ("value", chosen.as_str().into()),
        ("label", label.into()),
        ("active", (value.get("active") == Some(&Json::Bool(true))).into()),
        ("count", value.get("count").map_or(Value::Int(0), plain)),
        ("url_to_add", shop.here_with(&with).into()),
        ("url_to_remove", shop.here_with(&without).into()),
        ("swatch", if has_swatch { swatch::swatch(&chosen) } else { Value::Nil }),
        ("image", Value::Nil),
        ("display", Value::Nil),
    ])
}

/// `search`, or `predictive_search`.
pub(crate) fn search(shop: &Arc<Shop>) -> Value {
    let (terms, listing) = match &shop.page {
        Page::Search { terms, results, .. } => (terms.as_str(), Some(&**results)),
        _ => ("", None),
    };
    let results: &[Json] = listing.map(|listing| listing.products.as_slice()).unwrap_or_default();
    let found = products(shop, results, listing);
    let count = found.get("size");
    Value::map([
        ("terms", Value::from(terms)),
        ("performed", (!terms.is_empty()).into()),
        ("results", found),
        ("results_count", count.clone()),
        ("products_count", count),
        ("all_products_count", Value::from(results.len())),
        (
            "filters",
            listing.map_or_else(|| Value::from(Vec::new()), |listing| filters(shop, listing)),
        ),
        ("sort_options", orders(&shop.data.labels, true)),
        ("sort_by", listing.map_or("", |listing| listing.sort_by.as_str()).into()),
        ("default_sort_by", "relevance".into()),
        ("types", Value::from(vec![Value::from("product")])),
    ])
}
