//! Attributes: those in which variations differ are options, and the others are metadata.

use primitives::fields::escaped;
use serde_json::{Map, Value};

use super::super::super::cells::Reading;
use super::super::columns::OPTIONS;
use super::columns::{NAMES, list};
use crate::import::columns::Slot;
use crate::import::rows::SheetRow;

/// The most attributes that are read.
const ATTRIBUTES: usize = 50;
/// The most characters of a name among metadata.
const MAX_NAME: usize = 40;
/// The value of a variation that is for every value of an attribute.
const ANY: &str = "Any";

/// The slot of the names of attributes with this number, from 0.
const fn name_slot(number: usize) -> Slot {
    Slot { index: NAMES.len().saturating_add(number), is_repeated: false }
}

/// The slot of their values.
const fn values_slot(number: usize) -> Slot {
    Slot {
        index: NAMES.len().saturating_add(ATTRIBUTES).saturating_add(number),
        is_repeated: false,
    }
}

/// The slot of a column `Attribute 1 name` or `Attribute 1 value(s)`.
pub(super) fn slot_of(name: &str) -> Option<Slot> {
    let name = name.trim().to_ascii_lowercase();
    let (number, what) = name.strip_prefix("attribute ")?.split_once(' ')?;
    let number = number.parse::<usize>().ok()?.checked_sub(1).filter(|it| *it < ATTRIBUTES)?;
    match what {
        "name" => Some(name_slot(number)),
        "value(s)" => Some(values_slot(number)),
        _ => None,
    }
}

/// The names of the attributes in which the variations differ.
pub(super) fn options(
    reading: &mut Reading<'_>,
    first: &SheetRow,
    own: &[SheetRow],
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in own {
        for number in 0..ATTRIBUTES {
            let Some((name, column)) = reading.cell(row, name_slot(number)) else { continue };
            if !names.iter().any(|known| known == name) {
                reading.source(&format!("/options/{}", names.len()), row.number, column);
                names.push(name.to_owned());
            }
        }
    }
    if names.len() > OPTIONS {
        let detail = format!("Variants can differ in at most {OPTIONS} attributes.");
        reading.reject(first.number, None, "too_many_options", &detail);
    }
    names
}

/// The values that a variation has of the options.
pub(super) fn values(
    reading: &mut Reading<'_>,
    at: &str,
    row: &SheetRow,
    options: &[String],
) -> Vec<(String, String)> {
    let mut values = Vec::new();
    for (option, name) in options.iter().enumerate() {
        let is_it = |number: &usize| {
            let cell = reading.cell(row, name_slot(*number));
            cell.is_some_and(|(cell, _)| cell == name)
        };
        let number = (0..ATTRIBUTES).find(is_it);
        let column = values_slot(number.unwrap_or(0));
        let cell = number.and_then(|_| reading.cell(row, column));
        let name = reading.name(column);
        reading.source(&format!("{at}/options/{option}"), row.number, name);
        values.push((cell.map_or(ANY, |(value, _)| value).to_owned(), name.to_owned()));
    }
    values
}

/// The product's own attributes as metadata, several values of one between commas.
pub(super) fn metadata(
    reading: &mut Reading<'_>,
    row: &SheetRow,
    options: &[String],
) -> Map<String, Value> {
    let mut metadata = Map::new();
    for number in 0..ATTRIBUTES {
        let Some((name, named)) = reading.cell(row, name_slot(number)) else { continue };
        let Some((values, column)) = reading.cell(row, values_slot(number)) else { continue };
        if options.iter().any(|option| option == name) {
            continue;
        }
        if name.chars().count() > MAX_NAME {
            let detail = format!(
                "A name of metadata has at most {MAX_NAME} characters. The attribute was left out."
            );
            reading.warn(row.number, named, "too_long", &detail);
            continue;
        }
        reading.source(&format!("/metadata/{}", escaped(name)), row.number, column);
        metadata.insert(name.to_owned(), list(values).join(", ").into());
    }
    metadata
}
