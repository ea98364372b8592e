//! Customers as rows, in the columns of Shopify's customer files: a row with the default address, and a row
//! of the e-mail address, or else the telephone number, and the postal address for each further one.

use core_types::fields::{E164, Phone};
use identity::address::{Address, PostalAddress};
use identity::customer::{Customer, CustomerView};
use serde::Serialize;

use super::columns::ExportRow;

/// The columns.
pub(super) const COLUMNS: &[&str] = &[
    "Customer ID",
    "First Name",
    "Last Name",
    "Email",
    "Phone",
    "Accepts Email Marketing",
    "Consent At",
    "Consent Source",
    "Default Address First Name",
    "Default Address Last Name",
    "Default Address Company",
    "Default Address Address1",
    "Default Address Address2",
    "Default Address City",
    "Default Address Province Code",
    "Default Address Country Code",
    "Default Address Zip",
    "Default Address Phone",
    "Tags",
    "Groups",
    "Note",
    "Tax Exempt",
    "Status",
    "Total Orders",
    "Total Spent",
    "Currency",
    "Created At",
];

/// A customer with their addresses, the default one first, as a JSON line.
#[derive(Debug, Serialize)]
pub(super) struct CustomerLine<'a> {
    #[serde(flatten)]
    customer: CustomerView,
    address: Option<&'a PostalAddress>,
    addresses: Vec<&'a PostalAddress>,
}

impl<'a> CustomerLine<'a> {
    pub(super) fn of(customer: &Customer, addresses: &'a [Address]) -> Self {
        let mut postal = addresses.iter().map(|address| &address.postal);
        let address = postal.next();
        Self { customer: CustomerView::from(customer), address, addresses: postal.collect() }
    }
}

/// The rows of a customer with their addresses, the default one first.
pub(super) fn rows(customer: &Customer, addresses: &[Address]) -> Vec<Vec<String>> {
    let further = addresses.iter().skip(1);
    let further = further
        .map(|address| with_address(identified(ExportRow::of(COLUMNS), customer), &address.postal));
    let further = further.map(ExportRow::cells);
    let first = identified(head(customer), customer);
    let first = match addresses.first() {
        Some(address) => with_address(first, &address.postal),
        None => first,
    };
    std::iter::once(first.cells()).chain(further).collect()
}

/// A row with what identifies its customer. A number alone is written with its country code, so that it is the
/// same number in a store of another country.
fn identified(row: ExportRow, customer: &Customer) -> ExportRow {
    match (&customer.email, &customer.phone_e164) {
        (Some(email), _) => row.text("Email", email.as_str()),
        (None, phone) => row.code("Phone", phone.as_ref().map(E164::as_str)),
    }
}

fn head(customer: &Customer) -> ExportRow {
    let name = customer.name.as_deref().unwrap_or_default();
    let (first, last) = name.split_once(' ').unwrap_or((name, ""));
    let consent = customer.marketing_consent.as_ref();
    let yes = |flag: bool| if flag { "yes" } else { "no" };
    ExportRow::of(COLUMNS)
        .value("Customer ID", &customer.id)
        .text("First Name", first)
        .text("Last Name", last)
        .code("Phone", customer.phone.as_ref().map(Phone::as_str))
        .value("Accepts Email Marketing", yes(customer.accepts_marketing))
        .value("Consent At", consent.map(|consent| consent.at.to_string()).unwrap_or_default())
        .some("Consent Source", consent.map(|consent| consent.source.as_str()))
        .text("Tags", &customer.tags.join(", "))
        .text("Groups", &customer.groups.join(", "))
        .some("Note", customer.note.as_deref())
        .value("Tax Exempt", yes(customer.tax_exempt))
        .value("Status", customer.status)
        .value("Total Orders", customer.orders_count)
        .value("Total Spent", customer.total_spent.decimal())
        .value("Currency", &customer.total_spent.currency)
        .value("Created At", customer.created_at)
}

fn with_address(row: ExportRow, address: &PostalAddress) -> ExportRow {
    row.some("Default Address First Name", address.first_name.as_deref())
        .some("Default Address Last Name", address.last_name.as_deref())
        .some("Default Address Company", address.company.as_deref())
        .text("Default Address Address1", &address.line1)
        .some("Default Address Address2", address.line2.as_deref())
        .text("Default Address City", &address.city)
        .code("Default Address Province Code", address.region.as_deref())
        .value("Default Address Country Code", &address.country)
        .code("Default Address Zip", address.postal_code.as_deref())
        .code("Default Address Phone", address.phone.as_ref().map(Phone::as_str))
}
