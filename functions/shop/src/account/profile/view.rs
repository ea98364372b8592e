//! The page with the forms by which customers change their account.

use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::Value;

use super::super::done::{Done, PROFILE};
use super::super::inputs::Inputs;
use super::super::view;
use super::has_password;
use crate::form::Fields;
use crate::values::text;
use crate::visit::Visit;
use crate::words::{Words, fill};

/// What a form of the page asks for, beside what it always does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Asked<'a> {
    #[default]
    Nothing,
    /// Another new address than this, or the same once more.
    NewEmail { email: &'a str },
    /// The code that was mailed to the present address, to change it to this one.
    ProofForEmail { challenge: &'a str, email: &'a str },
    /// The code that was mailed to this new address.
    CodeOfNewEmail { challenge: &'a str, email: &'a str },
    /// The code that was mailed to the present address, to set a password.
    ProofForPassword { challenge: &'a str },
}

/// The page.
#[derive(Debug, Default)]
pub(super) struct Profile<'a> {
    pub(super) done: Option<Done>,
    pub(super) errors: Vec<&'a str>,
    /// Details that were sent and rejected.
    pub(super) details: Option<&'a Fields>,
    pub(super) asked: Asked<'a>,
}

impl Profile<'_> {
    pub(super) fn answer(&self, visit: &Visit, me: &Value, status: StatusCode) -> Response {
        let words = visit.words();
        let content = html! {
            @if let Some(done) = self.done { div.notice.good role="status" { p { (done.said(words)) } } }
            section { (form("details", &self.details(me, words), words.accounts.save)) }
            section {
                h2 { (words.email) }
                p { bdi { (text(me, "email")) } }
                (form(self.act_of_email(), &self.email(me, words), words.accounts.change_email))
            }
            section {
                h2 { (words.accounts.password) }
                (form("password", &self.password(me, words), self.button_of_password(me, words)))
            }
            p { a href="/account" { (words.accounts.back) } }
        };
        view::page(visit, (words.accounts.your_details, &self.errors), &content, status)
    }

    fn details(&self, me: &Value, words: &Words) -> Markup {
        let inputs = Inputs::within("details-", words);
        let value = |name| match self.details {
            Some(sent) => sent.get(name).unwrap_or_default(),
            None => text(me, name),
        };
        let accepts = match self.details {
            Some(sent) => sent.has("accepts_marketing"),
            None => me.get("accepts_marketing").and_then(Value::as_bool).unwrap_or(false),
        };
        html! {
            (inputs.name("name", (words.phrases.name, "name"), value("name")))
            (inputs.input("phone", (words.phone, "tel", "tel"), value("phone")))
            label.check {
                input type="checkbox" name="accepts_marketing" value="yes" checked[accepts]; " " (words.news)
            }
        }
    }

    const fn act_of_email(&self) -> &'static str {
        match self.asked {
            Asked::CodeOfNewEmail { .. } => "confirm",
            _ => "email",
        }
    }

    fn email(&self, me: &Value, words: &Words) -> Markup {
        let inputs = Inputs::within("email-", words);
        match self.asked {
            Asked::CodeOfNewEmail { challenge, email } => html! {
                input type="hidden" name="email" value=(email);
                (code("email-", challenge, email, words))
            },
            Asked::ProofForEmail { challenge, email } => html! {
                input type="hidden" name="email" value=(email);
                (code("email-", challenge, text(me, "email"), words))
            },
            Asked::Nothing | Asked::NewEmail { .. } | Asked::ProofForPassword { .. } => {
                let typed = if let Asked::NewEmail { email } = self.asked { email } else { "" };
                html! {
                    (inputs.input("email", (words.accounts.new_email, "email", "email"), typed))
                    (current_password(&inputs, me, words))
                }
            }
        }
    }

    /// Where there is no password yet, a code is mailed first.
    fn button_of_password<'w>(&self, me: &Value, words: &'w Words) -> &'w str {
        match self.asked {
            Asked::ProofForPassword { .. } => words.accounts.set_password,
            _ if has_password(me) => words.accounts.set_password,
            _ => words.accounts.mail_code,
        }
    }

    fn password(&self, me: &Value, words: &Words) -> Markup {
        let inputs = Inputs::within("password-", words);
        let new = inputs.password("new_password", (words.accounts.new_password, "new-password"));
        match self.asked {
            Asked::ProofForPassword { challenge } => html! {
                (code("password-", challenge, text(me, "email"), words))
                (new)
            },
            // The code is asked for first: a password that is typed before it would have to be sent back to the browser.
            _ if !has_password(me) => html! {},
            _ => html! {
                (current_password(&inputs, me, words))
                (new)
            },
        }
    }
}

/// A form of the page, with its button.
fn form(act: &str, inputs: &Markup, button: &str) -> Markup {
    html! {
        form method="post" action=(PROFILE) {
            input type="hidden" name="act" value=(act);
            (inputs)
            button.secondary { (button) }
        }
    }
}

/// The field for the present password, if the account has one.
fn current_password(inputs: &Inputs<'_>, me: &Value, words: &Words) -> Markup {
    html! {
        @if has_password(me) {
            (inputs.password("password", (words.accounts.your_password, "current-password")))
        }
    }
}

/// The field for a code that was mailed to an address.
fn code(form: &str, challenge: &str, email: &str, words: &Words) -> Markup {
    let id = format!("{form}code");
    html! {
        input type="hidden" name="challenge_id" value=(challenge);
        p { (fill(words.accounts.code_mailed, &[("email", email)])) }
        div.field {
            label for=(id) { (words.code) }
            input id=(id) name="code" inputmode="numeric" autocomplete="one-time-code" required autofocus;
        }
    }
}
