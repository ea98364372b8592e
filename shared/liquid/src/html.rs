//! Text in HTML.

use std::borrow::Cow;

/// The text with what means something in HTML escaped.
pub fn escape(text: Cow<'_, str>) -> Cow<'_, str> {
    let special = |c: char| entity(c).is_some();
    let Some(first) = text.find(special) else { return text };
    let mut escaped = String::with_capacity(text.len().saturating_add(text.len() >> 2));
    let (plain, rest) = text.split_at(first);
    escaped.push_str(plain);
    for c in rest.chars() {
        match entity(c) {
            Some(entity) => escaped.push_str(entity),
            None => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// The text escaped, without escaping entities again.
pub(crate) fn escape_once(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match entity(c) {
            Some(_) if c == '&' && begins_entity(rest) => escaped.push('&'),
            Some(entity) => escaped.push_str(entity),
            None => escaped.push(c),
        }
    }
    escaped
}

pub(crate) fn entity(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

/// The longest name of an entity, generously.
const LONGEST: usize = 40;

fn begins_entity(text: &str) -> bool {
    let number = text.strip_prefix('#');
    let name = number.unwrap_or(text);
    let is_part = |byte: u8| {
        if number.is_some() { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() }
    };
    let length = name.bytes().take(LONGEST).take_while(|byte| is_part(*byte)).count();
    length > 0 && name.as_bytes().get(length) == Some(&b';')
}

/// The text without tags, comments, scripts and styles.
pub(crate) fn strip(text: &str) -> String {
    strip_tags(&strip_blocks(text))
}

/// What goes with all that is in it.
const BLOCKS: [(&str, &str); 3] =
    [("<script", "</script>"), ("<!--", "-->"), ("<style", "</style>")];

fn strip_blocks(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    // Blocks that are known not to end: each is looked for once.
    let mut endless = [false; 3];
    while let Some(begin) = rest.find('<') {
        let (before, at) = rest.split_at(begin);
        kept.push_str(before);
        let after = endless.iter_mut().zip(BLOCKS).find_map(|(endless, (begin, end))| {
            let inner = at.strip_prefix(begin).filter(|_| !*endless)?;
            let after = inner.split_once(end).map(|(_, after)| after);
            *endless = after.is_none();
            after
        });
        rest = after.unwrap_or_else(|| {
            kept.push('<');
            at.strip_prefix('<').unwrap_or_default()
        });
    }
    kept.push_str(rest);
    kept
}

fn strip_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        kept.push_str(before);
        let Some((_, after)) = tag.split_once('>') else {
            kept.push('<');
            kept.push_str(tag);
            return kept;
        };
        rest = after;
    }
    kept.push_str(rest);
    kept
}
