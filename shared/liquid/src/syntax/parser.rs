//! Blocks within blocks.

use super::markup::Markup;
use super::tokens::{Head, Token, Tokens};
use super::variable::Filtered;
use crate::error::ParseError;
use crate::language::Language;
use crate::template::{Block, Node, Render, Template};

type Result<T> = std::result::Result<T, ParseError>;

/// How deep blocks go within each other.
const DEEPEST: u32 = 100;

/// A template that is being parsed.
pub struct Parser<'p, 's> {
    language: &'p Language,
    tokens: Tokens<'s>,
    depth: u32,
    warnings: Vec<ParseError>,
}

/// A tag: it parses its arguments, and its body if it has one, to what renders it.
pub trait Tag: Send + Sync {
    /// Parses a tag that begins with `head`. Of a block it takes the body and the end, too.
    fn parse<'s>(&self, head: Head<'s>, parser: &mut Parser<'_, 's>) -> Result<Box<dyn Render>>;
}

impl<F> Tag for F
where
    F: for<'s> Fn(Head<'s>, &mut Parser<'_, 's>) -> Result<Box<dyn Render>> + Send + Sync,
{
    fn parse<'s>(&self, head: Head<'s>, parser: &mut Parser<'_, 's>) -> Result<Box<dyn Render>> {
        self(head, parser)
    }
}

/// The tags that end a block.
struct Ends<'a> {
    /// Without a block around it, nothing.
    head: Option<Head<'a>>,
    stops: &'a [&'a str],
}

impl<'p, 's> Parser<'p, 's> {
    pub(crate) fn new(language: &'p Language, source: &'s str) -> Self {
        Self { language, tokens: Tokens::template(source), depth: 0, warnings: Vec::new() }
    }

    pub(crate) fn into_warnings(self) -> Vec<ParseError> {
        self.warnings
    }

    /// The language of the template.
    pub fn language(&self) -> &'p Language {
        self.language
    }

    /// The arguments of a tag.
    pub fn arguments<'h>(&self, head: &Head<'h>) -> Markup<'p, 'h> {
        Markup::new(self.language, head.markup, head.line)
    }

    /// Leaves a tag out that cannot be understood, with a warning, or fails.
    pub fn warn(&mut self, error: ParseError) {
        self.warnings.push(error);
    }

    pub(crate) fn document(&mut self) -> Result<Block> {
        Ok(self.nodes(&Ends { head: None, stops: &[] })?.0)
    }

    /// The body of a block, up to its end or to one of the stops (as `else`); and that tag.
    pub fn block(&mut self, head: &Head<'_>, stops: &[&str]) -> Result<(Block, Head<'s>)> {
        let (block, end) = self.nodes(&Ends { head: Some(*head), stops })?;
        end.map(|end| (block, end)).ok_or_else(|| never_closed(head))
    }

    /// The text up to the end of a block, in which nothing is parsed.
    pub fn raw_block(&mut self, head: &Head<'_>) -> Result<&'s str> {
        let end = format!("end{}", head.name);
        self.tokens.raw(&end).map(|(text, _)| text).ok_or_else(|| never_closed(head))
    }

    /// The tags in the lines of a `liquid` tag.
    pub(crate) fn lines(&mut self, head: &Head<'s>) -> Result<Block> {
        let lines = Tokens::lines(head.markup, head.markup_line);
        let outer = std::mem::replace(&mut self.tokens, lines);
        let block = self.nodes(&Ends { head: None, stops: &[] });
        self.tokens = outer;
        Ok(block?.0)
    }

    /// Skips a comment, and comments in it.
    pub(crate) fn skip_comment(&mut self, head: &Head<'_>) -> Result<()> {
        let mut depth: u32 = 1;
        while let Some(token) = self.tokens.next() {
            let Token::Tag(tag) = token else { continue };
            match tag.name {
                "comment" => depth = depth.saturating_add(1),
                "endcomment" => depth = depth.saturating_sub(1),
                "raw" if !self.tokens.is_liquid() => {
                    self.tokens.raw("endraw").ok_or_else(|| never_closed(&tag))?;
                }
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
        Err(never_closed(head))
    }

    fn nodes(&mut self, ends: &Ends<'_>) -> Result<(Block, Option<Head<'s>>)> {
        if self.depth >= DEEPEST {
            return Err(ParseError::new(self.tokens.line(), "Nesting too deep"));
        }
        self.depth = self.depth.saturating_add(1);
        let result = self.nodes_until(ends);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn nodes_until(&mut self, ends: &Ends<'_>) -> Result<(Block, Option<Head<'s>>)> {
        let mut block = Block::default();
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Text("") => {}
                Token::Text(text) => block.push(Node::Text(text.into())),
                Token::Output { markup, line } => {
                    let output = Markup::new(self.language, markup, line).filtered()?;
                    block.push(Node::Tag(Box::new(output), line));
                }
                Token::Tag(head) if ends.contains(head.name) => return Ok((block, Some(head))),
                Token::Tag(head) => {
                    if let Some(tag) = self.tag(head, ends)? {
                        block.push(Node::Tag(tag, head.line));
                    }
                }
                Token::Invalid { message, line } => return Err(ParseError::new(line, message)),
            }
        }
        Ok((block, None))
    }

    fn tag(&mut self, head: Head<'s>, ends: &Ends<'_>) -> Result<Option<Box<dyn Render>>> {
        let language = self.language;
        if let Some(tag) = language.tag(head.name) {
            return tag.parse(head, self).map(Some);
        }
        let error = ParseError::new(head.line, ends.unknown(head.name));
        if !language.ignores_unknown_tags() {
            return Err(error);
        }
        self.warnings.push(error);
        Ok(None)
    }
}

impl Ends<'_> {
    fn contains(&self, name: &str) -> bool {
        let Some(head) = &self.head else { return false };
        name.strip_prefix("end") == Some(head.name) || self.stops.contains(&name)
    }

    fn unknown(&self, name: &str) -> String {
        match (name, &self.head) {
            ("else" | "elsif" | "when", _) => format!("Unexpected outer '{name}' tag"),
            (_, Some(Head { name: block, .. })) if name.starts_with("end") => {
                format!("'{name}' is not a valid delimiter for {block} tags. use end{block}")
            }
            _ => format!("Unknown tag '{name}'"),
        }
    }
}

fn never_closed(head: &Head<'_>) -> ParseError {
    ParseError::new(head.line, format!("'{}' tag was never closed", head.name))
}

impl Template {
    /// Parses a template of Liquid's own tags and filters, without a name.
    pub fn parse(source: &str) -> Result<Self> {
        Self::parse_in(&Language::standard(), "", source)
    }

    /// Parses a template of a language. Errors of the page call it by its name.
    pub fn parse_in(language: &Language, name: &str, source: &str) -> Result<Self> {
        let mut parser = Parser::new(language, source);
        let block = parser.document()?;
        let warnings = parser.into_warnings();
        Ok(Self::new(name, block, warnings, source.len()))
    }
}

impl Language {
    /// The expression and its filters that a text is, as between `{{` and `}}`.
    pub fn filtered(&self, markup: &str) -> Result<Filtered> {
        Markup::new(self, markup, 1).filtered()
    }
}
