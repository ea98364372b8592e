//! The theme of `theme init`: an index, a product and a collection.

use serde_json::json;

use super::files::Files;

macro_rules! starter {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("starter/", $path)))),*]
    };
}

/// Its files, for a theme of this slug.
pub fn files(slug: &str) -> Files {
    let manifest = json!({
        "slug": slug, "name": slug, "version": "1.0.0", "author": "Your name",
        "description": "A theme to begin with.", "category": "general",
    });
    let files = starter![
        "assets/theme.css",
        "config/settings_schema.json",
        "layout/theme.liquid",
        "locales/en.default.json",
        "sections/hero.liquid",
        "sections/main-product.liquid",
        "sections/product-grid.liquid",
        "templates/collection.json",
        "templates/index.json",
        "templates/product.json",
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    let manifest = ("theme.json".to_owned(), format!("{manifest:#}\n").into_bytes());
    files.into_iter().chain([manifest]).collect()
}
