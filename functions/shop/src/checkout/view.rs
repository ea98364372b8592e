//! The checkout page.

use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use super::customer::Customer;
use super::fields::Act;
use super::offers::{MANUAL, Offers, is_shipped, rounds};
use super::summary;
use crate::address::{Address, Needs};
use crate::cart::Cart;
use crate::form::Fields;
use crate::frame::Page;
use crate::notices::Notices;
use crate::policies::Policies;
use crate::values::{is_some, money, text};
use crate::visit::Visit;
use crate::words::{Words, fill, method_name};

/// The page of a cart.
pub(super) struct Checkout<'a> {
    pub(super) visit: &'a Visit,
    pub(super) cart: &'a Cart,
    pub(super) offers: &'a Offers,
    pub(super) customer: &'a Customer,
    pub(super) policies: &'a Policies,
    /// What the address of the delivery must have.
    pub(super) needs: Needs,
    /// What was sent, if it was not stored.
    pub(super) sent: &'a Fields,
    pub(super) notices: Notices,
    /// The key that makes an order of two presses of the button one.
    pub(super) key: &'a str,
}

impl Checkout<'_> {
    fn words(&self) -> &'static Words {
        self.visit.words()
    }

    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let words = self.words();
        let content = html! {
            h1 { (words.checkout) }
            (self.problems())
            form method="post" action="/checkout" novalidate data-rates=[self.rates_of_address()] {
                input type="hidden" name="key" value=(self.key);
                input type="hidden" name="total" value=(self.due());
                input type="hidden" name="cart" value=(self.cart.digest());
                // Enter in any field continues; it does not order.
                button.hidden name="act" value="to:delivery" tabindex="-1" aria-hidden="true" { (words.go_on) }
                (self.contact())
                (self.delivery())
                @if is_shipped(self.cart) { (self.shipping()) }
                (self.codes())
                (self.payment())
                (self.review())
            }
        };
        let aside = Some(summary::of_cart(self.cart, words));
        let foot = Some(self.policies.at_foot(words));
        Page { aside, foot, ..Page::new(self.visit, words.checkout, content) }.answer(status)
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
        let words = self.words();
        let told = |fault| {
            let pointer = text(fault, "pointer");
            (pointer, words.of_field((pointer, text(fault, "code")), text(fault, "detail")))
        };
        let noted = self.notices.elsewhere().map(|(at, sentence)| (at, sentence.to_owned()));
        let mut sentences: Vec<(Option<String>, String)> = Vec::new();
        for (pointer, sentence) in noted.chain(blocking.map(told)) {
            let sentence = (self.cart.named_at(pointer), sentence);
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        html! {
            @if !sentences.is_empty() || !self.notices.is_empty() {
                div.notice role="alert" tabindex="-1" {
                    @if sentences.is_empty() { p { (words.check_fields) } }
                    @for (name, sentence) in &sentences { p { @if let Some(name) = name { bdi { (name) } ": " } (sentence) } }
                }
            }
        }
    }

    fn contact(&self) -> Markup {
        let email =
            self.sent.get("email").unwrap_or_else(|| match text(&self.cart.json, "email") {
                "" => self.customer.email(),
                email => email,
            });
        let accepts = self.stored("accepts_marketing").as_bool().unwrap_or(false);
        let error = self.notices.of("/email");
        let words = self.words();
        html! {
            section id="contact" {
                h2 { (words.contact) }
                @if self.visit.has_session() { p.faint { (words.signed_in) " " a href="/account" { (words.your_account) } } }
                @else { p.faint { (words.have_account) " " a href="/account/login?return_to=/checkout" { (words.sign_in) } } }
                div.field {
                    label for="email" { (words.email) }
                    input id="email" type="email" name="email" value=(email) autocomplete="email"
                        required aria-invalid=[error.map(|_| "true")] aria-describedby=[error.map(|_| "email-error")];
                    @if let Some(error) = error { p.error id="email-error" { (error) } }
                }
                label.check {
                    input type="checkbox" name="accepts_marketing" value="yes" checked[accepts];
                    " " (words.news)
                }
            }
        }
    }

    fn delivery(&self) -> Markup {
        let (ship, bill) = (self.stored("shipping_address"), self.stored("billing_address"));
        let own = self.customer.preferred().filter(|_| ship.is_null());
        let is_same = bill.is_null() || bill == ship;
        let is_same = self.sent.get("bill_choice").map_or(is_same, |choice| choice == "same");
        let country = self.visit.store().country.as_str();
        let of = |name, stored, (notices, pointer), needs| Address {
            name,
            sent: self.sent,
            stored,
            country,
            notices,
            pointer,
            needs,
        };
        let (nothing, unsaid) = (Value::Null, Notices::default());
        let other = if is_same { &nothing } else { bill };
        // What is wrong with one address in both places is said once.
        let of_other = if is_same { &unsaid } else { &self.notices };
        let words = self.words();
        html! {
            section id="delivery" {
                h2 { @if is_shipped(self.cart) { (words.delivery) } @else { (words.address) } }
                (self.customer.choice(words))
                (of("ship", own.unwrap_or(ship), (&self.notices, "/shipping_address"), self.needs).render(words))
                fieldset.plain {
                    legend { (words.billing_address) }
                    label.choice { input type="radio" name="bill_choice" value="same" checked[is_same]; " " (words.same) }
                    label.choice { input type="radio" name="bill_choice" value="other" checked[!is_same]; " " (words.another) }
                    div.billing { (of("bill", other, (of_other, "/billing_address"), Needs::RECIPIENT).render(words)) }
                }
                button.secondary name="act" value="to:shipping" { (words.go_on) }
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
        let words = self.words();
        html! {
            section id="shipping" {
                h2 { (words.shipping) }
                @if let Some(detail) = &self.offers.no_rates { p.error { (detail) } }
                @else if !has_address { p.faint { (words.rates_later) } }
                fieldset.plain id="rates" {
                    legend.hidden { (words.rate) }
                    @for (rate, place) in rates { (rate_choice(rate, place, chosen, words)) }
                }
                @if !rates.is_empty() {
                    button.secondary.js-hidden name="act" value="to:shipping" { (words.update_total) }
                }
            }
        }
    }

    /// Whether the page has the rates of the cart's address, or a script is to ask for them once there is one; none where
    /// nothing is shipped.
    fn rates_of_address(&self) -> Option<&'static str> {
        let is_stored = self.stored("shipping_address").is_object();
        is_shipped(self.cart).then_some(if is_stored { "known" } else { "ask" })
    }

    fn codes(&self) -> Markup {
        let codes = self.stored("discount_codes").as_array().cloned().unwrap_or_default();
        let cards = self.stored("gift_cards").as_array().cloned().unwrap_or_default();
        let error = self.notices.of("code");
        let words = self.words();
        let is_untried = matches!(Act::of(self.sent), Act::Continue(_));
        let typed = self.sent.get("code").filter(|_| error.is_some() || is_untried);
        html! {
            section id="codes" {
                h2 { (words.codes) }
                div.pair.code {
                    div.field {
                        label.hidden for="code" { (words.code) }
                        input id="code" name="code" value=[typed] autocomplete="off" autocapitalize="characters"
                            aria-invalid=[error.map(|_| "true")] aria-describedby=[error.map(|_| "code-error")];
                    }
                    button.secondary name="act" value="apply" { (words.apply) }
                }
                @if let Some(error) = error { p.error id="code-error" { (error) } }
                ul.applied {
                    @for code in codes.iter().filter_map(Value::as_str) {
                        li { span { (code) } button.link name="act" value={ "code:" (code) } { (words.remove) span.hidden { " " (code) } } }
                    }
                    @for card in &cards {
                        @let ends = text(card, "last_characters");
                        li {
                            span { (words.gift_card) " …" (ends) }
                            button.link name="act" value={ "card:" (text(card, "id")) } { (words.remove) span.hidden { " " (words.gift_card) " " (ends) } }
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
        let submits = rounds(self.cart).then_some("payment");
        let words = self.words();
        html! {
            section id="payment" {
                h2 { (words.payment) }
                @if !is_some(&due) { p { (words.nothing_to_pay) } }
                @else if methods.is_empty() { p.error { (words.no_method) } }
                @else {
                    fieldset.plain {
                        legend.hidden { (words.payment_method) }
                        @for method in methods { (method_choice(method, (chosen, submits), words)) }
                    }
                }
            }
        }
    }

    fn review(&self) -> Markup {
        let note = self.sent.get("note").unwrap_or_else(|| text(&self.cart.json, "note"));
        let total = self.cart.json.pointer("/totals/due").cloned().unwrap_or_default();
        let words = self.words();
        html! {
            section id="review" {
                h2 { (words.review) }
                div.field {
                    label for="note" { (words.note) span.optional { " " (words.optional) } }
                    textarea id="note" name="note" rows="2" maxlength="2000" { (note) }
                }
                div.phone-only { (summary::of_cart(self.cart, words)) }
                (self.policies.of_order(words))
                button.primary name="act" value="place" {
                    @if is_some(&total) { (fill(words.order_and_pay, &[("amount", money(&total))])) } @else { (words.order_now) }
                }
                p.faint { (words.binding) }
            }
        }
    }
}

fn rate_choice(rate: &Value, place: &[String], chosen: &str, words: &Words) -> Markup {
    let id = text(rate, "id");
    let days = |name: &str| rate.get(name).and_then(Value::as_u64);
    let price = rate.get("price").cloned().unwrap_or_default();
    html! {
        label.choice {
            input type="radio" name="rate" value=(id) checked[id == chosen] data-submits="rates";
            span.grow {
                (text(rate, "name"))
                @if let Some(max) = days("max_days") {
                    span.faint { " " (words.days(days("min_days"), max)) }
                }
                @if !place.is_empty() { span.faint.block { (place.join(", ")) } }
            }
            span.amount { @if is_some(&price) { (money(&price)) } @else { (words.free) } }
        }
    }
}

/// A payment method; one whose choice changes the total is sent at once.
fn method_choice(method: &Value, (chosen, submits): (&str, Option<&str>), words: &Words) -> Markup {
    let id = text(method, "id");
    let instructions = text(method, "instructions");
    html! {
        label.choice {
            input type="radio" name="payment" value=(id) checked[id == chosen] data-submits=[submits];
            span.grow {
                (method_name(method, words))
                @if !instructions.is_empty() { span.faint.block { (instructions) } }
                @if text(method, "provider") != MANUAL { span.faint.block { (words.payment_follows) } }
            }
        }
    }
}
