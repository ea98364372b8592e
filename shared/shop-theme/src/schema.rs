//! The settings that a theme, its sections and its blocks declare.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

/// The settings that a schema declares: type and default, by id and in order.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) settings: BTreeMap<String, Setting>,
    pub(crate) order: Vec<String>,
}

/// A declared setting.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) kind: String,
    pub(crate) default: Json,
    /// The settings of each scheme of a group.
    pub(crate) definition: Option<Arc<Declared>>,
}

impl Declared {
    /// Those of a list of settings.
    pub(crate) fn of(list: Option<&Json>) -> Self {
        let mut declared = Self::default();
        declared.add(list);
        declared
    }

    /// Those of `config/settings_schema.json`, which has them in groups.
    pub(crate) fn of_theme(schema: &Json) -> Self {
        let mut declared = Self::default();
        for group in schema.as_array().into_iter().flatten() {
            declared.add(group.get("settings"));
        }
        declared
    }

    fn add(&mut self, list: Option<&Json>) {
        for setting in list.and_then(Json::as_array).into_iter().flatten() {
            let text = |name: &str| setting.get(name).and_then(Json::as_str);
            let (Some(id), Some(kind)) = (text("id"), text("type")) else { continue };
            let default = setting.get("default").cloned();
            let default = default.unwrap_or_else(|| default_of(kind, setting));
            let definition = setting.get("definition");
            let definition = definition.map(|list| Arc::new(Self::of(Some(list))));
            let setting = Setting { kind: kind.to_owned(), default, definition };
            self.order.push(id.to_owned());
            self.settings.insert(id.to_owned(), setting);
        }
    }

    /// The handles that values of these settings name, by the kind of resource.
    pub(crate) fn references(&self, values: &Map<String, Json>, add: &mut dyn FnMut(&str, &str)) {
        for (id, setting) in &self.settings {
            let value = values.get(id).unwrap_or(&setting.default);
            let kind = setting.kind.trim_end_matches("_list");
            let kind = if setting.kind == "link_list" { "link_list" } else { kind };
            match value {
                Json::String(handle) if !handle.is_empty() && !handle.contains("{{") => {
                    add(kind, handle);
                }
                Json::Array(handles) => {
                    handles.iter().filter_map(Json::as_str).for_each(|handle| add(kind, handle));
                }
                _ => {}
            }
        }
    }
}

/// The value of a setting whose schema has no default.
fn default_of(kind: &str, setting: &Json) -> Json {
    match kind {
        "checkbox" => false.into(),
        "select" | "radio" => {
            setting.pointer("/options/0/value").cloned().unwrap_or_else(|| "".into())
        }
        "text_alignment" => "left".into(),
        "range" => setting.get("min").cloned().unwrap_or_default(),
        _ => Json::Null,
    }
}
