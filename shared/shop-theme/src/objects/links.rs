//! Menus, links and texts.

use std::sync::Arc;

use liquid::Value;
use serde_json::Value as Json;

use super::plain::{handleize, nothing};
use super::record::{Kind, Record, as_is, no_text};
use super::{collection, product};
use crate::data::{Page, handle, list, text};
use crate::shop::Shop;

static MENU: Kind = Kind { name: "linklist", get: menu_member, shape: as_is, text: no_text };
static LINK: Kind = Kind { name: "link", get: link_member, shape: as_is, text: no_text };
static PAGE: Kind = Kind { name: "page", get: page_member, shape: as_is, text: no_text };
static POLICY: Kind = Kind { name: "policy", get: page_member, shape: as_is, text: policy_text };

/// The URL of a link that a merchant wrote: a path of the shop, a resource, or a URL.
pub(crate) fn url(shop: &Shop, url: &str) -> String {
    if let Some(resource) = url.strip_prefix("shopify://") {
        return shop.to(&format!("/{}", resource.trim_end_matches('/')));
    }
    if url.starts_with('/') && !url.starts_with("//") { shop.to(url) } else { url.to_owned() }
}

/// The menu of this handle.
pub(crate) fn menu(shop: &Arc<Shop>, name: &str) -> Option<Value> {
    let found = shop.data.menus.iter().find(|menu| handle(menu) == name);
    // Themes begin with Shopify's names of a shop's first two menus.
    let place = match name {
        "main-menu" => {
            shop.data.menus.iter().find(|menu| handle(menu) == "main").or(shop.data.menus.first())
        }
        "main" => shop.data.menus.iter().find(|menu| handle(menu) == "main-menu"),
        "footer" => shop.data.menus.get(1),
        _ => None,
    };
    let raw = found.or(place)?;
    Some(Record::new(&MENU, shop, Arc::new(raw.clone())).value())
}

fn menu_member(menu: &Record, name: &str) -> Option<Value> {
    Some(match name {
        "handle" => menu.text_at("/handle").into(),
        "title" => match menu.text_at("/title") {
            "" => title_of(menu.text_at("/handle")).into(),
            title => title.into(),
        },
        "links" => links(&menu.shop, list(&menu.raw, "/items")),
        "levels" => levels(list(&menu.raw, "/items")).into(),
        _ => return None,
    })
}

/// A title of a menu that has only a handle: `Main menu` of `main`, `Customer service` of `customer-service`.
fn title_of(handle: &str) -> String {
    if handle == "main" {
        return "Main menu".to_owned();
    }
    let words = handle.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn links(shop: &Arc<Shop>, items: &[Json]) -> Value {
    items.iter().map(|item| Record::new(&LINK, shop, Arc::new(item.clone())).value()).collect()
}

fn levels(items: &[Json]) -> usize {
    let below = items.iter().map(|item| levels(list(item, "/children")));
    if items.is_empty() { 0 } else { below.max().unwrap_or_default().saturating_add(1) }
}

/// The address of a menu's item.
fn address(shop: &Shop, item: &Json) -> String {
    let refers = text(item, "/ref");
    match text(item, "/type") {
        "product" => shop.to(&format!("/products/{refers}")),
        "collection" | "category" => shop.to(&format!("/collections/{refers}")),
        "policy" => shop.to(&format!("/policies/{refers}")),
        "link" => url(shop, text(item, "/url")),
        "catalog" => shop.to("/collections/all"),
        "search" => shop.to("/search"),
        _ => shop.to("/"),
    }
}

fn link_member(link: &Record, name: &str) -> Option<Value> {
    let shop = &link.shop;
    let children = || list(&link.raw, "/children");
    let is_here = |item: &Json| address(shop, item) == shop.here();
    let is_above = |item: &Json| {
        let url = address(shop, item);
        is_here(item) || (url != shop.to("/") && shop.here().starts_with(&format!("{url}/")))
    };
    Some(match name {
        "title" => link.text_at("/title").into(),
        "url" => address(shop, &link.raw).into(),
        "type" => match link.text_at("/type") {
            "home" => "frontpage_link".into(),
            "link" | "" => "http_link".into(),
            kind => format!("{kind}_link").into(),
        },
        "handle" => handleize(link.text_at("/title")).into(),
        "links" => links(shop, children()),
        "levels" => levels(children()).into(),
        "current" => is_here(&link.raw).into(),
        "active" => is_above(&link.raw).into(),
        "child_current" => children().iter().any(is_here).into(),
        "child_active" => children().iter().any(is_above).into(),
        "object" => match link.text_at("/type") {
            "product" => product::named(shop, link.text_at("/ref")).unwrap_or_default(),
            "collection" => collection::named(shop, link.text_at("/ref")).unwrap_or_default(),
            _ => Value::Nil,
        },
        _ => return None,
    })
}

/// The text of this handle, as a page.
pub(crate) fn page(shop: &Arc<Shop>, name: &str) -> Option<Value> {
    let name = name.strip_prefix("shopify://pages/").unwrap_or(name);
    let of_page = match &shop.page {
        Page::Text(text) => Some(&**text),
        _ => None,
    };
    let found = of_page.into_iter().chain(&shop.data.texts).find(|text| handle(text) == name)?;
    Some(text_page(shop, found))
}

/// A text as a page.
pub(crate) fn text_page(shop: &Arc<Shop>, raw: &Json) -> Value {
    Record::new(&PAGE, shop, Arc::new(raw.clone())).value()
}

fn page_member(page: &Record, name: &str) -> Option<Value> {
    Some(match name {
        "content" | "body" => Value::html(page.text_at("/body_html")),
        "url" => page.shop.to(&format!("/policies/{}", page.text_at("/handle"))).into(),
        "author" => crate::data::text(&page.shop.data.store, "/name").into(),
        "published_at" => page.at("/created_at"),
        "template_suffix" => page.at("/template_suffix"),
        "metafields" => nothing(),
        _ => return None,
    })
}

fn policy_text(policy: &Record) -> String {
    policy.text_at("/body_html").to_owned()
}

/// The policies of the store.
pub(crate) fn policies(shop: &Arc<Shop>) -> Vec<Value> {
    let named = list(&shop.data.store, "/policies").iter();
    let one = |named: &Json| {
        let whole = shop.data.texts.iter().find(|text| handle(text) == handle(named));
        let raw = whole.unwrap_or(named).clone();
        Record::new(&POLICY, shop, Arc::new(raw)).value()
    };
    named.map(one).collect()
}

/// The policy with a word in its handle: `refund`, `privacy`.
pub(crate) fn policy(shop: &Arc<Shop>, word: &str) -> Value {
    let all = policies(shop).into_iter();
    let mut found = all.filter(|policy| policy.get("handle").to_text().contains(word));
    found.next().unwrap_or_default()
}
