//! The event types in a request, validated against the catalogue.

use core_types::event;
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use primitives::fields::{AtMost, Fault, FieldErrors, FromText};
use schemars::JsonSchema;

use crate::topics;

/// The most event types of one subscription.
const MAX_EVENT_TYPES: usize = 50;

/// An event type of a subscription: a name of the catalogue, `noun.*` of a known noun, or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter(String);

impl EventFilter {
    /// The filter as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The scopes that an app needs for the topics that match this filter.
    pub fn scopes(&self) -> Vec<Option<&'static str>> {
        let matching = topics::catalogue().into_iter();
        matching
            .filter(|entry| event::matches(&self.0, entry.name))
            .map(|entry| entry.scope)
            .collect()
    }

    /// Whether it is the name of one event type, not a pattern.
    pub fn is_exact(&self) -> bool {
        !self.0.ends_with('*')
    }
}

impl FromText for EventFilter {
    const EXPECTS: &'static str = "an event type";

    fn from_text(text: &str) -> Result<Self, Fault> {
        let known =
            text == "*" || topics::catalogue().iter().any(|entry| event::matches(text, entry.name));
        if known {
            return Ok(Self(text.to_owned()));
        }
        let detail = "Must be an event type of GET /v1/operations/event-types or a pattern, like \
                      `store.updated`, `store.*` or `*`.";
        Err(Fault::new("unknown_event_type", detail))
    }
}

primitives::text_field!(EventFilter);
primitives::string_schema!(EventFilter: {"pattern": "^([*]|[a-z_]+[.]([*]|[a-z_]+))$"});

/// 1 to 50 event types. Duplicates are removed.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub struct EventTypes(#[schemars(length(min = 1, max = 50))] Vec<EventFilter>);

impl EventTypes {
    /// The filters.
    pub fn filters(&self) -> &[EventFilter] {
        &self.0
    }

    /// The event types as text, as they are stored.
    pub fn to_vec(&self) -> Vec<String> {
        self.0.iter().map(|filter| filter.0.clone()).collect()
    }
}

impl Deserr<FieldErrors> for EventTypes {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        type List = AtMost<EventFilter, MAX_EVENT_TYPES>;
        let AtMost(all) = List::deserialize_from_value(value, location)?;
        if all.is_empty() {
            let fault = Fault::new("too_few", "Must have at least one event type.");
            return Err(FieldErrors::at(location, fault));
        }
        let mut once: Vec<EventFilter> = Vec::new();
        for filter in all {
            if !once.contains(&filter) {
                once.push(filter);
            }
        }
        Ok(Self(once))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn errors_of<T: Deserr<FieldErrors>>(value: Value) -> Vec<(String, &'static str)> {
        let problem = primitives::input::read::<T>(value).err();
        let errors = problem.iter().flat_map(|problem| problem.errors().iter());
        errors.map(|error| (error.pointer.clone(), error.fault.code)).collect()
    }

    #[test]
    fn event_types_are_names_patterns_of_nouns_or_all() {
        assert!(errors_of::<EventTypes>(json!(["*", "store.*", "store.updated"])).is_empty());
        let bad = json!(["store.eaten", "store.updated", "cake.*", "store", ""]);
        let found: Vec<_> = errors_of::<EventTypes>(bad).into_iter().map(|(at, _)| at).collect();
        assert_eq!(found, ["/0", "/2", "/3", "/4"]);
        assert_eq!(errors_of::<EventTypes>(json!([])), [(String::new(), "too_few")]);
        assert_eq!(errors_of::<EventTypes>(json!(vec!["*"; 51])), [(String::new(), "too_many")]);
    }
}
