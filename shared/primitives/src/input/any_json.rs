//! JSON of a request that is validated later, not with the form of the request.

use std::borrow::Cow;
use std::marker::PhantomData;

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::fields::FieldErrors;

/// Any JSON; its schema is that of `T`.
#[derive(Debug, Clone)]
pub struct AnyJson<T>(pub serde_json::Value, PhantomData<fn() -> T>);

impl<T> Deserr<FieldErrors> for AnyJson<T> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        _: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        Ok(Self(serde_json::Value::from(value), PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for AnyJson<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
