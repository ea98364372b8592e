//! The objects of templates, built from the public answers of the storefront API. Their members have the
//! names of Shopify's reference; what has no meaning here is empty.

pub(crate) mod cart;
pub(crate) mod collection;
pub(crate) mod color;
pub(crate) mod customer;
pub(crate) mod font;
pub(crate) mod links;
pub(crate) mod media;
pub(crate) mod product;
pub(crate) mod record;
pub(crate) mod store;

use std::sync::Arc;

use liquid::{Items, Object, Shape, Value};
use serde_json::Value as Json;

use crate::data::{Page, text};
use crate::shop::Shop;

pub(crate) use store::{country, currency};

/// Data of JSON.
pub(crate) fn plain(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::Nil,
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(members) => {
            Value::map(members.iter().map(|(name, value)| (name.as_str(), plain(value))))
        }
    }
}

/// An object without members.
pub(crate) fn nothing() -> Value {
    Value::map::<&str>([])
}

/// The items of a list.
pub(crate) fn items(list: &Value) -> Vec<Value> {
    match list {
        Value::Array(items) => items.to_vec(),
        Value::Object(object) => object.items().map(Iterator::collect).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A text as a handle: `Blue & white` as `blue-white`.
pub(crate) fn handleize(text: &str) -> String {
    let lower = text.to_lowercase().replace(['\'', '’'], "");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The objects that every template sees.
pub(crate) struct Globals(pub(crate) Arc<Shop>);

impl Object for Globals {
    fn get(&self, name: &str) -> Option<Value> {
        global(&self.0, name)
    }
}

/// The object of this name; `None` if there is none.
pub(crate) fn global(shop: &Arc<Shop>, name: &str) -> Option<Value> {
    let empty = || Value::from(Vec::new());
    Some(match name {
        "settings" => shop.settings(),
        "shop" => store::shop(shop),
        "routes" => store::routes(shop),
        "request" => store::request(shop),
        "localization" => store::localization(shop),
        "template" => store::template(shop),
        "theme" => store::theme(shop),
        "cart" => cart::cart(shop),
        "customer" => customer::customer(shop),
        "product" => page_product(shop),
        "collection" => page_collection(shop),
        "collections" => Value::object(Named {
            shop: Arc::clone(shop),
            one: collection::named,
            all: collection::all,
        }),
        "products" => collection::products(shop, &shop.data.products, None),
        "all_products" => {
            Value::object(Named { shop: Arc::clone(shop), one: product::named, all: product::all })
        }
        "linklists" => {
            Value::object(Named { shop: Arc::clone(shop), one: links::menu, all: |_| Vec::new() })
        }
        "pages" => {
            Value::object(Named { shop: Arc::clone(shop), one: links::page, all: |_| Vec::new() })
        }
        "page" => match &shop.page {
            Page::Text(page) => links::page(shop, crate::data::handle(page)).unwrap_or_default(),
            _ => Value::Nil,
        },
        "policy" => match &shop.page {
            Page::Text(page) => links::policy(shop, crate::data::handle(page)),
            _ => Value::Nil,
        },
        "order" => match &shop.page {
            Page::Order(order) => customer::order(shop, order),
            _ => Value::Nil,
        },
        "gift_card" => match &shop.page {
            Page::GiftCard(card) => customer::gift_card(shop, card),
            _ => Value::Nil,
        },
        "search" => collection::search(shop),
        "predictive_search" => collection::suggestions(shop),
        "recommendations" => store::recommendations(shop),
        "closest" => closest(shop),
        "blogs" | "articles" | "images" | "metaobjects" => {
            Value::object(Named { shop: Arc::clone(shop), one: |_, _| None, all: |_| Vec::new() })
        }
        "scripts" => nothing(),
        "canonical_url" => format!("{}{}", shop.data.origin, shop.here()).into(),
        "page_title" => store::page_title(shop),
        "page_description" => store::page_description(shop),
        "page_image" => store::page_image(shop),
        "current_page" => shop.data.page.max(1).into(),
        "handle" => store::page_handle(shop),
        "powered_by_link" | "content_for_additional_checkout_buttons" => "".into(),
        "additional_checkout_buttons" => false.into(),
        "country_option_tags" | "all_country_option_tags" => store::country_options(shop),
        "current_tags" | "blog" | "article" | "checkout" | "comment" | "robots" => Value::Nil,
        "self" => empty(),
        _ => return None,
    })
}

fn page_product(shop: &Arc<Shop>) -> Value {
    match &shop.page {
        Page::Product(raw) => product::of(shop, raw),
        _ => Value::Nil,
    }
}

fn page_collection(shop: &Arc<Shop>) -> Value {
    match &shop.page {
        Page::Collection(listing) => collection::of_listing(shop, &listing.collection),
        _ => Value::Nil,
    }
}

/// The resources of the page, which blocks inherit.
pub(crate) fn closest(shop: &Arc<Shop>) -> Value {
    let page = match &shop.page {
        Page::Text(_) => global(shop, "page").unwrap_or_default(),
        _ => Value::Nil,
    };
    Value::map([
        ("product", page_product(shop)),
        ("collection", page_collection(shop)),
        ("page", page),
        ("article", Value::Nil),
        ("blog", Value::Nil),
        ("metaobject", Value::Nil),
    ])
}

/// Resources by handle, and as a list.
struct Named {
    shop: Arc<Shop>,
    one: fn(&Arc<Shop>, &str) -> Option<Value>,
    all: fn(&Arc<Shop>) -> Vec<Value>,
}

impl Object for Named {
    fn get(&self, name: &str) -> Option<Value> {
        (self.one)(&self.shop, name)
    }

    fn shape(&self) -> Shape {
        Shape::List
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new((self.all)(&self.shop).into_iter()))
    }
}

/// The name of the store.
pub(crate) fn store_name(shop: &Shop) -> &str {
    text(&shop.data.store, "/name")
}
