//! Orders as rows, one per line item, in the columns of Shopify's order files.

use core_types::fields::{Email, Phone, TaxNumber};
use core_types::money::Money;
use identity::address::PostalAddress;
use sales::discount::DiscountCode;
use sales::order::{Order, OrderItem};

use super::columns::ExportRow;

/// The taxes that have columns.
const TAXES: usize = 5;

/// The columns. Those of the order itself are filled in its first row only.
pub(super) const COLUMNS: &[&str] = &[
    "Name",
    "Id",
    "Email",
    "Status",
    "Financial Status",
    "Fulfillment Status",
    "Currency",
    "Subtotal",
    "Shipping",
    "Taxes",
    "Total",
    "Discount Amount",
    "Discount Code",
    "Refunded Amount",
    "Refunded Tax",
    "Outstanding Balance",
    "Shipping Method",
    "Created at",
    "Cancelled at",
    "Payment Method",
    "Payment ID",
    "Payment Amount",
    "Gift Card",
    "Gift Card Amount",
    "Lineitem quantity",
    "Lineitem name",
    "Lineitem price",
    "Lineitem discount",
    "Lineitem tax",
    "Lineitem total",
    "Lineitem sku",
    "Lineitem variant id",
    "Lineitem properties",
    "Lineitem fulfilled",
    "Billing Name",
    "Billing Company",
    "Billing Address1",
    "Billing Address2",
    "Billing City",
    "Billing Zip",
    "Billing Province",
    "Billing Country",
    "Billing Phone",
    "Shipping Name",
    "Shipping Company",
    "Shipping Address1",
    "Shipping Address2",
    "Shipping City",
    "Shipping Zip",
    "Shipping Province",
    "Shipping Country",
    "Shipping Phone",
    "Tax Number",
    "Store Tax Number",
    "Tax 1 Name",
    "Tax 1 Value",
    "Tax 2 Name",
    "Tax 2 Value",
    "Tax 3 Name",
    "Tax 3 Value",
    "Tax 4 Name",
    "Tax 4 Value",
    "Tax 5 Name",
    "Tax 5 Value",
    "Notes",
    "Tags",
    "Source",
];

/// The rows of an order, one per line item.
pub(super) fn rows(order: &Order) -> Vec<Vec<String>> {
    let row = |(number, item): (usize, &OrderItem)| {
        let row = ExportRow::of(COLUMNS).text("Name", &order.number);
        let row = if number == 0 { head(row, order) } else { row };
        line(row, item).cells()
    };
    order.items.iter().enumerate().map(row).collect()
}

fn head(row: ExportRow, order: &Order) -> ExportRow {
    let totals = &order.totals;
    let codes = order.discounts.iter().filter_map(|discount| discount.code.as_ref());
    let codes: Vec<&str> = codes.map(DiscountCode::as_str).collect();
    let row = row
        .value("Id", &order.id)
        .some("Email", order.email.as_ref().map(Email::as_str))
        .value("Status", order.status)
        .value("Financial Status", order.financial_status)
        .value("Fulfillment Status", order.fulfillment_status)
        .value("Currency", &order.currency)
        .value("Subtotal", subtotal(order).decimal())
        .value("Shipping", totals.shipping.decimal())
        .value("Taxes", totals.tax.decimal())
        .value("Total", totals.total.decimal())
        .value("Discount Amount", totals.discount.decimal())
        .text("Discount Code", &codes.join(", "))
        .value("Refunded Amount", order.refunded.decimal())
        .value("Refunded Tax", order.refunded_tax().decimal())
        .value("Outstanding Balance", order.outstanding().decimal())
        .some(
            "Shipping Method",
            order.shipping_line.as_ref().map(|line| line.service.name.as_str()),
        )
        .value("Created at", order.created_at)
        .value("Cancelled at", order.cancelled_at.map(|at| at.to_string()).unwrap_or_default())
        .some("Notes", order.note.as_deref())
        .text("Tags", &order.tags.join(", "))
        .text("Source", &order.source);
    let row = row
        .code("Tax Number", order.tax_number.as_ref().map(TaxNumber::as_str))
        .code("Store Tax Number", order.store_tax_number.as_ref().map(TaxNumber::as_str));
    let row = paid(taxes(row, order), order);
    let row = address(row, "Billing", order.billing_address.as_ref());
    address(row, "Shipping", order.shipping_address.as_ref())
}

/// The subtotal after discounts on lines, before shipping, as Shopify's export has it.
fn subtotal(order: &Order) -> Money {
    let discounts = Money::sum(order.items.iter().map(|item| &item.discount), &order.currency);
    let left = discounts.and_then(|discounts| order.totals.subtotal.minus(&discounts));
    left.unwrap_or_else(|| order.totals.subtotal.clone())
}

/// Adds the payments of an order, as the captured amounts at their providers, and its gift cards.
/// Shopify joins several by ` + `.
fn paid(row: ExportRow, order: &Order) -> ExportRow {
    let payments = || order.payments.iter().filter(|payment| !payment.voided);
    let cards = order.gift_cards.iter();
    let joined = |parts: Vec<String>| parts.join(" + ");
    let amounts = payments().map(|payment| payment.captured.decimal()).collect();
    row.value("Payment Method", joined(payments().map(|it| it.provider.clone()).collect()))
        .value("Payment ID", joined(payments().map(|it| it.payment_id.to_string()).collect()))
        .value("Payment Amount", joined(amounts))
        .text("Gift Card", &joined(cards.clone().map(|it| it.last_characters.clone()).collect()))
        .value("Gift Card Amount", joined(cards.map(|it| it.amount.decimal()).collect()))
}

/// The taxes of the order, each by name with its percentage, as Shopify's export has them: five at most.
fn taxes(row: ExportRow, order: &Order) -> ExportRow {
    order.totals.tax_lines.iter().take(TAXES).zip(1..).fold(row, |row, (line, n): (_, u32)| {
        row.text(&format!("Tax {n} Name"), &format!("{} {}%", line.name, line.percentage))
            .value(&format!("Tax {n} Value"), line.amount.decimal())
    })
}

fn line(row: ExportRow, item: &OrderItem) -> ExportRow {
    let variant = item.variant_title.as_deref().filter(|title| !title.is_empty());
    let name = variant.map_or_else(|| item.title.clone(), |it| format!("{} - {it}", item.title));
    row.value("Lineitem quantity", item.sold())
        .text("Lineitem name", &name)
        .value("Lineitem price", item.price.decimal())
        .value("Lineitem discount", item.discount.decimal())
        .value("Lineitem tax", item.tax.decimal())
        .value("Lineitem total", item.total.decimal())
        .some("Lineitem sku", item.sku.as_deref())
        .value("Lineitem variant id", &item.variant_id)
        .some("Lineitem properties", properties(item).as_deref())
        .value("Lineitem fulfilled", item.fulfilled)
}

/// The properties as a JSON object, because names and texts may contain any separator; none if there are none.
fn properties(item: &OrderItem) -> Option<String> {
    let properties = Some(&item.properties).filter(|properties| !properties.is_empty())?;
    serde_json::to_string(properties).ok()
}

fn address(row: ExportRow, whose: &str, address: Option<&PostalAddress>) -> ExportRow {
    let Some(address) = address else { return row };
    let names = [address.first_name.as_deref(), address.last_name.as_deref()];
    let name: Vec<&str> = names.into_iter().flatten().collect();
    let column = |name: &str| format!("{whose} {name}");
    row.text(&column("Name"), &name.join(" "))
        .some(&column("Company"), address.company.as_deref())
        .text(&column("Address1"), &address.line1)
        .some(&column("Address2"), address.line2.as_deref())
        .text(&column("City"), &address.city)
        .some(&column("Zip"), address.postal_code.as_deref())
        .some(&column("Province"), address.region.as_deref())
        .value(&column("Country"), &address.country)
        .some(&column("Phone"), address.phone.as_ref().map(Phone::as_str))
}
