//! Sections: parts of a page with settings of their own, placed by a JSON template, a group, or a layout.

use std::io::Write;
use std::rc::Rc;

use liquid_core::Runtime;
use liquid_core::error::{Error, Result, ResultLiquidReplaceExt};
use liquid_core::model::{Object, Value};
use serde_json::{Map, Value as Json};

use crate::limits::{FindingCode, size};
use crate::machine::{Machine, named};
use crate::value::{self, object, weight};
use crate::{safe, settings};

/// The elements that a section's schema may select.
const ELEMENTS: [&str; 6] = ["article", "aside", "div", "footer", "header", "section"];

/// Renders the sections of a page, in their order, from a JSON template. On the home page the merchant's
/// sections replace those of the template.
pub(crate) fn page(
    machine: &Rc<Machine>,
    path: &str,
    writer: &mut dyn Write,
    runtime: &dyn Runtime,
) -> Result<()> {
    let theme = &machine.theme;
    // `"layout": "bare"`, or `false`.
    match theme.json(path).and_then(Result::ok).as_ref().and_then(|list| list.get("layout")) {
        Some(Json::String(name)) => machine.wrap_in(Some(name)),
        Some(Json::Bool(false)) => machine.wrap_in(None),
        _ => {}
    }
    if let Some(order) = theme.order.as_ref().filter(|_| path == "templates/index.json") {
        return all(machine, &theme.sections, order.iter().map(String::as_str), writer, runtime);
    }
    listed(machine, path, writer, runtime)
}

/// Renders `{% sections 'footer-group' %}`.
pub(crate) fn group(
    machine: &Rc<Machine>,
    name: &str,
    writer: &mut dyn Write,
    runtime: &dyn Runtime,
) -> Result<()> {
    listed(machine, &format!("sections/{name}.json"), writer, runtime)
}

/// Renders `{% section 'header' %}`, with the merchant's settings or its defaults.
pub(crate) fn single(
    machine: &Rc<Machine>,
    name: &str,
    writer: &mut dyn Write,
    runtime: &dyn Runtime,
) -> Result<()> {
    let chosen = machine.theme.sections.get(name).cloned().unwrap_or_default();
    one(machine, name, name, &chosen, writer, runtime)
}

/// Renders the sections that a JSON file lists.
fn listed(
    machine: &Rc<Machine>,
    path: &str,
    writer: &mut dyn Write,
    runtime: &dyn Runtime,
) -> Result<()> {
    let list = match machine.theme.json(path) {
        Some(Ok(list)) => list,
        Some(Err(fault)) => return Err(machine.fault(path, FindingCode::Syntax, fault)),
        None => {
            let fault = "the theme has no such file".to_owned();
            return Err(machine.fault(path, FindingCode::MissingFile, fault));
        }
    };
    let none = Map::new();
    let sections = list.get("sections").and_then(Json::as_object).unwrap_or(&none);
    let order = list.get("order").and_then(Json::as_array);
    let order = order.into_iter().flatten().filter_map(Json::as_str);
    all(machine, sections, order, writer, runtime)
}

fn all<'s>(
    machine: &Rc<Machine>,
    sections: &Map<String, Json>,
    order: impl Iterator<Item = &'s str>,
    writer: &mut dyn Write,
    runtime: &dyn Runtime,
) -> Result<()> {
    for id in order {
        let Some(placed) = sections.get(id) else { continue };
        if placed.get("disabled") == Some(&Json::Bool(true)) {
            continue;
        }
        let kind = placed.get("type").and_then(Json::as_str).unwrap_or_default();
        one(machine, id, kind, placed, writer, runtime)?;
    }
    Ok(())
}

fn one(
    machine: &Rc<Machine>,
    id: &str,
    kind: &str,
    placed: &Json,
    writer: &mut dyn Write,
    runtime: &dyn Runtime,
) -> Result<()> {
    machine.meter.step(1)?;
    let path = format!("sections/{kind}.liquid");
    let schema = machine.file(&path)?.schema.clone();
    let section = section(machine, id, &schema, placed)?;
    machine.meter.hold(weight(&section))?;
    let element = schema.get("tag").and_then(Json::as_str).filter(|tag| ELEMENTS.contains(tag));
    let element = element.unwrap_or("div");
    let class = schema.get("class").and_then(Json::as_str).unwrap_or_default();
    let (id, class) = (safe::escaped(id), safe::escaped(class));
    write!(writer, "<{element} id=\"section-{id}\" class=\"section {class}\">")
        .replace("too long")?;
    machine.render(&path, vec![named("section", section)], writer, runtime)?;
    writeln!(writer, "</{element}>").replace("too long")
}

/// Builds the object `section`.
fn section(machine: &Machine, id: &str, schema: &Json, placed: &Json) -> Result<Object> {
    let given =
        |of: &Json| of.get("settings").and_then(Json::as_object).cloned().unwrap_or_default();
    let settings = settings::of(schema.get("settings"), &given(placed), &machine.globals);
    let blocks = blocks(machine, schema, placed, given)?;
    Ok(object([
        ("id", Value::scalar(id.to_owned())),
        ("settings", Value::Object(settings)),
        ("blocks", Value::Array(blocks)),
    ]))
}

/// Builds the blocks of a section, in the merchant's order.
fn blocks(
    machine: &Machine,
    schema: &Json,
    placed: &Json,
    given: impl Fn(&Json) -> Map<String, Json>,
) -> Result<Vec<Value>> {
    let kinds = schema.get("blocks").and_then(Json::as_array);
    let order = placed.get("block_order").and_then(Json::as_array);
    let mut blocks = Vec::new();
    for id in order.into_iter().flatten().filter_map(Json::as_str) {
        machine.meter.step(1)?;
        let Some(block) = placed.get("blocks").and_then(|blocks| blocks.get(id)) else { continue };
        let kind = block.get("type").unwrap_or(&Json::Null);
        let declared = kinds.into_iter().flatten().find(|known| known.get("type") == Some(kind));
        let declared = declared.and_then(|known| known.get("settings"));
        let settings = settings::of(declared, &given(block), &machine.globals);
        blocks.push(Value::Object(object([
            ("id", Value::scalar(id.to_owned())),
            ("type", value::of(kind)),
            ("settings", Value::Object(settings)),
        ])));
        if size(blocks.len()) > 1_000 {
            return Err(Error::with_msg("a section has more than 1,000 blocks"));
        }
    }
    Ok(blocks)
}
