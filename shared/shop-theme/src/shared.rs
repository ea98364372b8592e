//! Files that all shops share: modules that themes of Shopify load from its own hosts.

use crate::shop::Shop;

/// The files by name, with their content types.
const FILES: &[(&str, &str, &str)] = &[
    ("standard-events.js", SCRIPT, include_str!("shared/standard-events.js")),
    ("account.js", SCRIPT, include_str!("shared/account.js")),
    ("payment-button.js", SCRIPT, include_str!("shared/payment-button.js")),
];
const SCRIPT: &str = "text/javascript; charset=utf-8";
/// Where themes find them at Shopify.
const ELSEWHERE: &str = "https://cdn.shopify.com/storefront/";

/// The content type and the text of a file, to be served at `/shared/{name}` below a shop's root.
pub fn shared_file(name: &str) -> Option<(&'static str, &'static str)> {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    found.map(|(_, content_type, text)| (*content_type, *text))
}

/// The page with the shop's own addresses of these files.
pub(crate) fn with_own_addresses(shop: &Shop, page: String) -> String {
    if !page.contains(ELSEWHERE) {
        return page;
    }
    FILES.iter().fold(page, |page, (name, ..)| {
        page.replace(&format!("{ELSEWHERE}{name}"), &shop.to(&format!("/shared/{name}")))
    })
}
