//! Which tags and filters there are.

use std::collections::HashMap;
use std::sync::Arc;

use crate::filter::{Filter, Grammar, Mode};
use crate::syntax::Tag;

/// Tags and filters by name. A template keeps those that it uses.
#[derive(Clone)]
pub struct Language {
    tags: HashMap<Box<str>, Arc<dyn Tag>>,
    filters: HashMap<Box<str>, Arc<dyn Filter>>,
    mode: Mode,
    ignore_unknown_tags: bool,
}

impl Language {
    /// A language without tags and filters.
    pub fn empty() -> Self {
        Self {
            tags: HashMap::new(),
            filters: HashMap::new(),
            mode: Mode::Lax,
            ignore_unknown_tags: false,
        }
    }

    /// Adds a filter, in place of another of this name.
    pub fn add_filter(&mut self, name: &str, filter: impl Filter + 'static) -> &mut Self {
        self.filters.insert(name.into(), Arc::new(filter));
        self
    }

    /// Adds a tag or block, in place of another of this name.
    pub fn add_tag(&mut self, name: &str, tag: impl Tag + 'static) -> &mut Self {
        self.tags.insert(name.into(), Arc::new(tag));
        self
    }

    /// Sets what is made of markup that is not quite Liquid.
    pub fn set_mode(&mut self, mode: Mode) -> &mut Self {
        self.mode = mode;
        self
    }

    /// Leaves tags out that the language does not have, and names them in
    /// [`Template::warnings`](crate::Template::warnings). They are errors otherwise.
    pub fn ignore_unknown_tags(&mut self, ignore: bool) -> &mut Self {
        self.ignore_unknown_tags = ignore;
        self
    }

    /// The filter of a name.
    pub fn filter(&self, name: &str) -> Option<&Arc<dyn Filter>> {
        self.filters.get(name)
    }

    /// The tag of a name.
    pub fn tag(&self, name: &str) -> Option<&Arc<dyn Tag>> {
        self.tags.get(name)
    }

    pub(crate) fn ignores_unknown_tags(&self) -> bool {
        self.ignore_unknown_tags
    }
}

impl Grammar for Language {
    fn filter(&self, name: &str) -> Option<&Arc<dyn Filter>> {
        Language::filter(self, name)
    }

    fn mode(&self) -> Mode {
        self.mode
    }
}
