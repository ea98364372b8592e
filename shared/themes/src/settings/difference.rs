//! Compares the schemas of two versions of a theme.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sections;
use crate::schema::{BlockType, Schema, SectionType, Setting};

primitives::string_enum! {
    /// The kind of a difference between settings, sections or blocks.
    ChangeKind {
        /// It was added.
        Added = "added",
        /// It was removed.
        Removed = "removed",
        /// Its type changed.
        TypeChanged = "type_changed",
        /// Its default changed.
        DefaultChanged = "default_changed",
        /// Its options, bounds or limits changed.
        ConstraintChanged = "constraint_changed",
    }
}

/// One difference between two schemas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeChange")]
pub struct Change {
    /// The changed part: `settings.color_primary`, `sections.hero`, `sections.hero.settings.heading`,
    /// `sections.hero.blocks.slide.settings.image`, `blocks.group`, `templates.product`,
    /// `section_groups.header-group`.
    pub place: String,
    /// The kind of the difference.
    pub change: ChangeKind,
}

/// The differences between two schemas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeDifference")]
pub struct Difference {
    /// The differences, sorted by place.
    pub changes: Vec<Change>,
}

/// Compares the old schema with the new one.
pub fn difference(old: &Schema, new: &Schema) -> Difference {
    let mut changes = Vec::new();
    let settings = |schema: &Schema| schema.settings().cloned().collect::<Vec<_>>();
    compare_settings("settings", &settings(old), &settings(new), &mut changes);
    pairs("sections", &old.sections, &new.sections, |section| &section.kind, &mut changes, section);
    pairs("blocks", &old.blocks, &new.blocks, |block| &block.kind, &mut changes, block);
    let nothing = |_: &str, _: &String, _: &String, _: &mut Vec<Change>| {};
    for (place, old, new) in [
        ("templates", &old.templates, &new.templates),
        ("section_groups", &old.section_groups, &new.section_groups),
    ] {
        let names = |pages: &BTreeMap<String, Sections>| pages.keys().cloned().collect::<Vec<_>>();
        pairs(place, &names(old), &names(new), |name| name, &mut changes, nothing);
    }
    changes.sort_by(|a, b| (&a.place, a.change).cmp(&(&b.place, b.change)));
    Difference { changes }
}

/// Reports added and removed items by name, and compares those in both lists.
fn pairs<T>(
    place: &str,
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> &String,
    changes: &mut Vec<Change>,
    compare: impl Fn(&str, &T, &T, &mut Vec<Change>),
) {
    let find = |list: &[T], wanted: &T| list.iter().position(|item| name(item) == name(wanted));
    let place_of = |item: &T| format!("{place}.{}", name(item));
    for removed in old.iter().filter(|item| find(new, item).is_none()) {
        changes.push(Change { place: place_of(removed), change: ChangeKind::Removed });
    }
    for item in new {
        match find(old, item).and_then(|at| old.get(at)) {
            Some(before) => compare(&place_of(item), before, item, changes),
            None => changes.push(Change { place: place_of(item), change: ChangeKind::Added }),
        }
    }
}

fn section(place: &str, old: &SectionType, new: &SectionType, changes: &mut Vec<Change>) {
    if (old.limit, old.max_blocks) != (new.limit, new.max_blocks) {
        let change = ChangeKind::ConstraintChanged;
        changes.push(Change { place: place.to_owned(), change });
    }
    compare_settings(&format!("{place}.settings"), &old.settings, &new.settings, changes);
    let blocks = format!("{place}.blocks");
    pairs(&blocks, &old.blocks, &new.blocks, |block| &block.kind, changes, block);
}

fn block(place: &str, old: &BlockType, new: &BlockType, changes: &mut Vec<Change>) {
    if old.limit != new.limit {
        let change = ChangeKind::ConstraintChanged;
        changes.push(Change { place: place.to_owned(), change });
    }
    compare_settings(&format!("{place}.settings"), &old.settings, &new.settings, changes);
    let blocks = format!("{place}.blocks");
    pairs(&blocks, &old.blocks, &new.blocks, |block| &block.kind, changes, block);
}

/// Compares settings by their ids. Headers and paragraphs have no id and are ignored.
fn compare_settings(place: &str, old: &[Setting], new: &[Setting], changes: &mut Vec<Change>) {
    let named = |settings: &[Setting]| -> Vec<(String, Setting)> {
        let id = |setting: &Setting| Some((setting.id.clone()?, setting.clone()));
        settings.iter().filter_map(id).collect()
    };
    pairs(
        place,
        &named(old),
        &named(new),
        |(id, _)| id,
        changes,
        |place, old, new, changes| {
            let (old, new) = (&old.1, &new.1);
            let mut differs = |is_other: bool, change| {
                if is_other {
                    changes.push(Change { place: place.to_owned(), change });
                }
            };
            if old.kind != new.kind {
                differs(true, ChangeKind::TypeChanged);
                return;
            }
            differs(old.default != new.default, ChangeKind::DefaultChanged);
            differs(constraints(old) != constraints(new), ChangeKind::ConstraintChanged);
        },
    );
}

/// The members of a setting that constrain its values.
fn constraints(setting: &Setting) -> impl PartialEq {
    let number = |number: &Option<serde_json::Number>| number.as_ref().map(ToString::to_string);
    let options = setting.options.iter().map(|option| option.value.clone());
    let bounds = [&setting.min, &setting.max, &setting.step].map(number);
    let definition: Vec<Setting> = setting.definition.clone();
    (bounds, options.collect::<Vec<_>>(), setting.limit, setting.accept.clone(), definition)
}
