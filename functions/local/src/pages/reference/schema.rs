//! JSON Schemas as text: types, members, examples.

use maud::{Markup, html};
use serde_json::Value;

use super::super::layout::{described, text};
use super::document::resolved;

/// The deepest level of members that are listed: schemas contain each other.
const DEEPEST: usize = 3;
/// Values of an enumeration that are listed.
const VALUES: usize = 24;

/// A schema without the alternative that it is null.
fn without_null(schema: &'static Value) -> &'static Value {
    let schema = resolved(schema);
    let alternatives = ["anyOf", "oneOf"].into_iter().find_map(|name| schema.get(name)?.as_array());
    let Some(alternatives) = alternatives else { return schema };
    let mut others = alternatives.iter().filter(|it| text(it, "type") != "null");
    match (others.next(), others.next()) {
        (Some(only), None) => resolved(only),
        _ => schema,
    }
}

/// The values of an enumeration.
pub(super) fn values(schema: &'static Value) -> Vec<&'static str> {
    let values = without_null(schema).get("enum").and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The type of a schema, in a few words.
pub(super) fn type_of(schema: &'static Value) -> String {
    let schema = without_null(schema);
    let values = values(schema);
    if !values.is_empty() {
        let more = if values.len() > VALUES { ", …" } else { "" };
        let listed: Vec<_> = values.into_iter().take(VALUES).collect();
        return format!("one of {}{more}", listed.join(", "));
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("properties").is_some() || schema.get("allOf").is_some() => {
            "object".to_owned()
        }
        _ => "any".to_owned(),
    };
    if named == "array" {
        let items = schema.get("items").map(type_of);
        return items.map_or(named, |items| format!("array of {items}"));
    }
    let form = hint(schema).or_else(|| {
        let format = text(schema, "format");
        (!format.is_empty()).then(|| format.to_owned())
    });
    form.map_or_else(|| named.clone(), |form| format!("{named}, {form}"))
}

/// What an id looks like, of its pattern: `ord_…`.
pub(super) fn hint(schema: &'static Value) -> Option<String> {
    let pattern = text(without_null(schema), "pattern").strip_prefix('^')?;
    let (prefix, rest) = pattern.split_once("_[0-9a-f]")?;
    let is_prefix = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_prefix && rest.starts_with("{32}")).then(|| format!("{prefix}_…"))
}

/// The members of a schema and of what is in it.
pub(super) fn properties(schema: &'static Value, depth: usize) -> Markup {
    let schema = inner(schema);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let members = schema.get("properties").and_then(Value::as_object);
    let parts = schema.get("allOf").and_then(Value::as_array);
    html! {
        @if let Some(members) = members {
            dl.members { @for (name, it) in members {
                @let about = [it, without_null(it)].into_iter().map(|it| text(it, "description")).find(|it| !it.is_empty());
                @let inner = html! {
                    @if depth < DEEPEST && has_members(it) {
                        details { summary { "Members of " code { (name) } } div.inner { (properties(it, depth.saturating_add(1))) } }
                    }
                };
                (member(name, "", is_required(name), Some(it), about.unwrap_or_default(), &inner))
            } }
        }
        @for part in parts.into_iter().flatten() { (properties(part, depth)) }
        @if depth == 0 && members.is_none() && parts.is_none() { p.faint { (type_of(schema)) } }
    }
}

/// A schema, or that of an array's items.
fn inner(schema: &'static Value) -> &'static Value {
    let schema = without_null(schema);
    schema.get("items").map_or(schema, |items| inner(items))
}

fn has_members(schema: &'static Value) -> bool {
    let schema = inner(schema);
    schema.get("properties").is_some() || schema.get("allOf").is_some()
}

/// The example of a body, or of its schema.
pub(super) fn example(content: &'static Value) -> Option<&'static Value> {
    if let Some(example) = content.get("example") {
        return Some(resolved(example));
    }
    resolved(content.get("schema")?).get("examples")?.as_array()?.first()
}

/// A parameter or a member of a body.
pub(super) fn member(
    name: &str,
    place: &str,
    is_required: bool,
    schema: Option<&'static Value>,
    about: &str,
    inner: &Markup,
) -> Markup {
    html! {
        div {
            dt {
                code { (name) }
                @if !place.is_empty() { span.faint { (place) } }
                @if is_required { span.required { "required" } }
            }
            dd {
                @if let Some(schema) = schema { span.type { (type_of(schema)) } }
                @if !about.is_empty() { p { (described(about)) } }
                (inner)
            }
        }
    }
}
