//! The tags that write and assign values.

use std::io::Write;
use std::sync::Arc;

use liquid_core::error::{Error, Result, ResultLiquidReplaceExt};
use liquid_core::model::{KString, ValueView};
use liquid_core::parser::{FilterChain, ParseTag, TagReflection};
use liquid_core::{Language, Renderable, Runtime, TagBlock, TagTokenIter, Template};
use liquid_lib::stdlib;

use crate::frame::machine;
use crate::language::chain;
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

/// `{% verbatim 3 %}`: a text of the file between `raw` and `endraw`, by its index.
#[derive(Debug, Clone)]
pub(crate) struct Verbatim(Arc<[String]>);

impl Verbatim {
    pub(crate) fn new(texts: Vec<String>) -> Self {
        Self(texts.into())
    }
}

impl ParseTag for Verbatim {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        _language: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let place = arguments.expect_next("A place expected.")?;
        let text = place.as_str().parse().ok().and_then(|place: usize| self.0.get(place));
        let text = text.ok_or_else(|| Error::with_msg("there is no tag `verbatim`"))?;
        Ok(Box::new(Text(text.clone())))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}

impl TagReflection for Verbatim {
    fn tag(&self) -> &'static str {
        "verbatim"
    }

    fn description(&self) -> &'static str {
        ""
    }
}

#[derive(Debug)]
struct Text(String);

impl Renderable for Text {
    fn render_to(&self, writer: &mut dyn Write, _runtime: &dyn Runtime) -> Result<()> {
        writer.write_all(self.0.as_bytes()).replace("the page is too long")
    }
}
