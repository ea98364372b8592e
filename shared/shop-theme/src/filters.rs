//! The filters of a shop's themes, beyond those of Liquid. Like Shopify's, they write HTML raw where their
//! result is HTML, and escape what becomes an attribute.

#![expect(clippy::unnecessary_wraps, reason = "all filters have one signature")]

mod assets;
mod colors;
mod fonts;
mod hashes;
mod html;
mod images;
mod json;
mod money;
mod shop;
mod text;

use std::sync::Arc;

use liquid::{Args, Context, Language, Result, Value};

use crate::shop::{Host, Shop};

/// A filter by its name.
pub(crate) type Named = (&'static str, fn(&Value, &Args, &mut Context<'_>) -> Result<Value>);

/// Adds the filters to a language.
pub(crate) fn register(language: &mut Language) {
    let groups = [
        assets::FILTERS,
        colors::FILTERS,
        fonts::FILTERS,
        hashes::FILTERS,
        html::FILTERS,
        images::FILTERS,
        json::FILTERS,
        money::FILTERS,
        shop::FILTERS,
        text::FILTERS,
    ];
    for (name, filter) in groups.into_iter().flatten() {
        language.add_filter(name, *filter);
    }
}

/// The page that is being rendered.
pub(crate) fn page(cx: &Context<'_>) -> Result<Arc<Shop>> {
    let host = cx.host::<Host>().map(|host| Arc::clone(&host.0));
    host.ok_or_else(|| liquid::Error::host("there is no shop"))
}

/// The text of a named argument.
pub(crate) fn named(args: &Args, name: &str) -> Option<String> {
    let value = args.named(name).filter(|value| !value.is_nil())?;
    Some(value.to_text().into_owned())
}

/// A text as the value of an attribute.
pub(crate) fn attribute(text: &str) -> String {
    liquid::escape(text.into()).into_owned()
}
