//! What a theme's form says of a rejection: a phrase that follows the name of each field, as themes write it.

use serde_json::Value;
use shop_theme::Posted;

use crate::fault::Fault;
use crate::form::Fields;
use crate::values::text;
use crate::words::Words;

/// A field by its name in themes' forms and in the API, and what people call it.
type Field = (&'static str, &'static str, &'static str);

/// The fields of a customer.
pub(super) const CUSTOMER_FIELDS: &[Field] = &[
    ("email", "email", "Email"),
    ("password", "password", "Password"),
    ("password", "new_password", "Password"),
    ("password_confirmation", "password_confirmation", "Password"),
    ("first_name", "name", "Name"),
];

/// The fields of an address.
pub(super) const ADDRESS_FIELDS: &[Field] = &[
    ("first_name", "first_name", "First name"),
    ("last_name", "last_name", "Last name"),
    ("company", "company", "Company"),
    ("address1", "line1", "Street and number"),
    ("address2", "line2", "Second line"),
    ("city", "city", "City"),
    ("province", "region", "Province"),
    ("zip", "postal_code", "Postal code"),
    ("country", "country", "Country"),
    ("phone", "phone", "Telephone"),
];

/// What people call a field of a theme's form.
pub(super) fn label(field: &str) -> &str {
    let all = ADDRESS_FIELDS.iter().chain(CUSTOMER_FIELDS);
    all.clone().find(|(name, ..)| *name == field).map_or(field, |(_, _, label)| *label)
}

/// The messages of a rejection by the fields of a theme's form. What is at none of them is about the whole.
pub(super) fn messages(fault: &Fault, fields: &[Field]) -> Vec<(String, String)> {
    let errors = fault.problem.get("errors").and_then(Value::as_array).into_iter().flatten();
    let mut found: Vec<(String, String)> = Vec::new();
    for error in errors {
        let at = text(error, "pointer").rsplit('/').next().unwrap_or_default();
        let field = fields.iter().find(|(_, of_api, _)| *of_api == at);
        let message = match field {
            Some(_) => phrase(text(error, "code")),
            None => text(error, "detail"),
        };
        let field = field.map_or("form", |(name, ..)| *name);
        if !found.iter().any(|(other, _)| other == field) {
            found.push((field.to_owned(), message.to_owned()));
        }
    }
    if found.is_empty() {
        found.push(("form".to_owned(), sentence(fault).to_owned()));
    }
    found
}

fn phrase(code: &str) -> &'static str {
    match code {
        "required" | "too_short" => "can't be blank",
        "too_long" => "is too long",
        "password_too_short" => "is too short (minimum is 8 characters)",
        "password_too_long" => "is too long (maximum is 128 characters)",
        "password_common" => "is among those that are guessed first",
        "invalid_region" | "invalid_postal_code" => "is not valid for the selected country",
        "does_not_match" => "does not match the password",
        _ => "is not valid",
    }
}

/// What the whole form says.
fn sentence(fault: &Fault) -> &str {
    match fault.code.as_str() {
        "invalid_credentials" => "Incorrect email or password.",
        _ => fault.said(Words::english()),
    }
}

/// The outcome of a form of this type, with what was typed: never a password.
pub(super) fn posted(form: &str, sent: &Fields, errors: Vec<(String, String)>) -> Posted {
    let typed = sent.within("customer").chain(sent.within("address"));
    let typed = typed.filter(|(name, _)| !name.starts_with("password"));
    let values = typed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Posted { form: form.to_owned(), subject: String::new(), errors, values }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, StatusCode};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rejection_is_told_at_the_fields_of_a_theme() {
        let problem = json!({"code": "validation_failed", "detail": "Invalid.", "errors": [
            {"pointer": "/line1", "code": "too_short", "detail": "Too short."},
            {"pointer": "/postal_code", "code": "invalid_postal_code", "detail": "Not like 1."},
            {"pointer": "/other", "code": "x", "detail": "Something else."},
        ]});
        let fault = Fault::rejected(
            StatusCode::UNPROCESSABLE_ENTITY,
            &HeaderMap::new(),
            problem.to_string().as_bytes(),
        );
        let told = messages(&fault, ADDRESS_FIELDS);
        let told: Vec<(&str, &str)> = told.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            told,
            [
                ("address1", "can't be blank"),
                ("zip", "is not valid for the selected country"),
                ("form", "Something else."),
            ]
        );
    }

    #[test]
    fn a_password_is_never_shown_again() {
        let sent = Fields::of_query(
            b"customer[email]=a%40b.example&customer[password]=x&customer[password_confirmation]=x",
        );
        let posted = posted("create_customer", &sent, Vec::new());
        assert_eq!(posted.values, [("email".to_owned(), "a@b.example".to_owned())]);
    }
}
