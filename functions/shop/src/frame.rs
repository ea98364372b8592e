//! The frame of the platform's own pages in a shop: checkout, orders, accounts and errors. No page of these has code of a
//! theme, and none can be read by a theme's code.

use axum::extract::FromRequestParts;
use axum::response::{Html, IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

use crate::fault::Fault;
use crate::visit::Visit;

/// The path of the style sheet.
pub(crate) const STYLE: &str = "/checkout/style.css";
/// The path of the script, without which every page works, too.
pub(crate) const SCRIPT: &str = "/checkout/script.js";

/// Everything is from here, but pictures of a store's own places. A form may lead on to a payment provider.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' https: data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page without a shop.
pub(crate) struct Plain<'a> {
    pub(crate) title: &'a str,
    pub(crate) content: Markup,
}

impl Plain<'_> {
    pub(crate) fn render(self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(self.title))
                body { main.narrow { (self.content) } }
            }
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="robots" content="noindex";
            title { (title) }
            link rel="icon" href="data:,";
            link rel="stylesheet" href=(STYLE);
            script src=(SCRIPT) defer {}
        }
    }
}

/// A page of a shop in the platform's own design.
pub(crate) struct Page<'a> {
    pub(crate) visit: &'a Visit,
    pub(crate) title: &'a str,
    /// What is beside the content on a wide screen.
    pub(crate) aside: Option<Markup>,
    pub(crate) content: Markup,
    /// The content security policy, where it is another than that of most pages.
    pub(crate) policy: Option<String>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(visit: &'a Visit, title: &'a str, content: Markup) -> Self {
        Self { visit, title, aside: None, content, policy: None }
    }

    /// The page as a response.
    pub(crate) fn answer(mut self, status: StatusCode) -> Response {
        let policy = self.policy.take();
        let mut response = (status, Html(self.html())).into_response();
        if let Some(policy) = policy.and_then(|policy| HeaderValue::from_str(&policy).ok()) {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        with_headers(response)
    }

    /// Renders the page.
    pub(crate) fn html(&self) -> String {
        let store = self.visit.store();
        let title = format!("{} – {}", self.title, store.name.as_str());
        let logo = store.branding.logo.as_ref().map(|id| format!("/media/{}", id.as_str()));
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                (head(&title))
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.top { div.inside {
                        a.brand href="/" {
                            @if let Some(logo) = &logo { img src=(logo) alt=(store.name.as_str()); }
                            @else { (store.name.as_str()) }
                        }
                        nav aria-label="Shop" { a href="/cart" { "Cart" } a href="/account" { "Account" } }
                    } }
                    div.columns.with-aside[self.aside.is_some()] {
                        main id="content" { (self.content) }
                        @if let Some(aside) = &self.aside { aside aria-label="Summary" { (aside) } }
                    }
                    footer.bottom { div.inside {
                        a href="/" { "Back to " (store.name.as_str()) }
                    } }
                }
            }
        };
        page.into_string()
    }
}

/// Adds the headers of the platform's own pages, where the response has none.
pub(crate) fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let all = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "private, no-store"),
        // A window that a theme's page opens is no window of that page.
        (http::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (http::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in all {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// A request that shows one of the platform's own pages or sends its form: a navigation of the browser. A theme's
/// code is of the same origin, and could otherwise read what a shopper has entered, or order for them.
pub(crate) struct Navigation;

impl<S: Sync> FromRequestParts<S> for Navigation {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        if is_navigation(&parts.headers) {
            return Ok(Self);
        }
        let detail = "This page is opened by a browser, not by a script.";
        Err(Fault::of(StatusCode::FORBIDDEN, "forbidden", detail))
    }
}

/// Whether the browser opens a page. What sends no Fetch Metadata is no browser of the last years.
fn is_navigation(headers: &HeaderMap) -> bool {
    let is = |name: &str, wanted: &str| {
        headers.get(name).is_none_or(|value| value.as_bytes() == wanted.as_bytes())
    };
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// An amount as people read it.
pub(crate) fn money(of: &Value) -> &str {
    of.get("formatted").and_then(Value::as_str).unwrap_or_default()
}

/// Whether an amount is more than nothing.
pub(crate) fn is_some(of: &Value) -> bool {
    of.get("amount").and_then(Value::as_i64).is_some_and(|amount| amount != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_opens_no_page() {
        let headers = |mode: &'static str, dest: &'static str| {
            let pairs = [("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
            pairs
                .into_iter()
                .map(|(name, value)| {
                    (http::HeaderName::from_static(name), HeaderValue::from_static(value))
                })
                .collect()
        };
        assert!(is_navigation(&headers("navigate", "document")));
        assert!(is_navigation(&HeaderMap::new()));
        for (mode, dest) in [("cors", "empty"), ("same-origin", "empty"), ("navigate", "iframe")] {
            assert!(!is_navigation(&headers(mode, dest)), "{mode} {dest}");
        }
    }
}
