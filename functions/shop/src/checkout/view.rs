//! The checkout page.

use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use super::offers::{Offers, is_shipped};
use super::summary;
use crate::address::Address;
use crate::cart::Cart;
use crate::form::Fields;
use crate::frame::Page;
use crate::notices::Notices;
use crate::values::{is_some, money, text};
use crate::visit::Visit;

/// The page of a cart.
pub(super) struct Checkout<'a> {
    pub(super) visit: &'a Visit,
    pub(super) cart: &'a Cart,
    pub(super) offers: &'a Offers,
    /// What was sent, if it was not stored.
    pub(super) sent: &'a Fields,
    pub(super) notices: Notices,
    /// The key that makes an order of two presses of the button one.
    pub(super) key: &'a str,
}

impl Checkout<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let content = html! {
            h1 { "Checkout" }
            (self.problems())
            form method="post" action="/checkout" novalidate {
                input type="hidden" name="key" value=(self.key);
                input type="hidden" name="total" value=(self.due());
                input type="hidden" name="cart" value=(self.cart.digest());
                // Enter in any field continues; it does not order.
                button.hidden name="act" value="to:delivery" tabindex="-1" aria-hidden="true" { "Continue" }
                (self.contact())
                (self.delivery())
                @if is_shipped(self.cart) { (self.shipping()) }
                (self.codes())
                (self.payment())
                (self.review())
            }
        };
        let aside = Some(summary::of_cart(self.cart));
        Page { aside, ..Page::new(self.visit, "Checkout", content) }.answer(status)
    }

    fn stored(&self, member: &str) -> &Value {
        self.cart.json.get(member).unwrap_or(&Value::Null)
    }

    /// The total that the page shows, which an order must not differ from.
    fn due(&self) -> String {
        let total = self.cart.json.pointer("/totals/total/amount").and_then(Value::as_i64);
        total.unwrap_or(0).to_string()
    }

    /// What keeps the cart from being ordered, beside what is simply not filled in yet.
    fn problems(&self) -> Markup {
        let faults = self.stored("faults").as_array().cloned().unwrap_or_default();
        let blocking = faults.iter().filter(|fault| {
            let pointer = text(fault, "pointer");
            !["/shipping_rate_id", "/payment"].iter().any(|shown| pointer.starts_with(shown))
        });
        let sentences: Vec<&str> =
            self.notices.elsewhere().chain(blocking.map(|fault| text(fault, "detail"))).collect();
        html! {
            @if !sentences.is_empty() || !self.notices.is_empty() {
                div.notice role="alert" tabindex="-1" {
                    @if sentences.is_empty() { p { "Please check the marked fields." } }
                    @for sentence in sentences { p { (sentence) } }
                }
            }
        }
    }

    fn contact(&self) -> Markup {
        let email = self.sent.get("email").unwrap_or_else(|| text(&self.cart.json, "email"));
        let accepts = self.stored("accepts_marketing").as_bool().unwrap_or(false);
        let error = self.notices.of("/email");
        html! {
            section id="contact" {
                h2 { "Contact" }
                @if self.visit.has_session() { p.faint { "You are signed in. " a href="/account" { "Your account" } } }
                @else { p.faint { "Have an account? " a href="/account/login?return_to=/checkout" { "Sign in" } } }
                div.field {
                    label for="email" { "E-mail address" }
                    input id="email" type="email" name="email" value=(email) autocomplete="email"
                        aria-invalid=[error.map(|_| "true")] aria-describedby=[error.map(|_| "email-error")];
                    @if let Some(error) = error { p.error id="email-error" { (error) } }
                }
                label.check {
                    input type="checkbox" name="accepts_marketing" value="yes" checked[accepts];
                    " E-mail me with news and offers"
                }
            }
        }
    }

    fn delivery(&self) -> Markup {
        let (ship, bill) = (self.stored("shipping_address"), self.stored("billing_address"));
        let is_same = bill.is_null() || bill == ship;
        let is_same = self.sent.get("bill_choice").map_or(is_same, |choice| choice == "same");
        let country = self.visit.store().country.as_str();
        let of = |name, stored, pointer| Address {
            name,
            sent: self.sent,
            stored,
            country,
            notices: &self.notices,
            pointer,
        };
        let nothing = Value::Null;
        let other = if is_same { &nothing } else { bill };
        html! {
            section id="delivery" {
                h2 { @if is_shipped(self.cart) { "Delivery" } @else { "Address" } }
                (of("ship", ship, "/shipping_address").render())
                fieldset.plain {
                    legend { "Billing address" }
                    label.choice { input type="radio" name="bill_choice" value="same" checked[is_same]; " The same" }
                    label.choice { input type="radio" name="bill_choice" value="other" checked[!is_same]; " Another one" }
                    div.billing { (of("bill", other, "/billing_address").render()) }
                }
                button.secondary name="act" value="to:shipping" { "Continue" }
            }
        }
    }

    fn shipping(&self) -> Markup {
        let has_address = !self.stored("shipping_address").is_null();
        if has_address && self.offers.rates.is_empty() && self.offers.no_rates.is_none() {
            // A shop without shipping zones.
            return html! {};
        }
        let chosen =
            self.sent.get("rate").unwrap_or_else(|| text(&self.cart.json, "shipping_rate_id"));
        let rates = &self.offers.rates;
        html! {
            section id="shipping" {
                h2 { "Shipping" }
                @if let Some(detail) = &self.offers.no_rates { p.error { (detail) } }
                @else if rates.is_empty() {
                    p.faint { "Shipping rates are shown once there is an address." }
                }
                fieldset.plain {
                    legend.hidden { "Shipping rate" }
                    @for rate in rates { (rate_choice(rate, chosen)) }
                }
                @if !rates.is_empty() {
                    button.secondary.js-hidden name="act" value="to:shipping" { "Update the total" }
                }
            }
        }
    }

    fn codes(&self) -> Markup {
        let codes = self.stored("discount_codes").as_array().cloned().unwrap_or_default();
        let cards = self.stored("gift_cards").as_array().cloned().unwrap_or_default();
        let error = self.notices.of("code");
        let typed = if error.is_some() { self.sent.get("code") } else { None };
        html! {
            section id="codes" {
                h2 { "Discount code or gift card" }
                div.pair.code {
                    div.field {
                        label.hidden for="code" { "Code" }
                        input id="code" name="code" value=[typed] autocomplete="off" autocapitalize="characters"
                            aria-invalid=[error.map(|_| "true")] aria-describedby=[error.map(|_| "code-error")];
                    }
                    button.secondary name="act" value="apply" { "Apply" }
                }
                @if let Some(error) = error { p.error id="code-error" { (error) } }
                ul.applied {
                    @for code in codes.iter().filter_map(Value::as_str) {
                        li { span { (code) } button.link name="act" value={ "code:" (code) } { "Remove" span.hidden { " " (code) } } }
                    }
                    @for card in &cards {
                        @let ends = text(card, "last_characters");
                        li {
                            span { "Gift card …" (ends) }
                            button.link name="act" value={ "card:" (text(card, "id")) } { "Remove" span.hidden { " gift card " (ends) } }
                        }
                    }
                }
            }
        }
    }

    fn payment(&self) -> Markup {
        let methods = &self.offers.methods;
        let due = self.cart.json.pointer("/totals/due").cloned().unwrap_or_default();
        let stored = self.stored("payment");
        let known = match text(stored, "method") {
            "" => text(stored, "provider").to_owned(),
            method => format!("{}:{method}", text(stored, "provider")),
        };
        let sent = self.sent.get("payment").unwrap_or(&known);
        let is_known = methods.iter().any(|method| text(method, "id") == sent);
        let first = methods.first().map(|method| text(method, "id")).unwrap_or_default();
        let chosen = if is_known { sent } else { first };
        html! {
            section id="payment" {
                h2 { "Payment" }
                @if !is_some(&due) { p { "Nothing is left to pay." } }
                @else if methods.is_empty() { p.error { "This shop has no payment method yet." } }
                @else {
                    fieldset.plain {
                        legend.hidden { "Payment method" }
                        @for method in methods { (method_choice(method, chosen)) }
                    }
                }
            }
        }
    }

    fn review(&self) -> Markup {
        let note = self.sent.get("note").unwrap_or_else(|| text(&self.cart.json, "note"));
        let total = self.cart.json.pointer("/totals/due").cloned().unwrap_or_default();
        html! {
            section id="review" {
                h2 { "Review" }
                div.field {
                    label for="note" { "Note to the shop" span.optional { " (optional)" } }
                    textarea id="note" name="note" rows="2" maxlength="2000" { (note) }
                }
                div.phone-only { (summary::of_cart(self.cart)) }
                button.primary name="act" value="place" {
                    @if is_some(&total) { "Order and pay " (money(&total)) } @else { "Order" }
                }
                p.faint { "The order is binding. Payment follows on the next page." }
            }
        }
    }
}

fn rate_choice(rate: &Value, chosen: &str) -> Markup {
    let id = text(rate, "id");
    let days = |name: &str| rate.get(name).and_then(Value::as_u64);
    let price = rate.get("price").cloned().unwrap_or_default();
    html! {
        label.choice {
            input type="radio" name="rate" value=(id) checked[id == chosen] data-submits="shipping";
            span.grow {
                (text(rate, "name"))
                @match (days("min_days"), days("max_days")) {
                    (Some(min), Some(max)) if min != max => { span.faint { " " (min) "–" (max) " days" } }
                    (_, Some(max)) => { span.faint { " " (max) " days" } }
                    _ => {}
                }
            }
            span.amount { @if is_some(&price) { (money(&price)) } @else { "Free" } }
        }
    }
}

fn method_choice(method: &Value, chosen: &str) -> Markup {
    let id = text(method, "id");
    let instructions = text(method, "instructions");
    html! {
        label.choice {
            input type="radio" name="payment" value=(id) checked[id == chosen];
            span.grow {
                (method_name(method))
                @if !instructions.is_empty() { span.faint.block { (instructions) } }
            }
        }
    }
}

/// What shoppers call a payment method.
pub(crate) fn method_name(method: &Value) -> &str {
    match (text(method, "name"), text(method, "provider")) {
        ("", "stripe") => "Card, wallet or bank (Stripe)",
        ("", "razorpay") => "Card, UPI, wallet or bank (Razorpay)",
        ("", "manual") => "Payment by arrangement",
        ("", other) => other,
        (name, _) => name,
    }
}
