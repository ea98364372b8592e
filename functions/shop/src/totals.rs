//! The totals of a cart or an order.

use maud::{Markup, html};
use serde_json::Value;

use crate::values::{is_some, money};
use crate::words::{Words, fill};

/// The totals of a cart or an order.
pub(crate) fn totals(of: &Value, words: &Words) -> Markup {
    let empty = Value::Null;
    let totals = of.get("totals").unwrap_or(&empty);
    let at = |name: &str| totals.get(name).unwrap_or(&empty);
    let is_included = totals.get("tax_included").and_then(Value::as_bool).unwrap_or(false);
    let rate = of.pointer("/shipping_line/name").and_then(Value::as_str);
    html! {
        dl.totals {
            (row(words.subtotal, &html! { (money(at("subtotal"))) }))
            @if is_some(at("discount")) { (row(words.discount, &html! { "−" (money(at("discount"))) })) }
            @if let Some(rate) = rate {
                (row(&fill(words.shipping_by, &[("rate", rate)]), &html! {
                    @if is_some(at("shipping")) { (money(at("shipping"))) } @else { (words.free) }
                }))
            }
            @if !is_included && is_some(at("tax")) { (row(words.tax, &html! { (money(at("tax"))) })) }
            div.total { dt { (words.total) } dd { (money(at("total"))) } }
            @if is_included && is_some(at("tax")) {
                div.faint { dt { (words.tax_included) } dd { (money(at("tax"))) } }
            }
            @if is_some(at("gift_cards")) {
                (row(words.gift_cards, &html! { "−" (money(at("gift_cards"))) }))
                div.total { dt { (words.to_pay) } dd { (money(at("due"))) } }
            }
        }
    }
}

fn row(label: &str, amount: &Markup) -> Markup {
    html! { div { dt { (label) } dd { (amount) } } }
}
