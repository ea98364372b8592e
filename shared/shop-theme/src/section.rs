//! Sections and blocks: parts of a page with settings of their own, placed by a JSON template, a group, or a
//! layout.

use std::fmt::Write as _;
use std::sync::Arc;

use liquid::{Context, Flow, Value};
use serde_json::{Map, Value as Json, json};

use crate::limits::{Finding, FindingCode};
use crate::objects;
use crate::page::{Layout, Notes, finding, template};
use crate::settings::{Declared, Settings};
use crate::shop::Shop;
use crate::source::{self, Source};

/// The elements that a schema may select.
const ELEMENTS: [&str; 8] =
    ["article", "aside", "button", "div", "footer", "header", "nav", "section"];
/// The most blocks of one element.
const MAX_BLOCKS: usize = 1_000;

/// A section or block that is being rendered.
#[derive(Clone)]
pub(crate) struct Element {
    /// What was placed: `{type, settings, blocks, block_order, disabled}`.
    pub(crate) placed: Arc<Json>,
    /// The resources that it inherits.
    pub(crate) closest: Value,
}

/// Where a section is.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// `template`, or the name of a group.
    location: &'a str,
    /// From 1; 0 for a section that is placed alone.
    index: usize,
}

type Written = Result<(), Finding>;

/// Renders the sections of a page, in their order, from a JSON template. On the home page the merchant's
/// sections replace those of the template.
pub(crate) fn page(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    name: &str,
    out: &mut String,
) -> Written {
    let list = read(shop, &format!("templates/{name}.json"))?;
    // `"layout": "bare"`, or `false`.
    match list.get("layout") {
        Some(Json::String(layout)) => cx.register::<Notes>().layout = Layout::Named(layout.clone()),
        Some(Json::Bool(false)) => cx.register::<Notes>().layout = Layout::Bare,
        _ => {}
    }
    let wrapper = list.get("wrapper").and_then(Json::as_str).and_then(opening);
    if let Some((open, _)) = &wrapper {
        out.push_str(open);
    }
    for (place, (id, placed)) in placed_in(shop, name, &list).into_iter().enumerate() {
        let at = Place { location: "template", index: place.saturating_add(1) };
        let id = format!("template--{}__{id}", plain_name(name));
        one(cx, shop, (&id, &placed, at), out)?;
    }
    if let Some((_, close)) = wrapper {
        out.push_str(&close);
    }
    Ok(())
}

/// The sections of a template in their order, without disabled ones.
fn placed_in(shop: &Shop, name: &str, list: &Json) -> Vec<(String, Arc<Json>)> {
    let none = Map::new();
    let own = list.get("sections").and_then(Json::as_object).unwrap_or(&none);
    let (sections, order) = match &shop.theme.order {
        Some(order) if name == "index" => (&shop.theme.sections, order.clone()),
        _ => {
            let order = crate::data::list(list, "/order").iter().filter_map(Json::as_str);
            (own, order.map(str::to_owned).collect())
        }
    };
    let is_shown = |placed: &&Json| placed.get("disabled") != Some(&Json::Bool(true));
    let placed = order.into_iter().filter_map(|id| {
        let placed = sections.get(&id).filter(is_shown)?.clone();
        Some((id, Arc::new(placed)))
    });
    placed.collect()
}

/// A template's name within an id.
fn plain_name(name: &str) -> String {
    name.replace(['.', '/'], "-")
}

/// The tags of a wrapper as JSON templates write it: `div#main.page[data-x=1]`.
fn opening(wrapper: &str) -> Option<(String, String)> {
    let end = wrapper.find(['#', '.', '[']).unwrap_or(wrapper.len());
    let (name, rest) = wrapper.split_at_checked(end)?;
    if !matches!(name, "div" | "main" | "section") {
        return None;
    }
    let (mut id, mut classes, mut others) = (String::new(), Vec::new(), String::new());
    let mut rest = rest;
    while let Some(sign) = rest.chars().next() {
        let body = rest.get(1..).unwrap_or_default();
        let end = if sign == '[' {
            body.find(']')?
        } else {
            body.find(['#', '.', '[']).unwrap_or(body.len())
        };
        let (part, after) = body.split_at_checked(end)?;
        match sign {
            '#' => part.clone_into(&mut id),
            '.' => classes.push(part),
            _ => {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                let _ = write!(
                    others,
                    " {}=\"{}\"",
                    name_of(key),
                    liquid::escape(value.trim_matches(['"', '\'']).into())
                );
            }
        }
        rest = if sign == '[' { after.get(1..).unwrap_or_default() } else { after };
    }
    let mut open = format!("<{name}");
    if !id.is_empty() {
        let _ = write!(open, " id=\"{}\"", liquid::escape(id.into()));
    }
    if !classes.is_empty() {
        let _ = write!(open, " class=\"{}\"", liquid::escape(classes.join(" ").into()));
    }
    Some((format!("{open}{others}>"), format!("</{name}>")))
}

/// The name of an attribute.
fn name_of(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

fn read(shop: &Shop, path: &str) -> Result<Arc<Json>, Finding> {
    match source::json(&shop.theme, path) {
        Some(Ok(json)) => Ok(json),
        Some(Err(message)) => Err(Finding::new(FindingCode::Syntax, path, &*message)),
        None => {
            let message = "the theme has no such file";
            Err(Finding::new(FindingCode::MissingFile, path, message))
        }
    }
}

/// Renders `{% sections 'footer-group' %}`.
pub(crate) fn group(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    name: &str,
    out: &mut String,
) -> Written {
    let list = match read(shop, &format!("sections/{name}.json")) {
        Ok(list) => list,
        Err(missing) => {
            cx.register::<Notes>().warnings.push(missing);
            return Ok(());
        }
    };
    let kind = list.get("type").and_then(Json::as_str).unwrap_or(name);
    for (place, (id, placed)) in placed_in(shop, name, &list).into_iter().enumerate() {
        let at = Place { location: kind, index: place.saturating_add(1) };
        one(cx, shop, (&format!("sections--{}__{id}", plain_name(name)), &placed, at), out)?;
    }
    Ok(())
}

/// Renders `{% section 'header' %}`, with the merchant's settings or its defaults.
pub(crate) fn single(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    name: &str,
    out: &mut String,
) -> Written {
    let placed = alone_settings(shop, name);
    let at = Place { location: "static", index: 0 };
    one(cx, shop, (name, &placed, at), out)
}

/// What a theme or merchant sets for a section that no template lists.
fn alone_settings(shop: &Shop, name: &str) -> Arc<Json> {
    if let Some(placed) = shop.theme.sections.get(name) {
        return Arc::new(with_type(placed, name));
    }
    let data = source::json(&shop.theme, "config/settings_data.json").and_then(Result::ok);
    let current = data.as_ref().and_then(|data| match data.get("current") {
        Some(Json::String(preset)) => data.pointer(&format!("/presets/{preset}")),
        current => current,
    });
    let placed = current.and_then(|current| current.get("sections")?.get(name));
    Arc::new(placed.map_or_else(|| json!({"type": name}), |placed| with_type(placed, name)))
}

fn with_type(placed: &Json, name: &str) -> Json {
    let mut placed = placed.clone();
    if let Some(members) = placed.as_object_mut() {
        members.entry("type").or_insert_with(|| name.into());
    }
    placed
}

/// Renders the section of an id alone: of this page's template, of a group, or a file of `sections/`. Returns
/// whether it exists.
pub(crate) fn alone(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    id: &str,
    out: &mut String,
) -> Result<bool, Finding> {
    let split = id.split_once("__");
    let of_template = split.and_then(|(file, id)| Some((file.strip_prefix("template--")?, id)));
    let of_group = split.and_then(|(file, id)| Some((file.strip_prefix("sections--")?, id)));
    let found = if let Some((file, key)) = of_template {
        // The section may be of another template than that of the page that was asked.
        let own = template(shop);
        let names = shop.theme.files.keys().filter_map(|path| {
            path.strip_prefix("templates/")?.strip_suffix(".json").map(str::to_owned)
        });
        let name = std::iter::once(own).chain(names).find(|name| plain_name(name) == file);
        name.and_then(|name| find(shop, &format!("templates/{name}.json"), &name, key))
    } else if let Some((file, key)) = of_group {
        find(shop, &format!("sections/{file}.json"), file, key)
    } else {
        let path = format!("sections/{id}.liquid");
        shop.theme.files.contains_key(&path).then(|| alone_settings(shop, id))
    };
    let Some(placed) = found else { return Ok(false) };
    one(cx, shop, (id, &placed, Place { location: "template", index: 0 }), out)?;
    Ok(true)
}

fn find(shop: &Shop, path: &str, name: &str, key: &str) -> Option<Arc<Json>> {
    let list = read(shop, path).ok()?;
    placed_in(shop, name, &list).into_iter().find(|(id, _)| id == key).map(|(_, placed)| placed)
}

fn one(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    (id, placed, at): (&str, &Arc<Json>, Place<'_>),
    out: &mut String,
) -> Written {
    let kind = crate::data::text(placed, "/type");
    let path = format!("sections/{kind}.liquid");
    let Some(source) = shop.source(&path) else {
        let message = "the theme has no such file";
        cx.register::<Notes>().warnings.push(Finding::new(
            FindingCode::MissingFile,
            &path,
            message,
        ));
        return Ok(());
    };
    let schema = &source.schema;
    let element = schema.get("tag").and_then(Json::as_str).filter(|tag| ELEMENTS.contains(tag));
    let element = element.unwrap_or("div");
    let class = crate::data::text(schema, "/class");
    let group = match at.location {
        "template" | "static" => String::new(),
        group => format!(" shopify-section-group-{group}-group"),
    };
    let (id_html, class) = (liquid::escape(id.into()), liquid::escape(class.into()));
    let _ = write!(
        out,
        "<{element} id=\"shopify-section-{id_html}\" class=\"shopify-section{group} {class}\">"
    );
    let closest = objects::closest(shop);
    let settings = settings_of(shop, &source.declared, placed, &closest);
    let section = Value::map([
        ("id", Value::from(id)),
        ("type", kind.into()),
        ("settings", settings),
        ("blocks", blocks(shop, &source, placed, &closest)),
        ("index", if at.index == 0 { Value::Nil } else { at.index.into() }),
        ("index0", at.index.checked_sub(1).map_or(Value::Nil, Value::from)),
        ("location", at.location.into()),
    ]);
    let names = [(Arc::from("section"), section), (Arc::from("closest"), closest.clone())];
    let element_of = Element { placed: Arc::clone(placed), closest };
    render(cx, (&source, &path), (names.into(), Vec::new(), element_of), out)
        .map_err(|error| finding(&error))?;
    let _ = writeln!(out, "</{element}>");
    Ok(())
}

type Names = Vec<(Arc<str>, Value)>;

/// Renders the template of a section or block, with ambient names and variables.
fn render(
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

fn settings_of(
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
fn blocks(shop: &Arc<Shop>, source: &Source, placed: &Json, closest: &Value) -> Value {
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
