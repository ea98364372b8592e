//! Which template a page has.

use crate::data::{Page, text};
use crate::shop::Shop;
use crate::theme::Theme;

/// Whether a theme has a template of its own for a page.
pub fn has_template(theme: &Theme, page: &Page) -> bool {
    let has =
        |ending: &str| theme.files.contains_key(&format!("templates/{}.{ending}", page.template()));
    has("json") || has("liquid")
}

/// The template's suffix: of the address (`?view=`) or of the resource, if the theme has such a template.
pub(crate) fn suffix(shop: &Shop) -> Option<String> {
    let of_resource = match &shop.page {
        Page::Product(product) => text(product, "/template_suffix"),
        Page::Collection(listing) => text(&listing.collection, "/template_suffix"),
        Page::Text(page) => text(page, "/template_suffix"),
        _ => "",
    };
    let asked = shop.data.parameter("view").unwrap_or(of_resource);
    let exists = |ending: &str| {
        let path = format!("templates/{}.{asked}.{ending}", shop.page.template());
        shop.theme.has_template(&path)
    };
    (!asked.is_empty() && (exists("json") || exists("liquid"))).then(|| asked.to_owned())
}

/// The name of the template with its suffix.
pub(crate) fn name(shop: &Shop) -> String {
    match suffix(shop) {
        Some(suffix) => format!("{}.{suffix}", shop.page.template()),
        None => shop.page.template().to_owned(),
    }
}
