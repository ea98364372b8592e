//! The filters of a shop's themes, beyond those of Liquid. Like Shopify's, they write HTML raw where their
//! result is HTML, and escape what becomes an attribute.

#![expect(clippy::unnecessary_wraps, reason = "all filters have one signature")]

mod assets;
mod call;
mod colors;
mod dates;
mod fonts;
mod hashes;
mod html;
mod images;
mod json;
mod money;
mod shop;
mod structured;
mod text;

use liquid::Language;

/// Adds the filters to a language.
pub(crate) fn register(language: &mut Language) {
    let groups = [
        assets::FILTERS,
        colors::FILTERS,
        dates::FILTERS,
        fonts::FILTERS,
        hashes::FILTERS,
        html::FILTERS,
        images::FILTERS,
        json::FILTERS,
        money::FILTERS,
        shop::FILTERS,
        structured::FILTERS,
        text::FILTERS,
    ];
    for (name, filter) in groups.into_iter().flatten() {
        language.add_filter(name, *filter);
    }
}
