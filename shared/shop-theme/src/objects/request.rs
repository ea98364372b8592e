//! The request, the routes, and what a page says about itself.

use std::sync::Arc;

use liquid::Value;
use serde_json::Value as Json;

use super::store::{Titled, language, name_of};
use super::{collection, media, product};
use crate::data::{Page, handle, text};
use crate::shop::{Shop, encoded};
use crate::template::suffix;

/// `routes`.
pub(crate) fn routes(shop: &Arc<Shop>) -> Value {
    const ROUTES: [(&str, &str); 19] = [
        ("root_url", "/"),
        ("account_url", "/account"),
        ("account_login_url", "/account/login"),
        ("account_logout_url", "/account/logout"),
        ("account_recover_url", "/account/recover"),
        ("account_register_url", "/account/register"),
        ("account_addresses_url", "/account/addresses"),
        ("account_profile_url", "/account/profile"),
        ("storefront_login_url", "/account/login"),
        ("collections_url", "/collections"),
        ("all_products_collection_url", "/collections/all"),
        ("search_url", "/search"),
        ("predictive_search_url", "/search/suggest"),
        ("cart_url", "/cart"),
        ("cart_add_url", "/cart/add"),
        ("cart_change_url", "/cart/change"),
        ("cart_clear_url", "/cart/clear"),
        ("cart_update_url", "/cart/update"),
        ("product_recommendations_url", "/recommendations/products"),
    ];
    Value::map(ROUTES.map(|(name, path)| (name, Value::from(shop.to(path)))))
}

/// `request`.
pub(crate) fn request(shop: &Arc<Shop>) -> Value {
    let host = shop.data.origin.split("://").nth(1).unwrap_or_default();
    Value::map([
        ("design_mode", Value::from(false)),
        ("visual_preview_mode", false.into()),
        ("page_type", page_type(shop).into()),
        ("host", host.into()),
        ("origin", shop.data.origin.as_str().into()),
        ("path", shop.here().into()),
        ("locale", language(shop)),
    ])
}

fn page_type(shop: &Shop) -> &'static str {
    if matches!(&shop.page, Page::Text(_)) && shop.data.path.starts_with("/policies/") {
        return "policy";
    }
    shop.page.template()
}

/// `template`, which is its name where a text is wanted.
pub(crate) fn template(shop: &Arc<Shop>) -> Value {
    let whole = shop.page.template();
    let (directory, name) = whole
        .rsplit_once('/')
        .map_or((Value::Nil, whole), |(directory, name)| (directory.into(), name));
    let suffix = suffix(shop);
    let title = match &suffix {
        Some(suffix) => format!("{whole}.{suffix}"),
        None => whole.to_owned(),
    };
    let members = Value::map([
        ("name", Value::from(name)),
        ("directory", directory),
        ("suffix", suffix.map_or(Value::Nil, Value::from)),
    ]);
    Value::object(Titled { title: title.into(), members })
}

/// `theme`.
pub(crate) fn theme(shop: &Arc<Shop>) -> Value {
    Value::map([
        ("id", Value::Int(1)),
        ("name", shop.theme.name.as_str().into()),
        ("role", "main".into()),
    ])
}

/// The title of the page: of search engines, or its own.
pub(crate) fn page_title(shop: &Arc<Shop>) -> Value {
    let titled = |of: &Json| match text(of, "/seo/title") {
        "" => text(of, "/title").to_owned(),
        title => title.to_owned(),
    };
    let titles = &shop.data.labels.titles;
    let title = match &shop.page {
        Page::Product(product) => titled(product),
        Page::Collection(listing) => titled(&listing.collection),
        Page::Text(text) => titled(text),
        Page::Search { .. } => titles.search.to_owned(),
        Page::Cart => titles.cart.to_owned(),
        Page::Collections => titles.collections.to_owned(),
        Page::NotFound => titles.not_found.to_owned(),
        Page::Login
        | Page::Register
        | Page::Account
        | Page::Addresses
        | Page::ActivateAccount
        | Page::ResetPassword => titles.account.to_owned(),
        Page::Order(order) => titles.order.replace("{number}", text(order, "/number")),
        _ => String::new(),
    };
    if title.is_empty() { name_of(shop).into() } else { title.into() }
}

/// The description of the page for search engines; nil if there is none.
pub(crate) fn page_description(shop: &Arc<Shop>) -> Value {
    let described = |of: &Json| match text(of, "/seo/description") {
        "" => plain_text(text(of, "/description")).chars().take(320).collect::<String>(),
        description => description.to_owned(),
    };
    let description = match &shop.page {
        Page::Product(product) => described(product),
        Page::Collection(listing) => described(&listing.collection),
        Page::Index => text(&shop.data.store, "/branding/short_description").to_owned(),
        _ => String::new(),
    };
    if description.is_empty() { Value::Nil } else { description.into() }
}

/// The text of HTML: without tags, and with what its references stand for, as whoever writes it down escapes it.
pub(crate) fn plain_text(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    let text = without_references(&text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text with the characters of its references: `&amp;` as `&`.
fn without_references(text: &str) -> String {
    const NAMES: [(&str, char); 6] =
        [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", '\u{a0}')];
    let character = |name: &str| match name.strip_prefix('#') {
        Some(number) => {
            let number = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)
        }
        None => NAMES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c),
    };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        plain.push_str(before);
        let found = behind.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
        if let Some((c, behind)) = found {
            plain.push(c);
            rest = behind;
        } else {
            plain.push('&');
            rest = behind;
        }
    }
    plain + rest
}

/// The address under which search engines list the page: of a product the one, in whichever collection it is shown; of a
/// list each page its own. Nil where there is nothing to list.
pub(crate) fn canonical_url(shop: &Arc<Shop>) -> Value {
    let path = match &shop.page {
        Page::NotFound => return Value::Nil,
        Page::Product(product) => shop.to(&format!("/products/{}", encoded(handle(product)))),
        _ => shop.here(),
    };
    let number = match &shop.page {
        Page::Collection(_) | Page::Collections | Page::Search { .. } if shop.data.page > 1 => {
            format!("?page={}", shop.data.page)
        }
        _ => String::new(),
    };
    format!("{}{path}{number}", shop.data.origin).into()
}

/// The picture of the page in links to it.
pub(crate) fn page_image(shop: &Arc<Shop>) -> Value {
    match &shop.page {
        Page::Product(_) => product::of_page(shop).get("featured_image"),
        Page::Collection(_) => collection::of_page(shop).get("image"),
        _ => media::image(shop, text(&shop.data.store, "/branding/logo/url"), name_of(shop)),
    }
}

/// The handle of the page's resource.
pub(crate) fn page_handle(shop: &Arc<Shop>) -> Value {
    match &shop.page {
        Page::Product(product) => handle(product).into(),
        Page::Collection(listing) => handle(&listing.collection).into(),
        Page::Text(text) => handle(text).into(),
        _ => Value::Nil,
    }
}
