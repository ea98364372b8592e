//! What a theme asks for in vain, in all of its files at once.

use std::collections::BTreeSet;

use crate::language::LANGUAGE;
use crate::limits::{Finding, FindingCode};
use crate::source;
use crate::theme::Theme;

/// The most findings of a theme.
const MOST: usize = 500;

/// Names what the files of a theme ask for and do not get: invalid files, unknown tags and filters, snippets,
/// sections and groups that do not exist, five hundred at most. Names that a template computes are not seen.
pub fn check(theme: &Theme) -> Vec<Finding> {
    let mut found = BTreeSet::new();
    for (path, file) in theme.files.iter() {
        if found.len() >= MOST {
            break;
        }
        match path.rsplit('.').next() {
            Some("json") => {
                let read = source::json(theme, path);
                let invalid = read.and_then(Result::err);
                found.extend(invalid.map(|error| Finding::new(FindingCode::Syntax, path, &*error)));
            }
            Some("liquid") => {
                check_template(theme, path, &mut found);
                check_markup(theme, path, &String::from_utf8_lossy(&file.bytes), &mut found);
            }
            _ => {}
        }
    }
    found.into_iter().take(MOST).collect()
}

fn check_template(theme: &Theme, path: &str, found: &mut BTreeSet<Finding>) {
    let Some(source) = source::liquid(&LANGUAGE, theme, path) else { return };
    let located = |error: &liquid::ParseError| format!("line {}: {}", error.line, error.message);
    match &source.template {
        Ok(template) => {
            let unknown = template.warnings().iter();
            found.extend(
                unknown.map(|tag| Finding::new(FindingCode::UnknownTag, path, located(tag))),
            );
        }
        Err(error) => {
            found.insert(Finding::new(FindingCode::Syntax, path, located(error)));
        }
    }
}

/// Blocks in which nothing is Liquid.
const RAW: [&str; 6] = ["raw", "comment", "doc", "schema", "stylesheet", "javascript"];

/// Checks the filters and literal names in the tags and outputs of a text.
fn check_markup(theme: &Theme, path: &str, text: &str, found: &mut BTreeSet<Finding>) {
    let mut rest = text;
    while let Some(at) = opening(rest).filter(|_| found.len() < MOST) {
        let behind = rest.get(at.saturating_add(2)..).unwrap_or_default();
        let is_tag = rest.get(at..).is_some_and(|opening| opening.starts_with("{%"));
        let Some((inner, after)) = behind.split_once(if is_tag { "%}" } else { "}}" }) else {
            return;
        };
        rest = after;
        let inner = inner.trim_matches('-').trim();
        let name = inner.split_whitespace().next().unwrap_or_default();
        if is_tag && RAW.contains(&name) {
            let end = format!("end{name}");
            rest = rest.find(&end).and_then(|end| rest.get(end..)).unwrap_or_default();
            continue;
        }
        let Some(lines) = inner.strip_prefix("liquid").filter(|_| is_tag) else {
            check_line(theme, path, inner, found);
            continue;
        };
        // A `liquid` tag has a tag in each line.
        let mut is_comment = false;
        for line in lines.lines().map(str::trim) {
            is_comment = (is_comment || line == "comment") && line != "endcomment";
            if !is_comment {
                check_line(theme, path, line, found);
            }
        }
    }
}

/// Where the next tag or output begins.
fn opening(text: &str) -> Option<usize> {
    text.match_indices('{').map(|(at, _)| at).find(|at| {
        let behind = text.as_bytes().get(at.saturating_add(1));
        matches!(behind, Some(b'{' | b'%'))
    })
}

fn check_line(theme: &Theme, path: &str, line: &str, found: &mut BTreeSet<Finding>) {
    if line.starts_with('#') {
        return;
    }
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '|') => {
                let behind = line.get(at.saturating_add(1)..).unwrap_or_default().trim_start();
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
                let name = behind.get(..end).unwrap_or_default();
                if !name.is_empty() && LANGUAGE.filter(name).is_none() {
                    let message = format!("there is no filter `{name}`");
                    found.insert(Finding::new(FindingCode::UnknownFilter, path, message));
                }
            }
            _ => {}
        }
    }
    let Some((tag, behind)) = line.split_once(char::is_whitespace) else { return };
    let file = |name: &str| match tag {
        "render" | "include" => Some(format!("snippets/{name}.liquid")),
        "section" => Some(format!("sections/{name}.liquid")),
        "sections" => Some(format!("sections/{name}.json")),
        _ => None,
    };
    let behind = behind.trim_start();
    let open = behind.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let name = open.and_then(|open| behind.get(1..)?.split_once(open)).map(|(name, _)| name);
    if let Some(missing) = name.and_then(file).filter(|file| !theme.files.contains_key(file)) {
        let message = format!("the theme has no `{missing}`");
        found.insert(Finding::new(FindingCode::MissingFile, path, message));
    }
}
