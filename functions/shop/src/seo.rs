//! What search engines read: `robots.txt` and `sitemap.xml`.

use std::fmt::Write as _;

use axum::response::Response;
use serde_json::Value;

use crate::document::public_file;
use crate::fault::Fault;
use crate::values::{list, text};
use crate::visit::AnyVisit;

/// Products of one page of the list, and the most pages. A sitemap may have 50,000 URLs (sitemaps.org).
const PAGE: usize = 100;
const PAGES: usize = 10;

/// `GET /robots.txt`: pages of one shopper are not for search engines, and nothing of a shop that asks for a password.
pub(crate) async fn robots(AnyVisit(visit): AnyVisit) -> Response {
    if visit.store().password_protected {
        return public_file("text/plain; charset=utf-8", "User-agent: *\nDisallow: /\n".to_owned());
    }
    let mut text = String::from("User-agent: *\n");
    for path in ["/cart", "/checkout", "/orders/", "/account", "/search", "/recommendations/"] {
        let _ = writeln!(text, "Disallow: {path}");
    }
    let _ = writeln!(text, "Sitemap: {}/sitemap.xml", visit.origin);
    public_file("text/plain; charset=utf-8", text)
}

/// `GET /sitemap.xml`: the start page, collections, products and policies; empty while the shop asks for a password.
pub(crate) async fn sitemap(AnyVisit(visit): AnyVisit) -> Result<Response, Fault> {
    let mut map = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    if visit.store().password_protected {
        map.push_str("</urlset>\n");
        return Ok(public_file("application/xml; charset=utf-8", map));
    }
    let (store, collections) = tokio::join!(visit.get(""), visit.get("/collections?limit=100"));
    let mut add = |path: &str, changed: &str| {
        let changed = match changed.get(..10) {
            Some(day) => format!("<lastmod>{day}</lastmod>"),
            None => String::new(),
        };
        let _ = writeln!(map, "<url><loc>{}{}</loc>{changed}</url>", visit.origin, escaped(path));
    };
    add("/", "");
    for collection in list(&collections?, "data") {
        let path = format!("/collections/{}", text(collection, "handle"));
        add(&path, text(collection, "updated_at"));
    }
    for policy in list(&store?, "policies") {
        add(&format!("/policies/{}", text(policy, "handle")), text(policy, "updated_at"));
    }
    let mut cursor = String::new();
    for _ in 0..PAGES {
        let page = visit.get(&format!("/products?limit={PAGE}&sort=created_at{cursor}")).await?;
        for product in list(&page, "data") {
            let path = format!("/products/{}", text(product, "handle"));
            add(&path, text(product, "updated_at"));
        }
        match page.pointer("/page/next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={}", crate::paths::segment(next)),
            None => break,
        }
    }
    map.push_str("</urlset>\n");
    Ok(public_file("application/xml; charset=utf-8", map))
}

/// A path as a sitemap writes it: each segment percent-encoded, which leaves nothing that XML would escape.
fn escaped(path: &str) -> String {
    path.split('/').map(crate::paths::segment).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_sitemap_is_ascii() {
        assert_eq!(escaped("/"), "/");
        assert_eq!(escaped("/products/blue-cup"), "/products/blue-cup");
        assert_eq!(escaped("/products/caf\u{e9}"), "/products/caf%C3%A9");
        assert_eq!(escaped("/collections/a&b"), "/collections/a%26b");
    }
}
