//! Tests with whole pages, of valid and of invalid themes.

mod hostile;
mod language;
mod shopify;

use std::time::Duration;

use serde_json::json;

use crate::{Data, Finding, Limits, Page, Theme, files, render};

/// A theme whose home page is this template, in a layout that adds nothing.
fn theme(template: &str, others: &[(&str, &str)]) -> Theme {
    let own =
        [("layout/theme.liquid", "{{ content_for_layout }}"), ("templates/index.liquid", template)];
    Theme {
        files: files(own.into_iter().chain(others.iter().copied())),
        locale: "en".to_owned(),
        ..Theme::default()
    }
}

fn data() -> Data {
    let cup = json!({
        "handle": "cup", "title": "Cup <b>& saucer</b>", "price": {"amount": 129_900, "currency": "INR"},
        "price_max": {"amount": 129_900, "currency": "INR"}, "in_stock": true,
        "images": [{"url": "/media/cup.png", "alt": "A \"cup\""}],
        "description": "<p>It holds <em>tea</em>.</p>",
    });
    Data {
        store: json!({"name": "Tom & Jerry", "currency": "INR", "locale": "en-IN"}),
        products: vec![cup.clone()],
        collections: vec![(json!({"handle": "kitchen", "title": "Kitchen"}), vec![cup])],
        menus: Vec::new(),
        root: "/shop".to_owned(),
        page: 0,
    }
}

/// The default limits with a longer time, which differs between machines.
fn patient() -> Limits {
    Limits { time: Duration::from_mins(2), ..Limits::default() }
}

fn page(theme: &Theme) -> Result<String, Finding> {
    render(theme, Page::Index, &data(), patient())
}

/// The home page of this template alone.
fn rendered(template: &str) -> String {
    page(&theme(template, &[])).unwrap()
}
