//! The tests that stay on the embedded engine, while the others run over another one.

use std::fs;
use std::path::Path;

/// The text of all tests.
fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn each_test_that_stays_on_the_embedded_engine_exists() {
    let mut found = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("it"), &mut found);
    let is_there =
        |name: &str| found.contains(&format!("fn {}", name.rsplit("::").next().unwrap()));
    let gone: Vec<&str> = support::embedded_tests().filter(|name| !is_there(name)).collect();
    assert!(gone.is_empty(), "no test is called {gone:?}");
}
