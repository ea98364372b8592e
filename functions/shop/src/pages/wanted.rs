//! Which page a path is.

use serde_json::Value;
use shop_theme::{Listing, Page, Theme};

use super::listing::{self, ListRequest};
use crate::contact;
use crate::fault::Fault;
use crate::form::Fields;
use crate::paths::segment;
use crate::visit::Visit;

/// A page by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Index,
    Collections,
    /// A collection by its handle, and a tag of its products.
    Collection(String, Option<String>),
    Product(String),
    /// A product by its id, as a cart names it.
    ProductId(String),
    /// A variant by its id, of which scripts ask for sections alone.
    Variant,
    Search,
    Cart,
    /// A policy.
    Policy(String),
    /// A text page of the theme: `contact`.
    Text(String),
    Unknown,
}

impl Wanted {
    pub(super) fn of(path: &str) -> Self {
        let decode = |part: &str| {
            let pair = format!("={}", part.replace('+', "%2B"));
            let decoded = form_urlencoded::parse(pair.as_bytes()).next();
            decoded.map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        let parts: Vec<String> =
            path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            [] => Self::Index,
            ["collections"] => Self::Collections,
            ["collections", handle] => Self::Collection((*handle).to_owned(), None),
            ["collections", _, "products", handle] | ["products", handle] => {
                if handle.starts_with("prd_") {
                    Self::ProductId((*handle).to_owned())
                } else {
                    Self::Product((*handle).to_owned())
                }
            }
            ["collections", handle, tag] => {
                Self::Collection((*handle).to_owned(), Some((*tag).to_owned()))
            }
            ["products"] => Self::Collection("all".to_owned(), None),
            ["variants", _] => Self::Variant,
            ["search"] => Self::Search,
            ["cart"] => Self::Cart,
            ["policies", handle] => Self::Policy((*handle).to_owned()),
            ["pages", handle] => Self::Text((*handle).to_owned()),
            _ => Self::Unknown,
        }
    }

    /// The request of its list, if it has one.
    fn request<'a>(&self, theme: Option<&Theme>, query: &'a Fields) -> ListRequest<'a> {
        let name = if *self == Self::Search { "search" } else { "collection" };
        let own = query.text("view").map(|view| format!("{name}.{view}"));
        let size = |theme: &Theme| {
            let of_view = own.and_then(|own| shop_theme::page_size(theme, &own));
            of_view.or_else(|| shop_theme::page_size(theme, name))
        };
        ListRequest { query, size: theme.and_then(size) }
    }

    /// Loads what the page is about. What does not exist is the page for an unknown path.
    pub(super) async fn load(
        &self,
        visit: &Visit,
        query: &Fields,
        theme: Option<&Theme>,
    ) -> Result<Page, Fault> {
        let found = match self {
            Self::Index => Ok(Page::Index),
            Self::Collections => Ok(Page::Collections),
            Self::Cart => Ok(Page::Cart),
            Self::Collection(handle, tag) => {
                let request = self.request(theme, query);
                let list = listing::of_collection(visit, handle, tag.as_deref(), request).await;
                list.map(|list| Page::Collection(Box::new(list)))
            }
            Self::Product(handle) => {
                let product = visit.get(&format!("/products/{}", segment(handle))).await;
                product.map(|product| Page::Product(Box::new(product)))
            }
            Self::Search => search(visit, self.request(theme, query)).await,
            Self::Policy(handle) => {
                let policy = visit.get(&format!("/policies/{}", segment(handle))).await;
                policy.map(|policy| Page::Text(Box::new(visit.words().with_title(policy))))
            }
            Self::Text(handle) => text_page(visit, handle, theme).await,
            // The section shows where the variant can be picked up, for which no page has to be loaded.
            Self::Variant if query.has("section_id") || !query.sections().is_empty() => {
                Ok(Page::Cart)
            }
            Self::ProductId(_) | Self::Variant | Self::Unknown => Ok(Page::NotFound),
        };
        match found {
            Err(fault) if fault.is("not_found") || fault.is("validation_failed") => {
                Ok(Page::NotFound)
            }
            found => found,
        }
    }
}

async fn search(visit: &Visit, request: ListRequest<'_>) -> Result<Page, Fault> {
    let terms = request.query.text("q").unwrap_or_default().to_owned();
    let results = if terms.is_empty() {
        Listing::default()
    } else {
        listing::of_search(visit, &terms, request).await?
    };
    Ok(Page::Search { terms, results: Box::new(results), predictive: false })
}

/// A page of texts: the policies are pages, too, and `contact` has the theme's form, or a plain one.
async fn text_page(visit: &Visit, handle: &str, theme: Option<&Theme>) -> Result<Page, Fault> {
    if handle == "contact" {
        let has_own = |ending: &str| {
            let path = format!("templates/page.contact.{ending}");
            theme.is_some_and(|theme| theme.files.contains_key(&path))
        };
        let query = Fields::of_query(visit.query().as_bytes());
        let is_sent = query.text(&format!("contact{}", contact::POSTED)) == Some("true");
        let has_form = has_own("json") || has_own("liquid");
        let words = visit.words();
        let form = (!has_form).then(|| contact::plain_form(words, is_sent).into_string());
        let body = form.unwrap_or_default();
        let page = serde_json::json!({
            "title": words.pages.contact_us, "handle": "contact", "body_html": body, "template_suffix": "contact",
        });
        return Ok(Page::Text(Box::new(page)));
    }
    let found: Value = visit.get(&format!("/policies/{}", segment(handle))).await?;
    Ok(Page::Text(Box::new(visit.words().with_title(found))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_page() {
        let named = |text: &str| text.to_owned();
        for (path, wanted) in [
            ("/", Wanted::Index),
            ("/collections/", Wanted::Collections),
            ("/collections/hats", Wanted::Collection(named("hats"), None)),
            ("/collections/hats/wool", Wanted::Collection(named("hats"), Some(named("wool")))),
            ("/collections/hats/products/cap", Wanted::Product(named("cap"))),
            ("/products/caf%C3%A9", Wanted::Product(named("café"))),
            ("/products/prd_1", Wanted::ProductId(named("prd_1"))),
            ("/search", Wanted::Search),
            ("/variants/var_1/", Wanted::Variant),
            ("/policies/privacy", Wanted::Policy(named("privacy"))),
            ("/blogs/news", Wanted::Unknown),
        ] {
            assert_eq!(Wanted::of(path), wanted, "{path}");
        }
    }
}
