//! Mails about a customer's order.

use core_types::fields::Email;
use core_types::mail::{MailContent, on_one_line};
use core_types::money::Money;
use identity::store::Store;
use primitives::clock::DAY;
use primitives::problem::Problem;

use super::kind::NotificationKind;
use super::template::Values;
use super::texts::NotificationTexts;
use crate::order::Order;
use crate::order::fulfillment::Tracking;
use crate::order::refund::Refund;

/// The most bytes of the lines in a mail (our choice).
const MAX_LINES_TEXT: usize = 10_000;

/// The data of a mail about an order, in addition to the order.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrderNews<'a> {
    /// The tracking details of the parcel.
    pub tracking: Option<&'a Tracking>,
    /// The refund.
    pub refund: Option<&'a Refund>,
    /// The store's page of the order, or the page on which it is paid.
    pub link: Option<&'a str>,
}

fn money(money: &Money) -> String {
    format!("{} {}", money.decimal(), money.currency)
}

/// The lines with their properties, as far as a mail has room for them.
fn lines(order: &Order) -> String {
    let mut text = String::new();
    for item in &order.items {
        let variant = item.variant_title.as_deref().filter(|title| !title.is_empty());
        let variant = variant.map(|title| format!(" - {}", on_one_line(title)));
        let title = on_one_line(&item.title);
        let mut line = format!("    {} x {title}{}", item.quantity, variant.unwrap_or_default());
        for (name, value) in &item.properties {
            let (name, value) = (on_one_line(name), on_one_line(value));
            line.extend(["\n      ", &name, ": ", &value]);
        }
        if text.len().saturating_add(line.len()) > MAX_LINES_TEXT {
            text.push_str("\n    ...");
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    text
}

fn values(store: &Store, order: &Order, news: OrderNews<'_>) -> Values {
    let units: u32 = order.items.iter().map(|item| item.quantity).fold(0, u32::saturating_add);
    let outstanding = order.outstanding();
    let known = [
        ("shop", Some(on_one_line(&store.name))),
        ("order_number", Some(order.number.clone())),
        ("items", Some(units.to_string())),
        ("lines", Some(lines(order))),
        ("total", Some(money(&order.totals.total))),
        ("outstanding", (!outstanding.is_zero()).then(|| money(&outstanding))),
        ("reason", order.cancel_reason.as_deref().map(on_one_line)),
        (
            "carrier",
            news.tracking.and_then(|tracking| tracking.company.as_deref().map(on_one_line)),
        ),
        (
            "tracking_number",
            news.tracking.and_then(|tracking| tracking.number.as_deref().map(on_one_line)),
        ),
        ("tracking_url", news.tracking.and_then(|tracking| tracking.url.clone())),
        ("refunded", news.refund.map(|refund| money(&refund.amount))),
        ("link", news.link.map(str::to_owned)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A mail about an order, in the store's text or the built-in one.
///
/// # Errors
/// `internal`.
pub fn about_order(
    to: &Email,
    texts: &NotificationTexts,
    (store, order): (&Store, &Order),
    news: OrderNews<'_>,
) -> Result<MailContent, Problem> {
    let said = texts.render(order.locale.as_ref(), &store.locale, &values(store, order, news))?;
    let mail = MailContent::new(to, "", String::new(), DAY.saturating_mul(3));
    let mail = said.to(mail.of_business(&order.store_id));
    Ok(MailContent { asks_to_pay: texts.kind == NotificationKind::PaymentRequested, ..mail })
}
