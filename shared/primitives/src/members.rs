//! The members of a JSON object as slices of its text: a reader of few members, or one that passes them
//! on, need not parse all values.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A name, and the text of its value.
pub type Member<'a> = (Cow<'a, str>, &'a RawValue);

/// The members in their order, duplicate names included.
pub struct Members<'a>(pub Vec<Member<'a>>);

/// A member's name, borrowed from the text unless it has an escape.
#[derive(Deserialize)]
pub struct Name<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}
