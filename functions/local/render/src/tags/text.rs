//! The tags that write and assign values.

use std::io::Write;

use liquid_core::error::{Error, Result, ResultLiquidReplaceExt};
use liquid_core::model::{KString, ValueView};
use liquid_core::parser::{FilterChain, ParseTag, TagToken, TryMatchToken};
use liquid_core::{Language, Renderable, Runtime, TagBlock, TagTokenIter, Template};
use liquid_lib::stdlib;

use crate::frame::machine;
use crate::limits::Bounded;
use crate::safe;
use crate::value::weight;

/// `{{ value | filter }}`, and `{% echo value | filter %}`: escaped, unless it is safe.
pub(crate) fn echo(
    mut arguments: TagTokenIter<'_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    let value = chain(arguments.expect_next("Expected a value.")?, language)?;
    arguments.expect_nothing()?;
    Ok(Box::new(Echo(value)))
}

/// `{% assign name = value | filter %}`
pub(crate) fn assign(
    mut arguments: TagTokenIter<'_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    let name = arguments.expect_next("Expected a name.")?.expect_identifier().into_result()?;
    let name = KString::from_ref(name);
    arguments.expect_next("Expected `=`.")?.expect_str("=").into_result()?;
    let value = chain(arguments.expect_next("Expected a value.")?, language)?;
    arguments.expect_nothing()?;
    Ok(Box::new(Assign { name, value }))
}

/// `{% capture name %} … {% endcapture %}`: the rendered text is safe.
pub(crate) fn capture(
    mut arguments: TagTokenIter<'_>,
    mut block: TagBlock<'_, '_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    let name = arguments.expect_next("Expected a name.")?;
    let name = name.as_str().trim_matches(['"', '\'']).to_owned().into();
    arguments.expect_nothing()?;
    let template = Template::new(block.parse_all(language)?);
    block.assert_empty();
    Ok(Box::new(Capture { name, template }))
}

/// `{% cycle 'a', 'b' %}`, escaped.
pub(crate) fn cycle(
    arguments: TagTokenIter<'_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    Ok(Box::new(Escaped(stdlib::CycleTag.parse(arguments, language)?)))
}

/// Parses a filter chain; the error names an unknown filter.
fn chain(token: TagToken<'_>, language: &Language) -> Result<FilterChain> {
    let text = token.as_str().to_owned();
    match token.expect_filter_chain(language) {
        TryMatchToken::Matches(chain) => Ok(chain),
        TryMatchToken::Fails(token) => Err(match unknown_filter(&text, language) {
            Some(name) => Error::with_msg(format!("there is no filter `{name}`, in `{text}`")),
            None => token.raise_error(),
        }),
    }
}

fn unknown_filter<'t>(chain: &'t str, language: &Language) -> Option<&'t str> {
    let names = chain.split('|').skip(1).filter_map(|filter| {
        filter.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
    });
    names.filter(|name| !name.is_empty()).find(|name| language.filters.get(name).is_none())
}

#[derive(Debug)]
struct Echo(FilterChain);

impl Renderable for Echo {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let value = self.0.evaluate(runtime)?;
        write_value(writer, value.as_view())
    }
}

/// An array is written as its elements, each of which may be safe.
fn write_value(writer: &mut dyn Write, value: &dyn ValueView) -> Result<()> {
    if let Some(array) = value.as_array() {
        return array.values().try_for_each(|each| write_value(writer, each));
    }
    safe::write(writer, &value.to_kstr()).replace("the page is too long")
}

#[derive(Debug)]
struct Assign {
    name: KString,
    value: FilterChain,
}

impl Renderable for Assign {
    fn render_to(&self, _writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let value = self.value.evaluate(runtime)?.into_owned();
        machine(runtime)?.meter.hold(weight(&value))?;
        runtime.set_global(self.name.clone(), value);
        Ok(())
    }
}

#[derive(Debug)]
struct Capture {
    name: KString,
    template: Template,
}

impl Renderable for Capture {
    fn render_to(&self, _writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let machine = machine(runtime)?;
        let mut text = Bounded::kept(&machine.meter);
        self.template.render_to(&mut text, runtime)?;
        let value = safe::html(&text.into_string());
        machine.meter.hold(weight(&value))?;
        runtime.set_global(self.name.clone(), value);
        Ok(())
    }
}

/// A tag of the library, with its output escaped.
#[derive(Debug)]
struct Escaped(Box<dyn Renderable>);

impl Renderable for Escaped {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let machine = machine(runtime)?;
        let mut text = Bounded::kept(&machine.meter);
        self.0.render_to(&mut text, runtime)?;
        safe::write(writer, &text.into_string()).replace("the page is too long")
    }
}
