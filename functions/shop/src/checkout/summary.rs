//! The lines and the totals of a cart or an order.

use maud::{Markup, html};
use serde_json::Value;

use crate::cart::{Cart, properties, quantity_of};
use crate::totals::totals;
use crate::values::{money, text};
use crate::words::{Words, fill};

/// The lines of a cart, and what they come to.
pub(super) fn of_cart(cart: &Cart, words: &Words) -> Markup {
    let empty = Value::Null;
    html! {
        h2 { (words.your_order) }
        ul.lines {
            @for line in cart.lines() {
                @let goods = line.get("merchandise").unwrap_or(&empty);
                li {
                    @if let Some(image) = goods.get("image_url").and_then(Value::as_str) {
                        img src=(image) alt="" width="56" height="56" loading="lazy";
                    } @else { span.no-image {} }
                    div {
                        strong { bdi { (named(goods, words)) } }
                        @let variant = text(goods, "variant_title");
                        @if !variant.is_empty() && variant != "Default" { div.faint { bdi { (variant) } } }
                        @for (name, value) in properties(line) { div.faint { bdi { (name) ": " (value) } } }
                        div.faint { (fill(words.quantity, &[("count", &quantity_of(line).to_string())])) }
                        @if goods.is_null() { p.error { (words.gone) } }
                    }
                    div.amount { (money(goods.get("subtotal").unwrap_or(&empty))) }
                }
            }
        }
        (totals(&cart.json, words))
    }
}

fn named<'a>(goods: &'a Value, words: &Words) -> &'a str {
    let title = text(goods, "title");
    if title.is_empty() { words.gone_item } else { title }
}
