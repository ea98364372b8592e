//! Pages of public themes, which are not in this repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::{cup, patient, plate, shop};
use crate::{File, Listing, Page, Theme, render, sections};

/// A theme of a folder, as it is installed.
fn theme(root: &Path) -> Theme {
    let (mut files, mut assets) = (BTreeMap::new(), BTreeMap::new());
    let mut open = vec![root.to_owned()];
    while let Some(next) = open.pop() {
        for found in std::fs::read_dir(next).unwrap().map(|found| found.unwrap().path()) {
            if found.is_dir() {
                open.push(found);
                continue;
            }
            let path = found.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if let Some(name) = path.strip_prefix("assets/") {
                assets.insert(name.to_owned(), format!("/files/{name}"));
            }
            if Theme::reads(&path) {
                let bytes = std::fs::read(&found).unwrap();
                let sha256 = Arc::from(format!("{} {path}", root.display()));
                files.insert(path, File { sha256, bytes: bytes.into() });
            }
        }
    }
    let data =
        files.get("config/settings_data.json").map(|file| file.bytes.clone()).unwrap_or_default();
    let mut data = String::from_utf8(data.to_vec()).unwrap();
    json_strip_comments::strip(&mut data).unwrap();
    let data: Json = serde_json::from_str(&data).unwrap();
    let current = match &data["current"] {
        Json::String(name) => data["presets"][name].clone(),
        current => current.clone(),
    };
    Theme {
        files: Arc::new(files),
        assets: Arc::new(assets),
        settings: current.as_object().cloned().unwrap_or_default(),
        locale: "en".to_owned(),
        ..Theme::default()
    }
}

fn pages() -> Vec<(&'static str, Page)> {
    let products: Vec<Json> = (0..30)
        .map(|n| if n % 2 == 0 { cup(&format!("cup-{n}")) } else { plate(&format!("plate-{n}")) })
        .collect();
    let filters = json!([
        {"param_name": "filter.v.availability", "label": "Availability", "type": "boolean", "values": [{"value": "1", "label": "In stock", "count": 3, "active": false}]},
        {"param_name": "filter.p.vendor", "label": "Vendor", "type": "list", "values": [{"value": "Potter", "label": "Potter", "count": 3, "active": true}]},
        {"param_name": "filter.v.price", "label": "Price", "type": "price_range", "range_max": 129_900, "min": null, "max": null},
    ]);
    let listing = || {
        Box::new(Listing {
            collection: json!({"id": "col_1", "handle": "kitchen", "title": "Kitchen", "description": "All.", "products_count": 30}),
            products: products.clone(),
            filters: filters.clone(),
            ..Listing::default()
        })
    };
    let found = |terms: &str, predictive| Page::Search {
        terms: terms.to_owned(),
        results: Box::new(Listing { collection: Json::Null, ..*listing() }),
        predictive,
    };
    vec![
        ("home", Page::Index),
        ("collection", Page::Collection(listing())),
        ("collections", Page::Collections),
        ("product", Page::Product(Box::new(cup("cup")))),
        ("simple product", Page::Product(Box::new(plate("plate")))),
        ("cart", Page::Cart),
        ("search", found("cup", false)),
        (
            "no search",
            Page::Search { terms: String::new(), results: Box::default(), predictive: false },
        ),
        (
            "page",
            Page::Text(Box::new(
                json!({"handle": "refund", "title": "Refunds", "body_html": "<p>Text</p>"}),
            )),
        ),
        ("login", Page::Login),
        ("register", Page::Register),
        ("account", Page::Account),
        ("addresses", Page::Addresses),
        ("not found", Page::NotFound),
        ("password", Page::Password),
    ]
}

/// Renders the pages of each theme in the folder that `THEMES` names, and prints what they ask for in vain.
#[test]
#[expect(clippy::disallowed_methods, reason = "how long it really takes")]
#[ignore = "needs themes that are not in this repository"]
fn pages_of_public_themes_are_rendered() {
    let folder = std::env::var_os("THEMES").unwrap();
    let only = std::env::var_os("ONLY").unwrap_or_default();
    let runs = if only.is_empty() { 0 } else { 20 };
    let mut failures = Vec::new();
    for root in std::fs::read_dir(folder).unwrap().map(|found| found.unwrap().path()) {
        let theme = theme(&root);
        println!("    check: {:#?}", crate::check(&theme));
        let mut all = BTreeMap::<String, usize>::new();
        for (name, page) in pages() {
            if !only.is_empty() && name != only {
                continue;
            }
            let data = shop();
            let begun = Instant::now();
            let rendered = render(&theme, page.clone(), &data, patient());
            let cold = begun.elapsed();
            let begun = Instant::now();
            let again = render(&theme, page.clone(), &data, patient());
            let mut warm = begun.elapsed();
            for _ in 0..runs {
                let begun = Instant::now();
                render(&theme, page.clone(), &data, patient()).unwrap();
                warm = warm.min(begun.elapsed());
            }
            match rendered {
                Ok(rendered) => {
                    println!(
                        "{} {name}: {} bytes, cold {cold:?}, warm {warm:?}, {} warnings",
                        root.display(),
                        rendered.html.len(),
                        rendered.warnings.len()
                    );
                    assert_eq!(again.unwrap().html, rendered.html);
                    for line in rendered.html.lines().filter(|line| {
                        line.contains("Liquid error") || line.contains("Translation missing")
                    }) {
                        failures.push(format!(
                            "{} {name}: {}",
                            root.display(),
                            line.trim().chars().take(200).collect::<String>()
                        ));
                    }
                    for warning in rendered.warnings {
                        *all.entry(format!(
                            "{:?} {} {}",
                            warning.code, warning.path, warning.message
                        ))
                        .or_default() += 1;
                    }
                    if let Some(out) = std::env::var_os("OUT") {
                        let file = format!(
                            "{}-{}.html",
                            root.file_name().unwrap().to_str().unwrap(),
                            name.replace(' ', "-")
                        );
                        std::fs::write(Path::new(&out).join(file), rendered.html).unwrap();
                    }
                }
                Err(finding) => failures.push(format!("{} {name}: {finding:?}", root.display())),
            }
        }
        for (warning, count) in all {
            println!("    {count} × {warning}");
        }
        let ids: Vec<String> =
            ["cart-drawer", "template--index__none", "nothing"].map(str::to_owned).into();
        let alone = sections(&theme, Page::Cart, &shop(), &ids, patient()).unwrap();
        println!(
            "    sections: {:?}",
            alone.iter().map(|(id, html)| (id, html.as_str().map(str::len))).collect::<Vec<_>>()
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
