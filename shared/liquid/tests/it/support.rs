//! Templates rendered over JSON.

use std::collections::HashMap;
use std::sync::Arc;

use liquid::{Language, Map, OnError, Partials, Rendered, Runtime, Template};

/// Partials by name.
pub struct Snippets(HashMap<String, Arc<Template>>);

impl Snippets {
    pub fn new<const N: usize>(sources: [(&str, &str); N]) -> Self {
        let language = Language::standard();
        Self(
            sources
                .map(|(name, source)| {
                    let template = Template::parse_in(&language, name, source).unwrap();
                    (name.to_owned(), Arc::new(template))
                })
                .into(),
        )
    }
}

impl Partials for Snippets {
    fn get(&self, name: &str) -> Option<Arc<Template>> {
        self.0.get(name).cloned()
    }
}

pub fn data(json: &str) -> Arc<Map> {
    Arc::new(serde_json::from_str(json).unwrap())
}

pub fn page<const N: usize>(source: &str, json: &str, snippets: [(&str, &str); N]) -> Rendered {
    let snippets = Snippets::new(snippets);
    let mut runtime = Runtime::new(data(json));
    runtime.partials = &snippets;
    Template::parse(source).unwrap().render(&runtime).unwrap()
}

/// The output of a template, whose failures are printed in it.
pub fn render(source: &str, json: &str) -> String {
    page(source, json, []).output
}

/// The output of a template that escapes.
pub fn escaped(source: &str, json: &str) -> String {
    let mut runtime = Runtime::new(data(json));
    runtime.escape = true;
    runtime.on_error = OnError::Fail;
    Template::parse(source).unwrap().render(&runtime).unwrap().output
}

/// Checks templates without data: each with its output.
pub fn check(cases: &[(&str, &str)]) {
    for (source, output) in cases {
        assert_eq!(&render(source, "{}"), output, "{source}");
    }
}

/// One source under every name.
pub struct Itself(pub Language, pub &'static str);

impl Partials for Itself {
    fn get(&self, name: &str) -> Option<Arc<Template>> {
        Template::parse_in(&self.0, name, self.1).ok().map(Arc::new)
    }
}
