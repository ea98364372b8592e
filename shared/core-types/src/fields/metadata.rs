//! Metadata: texts that apps and merchants store with an object.

use std::collections::BTreeMap;

use deserr::{Deserr, IntoValue, Map as _, Value, ValuePointerRef};
use primitives::fields::{FieldErrors, FromText, Text, Violation};
use schemars::json_schema;

/// The most entries of one object's metadata.
pub const MAX_METADATA: usize = 50;

/// The name of an entry.
type Name = Text<1, 40>;
/// The text of an entry.
type MetadataValue = Text<0, 500>;

/// The metadata of an object, written by apps and merchants: at most 50 entries, names of 1 to 40 characters,
/// texts of at most 500.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata(pub BTreeMap<String, String>);

primitives::inline_schema!([] Metadata, "Metadata", |generator| {
    json_schema!({
        "type": "object",
        "maxProperties": MAX_METADATA,
        "propertyNames": generator.subschema_for::<Name>(),
        "additionalProperties": generator.subschema_for::<MetadataValue>(),
    })
});

impl Deserr<FieldErrors> for Metadata {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        // The library's own maps drop invalid entries silently.
        let Value::Map(map) = value else {
            return BTreeMap::<String, MetadataValue>::deserialize_from_value(value, location)
                .map(|_| Self::default());
        };
        let (mut entries, mut field_errors) = (BTreeMap::new(), FieldErrors::default());
        for (name, text) in map.into_iter() {
            let place = location.push_key(&name);
            if Name::from_text(&name).is_err() {
                field_errors.add_at(place, || {
                    Violation::new("invalid_name", "A key must have 1 to 40 characters.")
                });
            }
            match MetadataValue::deserialize_from_value(text.into_value(), place) {
                Ok(text) => drop(entries.insert(name, text.into())),
                Err(found) => field_errors.merge(found),
            }
        }
        if entries.len() > MAX_METADATA {
            let detail = format!("Must have at most {MAX_METADATA} entries.");
            field_errors.add_at(location, || Violation::new("too_many", detail));
        }
        if field_errors.is_empty() { Ok(Self(entries)) } else { Err(field_errors) }
    }
}

/// A filter of lists by metadata, as `name:text`: it matches the objects that have this text under this name.
/// The first colon separates the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataFilter {
    name: String,
    text: String,
}

impl MetadataFilter {
    /// Whether this metadata matches.
    pub fn takes(&self, metadata: &BTreeMap<String, String>) -> bool {
        metadata.get(&self.name) == Some(&self.text)
    }
}

impl FromText for MetadataFilter {
    const EXPECTS: &'static str = "a name and a text with a colon between them";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let detail = "Must be a key of at most 40 characters, a colon and a value.";
        let violation = || Violation::new("invalid_filter", detail);
        let (name, text) = text.split_once(':').ok_or_else(violation)?;
        let is_name = !name.chars().chain(text.chars()).any(char::is_control)
            && Name::from_text(name).is_ok()
            && MetadataValue::from_text(text).is_ok();
        is_name.then(|| Self { name: name.to_owned(), text: text.to_owned() }).ok_or_else(violation)
    }
}

primitives::text_field!(MetadataFilter);
primitives::string_schema!(MetadataFilter: {
    "pattern": r"^[^:\x00-\x1f\x7f-\x9f]{1,40}:[^\x00-\x1f\x7f-\x9f]{0,500}$",
});
