//! What is wrong with a form.

use http::StatusCode;

use crate::fault::Fault;
use crate::words::Words;

/// Whether a pointer is a field of the form.
fn is_of_form(pointer: &str) -> bool {
    // The contact is whoever the address names.
    let shown = ["/email", "/shipping_address/", "/billing_address/", "/contact/", "code"];
    shown.iter().any(|shown| pointer.starts_with(shown))
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
        if fault.fields.is_empty() {
            self.whole.push(fault.said(words).to_owned());
        }
        self.at.extend(fault.fields.iter().cloned());
        Ok(())
    }

    /// Notes a sentence at a field.
    pub(crate) fn at(&mut self, pointer: &str, detail: &str) {
        self.at.push((pointer.to_owned(), detail.to_owned()));
    }

    /// Notes a sentence at a field, in place of what else is said of it.
    pub(crate) fn first_at(&mut self, pointer: &str, detail: &str) {
        self.at.retain(|(other, _)| other != pointer);
        self.at(pointer, detail);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at.is_empty() && self.whole.is_empty()
    }

    /// The sentence at a field.
    pub(crate) fn of(&self, pointer: &str) -> Option<&str> {
        let found = self.at.iter().find(|(other, _)| other == pointer);
        found.map(|(_, detail)| detail.as_str())
    }

    /// The sentences that stand at no field of the form, with the pointers that they are about: lines, or members that it
    /// does not show.
    pub(crate) fn elsewhere(&self) -> impl Iterator<Item = (&str, &str)> {
        let others = self.at.iter().filter(|(pointer, _)| !is_of_form(pointer));
        let whole = self.whole.iter().map(|sentence| ("", sentence.as_str()));
        whole.chain(others.map(|(pointer, detail)| (pointer.as_str(), detail.as_str())))
    }
}
