//! The documents of a shop that no theme writes: the head and the headers of the platform's own pages, and JSON.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

use crate::words::Words;

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
    /// The language of the content.
    pub(crate) words: &'a Words,
}

impl Plain<'_> {
    pub(crate) fn render(self) -> Markup {
        html! {
            (DOCTYPE)
            html lang=(self.words.language) {
                (head(self.title, STYLE))
                body { main.narrow { (self.content) } }
            }
        }
    }
}

pub(crate) fn head(title: &str, style: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="robots" content="noindex";
            title { (title) }
            link rel="icon" href="data:,";
            link rel="stylesheet" href=(style);
            script src=(SCRIPT) defer {}
        }
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

/// A file that is everybody's, and is kept for minutes.
pub(crate) fn public_file(kind: &'static str, text: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=300"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}

/// JSON that nobody keeps.
pub(crate) fn json(status: StatusCode, body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, body.to_string()).into_response()
}
