//! Customers as rows, in the columns of Shopify's customer files.

use core_types::fields::Phone;
use identity::customer::Customer;

use super::columns::Row;

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

/// The row of a customer.
pub(super) fn rows(customer: &Customer) -> Vec<Vec<String>> {
    let name = customer.name.as_deref().unwrap_or_default();
    let (first, last) = name.split_once(' ').unwrap_or((name, ""));
    let consent = customer.marketing_consent.as_ref();
    let yes = |flag: bool| if flag { "yes" } else { "no" };
    let row = Row::of(COLUMNS)
        .value("Customer ID", &customer.id)
        .text("First Name", first)
        .text("Last Name", last)
        .text("Email", customer.email.as_str())
        .some("Phone", customer.phone.as_ref().map(Phone::as_str))
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
        .value("Created At", customer.created_at);
    vec![row.cells()]
}
