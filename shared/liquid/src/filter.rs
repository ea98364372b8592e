//! Filters, and what the parser has to know of a language.

use std::sync::Arc;

use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::value::Value;

/// A filter. Functions and closures of this signature are filters.
pub trait Filter: Send + Sync {
    /// The value that the input becomes.
    fn apply(&self, input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value>;
}

impl<F> Filter for F
where
    F: Fn(&Value, &Args, &mut Context<'_>) -> Result<Value> + Send + Sync,
{
    fn apply(&self, input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
        self(input, args, cx)
    }
}

/// What is made of markup that is not quite Liquid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What can be understood is used, and the rest ignored, as online stores do.
    #[default]
    Lax,
    /// It is an error.
    Strict,
}

/// What markup is read by.
pub(crate) trait Grammar {
    fn filter(&self, name: &str) -> Option<&Arc<dyn Filter>>;

    fn mode(&self) -> Mode;
}
