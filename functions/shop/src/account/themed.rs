//! Pages of an account in the theme's own templates. A theme is anybody's code, and these pages have a customer's orders and
//! addresses: they run one script of the platform's and none of the theme's, and reach no other origin.

use std::sync::LazyLock;

use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use crypto::seal;
use http::{HeaderName, HeaderValue, StatusCode, header};
use maud::{Markup, PreEscaped, html};
use serde_json::Value;
use shop_theme::{Data, Page, Posted, Theme};

use super::errors::{label, named};
use super::quiet::quiet;
use crate::countries;
use crate::document::with_headers;
use crate::fault::Fault;
use crate::pages::{self, PLACE};
use crate::values::{list, text};
use crate::visit::Visit;
use crate::words::Words;

/// What themes' scripts do on these pages.
const SCRIPT: &str = include_str!("script.js");
/// Stands for the messages that the theme does not show itself.
const NOTICE: &str = "<!-- messages of the form -->";
/// Stands for the platform's part below the theme's.
const BELOW: &str = "<!-- below -->";

/// The digest of the script, as a policy names it.
static DIGEST: LazyLock<String> =
    LazyLock::new(|| BASE64_STANDARD.encode(seal::sha256(SCRIPT.as_bytes())));

/// What these pages may do. The script is named by its digest, so that no other one runs: neither a file of the theme, which
/// is of this origin, nor anything in its HTML. Pictures, styles and fonts are files of the theme or the store: an address like
/// that of the cart would be told something by being asked for.
fn policy(origin: &str) -> String {
    let files = format!("{origin}/assets/ {origin}/media/");
    let digest = &*DIGEST;
    format!(
        "default-src 'none'; script-src 'sha256-{digest}'; style-src {files} 'unsafe-inline'; img-src {files} data:; \
         font-src {files} data:; connect-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

/// The theme, if it has a template for a page.
pub(super) async fn theme(visit: &Visit, page: &Page) -> Result<Option<Theme>, Response> {
    pages::theme_with(visit, page).await.map_err(|fault| pages::fault(visit, fault))
}

/// What the templates are told of the customer.
#[derive(Debug, Clone, Default)]
pub(super) struct Own {
    pub(super) me: Value,
    pub(super) orders: Vec<Value>,
    pub(super) addresses: Vec<Value>,
}

/// A page of an account in the theme's template.
pub(super) struct Themed<'a> {
    visit: &'a Visit,
    theme: Theme,
    page: Page,
    own: Own,
    products: Vec<Value>,
    form: Option<Posted>,
    target: Option<&'a str>,
    done: Option<&'a str>,
    below: String,
}

impl<'a> Themed<'a> {
    pub(super) fn new(visit: &'a Visit, theme: Theme, page: Page) -> Self {
        Self {
            visit,
            theme,
            page,
            own: Own::default(),
            products: Vec::new(),
            form: None,
            target: None,
            done: None,
            below: String::new(),
        }
    }

    /// With what the customer has.
    pub(super) fn own(self, own: Own) -> Self {
        Self { own, ..self }
    }

    /// With products that the page names.
    pub(super) fn products(self, products: Vec<Value>) -> Self {
        Self { products, ..self }
    }

    /// With the outcome of a form that was sent.
    pub(super) fn form(self, form: Option<Posted>) -> Self {
        let words = self.visit.words();
        Self { form: form.map(|form| named(form, words)), ..self }
    }

    /// With the path that a sign-in leads to.
    pub(super) fn target(self, target: &'a str) -> Self {
        Self { target: Some(target), ..self }
    }

    /// With what was done before, of which no theme says anything.
    pub(super) fn done(self, done: Option<&'a str>) -> Self {
        Self { done, ..self }
    }

    /// With a part of the platform's below the theme's.
    pub(super) fn below(self, below: &Markup) -> Self {
        Self { below: below.0.clone(), ..self }
    }

    /// The page as a response; none if the theme fails, when the platform's page takes its place.
    pub(super) async fn answer(self, status: StatusCode) -> Option<Response> {
        let Self { visit, theme, page, own, products, form, target, done, below } = self;
        let notices = form.clone();
        let has_addresses = matches!(page, Page::Addresses);
        let behind = format!("{below}{}", tail(has_addresses).0);
        let target = target.map(str::to_owned);
        let done = html! { @if let Some(done) = done { p role="status" style=(PLACE) { (done) } } };
        let fill = |data: &mut Data| {
            if own.me.is_object() {
                data.customer = own.me;
                data.orders = own.orders;
                data.addresses = own.addresses;
            }
            data.products.extend(products);
            data.header.push_str("<meta name=\"robots\" content=\"noindex\">");
            data.around = (NOTICE.to_owned(), BELOW.to_owned());
            data.is_scriptless = true;
            data.form = form;
            if let Some(target) = target {
                data.query.retain(|(name, _)| name != "return_to");
                data.query.push(("return_to".to_owned(), target));
            }
        };
        match pages::render_own(visit, theme, page, fill).await {
            Ok(Some(html)) => {
                let html = quiet(&html).replacen(NOTICE, &format!("{}{NOTICE}", done.0), 1);
                let html = with_notices(&html, notices.as_ref(), visit.words());
                Some(respond(visit, html.replacen(BELOW, &behind, 1), status))
            }
            Ok(None) => None,
            Err(fault) => Some(pages::fault(visit, fault)),
        }
    }
}

/// The script, and what it needs to know.
fn tail(has_addresses: bool) -> Markup {
    html! {
        @if has_addresses {
            script type="application/json" id="platform-regions" { (PreEscaped(countries::regions_json())) }
        }
        script { (PreEscaped(SCRIPT)) }
    }
}

/// The page with the messages of its form that the theme does not show.
fn with_notices(page: &str, form: Option<&Posted>, words: &Words) -> String {
    let is_missing = |message: &&(String, String)| {
        // A theme escapes apostrophes, too, or nothing.
        let escaped = html! { (message.1) }.into_string();
        !page.contains(&escaped) && !page.contains(&escaped.replace('\'', "&#39;"))
    };
    let missing: Vec<&(String, String)> =
        form.into_iter().flat_map(|form| &form.errors).filter(is_missing).collect();
    let subject = form.map(|form| form.subject.as_str()).unwrap_or_default();
    let id = if subject.is_empty() { "new" } else { subject };
    let notice = html! {
        @if !missing.is_empty() {
            div role="alert" tabindex="-1" data-form={ "address_form_" (id) } style=(PLACE) {
                @for (field, message) in missing {
                    p { @if field != "form" { strong { (label(field, words)) } " " } (message) }
                }
            }
        }
    };
    page.replacen(NOTICE, &notice.into_string(), 1)
}

/// A link below the theme's part of the page.
pub(super) fn link(to: &str, label: &str) -> Markup {
    html! { p style=(PLACE) { a href=(to) { (label) } } }
}

fn respond(visit: &Visit, page: String, status: StatusCode) -> Response {
    let mut response = (status, Html(page)).into_response();
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy(&visit.origin)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // A name can carry data, too.
    let prefetch = HeaderName::from_static("x-dns-prefetch-control");
    headers.insert(prefetch, HeaderValue::from_static("off"));
    with_headers(response)
}

/// The products of an order, for their handles and pictures.
pub(super) async fn products_of(visit: &Visit, order: &Value) -> Result<Vec<Value>, Fault> {
    let items = list(order, "items").iter();
    let ids: std::collections::BTreeSet<&str> = items.map(|it| text(it, "product_id")).collect();
    let ids: Vec<&str> = ids.into_iter().filter(|id| !id.is_empty()).collect();
    pages::products_by_id(visit, &ids).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_the_theme_shows_is_shown_once() {
        let form = |message: &str| Posted {
            errors: vec![("zip".to_owned(), message.to_owned())],
            subject: "adr_1".to_owned(),
            ..Posted::default()
        };
        let page = format!("{NOTICE}<p>is not &quot;valid&quot;</p>");
        let with_notices =
            |page: &str, form: Option<&Posted>| super::with_notices(page, form, Words::english());
        assert!(!with_notices(&page, Some(&form("is not \"valid\""))).contains("role=\"alert\""));
        let shown = with_notices(&page, Some(&form("is <missing>")));
        assert!(shown.contains("Postal code</strong> is &lt;missing&gt;"), "{shown}");
        assert!(shown.contains("data-form=\"address_form_adr_1\""), "{shown}");
        assert_eq!(with_notices(NOTICE, None), "");
    }

    #[test]
    fn the_script_ends_where_its_element_does() {
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }
}
