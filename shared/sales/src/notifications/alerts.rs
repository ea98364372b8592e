//! The mails that tell a store's owner of something new. They are the platform's own, and in English.

use core_types::fields::Email;
use core_types::mail::{Alert, MailContent, on_one_line, unlinked};
use identity::store::Store;
use primitives::clock::DAY;
use primitives::fields::FromText;

use super::order::line_of;
use super::style::{Style, block};
use crate::order::{Order, OrderItem};

/// The most lines of an order in an alert.
const MOST_LINES: usize = 20;
/// The longest value of a form in an alert, in characters. The whole is in the API.
const LONGEST_VALUE: usize = 2_000;

/// An order that was placed, and paid if it was to be paid through a provider.
pub fn order_alert(to: &Email, store: &Store, order: &Order) -> MailContent {
    let style = Style::english();
    let total = style.money(&order.totals.total);
    let sold: Vec<&OrderItem> = order.items.iter().filter(|item| item.sold() > 0).collect();
    let lines = sold.iter().take(MOST_LINES).map(|item| format!("    {}\n", line_of(item)));
    let more = match sold.len().saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!("    and {more} more\n"),
    };
    let address = order.shipping_address.as_ref();
    let address = address.and_then(|to| style.address(None, to.into(), &store.country));
    let service = order.shipping_line.as_ref().map(|line| line.service.name.as_str());
    let known = [
        ("Total", Some(total.clone())),
        ("Payment", Some(payment(order, style))),
        ("Customer", order.email.as_ref().map(|email| email.as_str().to_owned())),
        ("Shipping", service.map(|name| unlinked(&on_one_line(name)))),
    ];
    let known =
        known.into_iter().filter_map(|(label, value)| Some(format!("{label}: {}\n", value?)));
    let note = order.note.as_deref().and_then(written).map(|note| format!("\nNote:\n\n{note}\n"));
    let text = format!(
        "There is a new order in the shop\n\n    {}\n\n{}{more}\n{}{}{}\nIt is the order {}.\n",
        shop(store),
        lines.collect::<String>(),
        known.collect::<String>(),
        address
            .map(|address| format!("\nShip to:\n\n{}\n", unlinked(&address)))
            .unwrap_or_default(),
        note.unwrap_or_default(),
        order.id,
    );
    alert(to, Alert::Order, &format!("New order {}: {total}", unlinked(&order.number)), text)
}

/// How far an order is paid.
fn payment(order: &Order, style: Style<'_>) -> String {
    let left = order.outstanding();
    if order.is_processing() {
        "on its way".to_owned()
    } else if !order.authorized().is_zero() {
        "authorized, and to be captured".to_owned()
    } else if left.is_zero() {
        "complete".to_owned()
    } else {
        format!("{} is left to pay", style.money(&left))
    }
}

/// A message, of this id, that was sent through a form of this name.
pub fn message_alert<'v>(
    to: &Email,
    store: &Store,
    (form, id): (&str, &str),
    values: impl Iterator<Item = (&'v str, &'v str)>,
) -> MailContent {
    let values = values.filter_map(|(name, value)| {
        Some(format!("{}:\n\n{}\n\n", unlinked(&on_one_line(name)), written(value)?))
    });
    let text = format!(
        "Somebody has sent the form {form} of the shop\n\n    {}\n\n{}It is the submission {id}.\n",
        shop(store),
        values.collect::<String>(),
    );
    alert(to, Alert::Message, &format!("New message: {form}"), text)
}

/// A customer's request for a copy of their data, which this export collects.
pub fn data_request_alert(to: &Email, store: &Store, export: &str) -> MailContent {
    let text = format!(
        "A customer has requested a copy of their data from the shop\n\n    {}\n\n\
         The law sets a time for it: a month in the European Union. The copy\n\
         is the export {export}. Please hand it over.\n",
        shop(store),
    );
    alert(to, Alert::DataRequest, "A customer requests their data", text)
}

fn alert(to: &Email, alert: Alert, subject: &str, text: String) -> MailContent {
    MailContent::new(to, subject, text, DAY.saturating_mul(3)).as_alert(alert)
}

fn shop(store: &Store) -> String {
    unlinked(&on_one_line(&store.name))
}

/// What somebody wrote, as a block without links; none if it is blank. An address to answer to stays whole.
fn written(text: &str) -> Option<String> {
    if let Ok(email) = Email::from_text(text) {
        return block([email.as_str()]);
    }
    let mut shown: String = text.chars().take(LONGEST_VALUE).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    Some(unlinked(&block(shown.lines())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_block_without_links() {
        let address = written("ada@example.com");
        assert_eq!(address.as_deref(), Some("    ada@example.com"));
        let lines = written("Is it blue?\r\n\r\nSee https://evil.example/now.");
        assert_eq!(lines.as_deref(), Some("    Is it blue?\n    See https: //evil. example/now."));
        assert_eq!(written(" \n"), None);
        let long = written(&"ä".repeat(LONGEST_VALUE + 1)).unwrap_or_default();
        assert!(long.ends_with("ä…") && long.chars().count() == LONGEST_VALUE + 5);
    }
}
