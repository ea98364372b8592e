//! The documentation of handlers: summary, description and problems. It is read from the sources, so that it
//! exists once, with the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use emulators::AnyError;
use primitives::problem::Code;
use syn::{Attribute, Expr, File, Item, Lit, Meta};

/// The heading under which a handler names its problems.
const ERRORS: &str = "# Errors";

/// The documentation of one handler.
#[derive(Debug, Clone, Default)]
pub struct Documentation {
    /// The first sentence: an imperative.
    pub summary: String,
    /// The name of the operation, which follows its route in parentheses: `listOrders`.
    pub operation_id: Option<String>,
    /// The text that follows it.
    pub description: String,
    /// The problems that it names.
    pub codes: BTreeSet<&'static str>,
    /// The route at the beginning, `GET /v1/…`: the row that it documents.
    pub route: Option<String>,
}

/// Reads the documentation of every function of these families, by its path in the code:
/// `orders::refund::refund`.
pub fn read(functions: &Path) -> Result<BTreeMap<String, Documentation>, AnyError> {
    let mut found = BTreeMap::new();
    for family in fs::read_dir(functions)? {
        let family = family?;
        let name = family.file_name().to_string_lossy().replace('-', "_");
        read_folder(&family.path().join("src"), &name, &mut found)?;
    }
    Ok(found)
}

fn read_folder(
    folder: &Path,
    module: &str,
    found: &mut BTreeMap<String, Documentation>,
) -> Result<(), AnyError> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            read_folder(&path, &format!("{module}::{name}"), found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let here = if name == "lib" { module.to_owned() } else { format!("{module}::{name}") };
            let file: File = syn::parse_file(&fs::read_to_string(&path)?)?;
            for item in file.items {
                if let Item::Fn(function) = item {
                    let name = format!("{here}::{}", function.sig.ident);
                    let documentation = Documentation::of(&function.attrs);
                    let documentation = documentation.ok_or_else(|| {
                        format!(
                            "{name}: a handler names its problems itself, by no link to another"
                        )
                    })?;
                    found.insert(name, documentation);
                }
            }
        }
    }
    Ok(())
}

impl Documentation {
    /// `None` for a handler that refers to another one's problems: its own list would lack them.
    fn of(attributes: &[Attribute]) -> Option<Self> {
        let lines: Vec<String> = attributes.iter().filter_map(line).collect();
        Self::parse(&lines.join("\n"))
    }

    fn parse(text: &str) -> Option<Self> {
        let (text, errors) = text.split_once(ERRORS).unwrap_or((text, ""));
        let text = unwrapped(text);
        let (first, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let (route, tail) = match first.strip_prefix('`').and_then(|first| first.split_once('`')) {
            Some((route, tail)) if route.contains(" /") => (Some(route.to_owned()), tail),
            _ => (None, first),
        };
        if route.is_some() && errors.contains("[`") {
            return None;
        }
        let tail = tail.trim_start_matches([' ', ':', '—', '-']);
        let named_first = tail.strip_prefix("(`").and_then(|tail| tail.split_once("`):"));
        let (operation_id, tail) = match named_first {
            Some((id, tail)) => (Some(id.to_owned()), tail.trim_start()),
            None => (None, tail),
        };
        let (summary, more) = tail.split_once(". ").unwrap_or((tail, ""));
        let description = [more, rest].into_iter().filter(|part| !part.is_empty());
        Some(Self {
            summary: capitalized(summary.trim_end_matches('.')),
            description: description.collect::<Vec<_>>().join("\n\n"),
            operation_id,
            codes: named(errors),
            route,
        })
    }
}

/// One line of a doc comment.
fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(value) = &meta.value else { return None };
    let Lit::Str(text) = &value.lit else { return None };
    let text = text.value();
    meta.path.is_ident("doc").then(|| text.strip_prefix(' ').unwrap_or(&text).to_owned())
}

/// The text with each paragraph as a single line; lists and code stay as they are.
fn unwrapped(text: &str) -> String {
    let paragraph = |paragraph: &str| {
        let keeps_lines = paragraph.lines().any(|line| line.starts_with(['-', '|', '`', ' ']));
        let keeps_lines = keeps_lines && !paragraph.starts_with('`');
        if keeps_lines { paragraph.to_owned() } else { paragraph.replace('\n', " ") }
    };
    let paragraphs = text.trim().split("\n\n").map(paragraph);
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The text with a capital first letter.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The words in backticks that are codes of the catalogue; the others are codes of field errors.
fn named(text: &str) -> BTreeSet<&'static str> {
    let marked = text.split('`').skip(1).step_by(2);
    let known = |word: &str| Code::ALL.iter().map(|code| code.as_str()).find(|code| *code == word);
    marked.filter_map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_read_into_route_summary_description_and_problems() {
        let text = "`POST /v1/orders/{id}/refund` (`refundOrder`): Refund an order. It is\n\
                    asked for once.\n\nAnd more.\n\n# Errors\n`not_found`, `nothing_to_refund`;\n\
                    `too_few` as a fault of its field.";
        let read = Documentation::parse(text).expect("names its own problems");
        assert_eq!(read.route.as_deref(), Some("POST /v1/orders/{id}/refund"));
        assert_eq!(read.operation_id.as_deref(), Some("refundOrder"));
        assert_eq!(read.summary, "Refund an order");
        assert_eq!(read.description, "It is asked for once.\n\nAnd more.");
        assert_eq!(read.codes, BTreeSet::from(["not_found", "nothing_to_refund"]));
    }

    #[test]
    fn a_handler_does_not_refer_to_problems_of_another() {
        let of_handler = "`GET /v1/orders` (`listOrders`): List orders.\n\n# Errors\nAs [`get`].";
        assert!(Documentation::parse(of_handler).is_none());
        assert!(Documentation::parse("List orders.\n\n# Errors\nAs [`get`].").is_some());
    }
}
