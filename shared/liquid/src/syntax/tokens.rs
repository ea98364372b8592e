//! Text, outputs and tags, one after another.

use crate::text::{is_space, is_word};

/// The name and the arguments of a tag, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'s> {
    /// The name: a word, or `#`.
    pub name: &'s str,
    /// What stands between the name and the end.
    pub markup: &'s str,
    /// The line on which the tag begins, from 1.
    pub line: u32,
    /// The line on which its arguments begin.
    pub markup_line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    Text(&'s str),
    Output {
        markup: &'s str,
        line: u32,
    },
    Tag(Head<'s>),
    /// What begins like an output or tag and is none.
    Invalid {
        message: &'static str,
        line: u32,
    },
}

const NO_TAG_END: &str = "Tag '{%' was not properly terminated with '%}'";
const NO_OUTPUT_END: &str = "Variable '{{' was not properly terminated with '}}'";

/// Where the parser is. Within a `liquid` tag each line is a tag.
pub(crate) struct Tokens<'s> {
    rest: &'s str,
    line: u32,
    lines: bool,
    /// Whether the last tag or output ended with a hyphen.
    trim: bool,
    /// Whether it is known that no further tag ends.
    no_tag_ends: bool,
}

impl<'s> Tokens<'s> {
    pub(crate) fn template(source: &'s str) -> Self {
        Self { rest: source, line: 1, lines: false, trim: false, no_tag_ends: false }
    }

    pub(crate) fn lines(markup: &'s str, line: u32) -> Self {
        Self { rest: markup, line, lines: true, trim: false, no_tag_ends: false }
    }

    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    pub(crate) fn next(&mut self) -> Option<Token<'s>> {
        if self.lines { self.next_line() } else { self.next_part() }
    }

    fn next_line(&mut self) -> Option<Token<'s>> {
        while !self.rest.is_empty() {
            let line = self.line;
            let (text, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            self.line = line.saturating_add(1);
            let text = text.trim_matches(is_space);
            if text.is_empty() {
                continue;
            }
            return Some(match split_name(text) {
                Some((name, markup)) => Token::Tag(Head { name, markup, line, markup_line: line }),
                None => Token::Invalid { message: "Unknown tag", line },
            });
        }
        None
    }

    fn next_part(&mut self) -> Option<Token<'s>> {
        if self.rest.is_empty() {
            return None;
        }
        let begin = find_start(self.rest).unwrap_or(self.rest.len());
        if begin > 0 {
            let mut text = self.take(begin);
            if std::mem::take(&mut self.trim) {
                text = text.trim_start_matches(is_space);
            }
            if self.rest.as_bytes().get(2) == Some(&b'-') {
                text = text.trim_end_matches(is_space);
            }
            return Some(Token::Text(text));
        }
        self.trim = false;
        Some(if self.rest.starts_with("{{") { self.output() } else { self.tag() })
    }

    fn output(&mut self) -> Token<'s> {
        let line = self.line;
        let Some(length) = output_length(self.rest) else {
            self.take(self.rest.len());
            return Token::Invalid { message: NO_OUTPUT_END, line };
        };
        let token = self.take(length);
        let Some(inner) = token.strip_prefix("{{").and_then(|token| token.strip_suffix("}}"))
        else {
            return Token::Invalid { message: NO_OUTPUT_END, line };
        };
        Token::Output { markup: self.hyphens(inner), line }
    }

    fn tag(&mut self) -> Token<'s> {
        let line = self.line;
        let end = if self.no_tag_ends { None } else { self.rest.find("%}") };
        let Some(end) = end else {
            self.no_tag_ends = true;
            self.take(2);
            return Token::Invalid { message: NO_TAG_END, line };
        };
        let token = self.take(end.saturating_add(2));
        let inner = token.strip_prefix("{%").and_then(|token| token.strip_suffix("%}"));
        let inner = self.hyphens(inner.unwrap_or_default());
        let trimmed = inner.trim_start_matches(is_space);
        let Some((name, markup)) = split_name(trimmed) else {
            return Token::Invalid { message: "Unknown tag", line };
        };
        let before = inner.len().saturating_sub(markup.len());
        let markup_line = line.saturating_add(count_lines(inner.get(..before).unwrap_or(inner)));
        Token::Tag(Head { name, markup, line, markup_line })
    }

    /// Takes the hyphens off, and notes that of the end.
    fn hyphens(&mut self, inner: &'s str) -> &'s str {
        let hyphen = inner.strip_suffix('-');
        self.trim = hyphen.is_some();
        let inner = hyphen.unwrap_or(inner);
        inner.strip_prefix('-').unwrap_or(inner)
    }

    fn take(&mut self, length: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line = self.line.saturating_add(count_lines(taken));
        taken
    }

    /// The text before a tag of this name, and that tag. Nothing in it is parsed.
    pub(crate) fn raw(&mut self, end_name: &str) -> Option<(&'s str, Head<'s>)> {
        if self.lines {
            return None;
        }
        let mut from: usize = 0;
        loop {
            let found = self.rest.get(from..)?.find("{%")?;
            let begin = from.saturating_add(found);
            from = begin.saturating_add(2);
            let after = self.rest.get(from..)?;
            // Of several begins it is the last before the end.
            let after = after.split_once("{%").map_or(after, |(tag, _)| tag);
            let tag = after.strip_prefix('-').unwrap_or(after).trim_start_matches(is_space);
            let named = split_name(tag).is_some_and(|(name, _)| name == end_name);
            let is_end = named && tag.contains("%}");
            if is_end {
                let text = self.take(begin);
                let Token::Tag(head) = self.tag() else { return None };
                return Some((text, head));
            }
        }
    }

    /// What is left of a `liquid` tag.
    pub(crate) fn is_liquid(&self) -> bool {
        self.lines
    }
}

fn count_lines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

fn split_name(text: &str) -> Option<(&str, &str)> {
    let length =
        if text.starts_with('#') { 1 } else { text.find(|c| !is_word(c)).unwrap_or(text.len()) };
    let (name, markup) = text.split_at_checked(length)?;
    (!name.is_empty()).then(|| (name, markup.trim_matches(is_space)))
}

fn find_start(text: &str) -> Option<usize> {
    let mut from: usize = 0;
    loop {
        let found = from.saturating_add(text.get(from..)?.find('{')?);
        let next = found.saturating_add(1);
        if matches!(text.as_bytes().get(next), Some(b'{' | b'%')) {
            return Some(found);
        }
        from = next;
    }
}

/// How long an output is. It ends with the first `}`, or as the tag that begins in it.
fn output_length(text: &str) -> Option<usize> {
    let mut from: usize = 2;
    loop {
        let found = from.saturating_add(text.get(from..)?.find(['{', '}'])?);
        let next = found.saturating_add(1);
        let pair = (text.as_bytes().get(found), text.as_bytes().get(next));
        match pair {
            (Some(b'}'), Some(b'}')) => return Some(next.saturating_add(1)),
            (Some(b'}'), _) => return Some(next),
            (_, Some(b'%')) => {
                let end = text.get(next..)?.find("%}")?;
                return Some(next.saturating_add(end).saturating_add(2));
            }
            _ => from = next,
        }
    }
}
