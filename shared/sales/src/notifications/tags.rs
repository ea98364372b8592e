//! The tags of a mail template, read before the template is rendered: only what is listed here is allowed.

use primitives::fields::Violation;

use super::kind::{NotificationKind, Placeholder, PlaceholderList, PlaceholderPosition};

/// A tag in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag<'t> {
    /// `{{ name }}`, `{% if name %}`, `{% elif not name %}`.
    Name(&'t str),
    /// `{% for entry in list %}`.
    For(&'t str, &'t str),
    /// `{% endfor %}`.
    EndFor,
    /// `{% else %}`, `{% endif %}`.
    Other,
}

/// Reads the tags of a text in order.
///
/// # Errors
/// `invalid_template`: the first broken tag.
fn tags(text: &str) -> Result<Vec<Tag<'_>>, Violation> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let tag = rest.get(at..).unwrap_or_default();
        let (is_value, end) = match tag.as_bytes() {
            [b'{', b'{', ..] => (true, "}}"),
            [b'{', b'%', ..] => (false, "%}"),
            [b'{', b'#', ..] => return Err(invalid_template("Comments are not allowed.")),
            _ => {
                rest = tag.get(1..).unwrap_or_default();
                continue;
            }
        };
        let Some(length) = tag.find(end) else {
            return Err(invalid_template(&format!("`{}` is not closed.", cut(tag))));
        };
        let inner = tag.get(2..length).unwrap_or_default().trim_matches(['-', '+']).trim();
        let words: Vec<&str> = inner.split_whitespace().collect();
        found.push(match (is_value, words.as_slice()) {
            (true, [name]) | (false, ["if" | "elif", name] | ["if" | "elif", "not", name]) => {
                Tag::Name(name)
            }
            (false, ["for", entry, "in", list]) => Tag::For(entry, list),
            (false, ["endfor"]) => Tag::EndFor,
            (false, ["else" | "endif"]) => Tag::Other,
            _ => return Err(invalid_template(&format!("`{}` is not a placeholder.", cut(tag)))),
        });
        rest = tag.get(length.saturating_add(2)..).unwrap_or_default();
    }
    Ok(found)
}

/// The placeholders that a text uses, outside its loops. Loops go through the lists of this kind, and have the
/// placeholders of their entries.
///
/// # Errors
/// `invalid_template`, `unknown_placeholder`, `placeholder_not_allowed`.
pub(super) fn used(
    text: &str,
    kind: NotificationKind,
    place: PlaceholderPosition,
) -> Result<Vec<Placeholder>, Violation> {
    let mut used = Vec::new();
    let mut open_list: Option<&PlaceholderList> = None;
    for tag in tags(text)? {
        match tag {
            Tag::Name(name) => match entry_field(name) {
                Some((entry, field)) => ensure_field(open_list, entry, field)?,
                None => used.push(*find_placeholder(name, kind)?),
            },
            Tag::For(entry, list) => {
                if open_list.is_some() {
                    return Err(invalid_template("Loops cannot be nested."));
                }
                if place != PlaceholderPosition::Body {
                    let detail = "Loops are only allowed in the body.";
                    return Err(Violation::new("placeholder_not_allowed", detail));
                }
                open_list = Some(listed(entry, list, kind)?);
            }
            Tag::EndFor => open_list = None,
            Tag::Other => {}
        }
    }
    Ok(used)
}

/// The text with tags that have no dots: what is left of them is the text's own.
pub(super) fn without_dots_in_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let (before, tag) = rest.split_at(at);
        let end = if tag.starts_with("{{") { "}}" } else { "%}" };
        let length = tag.find(end).map_or(tag.len(), |end| end.saturating_add(2));
        let (tag, after) = tag.split_at(length);
        plain.push_str(before);
        plain.push_str(&tag.replace('.', "_"));
        rest = after;
    }
    plain + rest
}

/// The entry and the field of `line.title`.
fn entry_field(name: &str) -> Option<(&str, &str)> {
    name.split_once('.')
}

fn find_placeholder(name: &str, kind: NotificationKind) -> Result<&'static Placeholder, Violation> {
    let known = kind.placeholders().iter().find(|known| known.name == name);
    known.ok_or_else(|| unknown(name, kind.placeholders().iter().map(|known| known.name)))
}

fn listed(
    entry: &str,
    name: &str,
    kind: NotificationKind,
) -> Result<&'static PlaceholderList, Violation> {
    let known = kind.lists().iter().find(|list| list.name == name && list.entry == entry);
    known.ok_or_else(|| {
        let loops = kind.lists().iter().map(|list| format!("for {} in {}", list.entry, list.name));
        let loops = loops.collect::<Vec<_>>().join(", ");
        let tag = format!("for {} in {}", cut(entry), cut(name));
        Violation::new("unknown_placeholder", format!("`{tag}` is not one of: {loops}."))
    })
}

fn ensure_field(
    open_list: Option<&PlaceholderList>,
    entry: &str,
    field: &str,
) -> Result<(), Violation> {
    let Some(list) = open_list.filter(|list| list.entry == entry) else {
        let detail = format!("`{}.{}` is only allowed in its loop.", cut(entry), cut(field));
        return Err(Violation::new("placeholder_not_allowed", detail));
    };
    let mut names = list.fields.iter().map(|(name, _)| *name);
    if names.clone().any(|name| name == field) { Ok(()) } else { Err(unknown(field, &mut names)) }
}

fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Violation {
    let all = known.collect::<Vec<_>>().join(", ");
    Violation::new("unknown_placeholder", format!("`{}` is not one of: {all}.", cut(name)))
}

/// The beginning of a tag, for an error's detail.
fn cut(tag: &str) -> String {
    tag.chars().take(40).collect()
}

/// A template that cannot be rendered.
pub(super) fn invalid_template(detail: &str) -> Violation {
    Violation::new("invalid_template", detail.to_owned())
}
