//! The Liquid dialect of themes: its tags and filters, each counted as steps.

use std::sync::Arc;

use liquid_core::error::{Error, Result};
use liquid_core::parser::{
    BlockReflection, FilterChain, ParseBlock, ParseTag, TagReflection, TagToken, TryMatchToken,
};
use liquid_core::{Language, Renderable, Runtime, TagBlock, TagTokenIter};
use liquid_lib::stdlib;
use serde_json::Value as Json;

use crate::limits::Meter;
use crate::{filters, tags};

/// The data of the page that filters use.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) meter: Arc<Meter>,
    /// The URLs of the theme's assets, by the name that follows `assets/`.
    pub(crate) assets: std::collections::BTreeMap<String, String>,
    /// Translations of the page's language, and of the theme's own language.
    pub(crate) translations: [Json; 2],
    /// The store's currency, an ISO 4217 code.
    pub(crate) currency: String,
}

/// The parser of a tag.
type Parse = fn(TagTokenIter<'_>, &Language) -> Result<Box<dyn Renderable>>;
/// The parser of a block.
type ParseWithin = fn(TagTokenIter<'_>, TagBlock<'_, '_>, &Language) -> Result<Box<dyn Renderable>>;

/// Builds the language with all tags and filters.
pub(crate) fn of(context: &Arc<Context>) -> Language {
    let mut language = Language::empty();
    for (name, parse) in TAGS {
        let tag = Tag { name, parse: *parse, meter: Arc::clone(&context.meter) };
        language.tags.register((*name).to_owned(), tag.into());
    }
    for (name, end, parse) in BLOCKS {
        let block = Block { name, end, parse: *parse, meter: Arc::clone(&context.meter) };
        language.blocks.register((*name).to_owned(), block.into());
    }
    filters::register(&mut language, context);
    language
}

/// The language of a file that has these texts between `raw` and `endraw`.
pub(crate) fn with_verbatim(language: &Language, texts: Vec<String>) -> Language {
    let mut language = language.clone();
    language.tags.register("verbatim".to_owned(), tags::text::Verbatim::new(texts).into());
    language
}

const TAGS: &[(&str, Parse)] = &[
    ("assign", tags::text::assign),
    ("break", |arguments, language| stdlib::BreakTag.parse(arguments, language)),
    ("continue", |arguments, language| stdlib::ContinueTag.parse(arguments, language)),
    ("cycle", tags::text::cycle),
    ("decrement", |arguments, language| stdlib::DecrementTag.parse(arguments, language)),
    ("echo", tags::text::echo),
    ("include", tags::file::include),
    ("increment", |arguments, language| stdlib::IncrementTag.parse(arguments, language)),
    ("layout", tags::layout::parse),
    ("render", tags::file::render),
    ("section", tags::file::section),
    ("sections", tags::file::sections),
];

const BLOCKS: &[(&str, &str, ParseWithin)] = &[
    ("capture", "endcapture", tags::text::capture),
    ("case", "endcase", |arguments, block, language| {
        stdlib::CaseBlock.parse(arguments, block, language)
    }),
    ("for", "endfor", tags::repeat::parse),
    ("form", "endform", tags::form::parse),
    ("if", "endif", |arguments, block, language| stdlib::IfBlock.parse(arguments, block, language)),
    ("ifchanged", "endifchanged", |arguments, block, language| {
        stdlib::IfChangedBlock.parse(arguments, block, language)
    }),
    ("paginate", "endpaginate", tags::paginate::parse),
    ("tablerow", "endtablerow", tags::table::parse),
    ("unless", "endunless", |arguments, block, language| {
        stdlib::UnlessBlock.parse(arguments, block, language)
    }),
];

/// Parses a filter chain; the error names an unknown filter.
pub(crate) fn chain(token: TagToken<'_>, language: &Language) -> Result<FilterChain> {
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

#[derive(Clone)]
struct Tag {
    name: &'static str,
    parse: Parse,
    meter: Arc<Meter>,
}

#[derive(Clone)]
struct Block {
    name: &'static str,
    end: &'static str,
    parse: ParseWithin,
    meter: Arc<Meter>,
}

/// A tag or block that counts as a step.
#[derive(Debug)]
struct Counted {
    inner: Box<dyn Renderable>,
    meter: Arc<Meter>,
}

impl Counted {
    fn boxed(inner: Box<dyn Renderable>, meter: &Arc<Meter>) -> Box<dyn Renderable> {
        Box::new(Self { inner, meter: Arc::clone(meter) })
    }
}

impl Renderable for Counted {
    fn render_to(&self, writer: &mut dyn std::io::Write, runtime: &dyn Runtime) -> Result<()> {
        self.meter.step(1)?;
        self.inner.render_to(writer, runtime)
    }
}

impl ParseTag for Tag {
    fn parse(
        &self,
        arguments: TagTokenIter<'_>,
        language: &Language,
    ) -> Result<Box<dyn Renderable>> {
        Ok(Counted::boxed((self.parse)(arguments, language)?, &self.meter))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}

impl ParseBlock for Block {
    fn parse(
        &self,
        arguments: TagTokenIter<'_>,
        block: TagBlock<'_, '_>,
        language: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let parsed = self.meter.nested(|| (self.parse)(arguments, block, language))?;
        Ok(Counted::boxed(parsed, &self.meter))
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

impl TagReflection for Tag {
    fn tag(&self) -> &str {
        self.name
    }

    fn description(&self) -> &'static str {
        ""
    }
}

impl BlockReflection for Block {
    fn start_tag(&self) -> &str {
        self.name
    }

    fn end_tag(&self) -> &str {
        self.end
    }

    fn description(&self) -> &'static str {
        ""
    }
}
