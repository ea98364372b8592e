//! The settings of templates: the merchant's values or the schema's defaults, converted by their types.

use liquid_core::model::{KString, Object, Value, ValueView as _};
use serde_json::{Map, Value as Json};

use crate::{safe, value};

/// Types whose value is HTML, which was sanitized by its type when it was saved.
const HTML: [&str; 3] = ["html", "inline_richtext", "richtext"];

/// The settings that a schema's list declares, with these values. `globals` has the objects that a setting
/// may refer to: collections, products, menus.
pub(crate) fn of(declared: Option<&Json>, given: &Map<String, Json>, globals: &Object) -> Object {
    let declared = declared.and_then(Json::as_array).into_iter().flatten();
    let mut settings = Object::new();
    for setting in declared {
        let text = |name: &str| setting.get(name).and_then(Json::as_str);
        let (Some(id), Some(kind)) = (text("id"), text("type")) else { continue };
        let chosen = given.get(id).or_else(|| setting.get("default")).unwrap_or(&Json::Null);
        settings.insert(KString::from_ref(id), typed(kind, chosen, globals));
    }
    settings
}

/// The settings of `config/settings_schema.json`, which has them in groups.
pub(crate) fn of_theme(schema: &Json, given: &Map<String, Json>, globals: &Object) -> Object {
    let groups = schema.as_array().into_iter().flatten();
    groups.flat_map(|group| of(group.get("settings"), given, globals)).collect()
}

fn typed(kind: &str, chosen: &Json, globals: &Object) -> Value {
    match kind {
        kind if HTML.contains(&kind) => safe::html(chosen.as_str().unwrap_or_default()),
        "collection" => one_of("collections", chosen, globals),
        "product" => one_of("all_products", chosen, globals),
        "link_list" => one_of("linklists", chosen, globals),
        "collection_list" => some_of("collections", chosen, globals),
        "product_list" => some_of("all_products", chosen, globals),
        _ => value::of(chosen),
    }
}

/// The object with this handle, otherwise an empty text, which is blank in every condition.
fn one_of(name: &str, handle: &Json, globals: &Object) -> Value {
    let found = globals.get(name).and_then(|known| known.as_object());
    let found = found.and_then(|known| known.get(handle.as_str()?));
    found.map_or_else(|| Value::scalar(""), liquid_core::ValueView::to_value)
}

fn some_of(name: &str, handles: &Json, globals: &Object) -> Value {
    let handles = handles.as_array().into_iter().flatten();
    let found = handles.map(|handle| one_of(name, handle, globals));
    Value::Array(found.filter(liquid_core::model::Value::is_object).collect())
}
