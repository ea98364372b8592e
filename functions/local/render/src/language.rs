//! The Liquid dialect of themes: its tags and filters, each counted as steps.

use std::sync::Arc;

use liquid_core::error::Result;
use liquid_core::parser::{BlockReflection, ParseBlock, ParseTag, TagReflection};
use liquid_core::{Language, Renderable, Runtime, TagBlock, TagTokenIter};
use liquid_lib::stdlib;

use crate::filters::Context;
use crate::limits::Meter;
use crate::{filters, tags};

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
