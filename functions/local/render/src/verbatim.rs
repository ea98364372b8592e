//! The texts of a file between `raw` and `endraw`, which a tag of their own writes.

use std::io::Write;
use std::sync::Arc;

use liquid_core::error::{Error, Result, ResultLiquidReplaceExt};
use liquid_core::parser::{ParseTag, TagReflection};
use liquid_core::{Language, Renderable, Runtime, TagTokenIter};

/// The language of a file that has these texts between `raw` and `endraw`.
pub(crate) fn with(language: &Language, texts: Vec<String>) -> Language {
    let mut language = language.clone();
    language.tags.register("verbatim".to_owned(), Verbatim(texts.into()).into());
    language
}

/// `{% verbatim 3 %}`: a text of the file between `raw` and `endraw`, by its index.
#[derive(Debug, Clone)]
struct Verbatim(Arc<[String]>);

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
