//! The platform's pages of an account.

use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use super::inputs::Inputs;
use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Page;
use crate::values::{capitalized, items, money, text};
use crate::visit::Visit;
use crate::words::{Words, fill};

/// A page of an account: its title, what was wrong, and its content.
pub(super) fn page(
    visit: &Visit,
    (title, errors): (&str, &[&str]),
    content: &Markup,
    status: StatusCode,
) -> Response {
    let content = html! {
        h1 { (title) }
        @if !errors.is_empty() {
            div.notice role="alert" tabindex="-1" { @for error in errors { p { (error) } } }
        }
        (content)
    };
    Page::new(visit, title, content).answer(status)
}

/// The sign-in page.
pub(super) struct SignIn<'a> {
    pub(super) visit: &'a Visit,
    pub(super) email: &'a str,
    pub(super) target: &'a str,
    pub(super) error: Option<&'a str>,
    /// What was done before.
    pub(super) done: Option<&'a str>,
}

impl SignIn<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let words = self.visit.words();
        let own = &words.accounts;
        let content = html! {
            @if let Some(done) = self.done { div.notice.good role="status" { p { (done) } } }
            form method="post" action="/account/login" {
                input type="hidden" name="return_to" value=(self.target);
                (Inputs::of(words).email(self.email))
                (Inputs::of(words).password("password", (own.password, "current-password")))
                div.actions {
                    button.primary { (words.sign_in) }
                    button.secondary formaction="/account/login/code" formnovalidate { (own.code_instead) }
                }
            }
            p { a href="/account/recover" { (own.forgot_password) } }
            p { (own.no_account) " " a href={ "/account/register?return_to=" (self.target) } { (own.register) } }
        };
        page(self.visit, (words.sign_in, self.error.as_slice()), &content, status)
    }
}

/// The page on which a code is asked for.
pub(super) struct AskForCode<'a> {
    pub(super) visit: &'a Visit,
    pub(super) email: &'a str,
    pub(super) target: &'a str,
    pub(super) error: Option<&'a str>,
}

impl AskForCode<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let words = self.visit.words();
        let own = &words.accounts;
        let content = html! {
            form method="post" action="/account/login/code" {
                input type="hidden" name="return_to" value=(self.target);
                (Inputs::of(words).email(self.email))
                button.primary { (own.mail_code) }
            }
            p { a href={ "/account/login?return_to=" (self.target) } { (own.sign_in_by_password) } }
            p { (own.no_account) " " a href={ "/account/register?return_to=" (self.target) } { (own.register) } }
        };
        page(self.visit, (own.sign_in_by_code, self.error.as_slice()), &content, status)
    }
}

/// The page on which a link to set a new password is asked for.
pub(super) struct Recovery<'a> {
    pub(super) visit: &'a Visit,
    pub(super) email: &'a str,
    pub(super) error: Option<&'a str>,
    pub(super) is_sent: bool,
}

impl Recovery<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let words = self.visit.words();
        let own = &words.accounts;
        let content = html! {
            @if self.is_sent { p { (own.link_sent) } }
            @else {
                form method="post" action="/account/recover" {
                    (Inputs::of(words).email(self.email))
                    button.primary { (own.mail_link) }
                }
            }
            p { a href="/account/login" { (own.back_to_sign_in) } }
        };
        page(self.visit, (own.set_new_password, self.error.as_slice()), &content, status)
    }
}

/// The page on which a new password is set.
pub(super) struct NewPassword<'a> {
    pub(super) visit: &'a Visit,
    pub(super) path: &'a str,
    pub(super) errors: &'a [&'a str],
}

impl NewPassword<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let words = self.visit.words();
        let own = &words.accounts;
        let content = html! {
            form method="post" action=(self.path) {
                (Inputs::of(words).password("password", (own.new_password, "new-password")))
                (Inputs::of(words).password("password_confirmation", (own.once_more, "new-password")))
                button.primary { (own.set_password) }
            }
        };
        page(self.visit, (own.set_new_password, self.errors), &content, status)
    }
}

/// What becomes of a customer's data.
#[derive(Debug, Default)]
pub(super) struct Privacy<'a> {
    /// What was done.
    pub(super) notice: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    /// The challenge of a code that was mailed to delete the account.
    pub(super) challenge: Option<&'a str>,
}

impl Privacy<'_> {
    pub(super) fn answer(&self, visit: &Visit, me: &Value, status: StatusCode) -> Response {
        let words = visit.words();
        let own = &words.accounts;
        let content = html! {
            @if let Some(notice) = self.notice { div.notice.good role="status" { p { (notice) } } }
            (self.sections(me, words))
            p { a href="/account" { (own.back) } }
        };
        page(visit, (own.your_data, self.error.as_slice()), &content, status)
    }

    /// The forms about a customer's data.
    fn sections(&self, me: &Value, words: &Words) -> Markup {
        let has_password = me.get("has_password").and_then(Value::as_bool).unwrap_or(false);
        let own = &words.accounts;
        html! {
            section {
                h2 { (own.copy) }
                p.faint { (own.copy_of_what) }
                form method="post" action="/account/data-request" { button.secondary { (own.request_copy) } }
            }
            section {
                h2 { (own.delete_account) }
                p.faint { (own.what_is_deleted) }
                form method="post" action="/account/delete" {
                    @if let Some(challenge) = self.challenge {
                        p { (fill(own.code_mailed, &[("email", text(me, "email"))])) }
                        input type="hidden" name="challenge_id" value=(challenge);
                        (Inputs::of(words).name("code", (words.code, "one-time-code"), ""))
                    } @else if has_password {
                        (Inputs::of(words).password("password", (own.your_password, "current-password")))
                    }
                    button.secondary { (own.delete_account) }
                }
            }
        }
    }
}

/// The status of a page that shows a rejection.
pub(super) fn status_of(fault: &Fault) -> StatusCode {
    if fault.retry_after.is_some() {
        StatusCode::TOO_MANY_REQUESTS
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    }
}

/// The page that asks for a mailed code.
pub(super) struct CodePage<'a> {
    pub(super) visit: &'a Visit,
    pub(super) challenge: &'a str,
    pub(super) target: &'a str,
    pub(super) error: Option<&'a str>,
}

impl CodePage<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let words = self.visit.words();
        let own = &words.accounts;
        let content = html! {
            p { (own.code_sent) }
            form method="post" action="/account/login/verify" {
                input type="hidden" name="challenge_id" value=(self.challenge);
                input type="hidden" name="return_to" value=(self.target);
                div.field {
                    label for="code" { (words.code) }
                    input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required autofocus;
                }
                button.primary { (words.sign_in) }
            }
            p { a href="/account/login" { (own.start_again) } }
        };
        page(self.visit, (own.enter_code, self.error.as_slice()), &content, status)
    }
}

pub(super) fn registration(
    visit: &Visit,
    sent: &Fields,
    errors: &[&str],
    status: StatusCode,
) -> Response {
    let value = |name: &str| super::session::input(sent, name);
    let words = visit.words();
    let (own, inputs) = (&words.accounts, Inputs::of(words));
    let content = html! {
        form method="post" action="/account/register" {
            input type="hidden" name="return_to" value=(super::session::target(sent));
            div.pair {
                (inputs.name("first_name", (words.first_name, "given-name"), value("first_name")))
                (inputs.name("last_name", (words.last_name, "family-name"), value("last_name")))
            }
            (inputs.email(value("email")))
            (inputs.password("password", (own.first_password, "new-password")))
            label.check { input type="checkbox" name="accepts_marketing" value="yes"; " " (words.news) }
            button.primary { (own.register) }
        }
    };
    page(visit, (own.register, errors), &content, status)
}

pub(super) fn account(visit: &Visit, me: &Value, orders: &Value) -> Response {
    let orders = items(orders);
    let (words, name) = (visit.words(), text(me, "name"));
    let own = &words.accounts;
    let title = match name {
        "" => words.your_account.to_owned(),
        name => fill(own.hello, &[("name", name)]),
    };
    let content = html! {
        p { (text(me, "email")) }
        div.actions {
            a.button.secondary href="/account/profile" { (own.your_details) }
            a.button.secondary href="/account/addresses" { (words.addresses) }
            form method="post" action="/account/logout" { button.secondary { (own.sign_out) } }
        }
        section {
            h2 { (own.orders) }
            @if orders.is_empty() { p.faint { (own.no_orders) } }
            @else { div.scroll { (orders_table(&orders, visit)) } }
        }
        (Privacy::default().sections(me, words))
    };
    page(visit, (&title, &[]), &content, StatusCode::OK)
}

/// What shoppers call the statuses of an order; the second is a dash where it says the same: a cancelled order is neither
/// paid nor sent.
fn statuses(order: &Value, words: &Words) -> (String, String) {
    let paid = capitalized(words.financial_status(text(order, "financial_status")));
    let sent = capitalized(words.fulfillment_status(text(order, "fulfillment_status")));
    let is_said = paid == sent;
    (paid, if is_said { "–".to_owned() } else { sent })
}

fn orders_table(orders: &[Value], visit: &Visit) -> Markup {
    let (words, zone) = (visit.words(), &visit.store().timezone);
    let heads = [words.order, words.accounts.date, words.payment, words.delivery, words.total];
    html! {
        table {
            thead { tr { @for head in heads { th { (head) } } } }
            tbody {
                @for order in orders {
                    @let (paid, sent) = statuses(order, words);
                    tr {
                        td { a href={ "/orders/" (text(order, "id")) } { (text(order, "number")) } }
                        td { (words.date(text(order, "created_at"), zone)) }
                        td { (paid) }
                        td { (sent) }
                        td.amount { (money(order.pointer("/totals/total").unwrap_or(&Value::Null))) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cancelled_order_says_so_once() {
        let order = json!({"financial_status": "voided", "fulfillment_status": "not_required"});
        assert_eq!(statuses(&order, Words::english()), ("Cancelled".into(), "–".into()));
        let order = json!({"financial_status": "paid", "fulfillment_status": "unfulfilled"});
        assert_eq!(statuses(&order, Words::english()), ("Paid".into(), "Not shipped".into()));
    }
}
