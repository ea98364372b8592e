//! Tests of valid and invalid packages, built byte by byte.

mod archives;
mod contents;
mod mutations;
mod shopify;
mod zip;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Reading, read};
use crate::finding::Code;
use zip::{Entry, deflated, zip};

/// A valid theme of few files, with settings, a section and a block.
fn theme() -> Vec<(&'static str, String)> {
    let manifest = json!({
        "slug": "plain-linen", "name": "Plain Linen", "version": "1.2.0", "author": "Ann",
        "price": {"amount": 4900, "currency": "INR"},
    });
    let schema = json!([
        {"name": "theme_info", "theme_name": "Plain Linen", "theme_version": "1.2.0"},
        {"name": "Colors", "settings": [
            {"type": "header", "content": "Colors"},
            {"type": "color", "id": "color_primary", "label": "Primary", "default": "#112233"},
            {"type": "range", "id": "width", "label": "Width", "min": 1, "max": 2, "step": 0.1, "default": 1.5},
        ]},
    ]);
    let section = "<h1>{{ section.settings.heading }}</h1>\n{% schema %}\n{\"name\": \"Hero\", \"settings\": [\
        {\"type\": \"text\", \"id\": \"heading\", \"label\": \"Heading\", \"default\": \"Hello\"}],\
        \"blocks\": [{\"type\": \"slide\", \"name\": \"Slide\", \"limit\": 2, \"settings\": [\
        {\"type\": \"richtext\", \"id\": \"text\", \"label\": \"Text\"}]}],\
        \"presets\": [{\"name\": \"Hero\", \"blocks\": [{\"type\": \"slide\"}]}]}\n{% endschema %}\n";
    let index = json!({
        "sections": {"main": {"type": "hero", "settings": {"heading": "Welcome"}}}, "order": ["main"],
    });
    vec![
        ("theme.json", manifest.to_string()),
        ("layout/theme.liquid", "<html>{{ content_for_layout }}</html>".to_owned()),
        ("config/settings_schema.json", schema.to_string()),
        ("config/settings_data.json", json!({"current": {"color_primary": "#fff"}}).to_string()),
        ("sections/hero.liquid", section.to_owned()),
        ("templates/index.json", format!("/*\n * Written by the editor.\n */\n{index}")),
        ("locales/en.default.json", "{}".to_owned()),
        ("assets/theme.css", "body { margin: 0 }".to_owned()),
    ]
}

fn entries(files: &[(&str, String)]) -> Vec<Entry> {
    files.iter().map(|(name, text)| deflated(name, text.as_bytes())).collect()
}

/// The valid theme with a file added or replaced.
fn with(path: &'static str, text: impl Into<String>) -> Vec<u8> {
    let mut files = theme();
    files.retain(|(name, _)| *name != path);
    files.push((path, text.into()));
    zip(&entries(&files))
}

fn without(path: &str) -> Vec<u8> {
    let mut files = theme();
    files.retain(|(name, _)| *name != path);
    zip(&entries(&files))
}

/// The valid theme with one more entry.
fn and(entry: Entry) -> Vec<u8> {
    let mut all = entries(&theme());
    all.push(entry);
    zip(&all)
}

/// The valid theme with other settings.
fn settings(settings: &Value) -> Vec<u8> {
    let schema = json!([
        {"name": "theme_info", "theme_name": "Plain Linen"},
        {"name": "All", "settings": settings},
    ]);
    let mut files = theme();
    files.retain(|(name, _)| !name.starts_with("config/"));
    files.push(("config/settings_schema.json", schema.to_string()));
    zip(&entries(&files))
}

fn errors(reading: &Reading) -> BTreeSet<Code> {
    reading.findings.iter().filter(|finding| finding.is_error()).map(|found| found.code).collect()
}

fn warnings(reading: &Reading) -> BTreeSet<Code> {
    reading.findings.iter().filter(|finding| !finding.is_error()).map(|found| found.code).collect()
}

/// Asserts that each package is rejected with exactly these errors.
fn rejected(cases: Vec<(&str, Vec<u8>, &[Code])>) {
    for (what, bytes, codes) in cases {
        let reading = read(&bytes);
        let expected: BTreeSet<Code> = codes.iter().copied().collect();
        assert_eq!(errors(&reading), expected, "{what}: {:#?}", reading.findings);
        assert!(reading.package.is_none(), "{what}");
    }
}

/// The files of a folder, as entries of an archive.
fn folder(root: &std::path::Path) -> Vec<Entry> {
    let (mut entries, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(next) = open.pop() {
        for found in std::fs::read_dir(next).unwrap().map(|found| found.unwrap().path()) {
            if found.is_dir() {
                open.push(found);
            } else {
                let name = found.strip_prefix(root).unwrap().to_str().unwrap();
                entries.push(deflated(name, &std::fs::read(&found).unwrap()));
            }
        }
    }
    entries
}

/// Accepts each theme in the folder that `THEMES` names, such as clones of public themes.
#[test]
#[ignore = "needs themes that are not in this repository"]
fn themes_of_a_folder_are_accepted() {
    let folders = std::env::var_os("THEMES").unwrap();
    for found in std::fs::read_dir(folders).unwrap().map(|found| found.unwrap().path()) {
        let archive = zip(&folder(&found));
        let reading = read(&archive);
        println!("{}: {} bytes, {:?}", found.display(), archive.len(), warnings(&reading));
        assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    }
}
