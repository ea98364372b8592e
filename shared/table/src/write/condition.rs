//! Conditions and changes, and their form in the SDK.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;

use crate::item::Attributes;

/// A condition over an item, or a change of one, with its values.
#[derive(Debug, Clone, Default)]
pub struct Condition {
    pub(super) text: String,
    pub(super) names: Vec<(String, String)>,
    pub(super) values: Attributes,
}

impl Condition {
    /// A condition expression; names that are reserved words are written with `#` and given by
    /// [`Condition::name`], values with `:`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The item is at this version.
    pub fn is_at(version: u64) -> Self {
        Self::new("#version = :read").name("#version", "version").value(":read", version)
    }

    /// The item is there.
    pub fn exists() -> Self {
        Self::new("attribute_exists(PK)")
    }

    /// The item has this value as an attribute.
    pub fn is(attribute: &str, value: impl Serialize) -> Self {
        Self::new("#is = :is").name("#is", attribute).value(":is", value)
    }

    /// Binds a `#name`.
    #[must_use]
    pub fn name(mut self, placeholder: &str, attribute: &str) -> Self {
        self.names.push((placeholder.to_owned(), attribute.to_owned()));
        self
    }

    /// Binds a `:value`.
    #[must_use]
    pub fn value(mut self, placeholder: &str, value: impl Serialize) -> Self {
        let value = serde_dynamo::to_attribute_value(value);
        self.values.insert(placeholder.to_owned(), value.unwrap_or(AttributeValue::Null(true)));
        self
    }
}

/// An update expression with a condition: `Change::new("SET a = :a").only_if("b = :b")`.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub(super) update: String,
    pub(super) condition: Condition,
}

impl Change {
    /// An update expression.
    pub fn new(update: impl Into<String>) -> Self {
        Self { update: update.into(), condition: Condition::default() }
    }

    /// The condition under which it happens.
    #[must_use]
    pub fn only_if(mut self, condition: impl Into<String>) -> Self {
        self.condition.text = condition.into();
        self
    }

    /// The condition under which it happens, with its bindings.
    #[must_use]
    pub fn under(mut self, condition: Condition) -> Self {
        self.condition.text = condition.text;
        self.condition.names.extend(condition.names);
        self.condition.values.extend(condition.values);
        self
    }

    /// Binds a `#name`.
    #[must_use]
    pub fn name(mut self, placeholder: &str, attribute: &str) -> Self {
        self.condition = self.condition.name(placeholder, attribute);
        self
    }

    /// Binds a `:value`.
    #[must_use]
    pub fn value(mut self, placeholder: &str, value: impl Serialize) -> Self {
        self.condition = self.condition.value(placeholder, value);
        self
    }

    /// Binds a `:value` that is a set of one string, for `ADD` and `DELETE`.
    #[must_use]
    pub fn member(mut self, placeholder: &str, member: &str) -> Self {
        let set = AttributeValue::Ss(vec![member.to_owned()]);
        self.condition.values.insert(placeholder.to_owned(), set);
        self
    }
}

pub(super) type Expression = (Option<String>, Option<HashMap<String, String>>, Option<Attributes>);

/// The parts of an expression as the SDK takes them: absent, never empty.
pub(super) fn expression(condition: Condition) -> Expression {
    (
        (!condition.text.is_empty()).then_some(condition.text),
        (!condition.names.is_empty()).then(|| condition.names.into_iter().collect()),
        (!condition.values.is_empty()).then_some(condition.values),
    )
}
