//! The cases of a collection of templates and of what online stores make of them.
//!
//! The collection is not part of the repository: `GOLDEN_LIQUID` names its file.

use std::collections::HashMap;
use std::sync::Arc;

use liquid::{Language, Mode, OnError, Partials, Runtime, Template, Value};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    template: String,
    #[serde(default)]
    data: liquid::Map,
    #[serde(default)]
    templates: HashMap<String, String>,
    result: Option<String>,
    #[serde(default)]
    results: Vec<String>,
    #[serde(default)]
    invalid: bool,
    #[serde(default)]
    tags: Vec<String>,
}

/// Cases that are different here, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

struct Snippets(HashMap<String, Arc<Template>>);

impl Partials for Snippets {
    fn get(&self, name: &str) -> Option<Arc<Template>> {
        self.0.get(name).cloned()
    }
}

impl Case {
    fn language(&self) -> Language {
        let mut language = Language::standard();
        if self.tags.iter().any(|tag| tag.starts_with("strict")) {
            language.set_mode(Mode::Strict);
        }
        language
    }

    fn render(&self) -> Result<String, String> {
        let language = self.language();
        let snippets = self.templates.iter().map(|(name, source)| {
            let template = Template::parse_in(&language, name, source);
            template.map(|template| (name.clone(), Arc::new(template)))
        });
        let snippets = snippets.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let snippets = Snippets(snippets);
        let template = Template::parse_in(&language, "", &self.template);
        let template = template.map_err(|error| error.to_string())?;
        let mut runtime = Runtime::new(Arc::new(self.data.clone()));
        runtime.partials = &snippets;
        runtime.on_error = if self.invalid { OnError::Fail } else { OnError::Print };
        runtime.strict_filters = self.invalid;
        template.render(&runtime).map(|page| page.output).map_err(|error| error.to_string())
    }

    /// What is wrong with the result.
    fn fault(&self) -> Option<String> {
        match (self.render(), self.invalid) {
            (Err(_), true) => None,
            (Ok(output), false)
                if self.result.as_ref() == Some(&output) || self.results.contains(&output) =>
            {
                None
            }
            (Ok(output), true) => Some(format!("renders {output:?}, and is invalid")),
            (Ok(output), false) => Some(format!("renders {output:?}")),
            (Err(error), false) => Some(error),
        }
    }
}

#[test]
fn golden_cases_render_as_they_do_in_online_stores() {
    let Some(path) = std::env::var_os("GOLDEN_LIQUID") else {
        println!("skipped: GOLDEN_LIQUID does not name a file of cases");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let golden: Golden = serde_json::from_str(&text).unwrap();
    let excepted = |name: &str| EXCEPTIONS.iter().any(|(other, _)| *other == name);
    let (mut passed, mut faults) = (0, Vec::new());
    for case in &golden.tests {
        match (case.fault(), excepted(&case.name)) {
            (None, false) => passed += 1,
            (Some(_), true) => {}
            (None, true) => faults.push(format!("{}: is no exception any more", case.name)),
            (Some(fault), false) => {
                let expected = Value::from(case.result.clone());
                let template = &case.template;
                faults.push(format!("{}: {template:?} {fault}, not {expected:?}", case.name));
            }
        }
    }
    println!("{passed} of {} cases pass", golden.tests.len());
    assert!(faults.is_empty(), "{} cases differ:\n{}", faults.len(), faults.join("\n"));
}
