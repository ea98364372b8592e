//! The page of an order.

use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use sales::order::tracking::tracking_url;
use serde_json::{Value, json};

use super::shown::ShownOrder;
use crate::address::{lines_of, shown_lines};
use crate::cart::{properties, quantity_of};
use crate::checkout::{MANUAL, sorted};
use crate::frame::Page;
use crate::policies::Policies;
use crate::totals::totals;
use crate::values::{is_some, items, money, text};
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
    let (others, pickup, policies) = tokio::join!(
        other_methods(visit, &order.json),
        visit.pickup_place(rate),
        Policies::load(visit),
    );
    let (json, words) = (&order.json, visit.words());
    let title = fill(words.order_number, &[("number", text(json, "number"))]);
    let content = html! {
        h1 { (heading(json, words)) }
        p { (title) " · " (words.date(text(json, "created_at"), &visit.store().timezone)) }
        @if let Some(notice) = notice { div.notice role="alert" { p { (notice) } } }
        (payment_method(json, words))
        (state(visit, order, &others))
        (deliveries(json, words))
        (addresses(json, &pickup, words))
        section.phone-only { (summary(json, words)) }
    };
    let (aside, foot) = (Some(summary(json, words)), Some(policies.at_foot(words)));
    Page { aside, foot, ..Page::new(visit, &title, content) }.answer(status)
}

fn heading(order: &Value, words: &Words) -> &'static str {
    match (text(order, "status"), text(order, "financial_status")) {
        ("cancelled" | "expired", _) => words.is_cancelled,
        (_, "paid" | "authorized" | "partially_refunded") => words.thanks,
        (_, "refunded") => words.is_refunded,
        (_, "processing") => words.is_processing,
        _ if awaits_card(order) => words.payment_open,
        _ => words.is_placed,
    }
}

/// Whether an order was left at its provider, or declined there: it is placed, and nothing of it is paid.
fn awaits_card(order: &Value) -> bool {
    let provider = text(order, "payment_provider");
    allows(order, "pay") && !provider.is_empty() && provider != MANUAL
}

pub(super) fn allows(order: &Value, action: &str) -> bool {
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
    let all = sorted(all);
    // Without a choice, the first one is the button's.
    let skipped = usize::from(chosen.is_empty());
    let others = all.into_iter().skip(skipped).filter(|method| {
        let provider = text(method, "provider");
        provider != chosen && (provider != MANUAL || text(method, "id") == provider)
    });
    others.collect()
}

/// What is left to do: pay, wait, or nothing.
fn state(visit: &Visit, order: &ShownOrder, others: &[Value]) -> Markup {
    let (words, zone) = (visit.words(), &visit.store().timezone);
    let json = &order.json;
    let allows = |name: &str| allows(json, name);
    let is_manual = text(json, "payment_provider") == MANUAL;
    let outstanding = json.get("outstanding").cloned().unwrap_or_default();
    html! {
        @if allows("pay") {
            div.notice.good {
                p { strong { (fill(words.left_to_pay, &[("amount", money(&outstanding))])) } }
                @let expires = text(json, "expires_at");
                @if !expires.is_empty() { p.faint { (fill(words.reserved_until, &[("time", &words.time(expires, zone))])) } }
            }
        }
        div.actions {
            @if allows("pay") && !is_manual { a.button.primary href={ "/orders/" (order.id) "/pay" } { (fill(words.pay_amount, &[("amount", money(&outstanding))])) } }
            @if !is_manual { (pay_by(order, others, words)) }
            // Who pays at the door has chosen so, and is not asked for a card.
            @else if !others.is_empty() {
                details { summary { (words.pay_otherwise) } div.actions { (pay_by(order, others, words)) } }
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

/// The buttons that pay by other methods.
fn pay_by(order: &ShownOrder, others: &[Value], words: &Words) -> Markup {
    html! {
        @for other in others {
            @let to = format!("/orders/{}/pay?provider={}", order.id, text(other, "provider"));
            a.button.secondary href=(to) { (fill(words.pay_by, &[("method", method_name(other, words))])) }
        }
    }
}

/// By which method an order is paid or to be paid, and how.
fn payment_method(order: &Value, words: &Words) -> Markup {
    let status = text(order, "financial_status");
    let is_paid = matches!(
        status,
        "paid" | "authorized" | "partially_paid" | "partially_refunded" | "refunded"
    );
    let chosen = order.pointer("/payment_method/name").unwrap_or(&Value::Null);
    let method = json!({"name": chosen, "provider": order.get("payment_provider")});
    let due = order.pointer("/totals/due").unwrap_or(&Value::Null);
    let by_cards =
        !is_some(due) && is_some(order.pointer("/totals/gift_cards").unwrap_or(&Value::Null));
    let name = if by_cards { words.gift_card } else { method_name(&method, words) };
    let instructions = text(order, "payment_instructions");
    let is_manual = text(order, "payment_provider") == MANUAL;
    let is_open = is_manual && allows(order, "pay") && !instructions.is_empty();
    html! {
        @if !name.is_empty() {
            p {
                (words.payment_method) ": " (name)
                @if is_paid { " – " (words.financial_status(status)) }
            }
        }
        @if is_open { p.block { (instructions) } }
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
                            @let carrier = text(tracking, "company");
                            @if !number.is_empty() {
                                ": "
                                @if let Some(url) = tracking_page(tracking) {
                                    a href=(url) rel="noopener noreferrer" { bdi { (number) } }
                                } @else { bdi { (number) } }
                            }
                            @if !carrier.is_empty() { " (" bdi { (carrier) } ")" }
                            @for (title, count) in contents(order, one) {
                                div.faint { bdi { (title) } " × " (count) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The page on which a carrier shows a parcel: the merchant's, or that of a carrier that is known.
fn tracking_page(tracking: &Value) -> Option<String> {
    match text(tracking, "url") {
        "" => tracking_url(text(tracking, "company"), text(tracking, "number")),
        url => url.starts_with("https://").then(|| url.to_owned()),
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

/// Where an order goes, and where messages about it do.
fn addresses(order: &Value, pickup: &[String], words: &Words) -> Markup {
    let has = |member: &str| order.get(member).is_some_and(Value::is_object);
    let has_place = !pickup.is_empty() || has("shipping_address") || has("billing_address");
    let email = text(order, "email");
    html! {
        section {
            @if has_place {
                h2 { (words.addresses) }
                div.pair {
                    @if !pickup.is_empty() { (place(words.pickup, pickup)) }
                    @else { (address(order, "shipping_address", words.delivery, words)) }
                    (address(order, "billing_address", words.billing, words))
                }
            }
            @if !email.is_empty() { p.faint { (fill(words.messages_to, &[("email", email)])) } }
        }
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
            (shown_lines(lines))
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
                        strong { bdi { (text(item, "title")) } }
                        @let variant = text(item, "variant_title");
                        @if !variant.is_empty() && variant != "Default" { div.faint { bdi { (variant) } } }
                        @for (name, value) in properties(item) { div.faint { bdi { (name) ": " (value) } } }
                        div.faint { (fill(words.quantity, &[("count", &quantity_of(item).to_string())])) }
                    }
                    div.amount { (money(item.get("subtotal").unwrap_or(&Value::Null))) }
                }
            }
        }
        (totals(order, words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpaid(provider: &str) -> Value {
        json!({
            "status": "pending", "financial_status": "failed", "payment_provider": provider,
            "allowed_actions": ["pay"], "payment_method": {"name": "Cash on delivery"},
            "payment_instructions": "Have it ready.", "totals": {"due": {"amount": 500}},
        })
    }

    #[test]
    fn an_order_whose_card_was_declined_is_not_said_to_be_received() {
        let words = Words::english();
        assert_eq!(heading(&unpaid("stripe"), words), words.payment_open);
        assert_eq!(heading(&unpaid("manual"), words), words.is_placed);
    }

    #[test]
    fn the_chosen_method_is_named_before_it_is_paid() {
        let page = payment_method(&unpaid("manual"), Words::english()).into_string();
        assert!(page.contains("Payment method: Cash on delivery</p>"), "{page}");
        assert!(page.contains("Have it ready."), "{page}");
    }

    #[test]
    fn a_parcel_of_a_known_carrier_has_a_page() {
        let of = |tracking: Value| tracking_page(&tracking);
        let own = json!({"url": "https://a.example/1", "company": "UPS", "number": "1"});
        assert_eq!(of(own).as_deref(), Some("https://a.example/1"));
        assert!(of(json!({"company": "UPS", "number": "1Z"})).is_some());
        assert_eq!(of(json!({"url": "http://a.example", "company": "UPS", "number": "1Z"})), None);
        assert_eq!(of(json!({"company": "A cousin", "number": "1Z"})), None);
    }
}
