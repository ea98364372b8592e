//! The page of an order.

use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::shown::ShownOrder;
use crate::address::lines_of;
use crate::cart::{properties, quantity_of};
use crate::frame::Page;
use crate::totals::totals;
use crate::values::{items, money, text};
use crate::visit::Visit;
use crate::words::{Words, fill, method_name};

pub(super) async fn page(
    visit: &Visit,
    order: &ShownOrder,
    notice: Option<&str>,
    status: StatusCode,
) -> Response {
    let nothing = Value::Null;
    let rate = order.json.get("shipping_line").unwrap_or(&nothing);
    let (others, pickup) =
        tokio::join!(other_methods(visit, &order.json), visit.pickup_place(rate));
    let (json, words) = (&order.json, visit.words());
    let title = fill(words.order_number, &[("number", text(json, "number"))]);
    let content = html! {
        h1 { (heading(json, words)) }
        p { (title) " · " (words.date(text(json, "created_at"))) }
        @if let Some(notice) = notice { div.notice role="alert" { p { (notice) } } }
        (state(order, &others, words))
        (paid_by(json, words))
        (deliveries(json, words))
        section {
            h2 { (words.addresses) }
            div.pair {
                @if !pickup.is_empty() { (place(words.pickup, &pickup)) }
                @else { (address(json, "shipping_address", words.delivery, words)) }
                (address(json, "billing_address", words.billing, words))
            }
            @let email = text(json, "email");
            @if !email.is_empty() { p.faint { (fill(words.messages_to, &[("email", email)])) } }
        }
        section.phone-only { (summary(json, words)) }
    };
    let page = Page { aside: Some(summary(json, words)), ..Page::new(visit, &title, content) };
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

fn allows(order: &Value, action: &str) -> bool {
    let actions = order.get("allowed_actions").and_then(Value::as_array);
    actions.is_some_and(|all| all.iter().any(|it| it == action))
}

/// The methods beside the chosen one by which an order that is left to pay can be paid, too. Of the manual ones the order
/// has one, or none.
async fn other_methods(visit: &Visit, order: &Value) -> Vec<Value> {
    if !allows(order, "pay") {
        return Vec::new();
    }
    let chosen = text(order, "payment_provider");
    let all = visit.get("/payments/methods").await.map(|page| items(&page)).unwrap_or_default();
    // Without a choice, the first one is the button's.
    let skipped = usize::from(chosen.is_empty());
    let others = all.into_iter().skip(skipped).filter(|method| {
        let provider = text(method, "provider");
        provider != chosen && (provider != "manual" || text(method, "id") == provider)
    });
    others.collect()
}

/// What is left to do: pay, wait, or nothing.
fn state(order: &ShownOrder, others: &[Value], words: &Words) -> Markup {
    let json = &order.json;
    let allows = |name: &str| allows(json, name);
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
            @for other in others {
                @let to = format!("/orders/{}/pay?provider={}", order.id, text(other, "provider"));
                a.button.secondary href=(to) { (fill(words.pay_by, &[("method", method_name(other, words))])) }
            }
            @if allows("cancel") {
                details {
                    summary { (words.cancel_order) }
                    form method="post" action={ "/orders/" (order.id) "/cancel" } {
                        p { (words.cancel_sure) }
                        button.secondary { (words.cancel_yes) }
                    }
                }
            }
        }
    }
}

/// By which method an order was paid.
fn paid_by(order: &Value, words: &Words) -> Markup {
    let is_paid = matches!(
        text(order, "financial_status"),
        "paid" | "authorized" | "partially_paid" | "partially_refunded" | "refunded"
    );
    let chosen = order.pointer("/payment_method/name").unwrap_or(&Value::Null);
    let method = json!({"name": chosen, "provider": order.get("payment_provider")});
    let name = method_name(&method, words);
    html! {
        @if is_paid && !name.is_empty() {
            p { (words.payment_method) ": " (name) " – " (financial(text(order, "financial_status"), words)) }
        }
    }
}

fn financial(status: &str, words: &Words) -> &'static str {
    match status {
        "partially_paid" => words.partly_paid,
        "partially_refunded" => words.partly_refunded,
        "refunded" => words.refunded,
        _ => words.paid,
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
                            @let carrier = text(tracking, "company");
                            @if !carrier.is_empty() { " (" (carrier) ")" }
                            @for (title, count) in contents(order, one) {
                                div.faint { (title) " × " (count) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a delivery has: the titles of its lines, and their units in it.
fn contents<'a>(order: &'a Value, delivery: &'a Value) -> Vec<(&'a str, u64)> {
    let list = |of: &'a Value| of.get("items").and_then(Value::as_array).into_iter().flatten();
    let title = |id: &str| list(order).find(|item| text(item, "id") == id);
    let lines = list(delivery).filter_map(|line| {
        let item = title(text(line, "order_item_id"))?;
        Some((text(item, "title"), quantity_of(line)))
    });
    lines.collect()
}

fn status<'a>(of_delivery: &'a str, words: &Words) -> &'a str {
    match of_delivery {
        "shipped" => words.shipped,
        "delivered" => words.delivered,
        "cancelled" => words.cancelled,
        other => other,
    }
}

fn address(order: &Value, member: &str, label: &str, words: &Words) -> Markup {
    let address = order.get(member).filter(|address| !address.is_null());
    html! {
        @if let Some(address) = address { (place(label, &lines_of(address, words))) }
    }
}

fn place(label: &str, lines: &[String]) -> Markup {
    html! {
        div.field {
            strong { (label) }
            address { @for line in lines { (line) br; } }
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
                        @for (name, value) in properties(item) { div.faint { (name) ": " (value) } }
                        div.faint { (fill(words.quantity, &[("count", &quantity_of(item).to_string())])) }
                    }
                    div.amount { (money(item.get("subtotal").unwrap_or(&Value::Null))) }
                }
            }
        }
        (totals(order, words))
    }
}
