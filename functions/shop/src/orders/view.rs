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
use crate::values::{money, text};
use crate::visit::Visit;
use crate::words::{Words, fill};

pub(super) fn page(
    visit: &Visit,
    order: &ShownOrder,
    notice: Option<&str>,
    status: StatusCode,
) -> Response {
    let (json, words) = (&order.json, visit.words());
    let title = fill(words.order_number, &[("number", text(json, "number"))]);
    let content = html! {
        h1 { (heading(json, words)) }
        p { (title) " · " (words.date(text(json, "created_at"))) }
        @if let Some(notice) = notice { div.notice role="alert" { p { (notice) } } }
        (state(order, words))
        (deliveries(json, words))
        section {
            h2 { (words.addresses) }
            div.pair {
                (address(json, "shipping_address", words.delivery))
                (address(json, "billing_address", words.billing))
            }
            @let email = text(json, "email");
            @if !email.is_empty() { p.faint { (fill(words.messages_to, &[("email", email)])) } }
        }
        section.phone-only { (summary(json, words)) }
    };
    let page = Page {
        aside: Some(summary(json, words)),
        ..Page::new(visit, &title, content).translated()
    };
    page.answer(status)
}

fn heading(order: &Value, words: &Words) -> &'static str {
    match (text(order, "status"), text(order, "financial_status")) {
        ("cancelled" | "expired", _) => words.is_cancelled,
        (_, "paid" | "authorized" | "partially_refunded") => words.thanks,
        (_, "refunded") => words.is_refunded,
        (_, "processing") => words.is_processing,
        _ => words.is_placed,
    }
}

/// What is left to do: pay, wait, or nothing.
fn state(order: &ShownOrder, words: &Words) -> Markup {
    let json = &order.json;
    let actions = json.get("allowed_actions").and_then(Value::as_array);
    let allows = |name: &str| actions.is_some_and(|all| all.iter().any(|it| it == name));
    let instructions = text(json, "payment_instructions");
    let is_manual = text(json, "payment_provider") == "manual";
    let outstanding = json.get("outstanding").cloned().unwrap_or_default();
    html! {
        @if allows("pay") {
            div.notice.good {
                p { strong { (fill(words.left_to_pay, &[("amount", money(&outstanding))])) } }
                @if is_manual && !instructions.is_empty() { p.block { (instructions) } }
                @let expires = text(json, "expires_at");
                @if !expires.is_empty() { p.faint { (fill(words.reserved_until, &[("time", &words.time(expires))])) } }
            }
        }
        div.actions {
            @if allows("pay") && !is_manual { a.button.primary href={ "/orders/" (order.id) "/pay" } { (fill(words.pay_amount, &[("amount", money(&outstanding))])) } }
            @if allows("cancel") {
                form method="post" action={ "/orders/" (order.id) "/cancel" } { button.secondary { (words.cancel_order) } }
            }
        }
    }
}

fn deliveries(order: &Value, words: &Words) -> Markup {
    let all = order.get("fulfillments").and_then(Value::as_array).cloned().unwrap_or_default();
    html! {
        @if !all.is_empty() {
            section {
                h2 { (words.deliveries) }
                ul.plain {
                    @for one in &all {
                        li {
                            (status(text(one, "status"), words))
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

fn status<'a>(of_delivery: &'a str, words: &Words) -> &'a str {
    match of_delivery {
        "shipped" => words.shipped,
        "delivered" => words.delivered,
        "cancelled" => words.cancelled,
        other => other,
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

fn summary(order: &Value, words: &Words) -> Markup {
    let items = order.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
    html! {
        h2 { (words.your_order) }
        ul.lines {
            @for item in &items {
                li {
                    div {
                        strong { (text(item, "title")) }
                        @let variant = text(item, "variant_title");
                        @if !variant.is_empty() && variant != "Default" { div.faint { (variant) } }
                        div.faint { (fill(words.quantity, &[("count", &quantity_of(item).to_string())])) }
                    }
                    div.amount { (money(item.get("subtotal").unwrap_or(&Value::Null))) }
                }
            }
        }
        (totals(order, words))
    }
}
