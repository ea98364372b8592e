//! The totals of a cart or an order.

use maud::{Markup, html};
use serde_json::Value;

use crate::values::{is_some, money};

/// The totals of a cart or an order.
pub(crate) fn totals(of: &Value) -> Markup {
    let empty = Value::Null;
    let totals = of.get("totals").unwrap_or(&empty);
    let at = |name: &str| totals.get(name).unwrap_or(&empty);
    let is_included = totals.get("tax_included").and_then(Value::as_bool).unwrap_or(false);
    let rate = of.pointer("/shipping_line/name").and_then(Value::as_str);
    html! {
        dl.totals {
            (row("Subtotal", &html! { (money(at("subtotal"))) }))
            @if is_some(at("discount")) { (row("Discount", &html! { "−" (money(at("discount"))) })) }
            @if let Some(rate) = rate {
                (row(&format!("Shipping: {rate}"), &html! {
                    @if is_some(at("shipping")) { (money(at("shipping"))) } @else { "Free" }
                }))
            }
            @if !is_included && is_some(at("tax")) { (row("Tax", &html! { (money(at("tax"))) })) }
            div.total { dt { "Total" } dd { (money(at("total"))) } }
            @if is_included && is_some(at("tax")) {
                div.faint { dt { "Tax in it" } dd { (money(at("tax"))) } }
            }
            @if is_some(at("gift_cards")) {
                (row("Gift cards", &html! { "−" (money(at("gift_cards"))) }))
                div.total { dt { "To pay" } dd { (money(at("due"))) } }
            }
        }
    }
}

fn row(label: &str, amount: &Markup) -> Markup {
    html! { div { dt { (label) } dd { (amount) } } }
}
