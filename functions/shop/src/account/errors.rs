//! What a theme's form says of a rejection: a phrase that follows the name of each field, as themes write it.

use shop_theme::Posted;

use crate::fault::Fault;
use crate::form::Fields;
use crate::values::{list, text};
use crate::words::{PhraseWords, Words};

/// A field by its name in themes' forms and in the API, and what people call it.
type Field = (&'static str, &'static str, fn(&Words) -> &'static str);

/// The fields of a customer.
pub(super) const CUSTOMER_FIELDS: &[Field] = &[
    ("email", "email", |words| words.email),
    ("password", "password", |words| words.accounts.password),
    ("password", "new_password", |words| words.accounts.password),
    ("password_confirmation", "password_confirmation", |words| words.phrases.confirmation),
    ("first_name", "name", |words| words.phrases.name),
];

/// The fields of an address.
pub(super) const ADDRESS_FIELDS: &[Field] = &[
    ("first_name", "first_name", |words| words.first_name),
    ("last_name", "last_name", |words| words.last_name),
    ("company", "company", |words| words.company),
    ("address1", "line1", |words| words.street),
    ("address2", "line2", |words| words.flat),
    ("city", "city", |words| words.city),
    ("province", "region", |words| words.region),
    ("zip", "postal_code", |words| words.postal_code),
    ("country", "country", |words| words.country),
    ("phone", "phone", |words| words.phone),
];

/// What people call a field of a theme's form.
pub(super) fn label<'a>(field: &'a str, words: &Words) -> &'a str {
    let mut all = ADDRESS_FIELDS.iter().chain(CUSTOMER_FIELDS);
    all.find(|(name, ..)| *name == field).map_or(field, |(_, _, label)| label(words))
}

/// The messages of a rejection by the fields of a theme's form. What is at none of them is about the whole.
pub(super) fn messages(fault: &Fault, fields: &[Field], words: &Words) -> Vec<(String, String)> {
    let codes = list(&fault.problem, "errors").iter().map(|error| text(error, "code"));
    let mut found: Vec<(String, String)> = Vec::new();
    for ((pointer, sentence), code) in fault.fields.iter().zip(codes) {
        let at = pointer.rsplit('/').next().unwrap_or_default();
        let field = fields.iter().find(|(_, of_api, _)| *of_api == at);
        let message = field.map_or(sentence.as_str(), |_| phrase(code, &words.phrases));
        let field = field.map_or("form", |(name, ..)| *name);
        if !found.iter().any(|(other, _)| other == field) {
            found.push((field.to_owned(), message.to_owned()));
        }
    }
    if found.is_empty() {
        found.push(("form".to_owned(), fault.said(words).to_owned()));
    }
    found
}

fn phrase(code: &str, words: &PhraseWords) -> &'static str {
    match code {
        "required" | "too_short" => words.blank,
        "too_long" => words.too_long,
        "password_too_short" => words.password_short,
        "password_too_long" => words.password_long,
        "password_common" => words.password_common,
        "invalid_region" | "invalid_postal_code" => words.not_of_country,
        "does_not_match" => words.differs,
        _ => words.not_valid,
    }
}

/// The outcome of a form of this type, with what was typed: never a password.
pub(super) fn posted(form: &str, sent: &Fields, errors: Vec<(String, String)>) -> Posted {
    let typed = sent.within("customer").chain(sent.within("address"));
    let typed = typed.filter(|(name, _)| !name.starts_with("password"));
    let values = typed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Posted { form: form.to_owned(), errors, values, ..Posted::default() }
}

/// The outcome with what people call its fields; in English themes write their names.
pub(super) fn named(form: Posted, words: &Words) -> Posted {
    if words.language == "en" {
        return form;
    }
    let fields = form.errors.iter().map(|(field, _)| field);
    let names = fields.map(|field| (field.clone(), label(field, words).to_owned())).collect();
    Posted { names, ..form }
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
        let told = |words: &Words| {
            let all = messages(&fault, ADDRESS_FIELDS, words);
            all.into_iter().map(|(field, message)| format!("{field} {message}")).collect::<Vec<_>>()
        };
        assert_eq!(
            told(Words::english()),
            [
                "address1 can't be blank",
                "zip is not valid for the selected country",
                "form Something else.",
            ]
        );
        let german = Words::of(&serde_json::from_value(json!("de")).unwrap());
        assert_eq!(told(german)[0], "address1 muss ausgefüllt werden");
        assert_eq!(label("zip", german), "Postleitzahl");
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
