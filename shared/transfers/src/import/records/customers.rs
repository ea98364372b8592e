//! Customers, in the columns of Shopify's customer files.

use serde_json::{Map, Value};

use super::Record;
use super::cells::{self, Reading};
use crate::import::columns::{Columns, Slot};
use crate::import::rows::Row;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    FirstName,
    LastName,
    Email,
    Phone,
    AcceptsMarketing,
    ConsentSource,
    Tags,
    Groups,
    Note,
    TaxExempt,
    /// A member of the address.
    Address(&'static str),
}

/// The names of the columns.
const NAMES: &[(Column, &[&str])] = &[
    (Column::FirstName, &["First Name"]),
    (Column::LastName, &["Last Name"]),
    (Column::Email, &["Email"]),
    (Column::Phone, &["Phone"]),
    (Column::AcceptsMarketing, &["Accepts Email Marketing", "Accepts Marketing"]),
    (Column::ConsentSource, &["Consent Source"]),
    (Column::Tags, &["Tags"]),
    (Column::Groups, &["Groups"]),
    (Column::Note, &["Note"]),
    (Column::TaxExempt, &["Tax Exempt"]),
    (Column::Address("company"), &["Default Address Company", "Company"]),
    (Column::Address("line1"), &["Default Address Address1", "Address1"]),
    (Column::Address("line2"), &["Default Address Address2", "Address2"]),
    (Column::Address("city"), &["Default Address City", "City"]),
    (Column::Address("region"), &["Default Address Province Code", "Province Code"]),
    (Column::Address("country"), &["Default Address Country Code", "Country Code"]),
    (Column::Address("postal_code"), &["Default Address Zip", "Zip"]),
    (Column::Address("phone"), &["Default Address Phone"]),
];

/// Members of an address, by their columns.
const ADDRESS: &[&str] =
    &["company", "line1", "line2", "city", "region", "country", "postal_code", "phone"];

impl Column {
    /// The slot of the column with this name.
    pub(super) fn slot_of(name: &str) -> Option<Slot> {
        cells::slot_of(name, NAMES)
    }
}

fn slot(column: Column) -> Slot {
    cells::slot(&column, NAMES)
}

/// The comma-separated words of a cell.
fn words(cell: &str) -> Value {
    cell.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// The record of a row: a body of `POST /v1/customers`.
pub(super) fn record(columns: &Columns, row: &Row) -> Record {
    let mut reading = Reading::of(columns);
    let mut body = Map::new();
    let number = row.number;
    let first = reading.cell(row, slot(Column::FirstName));
    let last = reading.cell(row, slot(Column::LastName));
    let names: Vec<&str> = [first, last].into_iter().flatten().map(|(name, _)| name).collect();
    if let Some((_, column)) = first.or(last) {
        reading.source("/name", number, column);
        body.insert("name".into(), names.join(" ").into());
    }
    for (member, column) in
        [("email", Column::Email), ("phone", Column::Phone), ("note", Column::Note)]
    {
        reading.text(&mut body, ("", member), row, slot(column));
    }
    for (member, column) in
        [("accepts_marketing", Column::AcceptsMarketing), ("tax_exempt", Column::TaxExempt)]
    {
        if let Some(cell) = reading.cell(row, slot(column)) {
            body.extend(reading.flag(number, cell).map(|flag| (member.to_owned(), flag.into())));
        }
    }
    let source = reading.cell(row, slot(Column::ConsentSource)).map_or("import", |(text, _)| text);
    body.insert("marketing_source".into(), source.into());
    for (member, column) in [("tags", Column::Tags), ("groups", Column::Groups)] {
        if let Some((cell, column)) = reading.cell(row, slot(column)) {
            reading.source(&format!("/{member}"), number, column);
            body.insert(member.into(), words(cell));
        }
    }
    let mut address = Map::new();
    for member in ADDRESS {
        reading.text(&mut address, ("/address", member), row, slot(Column::Address(member)));
    }
    if !address.is_empty() {
        let persons = [("first_name", first), ("last_name", last)];
        let person = |(member, name): (&str, Option<(&str, &str)>)| {
            name.map(|(name, _)| (member.to_owned(), Value::from(name)))
        };
        address.extend(persons.into_iter().filter_map(person));
        body.insert("address".into(), address.into());
    }
    reading.record(number, body)
}
