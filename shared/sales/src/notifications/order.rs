//! Mails about a customer's order.

use std::collections::BTreeMap;

use catalogue::location::Location;
use core_types::fields::{Country, Email, Locale};
use core_types::mail::{MailContent, on_one_line, unlinked};
use core_types::money::Money;
use identity::address::{AddressParts, PostalAddress};
use identity::settings::Notifications;
use identity::store::Store;
use primitives::clock::DAY;
use primitives::problem::Problem;

use super::kind::NotificationKind;
use super::style::{Style, block, provider_name};
use super::template::{TemplateFields, TemplateValues};
use super::texts::NotificationTexts;
use crate::order::fulfillment::{Fulfillment, Tracking};
use crate::order::refund::Refund;
use crate::order::{Order, OrderItem};
use crate::tax::{self, Percentage};

/// The data of a mail about an order, in addition to the order.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrderNews<'a> {
    /// The parcel.
    pub fulfillment: Option<&'a Fulfillment>,
    /// Its tracking details that may be shown.
    pub tracking: Option<&'a Tracking>,
    /// The refund.
    pub refund: Option<&'a Refund>,
    /// The location where the customer picks it up.
    pub pickup: Option<&'a Location>,
    /// The store's page of the order, or the page on which it is paid.
    pub link: Option<&'a str>,
}

/// A location by its name and address.
fn of_location(location: &Location, style: Style<'_>, home: &Country) -> Option<String> {
    let own = &location.address;
    let of = |part: &'_ Option<String>| part.clone().unwrap_or_default();
    let (line1, line2, city) = (of(&own.line1), of(&own.line2), of(&own.city));
    let (region, postal_code) = (of(&own.region), of(&own.postal_code));
    let parts = AddressParts {
        line1: &line1,
        line2: &line2,
        city: &city,
        region: &region,
        postal_code: &postal_code,
        country: own.country.as_str(),
        ..AddressParts::default()
    };
    style.address(Some(&location.name), parts, home)
}

/// The store, as the law wants it in a mail that confirms an order.
pub(super) fn of_store(store: &Store, style: Style<'_>) -> TemplateFields {
    let own = store.contact.address.as_ref();
    let address =
        |own: &PostalAddress| style.address(Some(&store.name), own.into(), &store.country);
    let known = [
        ("shop", Some(on_one_line(&store.name))),
        ("shop_address", own.and_then(address)),
        ("shop_tax_number", store.tax_number.as_ref().map(|number| number.as_str().to_owned())),
        ("shop_phone", store.contact.phone.as_ref().map(|phone| on_one_line(phone.as_str()))),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn of_order(
    order: &Order,
    (store, settings): (&Store, &Notifications),
    style: Style<'_>,
) -> TemplateFields {
    let units: u32 = order.items.iter().map(OrderItem::sold).fold(0, u32::saturating_add);
    let totals = &order.totals;
    let shipping = order.shipping_line.as_ref();
    let method = order.payment_method.as_ref().map(|method| on_one_line(&method.name));
    let provider = order.payment_provider.as_deref().and_then(provider_name);
    let text = |text: &Option<String>| text.as_deref().and_then(|text| block(text.lines()));
    // Where gift cards pay everything, no other way to pay is of interest.
    let is_due = !totals.due.is_zero();
    let rounding = totals.rounding.as_ref().filter(|rounding| rounding.amount != 0);
    let rounding = rounding.map(|rounding| {
        let amount =
            Money { amount: rounding.amount.saturating_abs(), currency: rounding.currency.clone() };
        let sign = if rounding.amount < 0 { "-" } else { "" };
        format!("{sign}{}", style.money(&amount))
    });
    let address = |to: &PostalAddress| style.address(None, to.into(), &store.country);
    let to = |to: &Option<PostalAddress>| to.as_ref().and_then(address);
    let known = [
        ("order_number", Some(order.number.clone())),
        ("items", Some(units.to_string())),
        ("subtotal", Some(style.money(&totals.subtotal))),
        ("shipping", shipping.map(|line| style.money(&line.price))),
        ("shipping_method", shipping.map(|line| on_one_line(&line.service.name))),
        ("tax", style.some_money(&totals.tax)),
        ("tax_included", totals.tax_included.then(|| "yes".to_owned())),
        ("rounding", rounding),
        ("total", Some(style.money(&totals.total))),
        ("gift_cards", style.some_money(&totals.gift_cards)),
        // What is authorized is not left to the shopper to pay.
        (
            "outstanding",
            style.some_money(&order.outstanding()).filter(|_| order.authorized().is_zero()),
        ),
        ("payment_processing", order.is_processing().then(|| "yes".to_owned())),
        ("payment_method", method.or(provider).filter(|_| is_due)),
        ("payment_instructions", text(&order.payment_instructions).filter(|_| is_due)),
        ("shipping_address", to(&order.shipping_address)),
        ("billing_address", to(&order.billing_address)),
        ("tax_number", order.tax_number.as_ref().map(|number| number.as_str().to_owned())),
        ("note", text(&order.note)),
        ("reason", order.cancel_reason.as_deref().map(on_one_line)),
        ("terms", text(&settings.terms)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The properties of a line: `Engraving: Ann, Font: Serif`. Those whose names begin with `_` are for the merchant.
pub(super) fn properties(of_line: &BTreeMap<String, String>) -> Option<String> {
    let shown = of_line.iter().filter(|(name, _)| !name.starts_with('_'));
    let pairs = shown.map(|(name, value)| format!("{}: {}", on_one_line(name), on_one_line(value)));
    Some(pairs.collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty())
}

/// The name of a line, and its number of units.
fn of_line(item: &OrderItem, quantity: u32) -> TemplateFields {
    let variant = item.variant_title.as_deref().filter(|title| *title != "Default");
    let known = [
        ("quantity", Some(quantity.to_string())),
        ("title", Some(on_one_line(&item.title))),
        ("variant", variant.map(on_one_line)),
        ("sku", item.sku.as_deref().map(on_one_line)),
        ("properties", properties(&item.properties)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A line as the merchant reads it: `2 x Lamp, Red [L-1] (Engraving: Ann, _bundle: 7)`.
pub(super) fn line_of(item: &OrderItem) -> String {
    let variant = item.variant_title.as_deref().filter(|title| *title != "Default");
    let variant = variant.map(|title| format!(", {}", on_one_line(title))).unwrap_or_default();
    let sku = item.sku.as_deref().map(|sku| format!(" [{}]", on_one_line(sku)));
    let pairs = item.properties.iter();
    let pairs = pairs.map(|(name, value)| format!("{}: {}", on_one_line(name), on_one_line(value)));
    let properties = match pairs.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => none,
        all => format!(" ({all})"),
    };
    let (title, sku) = (on_one_line(&item.title), sku.unwrap_or_default());
    unlinked(&format!("{} x {title}{variant}{sku}{properties}", item.sold()))
}

/// The lines of an order with their amounts.
fn lines(order: &Order, style: Style<'_>) -> Vec<TemplateFields> {
    let line = |item: &OrderItem| {
        let mut fields = of_line(item, item.sold());
        fields.push(("price", style.money(&item.price)));
        fields.extend(style.some_money(&item.discount).map(|amount| ("discount", amount)));
        fields.push(("total", style.money(&item.subtotal)));
        fields
    };
    order.items.iter().filter(|item| item.sold() > 0).map(line).collect()
}

/// The lines of a part of an order, each with its number of units.
fn lines_of<'l>(
    (order, style): (&Order, Style<'_>),
    part: impl IntoIterator<Item = (&'l core_types::id::OrderItemId, u32, Option<&'l Money>)>,
) -> Vec<TemplateFields> {
    let line = |(id, quantity, amount): (_, u32, Option<&Money>)| {
        let mut fields = of_line(order.item(id)?, quantity);
        fields.extend(amount.map(|amount| ("amount", style.money(amount))));
        Some(fields)
    };
    part.into_iter().filter_map(line).collect()
}

fn of_discounts(order: &Order, style: Style<'_>) -> Vec<TemplateFields> {
    let saving = order.discounts.iter().filter(|discount| !discount.amount.is_zero());
    let fields = saving.map(|discount| {
        let code = discount.code.as_ref().map(|code| ("code", code.as_str().to_owned()));
        let title = ("title", on_one_line(&discount.title));
        [title, ("amount", style.money(&discount.amount))].into_iter().chain(code).collect()
    });
    fields.collect()
}

/// A tax and its rate; none if it is zero.
fn of_tax(
    name: &str,
    (percentage, amount): (Percentage, &Money),
    style: Style<'_>,
) -> Option<TemplateFields> {
    let amount = style.some_money(amount)?;
    let percent = style.number(&percentage.to_string());
    Some(vec![("name", on_one_line(name)), ("percent", percent), ("amount", amount)])
}

fn of_tracking(tracking: &Tracking) -> TemplateFields {
    let known = [
        ("carrier", tracking.company.as_deref().map(on_one_line)),
        ("tracking_number", tracking.number.as_deref().map(on_one_line)),
        ("tracking_url", tracking.url.clone()),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn of_refund(order: &Order, refund: &Refund, style: Style<'_>) -> TemplateValues {
    let lines = refund.tax_lines();
    let some_money = |amount: &Money| style.some_money(amount);
    let tax = tax::sum(&lines, &order.currency).as_ref().and_then(some_money);
    let cards = refund.transactions.iter().filter(|part| part.gift_card_id.is_some());
    let to_cards = Money::sum(cards.map(|part| &part.amount), &order.currency);
    let to_cards = to_cards.as_ref().and_then(some_money);
    let known = [
        ("refunded", Some(style.money(&refund.amount))),
        ("refunded_shipping", some_money(&refund.shipping)),
        ("refunded_tax", tax),
        ("restocking_fee", refund.restocking_fee.as_ref().and_then(some_money)),
        ("refunded_to", to_cards.map(|amount| style.to_gift_card(&amount))),
    ];
    let taxes = lines.iter();
    let taxes = taxes.filter_map(|line| of_tax(&line.name, (line.percentage, &line.amount), style));
    let part =
        refund.items.iter().map(|line| (&line.order_item_id, line.quantity, Some(&line.amount)));
    TemplateValues {
        fields: known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        lists: vec![("lines", lines_of((order, style), part)), ("taxes", taxes.collect())],
    }
}

fn values(
    kind: NotificationKind,
    (store, settings): (&Store, &Notifications),
    order: &Order,
    news: OrderNews<'_>,
    style: Style<'_>,
) -> TemplateValues {
    let taxes = order.totals.tax_lines.iter();
    let taxes = taxes.filter_map(|line| of_tax(&line.name, (line.percentage, &line.amount), style));
    let mut values = match (news.refund, news.fulfillment) {
        (Some(refund), _) => of_refund(order, refund, style),
        (None, Some(parcel)) => {
            let part = parcel.items.iter().map(|line| (&line.order_item_id, line.quantity, None));
            TemplateValues {
                fields: Vec::new(),
                lists: vec![("lines", lines_of((order, style), part))],
            }
        }
        (None, None) => {
            let lists = vec![
                ("lines", lines(order, style)),
                ("taxes", taxes.collect()),
                ("discounts", of_discounts(order, style)),
            ];
            TemplateValues { fields: Vec::new(), lists }
        }
    };
    values.fields.extend(of_store(store, style));
    values.fields.extend(of_order(order, (store, settings), style));
    values.fields.extend(news.tracking.map(of_tracking).unwrap_or_default());
    let pickup = news.pickup.and_then(|at| of_location(at, style, &store.country));
    values.fields.extend(pickup.map(|pickup| ("pickup_address", pickup)));
    values.fields.extend(news.link.map(|link| ("link", link.to_owned())));
    // What this mail has no placeholder for stays out.
    values.fields.retain(|(name, _)| kind.placeholders().iter().any(|known| known.name == *name));
    values
}

/// A mail about an order, in the store's text or the built-in one.
///
/// # Errors
/// `internal`.
pub fn order_mail(
    to: &Email,
    texts: &NotificationTexts,
    (store, settings): (&Store, &Notifications),
    order: &Order,
    news: OrderNews<'_>,
) -> Result<MailContent, Problem> {
    let values =
        |language: &Locale| values(texts.kind, (store, settings), order, news, Style::of(language));
    let rendered = texts.render(order.locale.as_ref(), &store.locale, values)?;
    let mail = MailContent::new(to, "", String::new(), DAY.saturating_mul(3));
    let mail = rendered.to(mail.of_business(&order.store_id));
    Ok(MailContent { is_payment_request: texts.kind == NotificationKind::PaymentRequested, ..mail })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_for_the_merchant_are_not_mailed() {
        let of = |pairs: &[(&str, &str)]| {
            let owned = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            properties(&owned.collect())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("_bundle", "7")]), None);
        let both = of(&[("Engraving", "Ann"), ("_bundle", "7")]);
        assert_eq!(both.as_deref(), Some("Engraving: Ann"));
    }
}
