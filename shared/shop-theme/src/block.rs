//! Blocks: parts of sections and of other blocks, and what both have in common.

use std::fmt::Write as _;
use std::sync::Arc;

use liquid::{Context, Flow, Value};
use serde_json::{Value as Json, json};

use crate::limits::{Finding, FindingCode};
use crate::notes::{Element, Notes};
use crate::schema::Declared;
use crate::settings::Settings;
use crate::shop::Shop;
use crate::source::Source;

/// The most blocks of one element.
const MAX_BLOCKS: usize = 1_000;

/// Names and values of a template.
pub(crate) type Names = Vec<(Arc<str>, Value)>;

/// Renders the template of a section or block, with ambient names and variables.
pub(crate) fn render(
    cx: &mut Context<'_>,
    (source, path): (&Source, &str),
    (names, variables, element): (Names, Names, Element),
    out: &mut String,
) -> liquid::Result<()> {
    let template = match &source.template {
        Ok(template) => Arc::clone(template),
        Err(error) => {
            let message = format!("line {}: {}", error.line, error.message);
            let finding = Finding::new(FindingCode::Syntax, path, message);
            cx.register::<Notes>().warnings.push(finding);
            let _ = write!(out, "{}", liquid::escape(error.to_string().into()));
            return Ok(());
        }
    };
    cx.register::<Notes>().elements.push(element);
    let rendered = cx.with_ambient(names, |cx| {
        cx.isolated(variables, |cx| cx.nested(|cx| template.render_in(cx, out)))
    });
    cx.register::<Notes>().elements.pop();
    rendered.map(drop)
}

pub(crate) fn settings_of(
    shop: &Arc<Shop>,
    declared: &Arc<Declared>,
    placed: &Json,
    closest: &Value,
) -> Value {
    let values = placed.get("settings").and_then(Json::as_object).cloned().unwrap_or_default();
    Settings::value(shop, Arc::clone(declared), Arc::new(values), Some(closest.clone()))
}

/// The shown blocks of an element by id, in their order.
fn ordered(placed: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let is_shown = |block: &&Json| {
        let is = |name: &str| block.get(name) == Some(&Json::Bool(true));
        !is("disabled") && !is("static")
    };
    let order = crate::data::list(placed, "/block_order").iter().filter_map(Json::as_str);
    let blocks = placed.get("blocks");
    order.filter_map(move |id| Some((id, blocks?.get(id).filter(is_shown)?))).take(MAX_BLOCKS)
}

/// `section.blocks`.
pub(crate) fn blocks(shop: &Arc<Shop>, source: &Source, placed: &Json, closest: &Value) -> Value {
    let one = |(id, block): (&str, &Json)| {
        let kind = crate::data::text(block, "/type");
        let declared = if let Some(declared) = source.blocks.get(kind) {
            Arc::clone(declared)
        } else {
            let file = shop.source(&format!("blocks/{kind}.liquid"));
            file.map(|file| Arc::clone(&file.declared)).unwrap_or_default()
        };
        object_of(shop, (id, block), &declared, closest)
    };
    ordered(placed).map(one).collect()
}

/// The object `block`.
fn object_of(
    shop: &Arc<Shop>,
    (id, block): (&str, &Json),
    declared: &Arc<Declared>,
    closest: &Value,
) -> Value {
    Value::map([
        ("id", Value::from(id)),
        ("type", crate::data::text(block, "/type").into()),
        ("name", crate::data::text(block, "/name").into()),
        ("settings", settings_of(shop, declared, block, closest)),
        ("shopify_attributes", "".into()),
    ])
}

/// Renders `{% content_for 'blocks' %}`: the blocks that the merchant placed in this element.
pub(crate) fn all_blocks(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    given: &[(Arc<str>, Value)],
    out: &mut String,
) -> liquid::Result<Flow> {
    let Some(element) = cx.register::<Notes>().elements.last().cloned() else {
        return Ok(Flow::Next);
    };
    for (id, block) in ordered(&element.placed) {
        one_block(cx, shop, (id, block), (given, &element.closest), out)?;
    }
    Ok(Flow::Next)
}

/// Renders `{% content_for 'block', type: …, id: … %}`: a block that the template places itself.
pub(crate) fn static_block(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    given: &[(Arc<str>, Value)],
    out: &mut String,
) -> liquid::Result<Flow> {
    let Some(element) = cx.register::<Notes>().elements.last().cloned() else {
        return Ok(Flow::Next);
    };
    let named = |name: &str| {
        let found = given.iter().find(|(other, _)| &**other == name);
        found.map(|(_, value)| value.to_text().into_owned()).unwrap_or_default()
    };
    let (kind, id) = (named("type"), named("id"));
    let placed = element.placed.get("blocks").and_then(|blocks| blocks.get(&id));
    let default = json!({ "type": kind });
    let block = placed.unwrap_or(&default);
    if block.get("disabled") != Some(&Json::Bool(true)) {
        one_block(cx, shop, (&id, block), (given, &element.closest), out)?;
    }
    Ok(Flow::Next)
}

fn one_block(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    (id, block): (&str, &Json),
    (given, closest): (&[(Arc<str>, Value)], &Value),
    out: &mut String,
) -> liquid::Result<()> {
    let kind = crate::data::text(block, "/type");
    // Blocks of apps are none here.
    if kind.starts_with('@') || kind.starts_with("shopify://apps/") {
        return Ok(());
    }
    let path = format!("blocks/{kind}.liquid");
    let Some(source) = shop.source(&path) else {
        let message = "the theme has no such file";
        cx.register::<Notes>().warnings.push(Finding::new(
            FindingCode::MissingFile,
            &path,
            message,
        ));
        return Ok(());
    };
    let is_closest = |(name, _): &&(Arc<str>, Value)| name.starts_with("closest.");
    let closest = if given.iter().any(|pair| is_closest(&pair)) {
        let mut members: liquid::Map = liquid::Map::new();
        for name in ["product", "collection", "page", "article", "blog", "metaobject"] {
            members.insert(name, closest.get(name));
        }
        for (name, value) in given.iter().filter(is_closest) {
            members.insert(name.trim_start_matches("closest."), value.clone());
        }
        Value::object(members)
    } else {
        closest.clone()
    };
    let tag = match source.schema.get("tag") {
        Some(Json::Null) => None,
        Some(Json::String(tag)) if tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') => {
            Some(tag.as_str())
        }
        _ => Some("div"),
    };
    let class = crate::data::text(&source.schema, "/class");
    if let Some(tag) = tag {
        let (id, class) = (liquid::escape(id.into()), liquid::escape(class.into()));
        let _ = write!(out, "<{tag} id=\"shopify-block-{id}\" class=\"shopify-block {class}\">");
    }
    let object = object_of(shop, (id, block), &source.declared, &closest);
    let names = vec![(Arc::from("block"), object), (Arc::from("closest"), closest.clone())];
    let is_variable =
        |pair: &&(Arc<str>, Value)| !is_closest(pair) && !matches!(&*pair.0, "type" | "id");
    let variables = given.iter().filter(is_variable).cloned().collect();
    let element = Element { placed: Arc::new(block.clone()), closest };
    render(cx, (&source, &path), (names, variables, element), out)?;
    if let Some(tag) = tag {
        let _ = write!(out, "</{tag}>");
    }
    Ok(())
}
