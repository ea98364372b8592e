//! What the head of every page has (`content_for_header`).

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;

use crate::data::text;
use crate::shop::Shop;

/// Stands for the styles and scripts of the page's files until all of them are known.
const MARK: &str = "<!-- styles and scripts of sections -->";

/// The HTML in the head of a page.
pub(crate) fn header(shop: &Shop) -> String {
    if shop.data.is_scriptless {
        return format!("{}{MARK}", shop.data.header);
    }
    let currency = json!({"active": shop.data.currency(), "rate": "1.0"});
    let root = format!("{}/", shop.data.root);
    let object = json!({
        "shop": text(&shop.data.store, "/subdomain"),
        "locale": shop.theme.locale,
        "currency": currency,
        "country": text(&shop.data.store, "/country"),
        "theme": {"name": shop.theme.name, "id": 1, "role": "main"},
        "routes": {"root": root},
        "designMode": false,
    });
    let object = for_script(&object.to_string());
    format!(
        "{}<script>window.Shopify = Object.assign(window.Shopify || {{}}, {object});</script>{MARK}",
        shop.data.header
    )
}

/// JSON within a script element.
pub(crate) fn for_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// The page with the platform's own part, and with the styles and scripts of its files, in its head.
pub(crate) fn fill(
    page: &str,
    (own, styles, scripts): (String, &[Arc<str>], &[Arc<str>]),
) -> String {
    let mut head = own;
    if !styles.is_empty() {
        let _ = write!(head, "<style>{}</style>", styles.join("\n"));
    }
    for script in scripts {
        let _ = write!(head, "<script type=\"module\">{script}</script>");
    }
    page.replacen(MARK, &head, 1)
}
