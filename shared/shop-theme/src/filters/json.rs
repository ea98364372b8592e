//! Values as JSON.

use liquid::{Shape, Value};
use serde_json::{Map, Value as Json, json};

use super::call::Named;
use crate::header::for_script;
use crate::objects::record::record;

pub(super) const FILTERS: &[Named] = &[
    ("json", |input, _, _| Ok(Value::html(for_script(&of(input, 0).to_string())))),
    // Scripts that measure are none here.
    ("standard_event_data", |_, _, _| Ok("{}".into())),
];

/// How deep values are written.
const DEEPEST: u32 = 12;

/// A value as JSON; a resource with the members that scripts expect.
pub(crate) fn of(value: &Value, depth: u32) -> Json {
    if depth > DEEPEST {
        return Json::Null;
    }
    if let Some(record) = record(value) {
        return record.shaped().clone();
    }
    let deeper = depth.saturating_add(1);
    match value {
        Value::Nil | Value::Blank | Value::Empty => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => {
            serde_json::Number::from_f64(*number).map_or(Json::Null, Json::Number)
        }
        Value::Str(text) | Value::Html(text) => (&**text).into(),
        Value::Range(..) => value.to_text().into_owned().into(),
        Value::Array(items) => items.iter().map(|item| of(item, deeper)).collect(),
        Value::Object(object) => {
            if let Some(scalar) = object.as_value() {
                return of(&scalar, deeper);
            }
            match object.shape() {
                Shape::List => {
                    object.items().into_iter().flatten().map(|item| of(&item, deeper)).collect()
                }
                Shape::Hash => {
                    let pairs = object.items().into_iter().flatten();
                    let members = pairs.filter_map(|pair| {
                        let Value::Array(pair) = pair else { return None };
                        let (name, value) = (pair.first()?, pair.get(1)?);
                        Some((name.to_text().into_owned(), of(value, deeper)))
                    });
                    Json::Object(members.collect::<Map<String, Json>>())
                }
                Shape::Object => match object.text() {
                    text if text.is_empty() => json!({}),
                    text => text.into(),
                },
            }
        }
    }
}
