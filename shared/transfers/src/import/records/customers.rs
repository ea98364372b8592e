//! Customers, in the columns of Shopify's customer files.

use serde_json::{Map, Value};

use super::cells::{self, Reading};
use super::record::Record;
use crate::import::columns::{Columns, Slot};
use crate::import::finding::Finding;
use crate::import::rows::SheetRow;

/// A column that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    FirstName,
    LastName,
    Email,
    Phone,
    AcceptsMarketing,
    ConsentSource,
    ConsentAt,
    Tags,
    Groups,
    Note,
    TaxExempt,
    Status,
    /// A member of the address.
    Address(&'static str),
    /// The recipient's name in the address, where it is not the customer's.
    Recipient(&'static str),
}

/// The names of the columns.
const NAMES: &[(Column, &[&str])] = &[
    (Column::FirstName, &["First Name"]),
    (Column::LastName, &["Last Name"]),
    (Column::Email, &["Email"]),
    (Column::Phone, &["Phone"]),
    (Column::AcceptsMarketing, &["Accepts Email Marketing", "Accepts Marketing"]),
    (Column::ConsentSource, &["Consent Source"]),
    (Column::ConsentAt, &["Consent At"]),
    (Column::Tags, &["Tags"]),
    (Column::Groups, &["Groups"]),
    (Column::Note, &["Note"]),
    (Column::TaxExempt, &["Tax Exempt"]),
    (Column::Status, &["Status"]),
    (Column::Recipient("first_name"), &["Default Address First Name"]),
    (Column::Recipient("last_name"), &["Default Address Last Name"]),
    (Column::Address("company"), &["Default Address Company", "Company"]),
    (Column::Address("line1"), &["Default Address Address1", "Address1"]),
    (Column::Address("line2"), &["Default Address Address2", "Address2"]),
    (Column::Address("city"), &["Default Address City", "City"]),
    (Column::Address("region"), &["Default Address Province Code", "Province Code"]),
    (Column::Address("country"), &["Default Address Country Code", "Country Code"]),
    (Column::Address("postal_code"), &["Default Address Zip", "Zip"]),
    (Column::Address("phone"), &["Default Address Phone"]),
];

/// The country of the address, without which there is none.
const COUNTRY: Column = Column::Address("country");
/// The most addresses besides the default one.
const FURTHER: usize = 49;
/// Members of an address that are codes.
const CODES: &[&str] = &["region", "country", "postal_code", "phone"];
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

/// The required columns that are missing, and a warning for the one without which no address is read.
pub(super) fn missing(columns: &Columns, row: u64) -> Vec<Finding> {
    let is_missing = |column| columns.first(slot(column)).is_none();
    if is_missing(Column::Email) && is_missing(Column::Phone) {
        let detail = "This column is required, or `Phone`.";
        return vec![Finding::error((row, Some("Email")), "missing_column", detail)];
    }
    let has_address = ADDRESS.iter().any(|member| !is_missing(Column::Address(member)));
    let country = (has_address && is_missing(COUNTRY)).then(|| {
        let detail = "Without this column no address is imported.";
        let column = Some("Default Address Country Code");
        Finding::warning((row, column), "missing_column", detail)
    });
    country.into_iter().collect()
}

/// The identifier of the customer of a row: the e-mail address, in lower case, or else the telephone number.
pub(super) fn identifier(columns: &Columns, row: &SheetRow) -> Option<String> {
    let reading = Reading::of(columns);
    let email = reading.cell(row, slot(Column::Email)).map(|(email, _)| email.to_lowercase());
    email.or_else(|| {
        let (phone, _) = reading.code(row, slot(Column::Phone))?;
        Some(phone.chars().filter(|sign| sign.is_alphanumeric() || *sign == '+').collect())
    })
}

/// Whether a row has a further address of the customer before it: what identifies the customer, a postal
/// address, and nothing else.
pub(super) fn is_further_address(columns: &Columns, row: &SheetRow) -> bool {
    let reading = Reading::of(columns);
    let has_email = reading.cell(row, slot(Column::Email)).is_some();
    let is_of_address = |(column, _): &(Column, &[&str])| match column {
        Column::Address(_) | Column::Recipient(_) | Column::Email => true,
        Column::Phone => !has_email,
        _ => false,
    };
    let mut others = NAMES.iter().filter(|known| !is_of_address(known));
    reading.cell(row, slot(Column::Address("line1"))).is_some()
        && others.all(|(column, _)| reading.cell(row, slot(*column)).is_none())
}

/// The record of a customer's rows: a body of `POST /v1/customers`.
pub(super) fn record(columns: &Columns, rows: &[SheetRow]) -> Option<Record> {
    let row = rows.first()?;
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
    reading.text(&mut body, ("", "email"), row, slot(Column::Email));
    reading.code_text(&mut body, ("", "phone"), row, slot(Column::Phone));
    reading.text(&mut body, ("", "note"), row, slot(Column::Note));
    if let Some((cell, column)) = reading.cell(row, slot(Column::Status)) {
        reading.source("/status", number, column);
        body.insert("status".into(), cell.to_ascii_lowercase().into());
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
    // Without a consent, or its withdrawal, a time is that of nothing.
    if body.contains_key("accepts_marketing") {
        let column = slot(Column::ConsentAt);
        reading.code_text(&mut body, ("", "marketing_consent_at"), row, column);
    }
    for (member, column) in [("tags", Column::Tags), ("groups", Column::Groups)] {
        if let Some((cell, column)) = reading.cell(row, slot(column)) {
            reading.source(&format!("/{member}"), number, column);
            body.insert(member.into(), cells::words(cell).collect());
        }
    }
    let default = address(&mut reading, "/address", row);
    if !default.is_empty() {
        body.insert("address".into(), default.into());
    }
    let mut further = Vec::new();
    for row in rows.get(1..).unwrap_or_default() {
        if further.len() == FURTHER {
            let detail = format!("A customer can have at most {FURTHER} further addresses.");
            reading.warn_of_row(row.number, "too_many_addresses", &detail);
            break;
        }
        let at = format!("/addresses/{}", further.len());
        reading.source(&at, row.number, "");
        further.push(address(&mut reading, &at, row));
    }
    if !further.is_empty() {
        body.insert("addresses".into(), further.into());
    }
    Some(reading.record(number, body))
}

/// The address of a row; none without a column for the country.
fn address(reading: &mut Reading<'_>, at: &str, row: &SheetRow) -> Map<String, Value> {
    let mut address = Map::new();
    let members = if reading.has(slot(COUNTRY)) { ADDRESS } else { &[] };
    for member in members {
        let column = slot(Column::Address(member));
        if !reading.has(column) {
            // What the file lacks is reported by the name that the column would have.
            let name = NAMES.get(column.index).and_then(|(_, names)| names.first());
            reading.source(&format!("{at}/{member}"), row.number, name.unwrap_or(&""));
        }
        if CODES.contains(member) {
            reading.code_text(&mut address, (at, member), row, column);
        } else {
            reading.text(&mut address, (at, member), row, column);
        }
    }
    if address.is_empty() {
        return address;
    }
    for (member, customers) in [("first_name", Column::FirstName), ("last_name", Column::LastName)]
    {
        let own = reading.cell(row, slot(Column::Recipient(member)));
        let name = own.or_else(|| reading.cell(row, slot(customers)));
        if let Some((name, column)) = name {
            reading.source(&format!("{at}/{member}"), row.number, column);
            address.insert(member.to_owned(), name.into());
        }
    }
    address
}
