//! The inputs of the platform's forms of an account.

use maud::{Markup, html};

use crate::words::Words;

/// The inputs, in the words of a shop. Those that may stay empty say so.
pub(super) struct Inputs<'a> {
    words: &'a Words,
    /// What the ids of a form begin with, where a page has several with inputs of one name.
    form: &'a str,
}

impl<'a> Inputs<'a> {
    pub(super) const fn of(words: &'a Words) -> Self {
        Self { words, form: "" }
    }

    /// Those of one of a page's forms.
    pub(super) const fn within(form: &'a str, words: &'a Words) -> Self {
        Self { words, form }
    }

    pub(super) fn email(&self, value: &str) -> Markup {
        self.input("email", (self.words.email, "email", "username"), value)
    }

    pub(super) fn password(&self, name: &str, (label, purpose): (&str, &str)) -> Markup {
        self.input(name, (label, "password", purpose), "")
    }

    pub(super) fn name(&self, name: &str, (label, purpose): (&str, &str), value: &str) -> Markup {
        self.input(name, (label, "text", purpose), value)
    }

    /// An input of this label, type and purpose (`autocomplete`).
    pub(super) fn input(
        &self,
        name: &str,
        (label, kind, purpose): (&str, &str, &str),
        value: &str,
    ) -> Markup {
        let is_optional = matches!(name, "first_name" | "last_name" | "name" | "phone");
        let id = format!("{}{name}", self.form);
        html! {
            div.field {
                label for=(id) { (label) @if is_optional { span.optional { " " (self.words.optional) } } }
                input id=(id) name=(name) type=(kind) autocomplete=(purpose) value=[(!value.is_empty()).then_some(value)]
                    required[!is_optional];
            }
        }
    }
}
