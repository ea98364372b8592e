//! Two parts of an item read as one: the packed members, read from their JSON, and the plain ones.

use std::fmt;

use serde::Deserializer;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::de::StrRead;
use serde_json::value::RawValue;

use super::packed::TEXT;
use primitives::members::Name;

/// A member with JSON of its own.
pub(super) type Made = (String, Box<RawValue>);

/// A JSON object with plain members in addition. These take precedence: they were written later, in place.
/// The member that names a text is left out.
pub(super) struct Joined<'a, 'de> {
    pub(super) packed: &'a mut serde_json::Deserializer<StrRead<'de>>,
    pub(super) alongside: &'de [Made],
}

impl<'de> Deserializer<'de> for Joined<'_, 'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.packed.deserialize_map(Joining { visitor, alongside: self.alongside })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Passes the members of both parts to the visitor of an item.
struct Joining<'de, V> {
    visitor: V,
    alongside: &'de [Made],
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Joining<'de, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, packed: A) -> Result<Self::Value, A::Error> {
        let Self { visitor, alongside } = self;
        visitor.visit_map(All { packed, alongside, left: alongside.iter(), value: None })
    }
}

struct All<'de, A> {
    packed: A,
    alongside: &'de [Made],
    /// The plain attributes that are still to come, after the packed ones.
    left: std::slice::Iter<'de, Made>,
    /// The value of the last of them.
    value: Option<&'de RawValue>,
}

impl<'de, A: MapAccess<'de>> All<'de, A> {
    /// The name of the next packed member that counts.
    fn next_name(&mut self) -> Result<Option<Name<'de>>, A::Error> {
        while let Some(name) = self.packed.next_key::<Name<'de>>()? {
            if name.0 != TEXT && self.alongside.iter().all(|(other, _)| *other != name.0) {
                return Ok(Some(name));
            }
            self.packed.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for All<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        if let Some(Name(name)) = self.next_name()? {
            return seed.deserialize(StrDeserializer::new(&name)).map(Some);
        }
        let Some((name, value)) = self.left.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        let Some(value) = self.value.take() else { return self.packed.next_value_seed(seed) };
        seed.deserialize(&mut serde_json::Deserializer::from_str(value.get()))
            .map_err(Self::Error::custom)
    }
}
