//! The language of a shop's templates.

use std::sync::LazyLock;

use liquid::Language;

use crate::{filters, tags};

/// Liquid with the filters and tags of shops.
pub(crate) static LANGUAGE: LazyLock<Language> = LazyLock::new(|| {
    let mut language = Language::standard();
    filters::register(&mut language);
    tags::register(&mut language);
    language.ignore_unknown_tags(true);
    language
});
