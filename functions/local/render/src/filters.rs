//! The filters: those of `liquid-lib`, and those that themes expect of a shop. Each is metered: its input
//! counts as steps, its result as memory, and a result that would be too large is rejected in advance.

mod call;
#[expect(clippy::unnecessary_wraps, reason = "all filters are of one type, which may fail")]
mod shop;

use std::fmt;
use std::sync::Arc;

use liquid_core::error::{Error, Result};
use liquid_core::model::{Value, ValueView};
use liquid_core::parser::{
    Filter, FilterArguments, FilterReflection, ParameterReflection, ParseFilter,
};
use liquid_core::{Expression, Language, Runtime};
use liquid_lib::stdlib;

use crate::limits::{Meter, size};
use crate::safe;
use crate::value::weight;
pub(crate) use call::Context;
use call::{Apply, Call};

/// Filters that return their input or a part of it, so that safe texts stay safe.
const PASSING: &[&str] =
    &["compact", "concat", "default", "first", "last", "map", "reverse", "sort", "where"];

/// The implementation of a filter.
#[derive(Clone)]
enum FilterKind {
    Library(Box<dyn ParseFilter>),
    Own(Apply),
}

/// A filter that is metered.
#[derive(Clone)]
struct Counting {
    name: String,
    kind: FilterKind,
    context: Arc<Context>,
}

enum Made {
    Library(Box<dyn Filter>),
    Own(Apply),
}

/// A filter with its arguments.
struct Counted {
    name: String,
    made: Made,
    positional: Vec<Expression>,
    named: Vec<(String, Expression)>,
    context: Arc<Context>,
}

/// Registers all filters in the language.
pub(crate) fn register(language: &mut Language, context: &Arc<Context>) {
    let library = library().into_iter().map(|filter| {
        let name = filter.reflection().name().to_owned();
        (name, FilterKind::Library(filter))
    });
    let own =
        shop::FILTERS.iter().map(|(name, apply)| ((*name).to_owned(), FilterKind::Own(*apply)));
    for (name, kind) in library.chain(own) {
        let filter = Counting { name: name.clone(), kind, context: Arc::clone(context) };
        language.filters.register(name, filter.into());
    }
}

macro_rules! boxed {
    ($($filter:ident),* $(,)?) => { vec![$(stdlib::$filter.into()),*] };
}

/// The filters of the library that are used unchanged. `escape` is our own: its result is safe.
fn library() -> Vec<Box<dyn ParseFilter>> {
    boxed![
        Abs,
        Append,
        AtLeast,
        AtMost,
        Capitalize,
        Ceil,
        Compact,
        Concat,
        Date,
        Default,
        DividedBy,
        Downcase,
        First,
        Floor,
        Join,
        Last,
        Lstrip,
        Map,
        Minus,
        Modulo,
        Plus,
        Prepend,
        Remove,
        RemoveFirst,
        Replace,
        ReplaceFirst,
        Reverse,
        Round,
        Rstrip,
        Size,
        Slice,
        Sort,
        SortNatural,
        Split,
        Strip,
        StripHtml,
        StripNewlines,
        Times,
        Truncate,
        TruncateWords,
        Uniq,
        Upcase,
        UrlDecode,
        UrlEncode,
        Where,
    ]
}

impl ParseFilter for Counting {
    fn parse(&self, arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        let positional: Vec<Expression> = arguments.positional.collect();
        let named: Vec<(String, Expression)> =
            arguments.keyword.map(|(name, value)| (name.to_owned(), value)).collect();
        let made = match &self.kind {
            FilterKind::Own(apply) => Made::Own(*apply),
            FilterKind::Library(filter) => {
                let keyword: Vec<(&str, Expression)> =
                    named.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
                Made::Library(filter.parse(FilterArguments {
                    positional: Box::new(positional.clone().into_iter()),
                    keyword: Box::new(keyword.into_iter()),
                })?)
            }
        };
        let (name, context) = (self.name.clone(), Arc::clone(&self.context));
        Ok(Box::new(Counted { name, made, positional, named, context }))
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self
    }
}

impl FilterReflection for Counting {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn positional_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }

    fn keyword_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

impl Filter for Counted {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        let meter = &self.context.meter;
        let read = weight(input);
        meter.step((read >> 10).saturating_add(1))?;
        let passes = PASSING.contains(&self.name.as_str());
        let unmarked;
        let input: &dyn ValueView = if !passes && safe::is_marked(input) {
            meter.hold(read)?;
            unmarked = safe::unmarked(input.to_value());
            &unmarked
        } else {
            input
        };
        let made = match &self.made {
            Made::Own(apply) => apply(&self.call(input, runtime)?)?,
            Made::Library(filter) => {
                self.foresee(input, runtime)?;
                let made = filter.evaluate(input, runtime)?;
                if passes || !safe::is_marked(&made) { made } else { safe::unmarked(made) }
            }
        };
        if made.is_scalar() {
            meter.text(size(made.to_kstr().len()))?;
        }
        meter.hold(weight(&made))?;
        Ok(made)
    }
}

impl Counted {
    fn call<'c>(&'c self, input: &'c dyn ValueView, runtime: &dyn Runtime) -> Result<Call<'c>> {
        let value = |expression: &Expression| -> Result<Value> {
            Ok(safe::unmarked(expression.evaluate(runtime)?.into_owned()))
        };
        let positional = self.positional.iter().map(value).collect::<Result<_>>()?;
        let named = self.named.iter();
        let named = named.map(|(name, given)| Ok((name.clone(), value(given)?)));
        Ok(Call { input, positional, named: named.collect::<Result<_>>()?, context: &self.context })
    }

    /// Rejects a call of a library's filter whose result would be too large, or that would take too long.
    fn foresee(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<()> {
        let meter: &Meter = &self.context.meter;
        let argument = |place: usize| -> Result<String> {
            let Some(expression) = self.positional.get(place) else { return Ok(String::new()) };
            Ok(expression.evaluate(runtime)?.to_kstr().into_string())
        };
        let items = || {
            let items = input.as_array().map_or(0, liquid_core::model::ArrayView::size);
            u64::try_from(items).unwrap_or(0)
        };
        match self.name.as_str() {
            "replace" => {
                let (text, from, to) = (input.to_kstr(), argument(0)?, argument(1)?);
                let found = if from.is_empty() {
                    size(text.len()).saturating_add(1)
                } else {
                    size(text.matches(&*from).count())
                };
                let grown = found.saturating_mul(size(to.len()));
                meter.text(size(text.len()).saturating_add(grown))
            }
            "join" => {
                let glue = size(argument(0)?.len());
                meter.text(items().saturating_mul(glue).saturating_add(weight(input)))
            }
            // Each item is compared with every other.
            "uniq" => meter.step(items().saturating_mul(weight(input)) >> 10),
            // A width in the format creates that many characters: `%999999999Y`.
            "date" => {
                let format = argument(0)?;
                if format.len() > 100 || format.contains(|c: char| c.is_ascii_digit()) {
                    return Err(Error::with_msg("a date's format is too long, or has a width"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
