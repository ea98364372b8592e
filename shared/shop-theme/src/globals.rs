//! The objects that every template sees.

use std::sync::Arc;

use liquid::{Items, Object, Shape, Value};

use crate::data::{Page, handle};
use crate::objects::plain::nothing;
use crate::objects::{cart, collection, customer, links, product, request, store, suggestions};
use crate::settings;
use crate::shop::Shop;

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
        "settings" => settings::of_theme(shop),
        "shop" => store::shop(shop),
        "routes" => request::routes(shop),
        "request" => request::request(shop),
        "localization" => store::localization(shop),
        "template" => request::template(shop),
        "theme" => request::theme(shop),
        "cart" => cart::cart(shop),
        "customer" => customer::customer(shop),
        "product" => product::of_page(shop),
        "product_variant" => product::variant_of_path(shop),
        "collection" => collection::of_page(shop),
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
            Page::Text(page) => links::page(shop, handle(page)).unwrap_or_default(),
            _ => Value::Nil,
        },
        "policy" => match &shop.page {
            Page::Text(page) => links::policy(shop, handle(page)),
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
        "predictive_search" => suggestions::suggestions(shop),
        "recommendations" => store::recommendations(shop),
        "closest" => closest(shop),
        "blogs" | "articles" | "images" | "metaobjects" => {
            Value::object(Named { shop: Arc::clone(shop), one: |_, _| None, all: |_| Vec::new() })
        }
        "scripts" => nothing(),
        "canonical_url" => request::canonical_url(shop),
        "page_title" => request::page_title(shop),
        "page_description" => request::page_description(shop),
        "page_image" => request::page_image(shop),
        "current_page" => shop.data.page.max(1).into(),
        "handle" => request::page_handle(shop),
        "powered_by_link" | "content_for_additional_checkout_buttons" => "".into(),
        "additional_checkout_buttons" => false.into(),
        "country_option_tags" | "all_country_option_tags" => store::country_options(shop),
        "current_tags" | "blog" | "article" | "checkout" | "comment" | "robots" => Value::Nil,
        "self" => empty(),
        _ => return None,
    })
}

/// The resources of the page, which blocks inherit.
pub(crate) fn closest(shop: &Arc<Shop>) -> Value {
    let page = match &shop.page {
        Page::Text(_) => global(shop, "page").unwrap_or_default(),
        _ => Value::Nil,
    };
    Value::map([
        ("product", product::of_page(shop)),
        ("collection", collection::of_page(shop)),
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
