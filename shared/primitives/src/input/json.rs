//! Strict JSON: no duplicate keys (the last one would win in `serde_json::Value`), bounded
//! nesting and a bounded number of objects and arrays (docs/conventions.md §1).

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::fields::MAX_NAME;
use crate::problem::{Code, Problem};
use crate::size::cut;

/// Levels of arrays and objects in a body (docs/conventions.md §1).
const MAX_DEPTH: usize = 64;

/// Objects and arrays in a body (docs/conventions.md §1). Seven bytes of a body can be an object that takes
/// 600 bytes of memory.
const MAX_CONTAINERS: u32 = 50_000;

/// Parses a body.
///
/// # Errors
/// `invalid_json` with the place of the fault.
pub fn parse(body: &[u8]) -> Result<Value, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let containers = Cell::new(0);
    let value = Strict { depth: 0, containers: &containers }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| {
            Code::InvalidJson.detail(format!("The body is not valid JSON: {error}."))
        })?;
    Ok(value)
}

/// Builds a [`Value`] at a depth.
#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: usize,
    containers: &'a Cell<u32>,
}

impl Strict<'_> {
    /// Enters an object or an array.
    fn deeper<E: Error>(self) -> Result<Self, E> {
        self.containers.set(self.containers.get().saturating_add(1));
        if self.containers.get() > MAX_CONTAINERS {
            return Err(E::custom(format_args!("more than {MAX_CONTAINERS} objects and arrays")));
        }
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nesting is deeper than {MAX_DEPTH}")));
        }
        Ok(Self { depth: self.depth.saturating_add(1), ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(mut key) = map.next_key::<String>()? {
            let value = map.next_value_seed(inner)?;
            if object.contains_key(&key) {
                cut(&mut key, MAX_NAME);
                return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_keys_deep_nesting_many_objects_and_trailing_bytes_are_rejected() {
        assert!(parse(br#"{"a":{"b":[1,-2,3.5,"x",null,true]}}"#).is_ok());
        assert!(parse(br#"{"a":1,"a":2}"#).is_err());
        assert!(parse(br#"[{"a":1,"\u0061":2}]"#).is_err());
        assert!(parse(b"{} {}").is_err());
        assert!(parse(format!("{}{}", "[".repeat(64), "]".repeat(64)).as_bytes()).is_ok());
        assert!(parse(format!("{}{}", "[".repeat(65), "]".repeat(65)).as_bytes()).is_err());
        assert!(parse(b"[".repeat(100_000).as_slice()).is_err());
        assert!(parse(b"\xff").is_err());
        let objects = |count: usize| format!("[{}{{}}]", "{},".repeat(count));
        assert!(parse(objects(49_998).as_bytes()).is_ok());
        assert!(parse(objects(49_999).as_bytes()).is_err());
    }
}
