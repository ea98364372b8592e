//! `{% layout 'bare' %}`, `{% layout none %}`: selects another layout than `theme`, or none.

use std::io::Write;

use liquid_core::error::Result;
use liquid_core::model::ValueView;
use liquid_core::{Expression, Language, Renderable, Runtime, TagTokenIter};

use crate::frame::machine;

#[derive(Debug)]
struct Layout(Option<Expression>);

/// Parses the tag.
pub(crate) fn parse(
    mut arguments: TagTokenIter<'_>,
    _language: &Language,
) -> Result<Box<dyn Renderable>> {
    let token = arguments.expect_next("Expected the name of a layout, or `none`.")?;
    let name = match token.as_str().trim() {
        "none" | "false" => None,
        _ => Some(token.expect_value().into_result()?),
    };
    arguments.expect_nothing()?;
    Ok(Box::new(Layout(name)))
}

impl Renderable for Layout {
    fn render_to(&self, _writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let name = match &self.0 {
            Some(name) => Some(name.evaluate(runtime)?.to_kstr().into_string()),
            None => None,
        };
        machine(runtime)?.wrap_in(name.as_deref());
        Ok(())
    }
}
