//! What is wrong with a form.

use http::StatusCode;
use serde_json::Value;

use crate::fault::Fault;
use crate::words::Words;

/// Whether a pointer is a field of the form.
fn is_of_form(pointer: &str) -> bool {
    let shown = ["/email", "/shipping_address/", "/billing_address/", "code"];
    shown.iter().any(|shown| pointer.starts_with(shown))
}

/// The sentence about a field. The API's are in English; in other languages a sentence at a field says less.
fn sentence<'a>((pointer, code, detail): (&str, &str, &'a str), words: &Words) -> &'a str {
    match code {
        _ if words.language == "en" || !is_of_form(pointer) => detail,
        "required" => words.required,
        _ => words.invalid,
    }
}

/// What is wrong with a form: sentences at its fields, and about the whole.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    at: Vec<(String, String)>,
    whole: Vec<String>,
}

impl Notices {
    /// Takes up a rejection that the shopper can mend.
    ///
    /// # Errors
    /// Another rejection.
    pub(crate) fn note(&mut self, fault: &Fault, words: &'static Words) -> Result<(), Fault> {
        let is_theirs = matches!(
            fault.status,
            StatusCode::UNPROCESSABLE_ENTITY | StatusCode::CONFLICT | StatusCode::BAD_REQUEST
        );
        if !is_theirs {
            return Err(fault.clone());
        }
        if fault.is("price_changed") {
            self.whole.push(words.price_changed.to_owned());
        } else if fault.fields.is_empty() {
            self.whole.push(fault.said(words).to_owned());
        }
        let errors = fault.fields.iter().enumerate();
        self.at.extend(errors.map(|(place, (pointer, detail))| {
            let code = fault.problem.pointer(&format!("/errors/{place}/code"));
            let code = code.and_then(Value::as_str).unwrap_or_default();
            (pointer.clone(), sentence((pointer, code, detail), words).to_owned())
        }));
        Ok(())
    }

    /// Notes a sentence at a field.
    pub(crate) fn at(&mut self, pointer: &str, detail: &str) {
        self.at.push((pointer.to_owned(), detail.to_owned()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at.is_empty() && self.whole.is_empty()
    }

    /// The sentence at a field.
    pub(crate) fn of(&self, pointer: &str) -> Option<&str> {
        let found = self.at.iter().find(|(other, _)| other == pointer);
        found.map(|(_, detail)| detail.as_str())
    }

    /// The sentences that stand at no field of the form: about lines, or members that it does not show.
    pub(crate) fn elsewhere(&self) -> impl Iterator<Item = &str> {
        let others = self.at.iter().filter(|(pointer, _)| !is_of_form(pointer));
        self.whole.iter().map(String::as_str).chain(others.map(|(_, detail)| detail.as_str()))
    }
}
