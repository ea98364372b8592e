//! Topics: the kinds of events, as nouns declare them and the catalogue lists them.

use std::marker::PhantomData;

use primitives::clock::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::API_VERSION;
use crate::id::{EventId, StoreId};

/// A kind of event, typed by its data.
#[derive(Debug)]
pub struct Topic<T> {
    /// `noun.past_verb`.
    pub name: &'static str,
    /// The kind of entity that it is about.
    pub entity: &'static str,
    /// The scope an app needs to subscribe. Events without one go to no other app: those of an app to its own
    /// `webhook_url`, those of accounts, members and developers to whom `commerce::readers` names.
    pub scope: Option<&'static str>,
    /// When it happens, in one sentence.
    pub summary: &'static str,
    data: PhantomData<fn(&T)>,
}

impl<T> Topic<T> {
    /// A topic; [`topics!`](crate::topics) declares those of a noun.
    pub const fn new(
        name: &'static str,
        entity: &'static str,
        scope: Option<&'static str>,
        summary: &'static str,
    ) -> Self {
        Self { name, entity, scope, summary, data: PhantomData }
    }
}

/// Declares the topics of a noun, in document order: a constant for each, and `TOPICS` and `EVENT_SCHEMAS`, which
/// the catalogue collects.
#[macro_export]
macro_rules! topics {
    ($($constant:ident = $name:literal, $entity:literal, $scope:expr, $data:ty, $summary:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $summary)]
            pub const $constant: $crate::event::Topic<$data> =
                $crate::event::Topic::new($name, $entity, $scope, $summary);
        )*

        /// The topics declared here, in document order.
        pub const TOPICS: &[$crate::event::TopicDeclaration] =
            &[$($crate::event::TopicDeclaration::of(&$constant)),*];

        /// The schemas of their events, in the same order.
        pub const EVENT_SCHEMAS: &[$crate::event::EventSchema] =
            &[$($crate::event::EventSchema::of(&$constant)),*];
    };
}

/// Sample data, for the catalogue and for test deliveries.
pub trait Example: Serialize + JsonSchema {
    /// A sample.
    fn example() -> Self;
}

/// A topic as the catalogue lists it.
#[derive(Debug, Clone, Copy)]
pub struct TopicDeclaration {
    /// `noun.past_verb`.
    pub name: &'static str,
    /// The kind of entity that it is about.
    pub entity: &'static str,
    /// The scope an app needs to subscribe.
    pub scope: Option<&'static str>,
    /// When it happens.
    pub summary: &'static str,
}

impl TopicDeclaration {
    /// A topic as the catalogue lists it.
    pub const fn of<T>(topic: &Topic<T>) -> Self {
        Self { name: topic.name, entity: topic.entity, scope: topic.scope, summary: topic.summary }
    }
}

/// The JSON Schema of the body of every event.
pub fn envelope() -> Value {
    let text = json!({"type": "string"});
    json!({
        "title": "WebhookEvent",
        "description": "What happened to an entity, as a webhook delivers it.",
        "type": "object",
        "required": ["id", "type", "api_version", "created_at", "entity", "data"],
        "properties": {
            "id": {"type": "string", "pattern": "^evt_[0-9a-f]{32}$"},
            "type": text,
            "api_version": {"const": API_VERSION},
            "created_at": {"type": "string", "format": "date-time"},
            "store_id": {"type": ["string", "null"]},
            "request_id": text,
            "trace_id": text,
            "entity": {
                "type": "object",
                "required": ["type", "id", "version"],
                "properties": {"type": text, "id": text, "version": {"type": "integer"}},
            },
            "data": {"description": "The entity after the event."},
        },
    })
}

/// The schema and sample of a topic's events. It is separate from the [`TopicDeclaration`], so that a function that
/// needs only names and scopes contains no schema.
#[derive(Debug, Clone, Copy)]
pub struct EventSchema {
    /// The topic.
    pub declaration: TopicDeclaration,
    schema: fn() -> Value,
    reference: fn(&mut SchemaGenerator) -> Schema,
    example: fn() -> Value,
}

impl EventSchema {
    /// The schema of this topic's events.
    pub const fn of<T: Example>(topic: &Topic<T>) -> Self {
        Self {
            declaration: TopicDeclaration::of(topic),
            schema: schema_of::<T>,
            reference: SchemaGenerator::subschema_for::<T>,
            example: example_of::<T>,
        }
    }

    /// The JSON Schema of the whole body of such an event.
    pub fn schema(&self) -> Value {
        let mut schema = self.body(&(self.schema)());
        let dialect = json!("https://json-schema.org/draft/2020-12/schema");
        if let Value::Object(members) = &mut schema {
            members.insert("$schema".to_owned(), dialect);
        }
        schema
    }

    /// The same schema as a refinement of [`envelope`], with references to named types, whose schemas are in
    /// the generator.
    pub fn schema_in(&self, generator: &mut SchemaGenerator) -> Value {
        let data = (self.reference)(generator);
        json!({
            "allOf": [
                {"$ref": "#/components/schemas/WebhookEvent"},
                {
                    "type": "object",
                    "required": ["type", "data"],
                    "properties": {
                        "type": {"const": self.declaration.name},
                        "data": data.as_value(),
                    },
                },
            ],
        })
    }

    fn body(&self, data: &Value) -> Value {
        let mut schema = envelope();
        let own = [
            ("/title", json!(self.declaration.name)),
            ("/description", json!(self.declaration.summary)),
            ("/properties/type", json!({"const": self.declaration.name})),
            ("/properties/entity/properties/type", json!({"const": self.declaration.entity})),
            ("/properties/data", data.clone()),
        ];
        for (pointer, value) in own {
            if let Some(known) = schema.pointer_mut(pointer) {
                *known = value;
            }
        }
        schema
    }

    /// A sample of the whole body of such an event.
    pub fn example(&self) -> Value {
        json!({
            "id": EventId::derive(&["example", self.declaration.name]),
            "type": self.declaration.name,
            "api_version": API_VERSION,
            "created_at": EXAMPLE_TIME,
            "store_id": StoreId::derive(&["example"]),
            "request_id": primitives::id::derive("req_", &["example"]),
            "trace_id": primitives::id::derive("", &["example"]),
            "entity": {
                "type": self.declaration.entity,
                "id": primitives::id::derive("", &["example", self.declaration.entity]),
                "version": 2
            },
            "data": self.example_data(),
        })
    }

    /// The data of a sample event.
    pub fn example_data(&self) -> Value {
        (self.example)()
    }
}

fn schema_of<T: Example>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
    }
    schema
}

fn example_of<T: Example>() -> Value {
    serde_json::to_value(T::example()).unwrap_or_default()
}

/// The time of every example.
pub const EXAMPLE_TIME: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A sample of a text type, which only parsing can build.
pub fn sample<T: primitives::fields::FromText>(text: &str) -> T {
    match T::from_text(text) {
        Ok(value) => value,
        Err(violation) => unreachable!("the sample `{text}` is rejected: {}", violation.detail),
    }
}

/// A sample id.
#[macro_export]
macro_rules! sample_id {
    ($id:ident) => {
        $id::derive(&["example"])
    };
}
