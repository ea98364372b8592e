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
mod text;
mod url;

pub use items::items_of;

use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::language::{Filter, Language};
use crate::value::Value;

type Apply = fn(&Value, &Args, &mut Context<'_>) -> Result<Value>;

/// A filter, and how many arguments it takes at least and at most.
struct Standard(usize, usize, Apply);

impl Filter for Standard {
    fn apply(&self, input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
        args.expect(self.0, self.1)?;
        (self.2)(input, args, cx)
    }
}

pub(crate) fn register(language: &mut Language) {
    let families = [math::FILTERS, text::FILTERS, replace::FILTERS, slice::FILTERS, html::FILTERS];
    let lists = [array::FILTERS, pick::FILTERS, sort::FILTERS, url::FILTERS, date::FILTERS];
    for (name, least, most, apply) in families.into_iter().chain(lists).flatten() {
        language.add_filter(name, Standard(*least, *most, *apply));
    }
}

type Filters = &'static [(&'static str, usize, usize, Apply)];
