//! The page of an order.

use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use super::shown::ShownOrder;
use crate::address::lines_of;
use crate::cart::quantity_of;
use crate::frame::Page;
use crate::totals::totals;
use crate::values::{date, words};
use crate::values::{money, text};
use crate::visit::Visit;

pub(super) fn page(
    visit: &Visit,
    order: &ShownOrder,
    notice: Option<&str>,
    status: StatusCode,
) -> Response {
    let json = &order.json;
    let title = format!("Order {}", text(json, "number"));
    let content = html! {
        h1 { (heading(json)) }
        p { (title) " · " (date(text(json, "created_at"))) }
        @if let Some(notice) = notice { div.notice role="alert" { p { (notice) } } }
        (state(order))
        (deliveries(json))
        section {
            h2 { "Addresses" }
            div.pair {
                (address(json, "shipping_address", "Delivery"))
                (address(json, "billing_address", "Billing"))
            }
            @let email = text(json, "email");
            @if !email.is_empty() { p.faint { "Messages about this order are sent to " (email) "." } }
        }
        section.phone-only { (summary(json)) }
    };
    let page = Page { aside: Some(summary(json)), ..Page::new(visit, &title, content) };
    page.answer(status)
}

fn heading(order: &Value) -> &'static str {
    match (text(order, "status"), text(order, "financial_status")) {
        ("cancelled" | "expired", _) => "This order was cancelled",
        (_, "paid" | "authorized" | "partially_refunded") => "Thank you for your order",
        (_, "refunded") => "This order was refunded",
        (_, "processing") => "Thank you. Your payment is on its way",
        _ => "Your order is placed",
    }
}

/// What is left to do: pay, wait, or nothing.
fn state(order: &ShownOrder) -> Markup {
    let json = &order.json;
    let actions = json.get("allowed_actions").and_then(Value::as_array);
    let allows = |name: &str| actions.is_some_and(|all| all.iter().any(|it| it == name));
    let instructions = text(json, "payment_instructions");
    let is_manual = text(json, "payment_provider") == "manual";
    let outstanding = json.get("outstanding").cloned().unwrap_or_default();
    html! {
        @if allows("pay") {
            div.notice.good {
                p { strong { (money(&outstanding)) " is left to pay." } }
                @if is_manual && !instructions.is_empty() { p.block { (instructions) } }
                @let expires = text(json, "expires_at");
                @if !expires.is_empty() { p.faint { "The goods are reserved until " (time(expires)) "." } }
            }
        }
        div.actions {
            @if allows("pay") && !is_manual { a.button.primary href={ "/orders/" (order.id) "/pay" } { "Pay " (money(&outstanding)) } }
            @if allows("cancel") {
                form method="post" action={ "/orders/" (order.id) "/cancel" } { button.secondary { "Cancel the order" } }
            }
        }
    }
}

/// A time as people read it: `2026-11-27 14:05 UTC`.
fn time(text: &str) -> String {
    let clock = text.get(11..16).unwrap_or_default();
    format!("{} {clock} UTC", date(text))
}

fn deliveries(order: &Value) -> Markup {
    let all = order.get("fulfillments").and_then(Value::as_array).cloned().unwrap_or_default();
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Deliveries" }
                ul.plain {
                    @for one in &all {
                        li {
                            (words(text(one, "status")))
                            @let tracking = one.get("tracking").unwrap_or(&Value::Null);
                            @let number = text(tracking, "number");
                            @let url = text(tracking, "url");
                            @if !number.is_empty() {
                                ": "
                                @if url.starts_with("https://") { a href=(url) rel="noopener noreferrer" { (number) } }
                                @else { (number) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn address(order: &Value, member: &str, label: &str) -> Markup {
    let address = order.get(member).filter(|address| !address.is_null());
    html! {
        @if let Some(address) = address {
            div.field {
                strong { (label) }
                address { @for line in lines_of(address) { (line) br; } }
            }
        }
    }
}

fn summary(order: &Value) -> Markup {
    let items = order.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
    html! {
        h2 { "Your order" }
        ul.lines {
            @for item in &items {
                li {
                    div {
                        strong { (text(item, "title")) }
                        @let variant = text(item, "variant_title");
                        @if !variant.is_empty() && variant != "Default" { div.faint { (variant) } }
                        div.faint { "Quantity " (quantity_of(item)) }
                    }
                    div.amount { (money(item.get("subtotal").unwrap_or(&Value::Null))) }
                }
            }
        }
        (totals(order))
    }
}
