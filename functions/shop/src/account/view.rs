//! The platform's pages of an account.

use axum::response::Response;
use http::{StatusCode, header};
use maud::{Markup, html};
use serde_json::Value;

use crate::fault::Fault;
use crate::form::Fields;
use crate::frame::Page;
use crate::values::{date, items, money, text, words};
use crate::visit::Visit;

/// The sign-in page.
pub(super) struct SignIn<'a> {
    pub(super) visit: &'a Visit,
    pub(super) email: &'a str,
    pub(super) target: &'a str,
    pub(super) error: Option<&'a str>,
}

impl SignIn<'_> {
    pub(super) fn answer(&self, status: StatusCode) -> Response {
        let content = html! {
            h1 { "Sign in" }
            (alert(self.error.as_slice()))
            form method="post" action="/account/login" {
                input type="hidden" name="return_to" value=(self.target);
                (field("email", "E-mail address", "email", "username", self.email))
                (field("password", "Password", "password", "current-password", ""))
                div.actions {
                    button.primary { "Sign in" }
                    button.secondary formaction="/account/login/code" formnovalidate { "E-mail me a code instead" }
                }
            }
            p { a href="/account/recover" { "Forgot your password?" } }
            p { "No account yet? " a href={ "/account/register?return_to=" (self.target) } { "Register" } }
        };
        Page::new(self.visit, "Sign in", content).answer(status)
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
        let content = html! {
            h1 { "Sign in with a code" }
            (alert(self.error.as_slice()))
            form method="post" action="/account/login/code" {
                input type="hidden" name="return_to" value=(self.target);
                (field("email", "E-mail address", "email", "username", self.email))
                button.primary { "E-mail me a code" }
            }
            p { a href={ "/account/login?return_to=" (self.target) } { "Sign in with a password" } }
        };
        Page::new(self.visit, "Sign in with a code", content).answer(status)
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
        let content = html! {
            h1 { "Set a new password" }
            (alert(self.error.as_slice()))
            @if self.is_sent {
                p { "If the address has an account, a mail with a link is on its way to it." }
            } @else {
                form method="post" action="/account/recover" {
                    (field("email", "E-mail address", "email", "username", self.email))
                    button.primary { "E-mail me a link" }
                }
            }
            p { a href="/account/login" { "Back to the sign-in" } }
        };
        Page::new(self.visit, "Set a new password", content).answer(status)
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
        let content = html! {
            h1 { "Set a new password" }
            (alert(self.errors))
            form method="post" action=(self.path) {
                (field("password", "New password, of at least 8 characters", "password", "new-password", ""))
                (field("password_confirmation", "Once more", "password", "new-password", ""))
                button.primary { "Set the password" }
            }
        };
        Page::new(self.visit, "Set a new password", content).answer(status)
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
        let content = html! {
            h1 { "Your data" }
            (alert(self.error.as_slice()))
            @if let Some(notice) = self.notice { div.notice.good role="status" { p { (notice) } } }
            (self.sections(me))
            p { a href="/account" { "Back to the account" } }
        };
        Page::new(visit, "Your data", content).answer(status)
    }

    /// The forms about a customer's data.
    fn sections(&self, me: &Value) -> Markup {
        let has_password = me.get("has_password").and_then(Value::as_bool).unwrap_or(false);
        html! {
            section {
                h2 { "A copy of your data" }
                p.faint { "The shop gives you what it has stored about you: account, addresses, orders, reviews and more." }
                form method="post" action="/account/data-request" { button.secondary { "Request a copy" } }
            }
            section {
                h2 { "Delete the account" }
                p.faint { "Orders stay with the shop as long as the law requires it. Everything else is erased." }
                form method="post" action="/account/delete" {
                    @if let Some(challenge) = self.challenge {
                        p { "Enter the code that was mailed to " (text(me, "email")) "." }
                        input type="hidden" name="challenge_id" value=(challenge);
                        (field("code", "Code", "text", "one-time-code", ""))
                    } @else if has_password {
                        (field("password", "Your password", "password", "current-password", ""))
                    }
                    button.secondary { "Delete the account" }
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

/// The page with the time after which another attempt is accepted.
pub(super) fn with_retry(mut response: Response, fault: &Fault) -> Response {
    if let Some(after) = &fault.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, after.clone());
    }
    response
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
        let content = html! {
            h1 { "Enter the code" }
            (alert(self.error.as_slice()))
            p { "If the address has an account, or begins one, a mail with a code is on its way to it." }
            form method="post" action="/account/login/verify" {
                input type="hidden" name="challenge_id" value=(self.challenge);
                input type="hidden" name="return_to" value=(self.target);
                div.field {
                    label for="code" { "Code" }
                    input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required autofocus;
                }
                button.primary { "Sign in" }
            }
            p { a href="/account/login" { "Start again" } }
        };
        Page::new(self.visit, "Enter the code", content).answer(status)
    }
}

pub(super) fn registration(
    visit: &Visit,
    sent: &Fields,
    errors: &[&str],
    status: StatusCode,
) -> Response {
    let value = |name: &str| super::session::input(sent, name);
    let content = html! {
        h1 { "Register" }
        (alert(errors))
        form method="post" action="/account/register" {
            input type="hidden" name="return_to" value=(super::session::target(sent));
            div.pair {
                (field("first_name", "First name", "text", "given-name", value("first_name")))
                (field("last_name", "Last name", "text", "family-name", value("last_name")))
            }
            (field("email", "E-mail address", "email", "username", value("email")))
            (field("password", "Password, of at least 8 characters", "password", "new-password", ""))
            label.check { input type="checkbox" name="accepts_marketing" value="yes"; " E-mail me with news and offers" }
            button.primary { "Register" }
        }
    };
    Page::new(visit, "Register", content).answer(status)
}

pub(super) fn account(visit: &Visit, me: &Value, orders: &Value) -> Response {
    let orders = items(orders);
    let name = text(me, "name");
    let content = html! {
        h1 { @if name.is_empty() { "Your account" } @else { "Hello " (name) } }
        p { (text(me, "email")) }
        div.actions {
            a.button.secondary href="/account/addresses" { "Addresses" }
            form method="post" action="/account/logout" { button.secondary { "Sign out" } }
        }
        section {
            h2 { "Orders" }
            @if orders.is_empty() { p.faint { "There are no orders yet." } }
            @else { div.scroll { (orders_table(&orders)) } }
        }
        (Privacy::default().sections(me))
    };
    Page::new(visit, "Account", content).answer(StatusCode::OK)
}

fn orders_table(orders: &[Value]) -> Markup {
    html! {
        table {
            thead { tr { th { "Order" } th { "Date" } th { "Payment" } th { "Delivery" } th { "Total" } } }
            tbody {
                @for order in orders {
                    tr {
                        td { a href={ "/orders/" (text(order, "id")) } { (text(order, "number")) } }
                        td { (date(text(order, "created_at"))) }
                        td { (words(text(order, "financial_status"))) }
                        td { (words(text(order, "fulfillment_status"))) }
                        td.amount { (money(order.pointer("/totals/total").unwrap_or(&Value::Null))) }
                    }
                }
            }
        }
    }
}

/// What was wrong.
pub(super) fn alert<T: AsRef<str>>(errors: &[T]) -> Markup {
    html! {
        @if !errors.is_empty() {
            div.notice role="alert" tabindex="-1" { @for error in errors { p { (error.as_ref()) } } }
        }
    }
}

fn field(name: &str, label: &str, kind: &str, purpose: &str, value: &str) -> Markup {
    let is_optional = matches!(name, "first_name" | "last_name");
    html! {
        div.field {
            label for=(name) { (label) @if is_optional { span.optional { " (optional)" } } }
            input id=(name) name=(name) type=(kind) autocomplete=(purpose) value=[(!value.is_empty()).then_some(value)]
                required[!is_optional];
        }
    }
}
