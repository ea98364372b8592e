//! Renders the pages of a shop with its theme.
//!
//! The inputs of [`render`] are a release of a theme (its files and the merchant's settings), the storefront
//! API's answers about the store, and the requested page. The template is `templates/<page>.liquid`, or the
//! sections that `templates/<page>.json` lists; the result is put into `layout/theme.liquid`. Objects, filters
//! and tags are those of Shopify's public reference, so that its themes can be used as they are.
//!
//! - **Not escaped.** A theme writes its output raw and escapes with `| escape`, as Shopify's themes do
//!   (docs/decisions.md §14.13). Rich text is sanitized where it is written.
//! - **Sandboxed.** A template has access to the objects of the page and the theme's own files, but to no
//!   file system, network, clock or environment.
//! - **Bounded.** Steps, output, memory, depth and time are limited ([`Limits`]).

mod account_element;
mod ajax;
mod amounts;
mod block;
mod check;
mod data;
mod discounts;
mod fallback;
mod filters;
mod fragment;
mod globals;
mod header;
mod language;
mod languages;
mod limits;
mod money;
mod notes;
mod objects;
mod page;
mod page_size;
mod references;
mod schema;
mod section;
mod settings;
mod shared;
mod shop;
mod snippets;
mod source;
mod tags;
mod template;
mod theme;

use serde_json::{Map, Value as Json};

pub use ajax::{cart_json, product_json};
pub use amounts::AmountStyle;
pub use check::check;
pub use data::{Country, Data, Labels, Listing, Page, Posted, Titles};
pub use limits::{Finding, FindingCode, Limits};
pub use objects::color::Color;
pub use objects::suggestions::{suggestions_json, suggests};
pub use page_size::page_size;
pub use references::{References, references};
pub use shared::shared_file;
pub use template::has_template;
pub use theme::{File, Theme, files};

/// A rendered page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The page.
    pub html: String,
    /// What the theme asks for and does not get: unknown filters and tags, missing files, failed tags.
    pub warnings: Vec<Finding>,
}

/// Renders a page. It blocks its thread for a little over [`Limits::time`] at most.
///
/// # Errors
///
/// The finding: the file that is missing or invalid, or the limit that is exceeded.
pub fn render(theme: &Theme, page: Page, data: &Data, limits: Limits) -> Result<Rendered, Finding> {
    page::run((theme, page, data), limits, page::whole)
}

/// Renders sections of a page alone, for `?sections=a,b` and `?section_id=a` (Section Rendering API). A
/// section that does not exist is null.
///
/// # Errors
///
/// As of [`render`].
pub fn sections(
    theme: &Theme,
    page: Page,
    data: &Data,
    ids: &[String],
    limits: Limits,
) -> Result<Map<String, Json>, Finding> {
    page::run((theme, page, data), limits, |cx, shop| page::sections(cx, shop, ids))
}

#[cfg(test)]
mod tests;
