//! The filters of Liquid itself.

mod array;
mod date;
mod html;
mod items;
mod math;
mod pick;
mod replace;
mod slice;
mod sort;
mod standard;
mod text;
mod url;

pub use items::items_of;

use crate::language::Language;
use standard::Standard;

pub(crate) fn register(language: &mut Language) {
    let families = [math::FILTERS, text::FILTERS, replace::FILTERS, slice::FILTERS, html::FILTERS];
    let lists = [array::FILTERS, pick::FILTERS, sort::FILTERS, url::FILTERS, date::FILTERS];
    for (name, least, most, apply) in families.into_iter().chain(lists).flatten() {
        language.add_filter(name, Standard::new(*least, *most, *apply));
    }
}
