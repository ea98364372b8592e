//! What differs between the schemas of two versions of a theme.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{BlockType, Schema, SectionType, Setting};

primitives::string_enum! {
    /// How a setting, a section or a block differs.
    ChangeKind {
        /// It is new.
        Added = "added",
        /// It is gone.
        Removed = "removed",
        /// It is of another type.
        TypeChanged = "type_changed",
        /// Its default is another.
        DefaultChanged = "default_changed",
        /// What it takes is another: options, bounds, a limit.
        ConstraintChanged = "constraint_changed",
    }
}

/// One difference between two schemas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeChange")]
pub struct Change {
    /// What differs: `settings.color_primary`, `sections.hero`, `sections.hero.settings.heading`,
    /// `sections.hero.blocks.slide.settings.image`, `blocks.group`.
    pub place: String,
    /// How.
    pub change: ChangeKind,
}

/// What differs between two schemas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeDifference")]
pub struct Difference {
    /// Every difference, by its place.
    pub changes: Vec<Change>,
}

/// What differs from the old schema to the new.
pub fn difference(old: &Schema, new: &Schema) -> Difference {
    let mut changes = Vec::new();
    let settings = |schema: &Schema| schema.settings().cloned().collect::<Vec<_>>();
    compare_settings("settings", &settings(old), &settings(new), &mut changes);
    pairs("sections", &old.sections, &new.sections, |section| &section.kind, &mut changes, section);
    pairs("blocks", &old.blocks, &new.blocks, |block| &block.kind, &mut changes, block);
    changes.sort_by(|a, b| (&a.place, a.change).cmp(&(&b.place, b.change)));
    Difference { changes }
}

/// Says what is new and what is gone, and compares what is in both.
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
    for gone in old.iter().filter(|item| find(new, item).is_none()) {
        changes.push(Change { place: place_of(gone), change: ChangeKind::Removed });
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

/// Compares settings by their ids; what has no value has none and does not count.
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

/// What decides which values a setting takes.
fn constraints(setting: &Setting) -> impl PartialEq {
    let number = |number: &Option<serde_json::Number>| number.as_ref().map(ToString::to_string);
    let options = setting.options.iter().map(|option| option.value.clone());
    let bounds = [&setting.min, &setting.max, &setting.step].map(number);
    let definition: Vec<Setting> = setting.definition.clone();
    (bounds, options.collect::<Vec<_>>(), setting.limit, setting.accept.clone(), definition)
}
