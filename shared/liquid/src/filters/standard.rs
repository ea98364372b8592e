//! Filters that check how many arguments they are given.

use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::filter::Filter;
use crate::value::Value;

pub(super) type Apply = fn(&Value, &Args, &mut Context<'_>) -> Result<Value>;

/// A filter, and how many arguments it takes at least and at most.
pub(super) struct Standard(usize, usize, Apply);

impl Standard {
    pub(super) fn new(least: usize, most: usize, apply: Apply) -> Self {
        Self(least, most, apply)
    }
}

impl Filter for Standard {
    fn apply(&self, input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
        args.expect(self.0, self.1)?;
        (self.2)(input, args, cx)
    }
}

/// Names, and how many arguments each takes at least and at most.
pub(super) type Filters = &'static [(&'static str, usize, usize, Apply)];
