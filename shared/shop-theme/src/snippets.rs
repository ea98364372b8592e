//! The snippets of a theme.

use std::sync::Arc;

use liquid::{Partials, Template};

use crate::shop::Shop;

/// The snippets of the page's theme.
pub(crate) struct Snippets(pub(crate) Arc<Shop>);

impl Partials for Snippets {
    fn get(&self, name: &str) -> Option<Arc<Template>> {
        let name = name.trim_end_matches(".liquid");
        self.0.source(&format!("snippets/{name}.liquid"))?.template.clone().ok()
    }

    fn missing(&self, name: &str) -> String {
        let path = format!("snippets/{name}.liquid");
        match self.0.source(&path).map(|source| source.template.clone()) {
            Some(Err(error)) => format!("In {path}, line {}: {}", error.line, error.message),
            _ => format!("Could not find asset {path}"),
        }
    }
}
