//! The tags that include files of the theme: `section`, `sections`, `render`, `include`. No other tag can
//! access a file.

use std::io::Write;

use liquid_core::error::{Error, Result};
use liquid_core::model::{KString, Value, ValueCow, ValueView};
use liquid_core::parser::TagToken;
use liquid_core::{Expression, Language, Renderable, Runtime, TagTokenIter};

use crate::frame::machine;
use crate::section;
use crate::tags::repeat::{Items, forloop};

/// `{% render 'price', product: product %}`, with `with … as …` or `for … as …`: the snippet sees these
/// names and the page's objects.
pub(crate) fn render(
    mut arguments: TagTokenIter<'_>,
    _language: &Language,
) -> Result<Box<dyn Renderable>> {
    Ok(Box::new(Snippet { isolated: true, ..Snippet::parse(&mut arguments)? }))
}

/// `{% include 'price' %}`: the snippet sees all names of the including file.
pub(crate) fn include(
    mut arguments: TagTokenIter<'_>,
    _language: &Language,
) -> Result<Box<dyn Renderable>> {
    Ok(Box::new(Snippet { isolated: false, ..Snippet::parse(&mut arguments)? }))
}

/// `{% section 'header' %}`: the section of this name, which exists once.
pub(crate) fn section(
    mut arguments: TagTokenIter<'_>,
    _language: &Language,
) -> Result<Box<dyn Renderable>> {
    Ok(Box::new(Section { name: name(&mut arguments)?, is_group: false }))
}

/// `{% sections 'footer-group' %}`: the group of sections of this name.
pub(crate) fn sections(
    mut arguments: TagTokenIter<'_>,
    _language: &Language,
) -> Result<Box<dyn Renderable>> {
    Ok(Box::new(Section { name: name(&mut arguments)?, is_group: true }))
}

fn name(arguments: &mut TagTokenIter<'_>) -> Result<String> {
    let name = arguments.expect_next("Expected a name.")?.expect_literal().into_result()?;
    arguments.expect_nothing()?;
    Ok(name.to_kstr().into_string())
}

#[derive(Debug)]
struct Section {
    name: String,
    is_group: bool,
}

impl Renderable for Section {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let machine = machine(runtime)?;
        if self.is_group {
            section::group(&machine, &self.name, writer, runtime)
        } else {
            section::single(&machine, &self.name, writer, runtime)
        }
    }
}

#[derive(Debug)]
struct Snippet {
    name: Expression,
    isolated: bool,
    /// The snippet is rendered for each of these, under this name.
    each: Option<(Items, KString)>,
    values: Vec<(KString, Expression)>,
}

impl Snippet {
    fn parse(arguments: &mut TagTokenIter<'_>) -> Result<Self> {
        let name = arguments.expect_next("Expected a name.")?.expect_value().into_result()?;
        let own = base_name(&name);
        let mut snippet = Self { name, isolated: true, each: None, values: Vec::new() };
        let mut next = arguments.next();
        match next.as_ref().map(TagToken::as_str) {
            Some("with") => {
                let value =
                    arguments.expect_next("Expected a value.")?.expect_value().into_result()?;
                next = arguments.next();
                let alias = alias(&mut next, arguments)?.unwrap_or(own);
                snippet.values.push((alias, value));
            }
            Some("for") => {
                let items = Items::parse(arguments.expect_next("Expected a list of items.")?)?;
                next = arguments.next();
                let alias = alias(&mut next, arguments)?.unwrap_or(own);
                snippet.each = Some((items, alias));
            }
            _ => {}
        }
        while let Some(token) = next {
            let token = if token.as_str() == "," { arguments.next() } else { Some(token) };
            let Some(token) = token else { break };
            let name = KString::from_ref(token.expect_identifier().into_result()?);
            arguments.expect_next("Expected `:`.")?.expect_str(":").into_result()?;
            let value = arguments.expect_next("Expected a value.")?.expect_value().into_result()?;
            snippet.values.push((name, value));
            next = arguments.next();
        }
        Ok(snippet)
    }

    fn path(&self, runtime: &dyn Runtime) -> Result<String> {
        let name = self.name.evaluate(runtime)?.to_kstr().into_string();
        // No name can leave the folder, because the path is only a key of the release's files.
        if name.is_empty() {
            return Err(Error::with_msg(format!("`{}` names no snippet", self.name)));
        }
        Ok(format!("snippets/{}.liquid", name.trim_end_matches(".liquid")))
    }
}

/// Parses `as name`, if it is next.
fn alias<'a>(
    next: &mut Option<TagToken<'a>>,
    arguments: &mut TagTokenIter<'a>,
) -> Result<Option<KString>> {
    if next.as_ref().map(TagToken::as_str) != Some("as") {
        return Ok(None);
    }
    let name = arguments.expect_next("Expected a name.")?.expect_identifier().into_result()?;
    *next = arguments.next();
    Ok(Some(KString::from_ref(name)))
}

/// The default name of a snippet's value: the name of the snippet.
fn base_name(name: &Expression) -> KString {
    match name {
        Expression::Literal(text) => {
            let text = text.to_kstr();
            KString::from_ref(text.rsplit('/').next().unwrap_or_default())
        }
        Expression::Variable(_) => KString::from_static("item"),
    }
}

impl Snippet {
    fn values<'v>(&'v self, runtime: &'v dyn Runtime) -> Result<Vec<(KString, ValueCow<'v>)>> {
        let each = self.values.iter();
        each.map(|(name, value)| Ok((name.clone(), value.evaluate(runtime)?))).collect()
    }

    fn once<'v>(
        &self,
        path: &str,
        values: Vec<(KString, ValueCow<'v>)>,
        writer: &mut dyn Write,
        runtime: &'v dyn Runtime,
    ) -> Result<()> {
        let machine = machine(runtime)?;
        if self.isolated {
            machine.render(path, values, writer, runtime)
        } else {
            machine.include(path, values, writer, runtime)
        }
    }
}

impl Renderable for Snippet {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let path = self.path(runtime)?;
        let Some((items, alias)) = &self.each else {
            return self.once(&path, self.values(runtime)?, writer, runtime);
        };
        let items = items.evaluate(runtime)?;
        let length = items.len();
        for round in 0..length {
            let forloop = Value::Object(forloop(round, length, Value::Nil));
            let mut values = vec![
                (KString::from_static("forloop"), ValueCow::Owned(forloop)),
                (alias.clone(), items.get(round)),
            ];
            values.extend(self.values(runtime)?);
            self.once(&path, values, writer, runtime)?;
        }
        Ok(())
    }
}
