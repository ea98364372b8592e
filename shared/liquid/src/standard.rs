//! Liquid itself: its tags and filters.

use crate::filters;
use crate::language::Language;
use crate::tags;

impl Language {
    /// The tags and filters of Liquid itself.
    pub fn standard() -> Self {
        let mut language = Self::empty();
        tags::register(&mut language);
        filters::register(&mut language);
        language
    }
}

impl Default for Language {
    fn default() -> Self {
        Self::standard()
    }
}
