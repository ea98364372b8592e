//! Converts a template's text to the form that the parser of `liquid-core` accepts.
//!
//! `{{ … }}` becomes `{% echo … %}`, so that one tag writes and escapes values. Tags that the parser does not
//! have are resolved (`comment`, `liquid`, `schema`, `style`). The parser recurses for each bracket of an
//! expression and each `elsif`, without a limit of its own: both are limited here.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes of a template at most.
const LENGTH: usize = 512 << 10;
/// Bytes of a tag between its braces at most.
const TAG: usize = 4 << 10;
/// Opening brackets in a tag at most.
const BRACKETS: usize = 32;
/// `elsif` and `when` tags in a template at most.
const BRANCHES: usize = 250;

/// A template in the parser's form.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The template.
    pub(crate) text: String,
    /// The texts between `raw` and `endraw`; a `verbatim` tag refers to one by its index.
    pub(crate) verbatim: Vec<String>,
    /// The text between `schema` and `endschema`.
    pub(crate) schema: Option<String>,
    branches: usize,
}

/// A tag of the template.
struct Tag<'t> {
    /// The text between the braces.
    body: &'t str,
    /// Whether white space before it, and after it, is removed.
    trims: (bool, bool),
    /// The text after it.
    rest: &'t str,
}

/// Converts the template to the parser's form; an error names its line.
pub(crate) fn normalize(template: &str) -> Result<Source, String> {
    let mut source = Source::default();
    if template.len() > LENGTH {
        return Err(format!("longer than {LENGTH} bytes"));
    }
    let mut rest = template;
    while let Some((before, after)) = rest
        .find("{{")
        .into_iter()
        .chain(rest.find("{%"))
        .min()
        .and_then(|at| rest.split_at_checked(at))
    {
        source.text.push_str(before);
        rest = source.take(after).map_err(|fault| {
            let read = template.len().saturating_sub(after.len());
            let lines = template.get(..read).unwrap_or_default().matches('\n').count();
            format!("line {}: {fault}", lines.saturating_add(1))
        })?;
    }
    source.text.push_str(rest);
    Ok(source)
}

impl Source {
    /// Converts the tag at the beginning of `text`, and returns the text after it.
    fn take<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        if text.starts_with("{{") {
            let tag = tag(text, "}}")?;
            if tag.body.is_empty() {
                self.nothing(tag.trims);
            } else {
                self.emit("echo", tag.body, tag.trims)?;
            }
            return Ok(tag.rest);
        }
        let opening = text.get(2..).unwrap_or_default().trim_start_matches('-').trim_start();
        if opening.starts_with('#') {
            let (_, rest) = text.split_once("%}").ok_or("a comment does not end")?;
            return Ok(rest);
        }
        let tag = tag(text, "%}")?;
        let (name, arguments) = split_name(tag.body);
        match name {
            "comment" | "doc" | "javascript" | "stylesheet" => {
                let (_, end) = block(tag.rest, name)?;
                self.nothing((tag.trims.0, end.trims.1));
                Ok(end.rest)
            }
            "schema" => {
                let (inner, end) = block(tag.rest, name)?;
                self.schema.get_or_insert_with(|| inner.to_owned());
                self.nothing((tag.trims.0, end.trims.1));
                Ok(end.rest)
            }
            "raw" => {
                let (inner, end) = block(tag.rest, name)?;
                let place = self.verbatim.len().to_string();
                self.verbatim.push(inner.to_owned());
                self.emit("verbatim", &place, (tag.trims.0, end.trims.1))?;
                Ok(end.rest)
            }
            "style" => {
                self.text.push_str("<style>");
                Ok(tag.rest)
            }
            "endstyle" => {
                self.text.push_str("</style>");
                Ok(tag.rest)
            }
            "liquid" => {
                self.nothing((tag.trims.0, false));
                for line in arguments.lines().map(str::trim) {
                    self.line(line)?;
                }
                self.nothing((false, tag.trims.1));
                Ok(tag.rest)
            }
            name => {
                self.emit(name, arguments, tag.trims)?;
                Ok(tag.rest)
            }
        }
    }

    /// Converts a line of a `liquid` tag.
    fn line(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let (name, arguments) = split_name(line);
        if matches!(name, "comment" | "endcomment" | "raw" | "schema" | "liquid") {
            return Err(format!("`{name}` is not understood within `liquid`"));
        }
        self.emit(name, arguments, (false, false))
    }

    /// Writes a tag for the parser.
    fn emit(&mut self, name: &str, arguments: &str, trims: (bool, bool)) -> Result<(), String> {
        // The parser would start a new tag within the text, and read beyond this tag's end.
        if arguments.contains("{%") || arguments.contains("{{") {
            return Err(format!("`{name}` has a tag within it"));
        }
        if arguments.len() > TAG && name != "liquid" {
            return Err(format!("`{name}` is longer than {TAG} bytes"));
        }
        let arguments = &without_question_marks(arguments);
        if arguments.matches('[').count() > BRACKETS {
            return Err(format!("`{name}` has more than {BRACKETS} brackets"));
        }
        if matches!(name, "elsif" | "when") {
            self.branches = self.branches.saturating_add(1);
            if self.branches > BRANCHES {
                return Err(format!("more than {BRANCHES} branches"));
            }
        }
        let (before, after) = (dash(trims.0), dash(trims.1));
        // The parser does not treat a tab as white space.
        let arguments = arguments.replace('\t', " ");
        let _ = write!(self.text, "{{%{before} {name} {arguments} {after}%}}");
        Ok(())
    }

    /// Writes an empty tag that only removes white space.
    fn nothing(&mut self, trims: (bool, bool)) {
        if trims.0 || trims.1 {
            let _ = write!(self.text, "{{%{} echo nil {}%}}", dash(trims.0), dash(trims.1));
        }
    }
}

fn dash(trims: bool) -> &'static str {
    if trims { "-" } else { "" }
}

/// Splits a tag into its name and its arguments.
fn split_name(body: &str) -> (&str, &str) {
    let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
    let (name, arguments) = body.split_at_checked(end).unwrap_or((body, ""));
    (name, arguments.trim())
}

/// The tag that `text` begins with, up to the first `end` that is not within quotes.
fn tag<'t>(text: &'t str, end: &str) -> Result<Tag<'t>, String> {
    let inner = text.get(2..).unwrap_or_default();
    let mut quote = None;
    for (at, character) in inner.char_indices() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, _) if inner.get(at..).is_some_and(|rest| rest.starts_with(end)) => {
                return Ok(trimmed(inner.get(..at), inner.get(at.saturating_add(2)..)));
            }
            _ => {}
        }
    }
    let what = if quote.is_some() { "a quote" } else { "a tag" };
    Err(format!("{what} is not closed"))
}

fn trimmed<'t>(body: Option<&'t str>, rest: Option<&'t str>) -> Tag<'t> {
    let body = body.unwrap_or_default();
    let before = body.strip_prefix('-');
    let body = before.unwrap_or(body);
    let after = body.strip_suffix('-');
    Tag {
        body: after.unwrap_or(body).trim(),
        trims: (before.is_some(), after.is_some()),
        rest: rest.unwrap_or_default(),
    }
}

/// The unparsed text before the tag that ends the block, and that tag.
fn block<'t>(text: &'t str, name: &str) -> Result<(&'t str, Tag<'t>), String> {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("{%")) {
        let at = from.saturating_add(at);
        let (inner, opening) = text.split_at_checked(at).unwrap_or((text, ""));
        if let Some((body, rest)) = opening.get(2..).and_then(|rest| rest.split_once("%}")) {
            let found = trimmed(Some(body), Some(rest));
            if found.body.strip_prefix("end") == Some(name) {
                return Ok((inner, found));
            }
        }
        from = at.saturating_add(2);
    }
    Err(format!("`{name}` is not closed"))
}

/// Removes the question mark of names like `form.posted_successfully?`, which the parser does not accept.
fn without_question_marks(arguments: &str) -> Cow<'_, str> {
    if !arguments.contains('?') {
        return Cow::Borrowed(arguments);
    }
    let (mut within, mut before) = (None, ' ');
    let remaining = arguments.chars().filter(|&c| {
        let ends_name = within.is_none() && c == '?' && (before.is_alphanumeric() || before == '_');
        match within {
            Some(quote) if quote == c => within = None,
            None if c == '"' || c == '\'' => within = Some(c),
            _ => {}
        }
        before = c;
        !ends_name
    });
    Cow::Owned(remaining.collect())
}

#[cfg(test)]
mod tests {
    use super::normalize;

    fn text(template: &str) -> String {
        normalize(template).unwrap().text
    }

    #[test]
    fn an_output_becomes_the_tag_that_escapes() {
        assert_eq!(text("a {{- b | append: '}}' }} c"), "a {%- echo b | append: '}}' %} c");
    }

    #[test]
    fn raw_text_never_reaches_the_parser() {
        let source = normalize("{% raw %}{{ x }}{% if %}{% endraw %}y").unwrap();
        assert_eq!(source.text, "{% verbatim 0 %}y");
        assert_eq!(source.verbatim, ["{{ x }}{% if %}"]);
    }

    #[test]
    fn a_question_mark_is_removed_from_names_and_not_from_texts() {
        assert_eq!(
            text("{% if form.sent? and 'a?' == \"b?\" %}"),
            "{% if form.sent and 'a?' == \"b?\" %}"
        );
    }

    #[test]
    fn comments_leave_nothing() {
        assert_eq!(text("a{% comment %} don't {{ {% endcomment %}b{% # isn't %}c"), "abc");
    }

    #[test]
    fn lines_of_liquid_become_tags() {
        assert_eq!(
            text("{% liquid\n assign a = 1\n # no\n echo a\n%}"),
            "{% assign a = 1 %}{% echo a %}"
        );
    }

    #[test]
    fn an_error_names_its_line() {
        assert_eq!(normalize("a\nb\n{{ 'x }}").unwrap_err(), "line 3: a quote is not closed");
    }

    #[test]
    fn a_schema_is_extracted() {
        let source = normalize("x{% schema %}{\"name\": \"y\"}{% endschema %}").unwrap();
        assert_eq!(
            (source.text.as_str(), source.schema.as_deref()),
            ("x", Some("{\"name\": \"y\"}"))
        );
    }
}
