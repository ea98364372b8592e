//! The contact form and the newsletter form of a theme: submissions of the API's forms, which the merchant reads.

use axum::response::{IntoResponse, Redirect, Response};
use catalogue::form::NEWSLETTER;
use http::{Method, StatusCode};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::fault::Fault;
use crate::form::Fields;
use crate::visit::Visit;
use crate::words::Words;

/// The form of a theme that has no template for it.
pub(crate) fn plain_form(words: &Words, is_sent: bool) -> Markup {
    let pages = &words.pages;
    html! {
        @if is_sent { p role="status" { strong { (words.message_sent) } } }
        form method="post" action="/contact" {
            input type="hidden" name="form_type" value="contact";
            p { label { (pages.your_name) br; input name="contact[name]" autocomplete="name"; } }
            p { label { (words.email) br; input type="email" name="contact[email]" autocomplete="email" required; } }
            p { label { (pages.message) br; textarea name="contact[body]" rows="6" required {} } }
            p { button.button type="submit" { (pages.send) } }
        }
    }
}

/// The parameter that says that a form was sent, behind the form's type.
pub(crate) const POSTED: &str = "_posted";

/// `GET /contact`: the page with the form.
pub(crate) async fn page() -> Redirect {
    Redirect::to("/pages/contact")
}

/// A form of a theme, by the type that it sends.
struct ThemeForm {
    /// The name of the API's form.
    name: &'static str,
    /// The type of the theme's form.
    kind: &'static str,
    /// Where it leads.
    back: &'static str,
}

impl ThemeForm {
    fn of(sent: &Fields) -> Self {
        match sent.text("form_type") {
            Some("customer") => Self { name: NEWSLETTER, kind: "customer", back: "/" },
            _ => Self { name: "contact", kind: "contact", back: "/pages/contact" },
        }
    }
}

/// `POST /contact`. It leads back to the page, which says that it was sent.
pub(crate) async fn submit(visit: Visit, sent: Fields) -> Result<Response, Fault> {
    let ThemeForm { name, kind, back } = ThemeForm::of(&sent);
    let fields: Map<String, Value> = sent
        .within("contact")
        .filter(|(member, value)| !value.trim().is_empty() && !member.contains('['))
        .map(|(member, value)| (plain(member), Value::from(value.trim())))
        .collect();
    if fields.is_empty() {
        return Err(Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "empty_form", ""));
    }
    let call = visit.call(Method::POST, &format!("/forms/{name}"));
    visit.send(call.body(json!({ "fields": fields }))).await?;
    let back = sent.path("return_to").unwrap_or(back).split(['?', '#']).next().unwrap_or("/");
    Ok(Redirect::to(&format!("{back}?{kind}{POSTED}=true")).into_response())
}

/// The name of a field without what is no letter, digit or underscore: `Phone number` is `phone_number`.
fn plain(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(letter).take(64).collect()
}
