//! The catalogue of events in responses: `docs/event-types.json`, which is generated from the [`topics`] and
//! embedded. A function that generated it at run time would have to include the JSON Schemas and samples of
//! every noun, and the code that validates them.

use std::borrow::Cow;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::topics;

const WRITTEN: &str = include_str!("../../../docs/event-types.json");

/// An event type of the catalogue.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventType {
    /// The name, like `order.created`.
    pub r#type: &'static str,
    /// The type of its subject, like `order`.
    pub entity: &'static str,
    /// The scope that an app needs to receive it. `null` for events of the store's owners and admins, and of
    /// the app that they are about.
    pub scope: Option<&'static str>,
    /// When the event happens.
    #[serde(borrow)]
    pub description: Cow<'static, str>,
    /// The JSON Schema (2020-12) of the webhook body.
    #[schemars(with = "Value")]
    pub schema: &'static RawValue,
    /// An example of the webhook body.
    #[schemars(with = "Value")]
    pub example: &'static RawValue,
}

impl EventType {
    /// The `data` of the example.
    pub fn example_data(&self) -> Value {
        let body: Value = serde_json::from_str(self.example.get()).unwrap_or_default();
        body.get("data").cloned().unwrap_or_default()
    }
}

/// All event types, in document order.
pub fn all() -> &'static [EventType] {
    static ALL: LazyLock<Vec<EventType>> =
        LazyLock::new(|| serde_json::from_str(WRITTEN).unwrap_or_default());
    &ALL
}

/// The event type with this name.
pub fn find(name: &str) -> Option<&'static EventType> {
    all().iter().find(|event| event.r#type == name)
}

/// Generates the file's text from the topics, with one event type a line.
pub fn written() -> String {
    let line = |event: &core_types::event::EventSchema| {
        let topic = event.declaration;
        json!({
            "type": topic.name,
            "entity": topic.entity,
            "scope": topic.scope,
            "description": topic.summary,
            "schema": event.schema(),
            "example": event.example(),
        })
        .to_string()
    };
    let lines: Vec<_> = topics::event_schemas().iter().map(line).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_generated_from_the_topics() {
        assert!(written() == WRITTEN, "make it anew: `just openapi`");
        let names: Vec<_> = all().iter().map(|event| event.r#type).collect();
        let topics: Vec<_> = topics::catalogue().iter().map(|topic| topic.name).collect();
        assert_eq!(names, topics);
    }

    #[test]
    fn the_example_of_an_event_type_has_its_topics_data() {
        for schema in topics::event_schemas() {
            let data = find(schema.declaration.name).unwrap().example_data();
            assert_eq!(data, schema.example_data(), "{}", schema.declaration.name);
        }
    }
}
