//! Sections and blocks: parts of a page with settings of their own, placed by a JSON template, a group, or a
//! layout.

use std::fmt::Write as _;
use std::sync::Arc;

use liquid::{Context, Value};
use serde_json::{Value as Json, json};

use crate::block::{blocks, render, settings_of};
use crate::globals;
use crate::limits::{Finding, FindingCode};
use crate::notes::{Element, Layout, Notes};
use crate::shop::Shop;
use crate::source;
use crate::template;

/// The elements that a schema may select.
const ELEMENTS: [&str; 8] =
    ["article", "aside", "button", "div", "footer", "header", "nav", "section"];

/// Where a section is.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// `template`, or the name of a group.
    location: &'a str,
    /// From 1; 0 for a section that is placed alone.
    index: usize,
}

type Written = Result<(), Finding>;

/// Renders the sections of a page, in their order, from a JSON template.
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
    for (place, (id, placed)) in placed_in(&list).into_iter().enumerate() {
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
fn placed_in(list: &Json) -> Vec<(String, Arc<Json>)> {
    let order = crate::data::list(list, "/order").iter().filter_map(Json::as_str);
    let is_shown = |placed: &&Json| placed.get("disabled") != Some(&Json::Bool(true));
    let placed = order.filter_map(|id| {
        let placed = list.get("sections")?.get(id).filter(is_shown)?.clone();
        Some((id.to_owned(), Arc::new(placed)))
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

/// A JSON template or a section group, with the sections that the merchant placed in it.
pub(crate) fn read(shop: &Shop, path: &str) -> Result<Arc<Json>, Finding> {
    let placed = shop.theme.placed.get(path);
    let file = source::json(&shop.theme, path).or_else(|| {
        // An alternative that the merchant made to a template of the theme.
        let (base, _) = placed.and_then(|_| path.split_once('.'))?;
        source::json(&shop.theme, &format!("{base}.json"))
    });
    match (file, placed) {
        (Some(Ok(json)), None) => Ok(json),
        (Some(Ok(json)), Some(placed)) => Ok(Arc::new(with_members(&json, placed))),
        (Some(Err(message)), _) => Err(Finding::new(FindingCode::Syntax, path, &*message)),
        (None, Some(placed)) => Ok(Arc::clone(placed)),
        (None, None) => {
            let message = "the theme has no such file";
            Err(Finding::new(FindingCode::MissingFile, path, message))
        }
    }
}

/// A file's object, with these members instead of its own.
fn with_members(file: &Json, placed: &Json) -> Json {
    let mut merged = file.as_object().cloned().unwrap_or_default();
    let placed = placed.as_object().into_iter().flatten();
    merged.extend(placed.map(|(name, value)| (name.clone(), value.clone())));
    merged.into()
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
    for (place, (id, placed)) in placed_in(&list).into_iter().enumerate() {
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
    if let Some(placed) = shop.theme.placed.get(&format!("sections/{name}.liquid")) {
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
        let own = template::name(shop);
        let paths = shop.theme.files.keys().chain(shop.theme.placed.keys());
        let names = paths.filter_map(|path| {
            path.strip_prefix("templates/")?.strip_suffix(".json").map(str::to_owned)
        });
        let name = std::iter::once(own).chain(names).find(|name| plain_name(name) == file);
        name.and_then(|name| find(shop, &format!("templates/{name}.json"), key))
    } else if let Some((file, key)) = of_group {
        find(shop, &format!("sections/{file}.json"), key)
    } else {
        let path = format!("sections/{id}.liquid");
        shop.theme.files.contains_key(&path).then(|| alone_settings(shop, id))
    };
    let Some(placed) = found else { return Ok(false) };
    one(cx, shop, (id, &placed, Place { location: "template", index: 0 }), out)?;
    Ok(true)
}

fn find(shop: &Shop, path: &str, key: &str) -> Option<Arc<Json>> {
    let list = read(shop, path).ok()?;
    placed_in(&list).into_iter().find(|(id, _)| id == key).map(|(_, placed)| placed)
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
    let closest = globals::closest(shop);
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
        .map_err(|error| Finding::of(&error))?;
    let _ = writeln!(out, "</{element}>");
    Ok(())
}
