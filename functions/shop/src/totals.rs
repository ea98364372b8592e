//! The totals of a cart or an order.

use maud::{Markup, html};
use serde_json::Value;

use crate::values::{is_some, money, text};
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
            @if is_some(at("discount")) {
                (row(&discount(of, words), &html! { "−" (money(at("discount"))) }))
            }
            @if let Some(rate) = rate {
                (row(&fill(words.shipping_by, &[("rate", rate)]), &html! {
                    @if is_some(at("shipping")) { (money(at("shipping"))) } @else { (words.free) }
                }))
            }
            @if !is_included { @for (rate, tax) in taxes(totals, words.tax) { (row(&rate, &html! { (money(tax)) })) } }
            @if is_some(at("rounding")) { (row(words.rounding, &html! { (money(at("rounding"))) })) }
            div.total { dt { (words.total) } dd { (money(at("total"))) } }
            @if is_included {
                @for (rate, tax) in taxes(totals, words.tax_included) {
                    div.faint { dt { (rate) } dd { (money(tax)) } }
                }
            }
            @if is_some(at("gift_cards")) {
                (row(words.gift_cards, &html! { "−" (money(at("gift_cards"))) }))
                // An order says what is left of it; a cart has paid nothing yet.
                @let left = of.get("outstanding").unwrap_or_else(|| at("due"));
                @if is_some(left) || of.get("outstanding").is_none() {
                    div.total { dt { (words.to_pay) } dd { (money(left)) } }
                }
            }
            @if let Some(refunded) = of.get("refunded_total").filter(|refunded| is_some(refunded)) {
                (row(words.refunded, &html! { "−" (money(refunded)) }))
            }
        }
    }
}

/// What a discount is called: by the titles of those that make it up.
fn discount(of: &Value, words: &Words) -> String {
    let all = of.get("discounts").and_then(Value::as_array).into_iter().flatten();
    let titles: Vec<&str> = all.map(|it| text(it, "title")).filter(|it| !it.is_empty()).collect();
    if titles.is_empty() {
        return words.discount.to_owned();
    }
    format!("{}: {}", words.discount, titles.join(", "))
}

/// The taxes by name and rate, each with its amount.
fn taxes<'a>(totals: &'a Value, label: &str) -> Vec<(String, &'a Value)> {
    let lines = totals.get("tax_lines").and_then(Value::as_array).into_iter().flatten();
    let amounts = lines.filter_map(|line| Some((line, line.get("amount")?)));
    let named = |(line, amount): (&'a Value, &'a Value)| {
        let percent = text(line, "percent");
        let percent = if percent.is_empty() { String::new() } else { format!(" {percent} %") };
        (format!("{label}: {}{percent}", text(line, "name")), amount)
    };
    amounts.filter(|(_, amount)| is_some(amount)).map(named).collect()
}

fn row(label: &str, amount: &Markup) -> Markup {
    // A label has what a merchant has called a rate or a discount.
    html! { div { dt { bdi { (label) } } dd { (amount) } } }
}
