//! JSON Schemas (2020-12) of the types of request fields.

use schemars::{JsonSchema, json_schema};

use crate::fields::{AtMost, Exact, Flag, Int, Nullable, Patch, Text, Written};

/// Implements [`JsonSchema`] in place: the schema stands wherever the type does.
#[macro_export]
macro_rules! inline_schema {
    ([$($generics:tt)*] $name:ty, $title:expr, |$generator:ident| $schema:expr) => {
        impl<$($generics)*> schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $title.into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

/// The pattern of a trimmed text of a single line with a character that is no blank: without control characters.
pub const LINE: &str = r"^[^\S\x0b-\x1f\x85]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";

/// As [`LINE`], of a text that may be empty.
pub const LINE_OR_EMPTY: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";

inline_schema!([const MIN: usize, const MAX: usize] Text<MIN, MAX>, format!("Text{MIN}To{MAX}"), |_generator| {
    const { assert!(MIN < 2, "no pattern counts characters without the blanks at both ends") };
    json_schema!({
        "type": "string", "minLength": MIN, "maxLength": MAX,
        // No control characters but the line feed and the tab. Blanks at both ends do not count as characters.
        "pattern": if MIN == 0 {
            r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$"
        } else {
            r"^[^\S\x0b-\x1f\x85]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b-\x1f\x7f-\x9f]*$"
        },
    })
});
inline_schema!([const MAX: usize] Exact<MAX>, format!("Exact{MAX}"), |_generator| {
    json_schema!({"type": "string", "minLength": 1, "maxLength": MAX})
});
inline_schema!([const MIN: i64, const MAX: i64] Int<MIN, MAX>, format!("Int{MIN}To{MAX}"), |_generator| {
    json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
});
inline_schema!([] Flag, "Flag", |_generator| json_schema!({"type": "boolean"}));
inline_schema!([T: JsonSchema] Written<T>, format!("Written{}", T::schema_name()), |generator| {
    T::json_schema(generator)
});
inline_schema!([T: JsonSchema] Nullable<T>, format!("Nullable{}", T::schema_name()), |generator| {
    <Option<T>>::json_schema(generator)
});
inline_schema!([T: JsonSchema] Patch<T>, format!("Patch{}", T::schema_name()), |generator| {
    <Option<T>>::json_schema(generator)
});
inline_schema!([T: JsonSchema, const MAX: usize] AtMost<T, MAX>, format!("AtMost{MAX}{}", T::schema_name()), |generator| {
    let items = generator.subschema_for::<T>();
    json_schema!({"type": "array", "items": items, "maxItems": MAX})
});

/// Describes types that are read from text: `"type": "string"`, with further keywords.
#[macro_export]
macro_rules! string_schema {
    ($name:ty: {$($known:tt)*}) => {
        $crate::inline_schema!([] $name, stringify!($name), |_generator| {
            schemars::json_schema!({"type": "string", $($known)*})
        });
    };
    ($($name:ty),*) => {$(
        $crate::inline_schema!([] $name, stringify!($name), |_generator| {
            schemars::json_schema!({"type": "string"})
        });
    )*};
}
