//! The tags of a shop's themes, beyond those of Liquid.

mod arguments;
mod form;
mod paginate;
mod place;
mod text;

use liquid::Language;

/// Adds the tags to a language.
pub(crate) fn register(language: &mut Language) {
    language
        .add_tag("form", form::form)
        .add_tag("paginate", paginate::paginate)
        .add_tag("section", place::section)
        .add_tag("sections", place::sections)
        .add_tag("layout", place::layout)
        .add_tag("content_for", place::content_for)
        .add_tag("style", text::style)
        .add_tag("stylesheet", text::stylesheet)
        .add_tag("javascript", text::javascript)
        .add_tag("schema", text::schema);
}
