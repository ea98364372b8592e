//! The frame of the platform's own pages in a shop: checkout, orders, accounts and errors. No page of these has code of a
//! theme, and none can be read by a theme's code.

use axum::extract::FromRequestParts;
use axum::response::{Html, IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

use crate::document::{head, with_headers};
use crate::fault::Fault;
use crate::visit::Visit;
use crate::words::fill;

/// A page of a shop in the platform's own design.
pub(crate) struct Page<'a> {
    pub(crate) visit: &'a Visit,
    pub(crate) title: &'a str,
    /// What is beside the content on a wide screen.
    pub(crate) aside: Option<Markup>,
    pub(crate) content: Markup,
    /// What is at the foot of the page besides the way back to the shop.
    pub(crate) foot: Option<Markup>,
    /// The content security policy, where it is another than that of most pages.
    pub(crate) policy: Option<String>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(visit: &'a Visit, title: &'a str, content: Markup) -> Self {
        Self { visit, title, aside: None, content, foot: None, policy: None }
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
        let words = self.visit.words();
        let title = format!("{} – {}", self.title, store.name.as_str());
        let style = crate::look::style_of(store);
        let logo = store.branding.logo.as_ref().map(|id| format!("/media/{}", id.as_str()));
        let page = html! {
            (DOCTYPE)
            html lang=(words.language) {
                (head(&title, &style))
                body {
                    a.skip href="#content" { (words.skip) }
                    header.top { div.inside {
                        a.brand href="/" {
                            @if let Some(logo) = &logo { img src=(logo) alt=(store.name.as_str()); }
                            @else { (store.name.as_str()) }
                        }
                        nav aria-label=(words.shop) { a href="/cart" { (words.cart) } a href="/account" { (words.account) } }
                    } }
                    div.columns.with-aside[self.aside.is_some()] {
                        main id="content" { (self.content) }
                        @if let Some(aside) = &self.aside { aside aria-label=(words.summary) { (aside) } }
                    }
                    footer.bottom { div.inside {
                        @if let Some(foot) = &self.foot { (foot) }
                        a href="/" { (fill(words.back_to_shop, &[("store", store.name.as_str())])) }
                    } }
                }
            }
        };
        page.into_string()
    }
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
