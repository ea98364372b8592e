//! What the packages have, and what their pages show.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ::themes::package;
use ::themes::settings::defaults;
use serde_json::{Value, json};
use shop_theme::{Data, Limits, Listing, Page, Theme, render};

use super::{FOLDERS, Folder, LIVE};

fn walk(root: &Path, at: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, found);
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn every_file_of_the_folders_is_in_the_packages() {
    let themes = Path::new(env!("CARGO_MANIFEST_DIR")).join("themes");
    for folder in &FOLDERS {
        let mut found = BTreeSet::new();
        // What a theme has none of its own of is Harbor's.
        for slug in [folder.slug, LIVE] {
            walk(&themes.join(slug), &themes.join(slug), &mut found);
        }
        let named: BTreeSet<String> =
            folder.files.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(named, found);
    }
}

#[test]
fn the_packages_are_valid_without_findings() {
    for folder in &FOLDERS {
        let reading = package::read(&folder.zipped().unwrap());
        assert_eq!(reading.findings, [], "{}", folder.slug);
        let package = reading.package.unwrap();
        assert_eq!(package.manifest.slug.as_str(), folder.slug);
        assert_eq!(package.files.len(), folder.files.len());
    }
}

/// The theme right after its installation.
fn installed(folder: &Folder, locale: &str) -> Theme {
    let package = package::read(&folder.zipped().unwrap()).package.unwrap();
    let content = defaults(&package.schema);
    let home = json!({"sections": content.sections, "order": content.order});
    let assets = folder.files.iter().filter_map(|(path, _)| path.strip_prefix("assets/"));
    let assets = assets.map(|name| (name.to_owned(), format!("/files/{name}")));
    Theme {
        files: shop_theme::files(folder.files.iter().copied()),
        assets: Arc::new(assets.collect::<BTreeMap<_, _>>()),
        settings: content.settings,
        placed: [("templates/index.json".to_owned(), Arc::new(home))].into(),
        locale: locale.to_owned(),
        name: folder.slug.to_owned(),
    }
}

fn data() -> (Data, Value) {
    let lamp = json!({
        "handle": "lamp", "title": "Lamp <No. 1>", "vendor": "Ann", "in_stock": true,
        "price": {"amount": 499_900, "currency": "INR"}, "price_max": {"amount": 599_900, "currency": "INR"},
        "compare_at": {"amount": 699_900, "currency": "INR"},
        "images": [{"url": "/media/lamp", "alt": "A lamp"}], "description": "<p>Bright.</p>",
        "variants": [{"title": "S", "price": {"amount": 499_900}}, {"title": "L", "price": {"amount": 599_900}}],
    });
    let mut product = lamp.clone();
    product["related"] = json!([lamp]);
    let data = Data {
        store: json!({"name": "Tom & Ann", "currency": "INR", "locale": "en",
            "policies": [{"handle": "privacy", "title": "Privacy"}]}),
        products: vec![lamp.clone()],
        collections: vec![(json!({"handle": "light", "title": "Light"}), vec![lamp])],
        menus: vec![
            json!({"handle": "main", "items": [{"title": "Light", "type": "collection", "ref": "light"}]}),
        ],
        root: "/shop".to_owned(),
        ..Data::default()
    };
    (data, product)
}

#[test]
fn every_page_of_the_themes_is_rendered() {
    let (data, lamp) = data();
    for folder in &FOLDERS {
        let theme = installed(folder, "en");
        let listing = |handle: &str, title: &str| {
            let collection = json!({"handle": handle, "title": title});
            let products = data.products.clone();
            Page::Collection(Box::new(Listing { collection, products, ..Listing::default() }))
        };
        for (page, expected) in [
            (Page::Index, "Lamp &lt;No. 1&gt;"),
            (Page::Collections, "Light"),
            (listing("light", "Light"), "1 product<"),
            (listing("all", "All products"), "All products"),
            (Page::Product(Box::new(lamp.clone())), "<p>Bright.</p>"),
            (
                Page::Text(Box::new(json!({"title": "T", "body_html": "<p>We keep it.</p>"}))),
                "<p>We keep it.</p>",
            ),
            (Page::NotFound, "There is nothing here"),
        ] {
            let name = format!("{} {page:?}", folder.slug);
            let rendered = render(&theme, page, &data, Limits::default()).expect(&name);
            assert_eq!(rendered.warnings, [], "{name}");
            let html = rendered.html;
            assert!(html.contains(expected), "{name}: {html}");
            assert!(html.contains("<title>") && html.contains("Tom &amp; Ann"), "{name}: {html}");
            assert!(!html.contains("{{") && !html.contains("{%"), "{name}: {html}");
            assert!(html.contains("/shop/collections/light"), "{name}: {html}");
        }
    }
}

/// What themes of Shopify are built of, as its own theme Dawn is: a shop must render and serve it.
#[test]
fn the_themes_use_what_themes_of_shopify_use() {
    let names = [
        // Elements that their scripts define.
        "<cart-drawer",
        "<cart-items",
        "<cart-note",
        "<cart-remove-button",
        "<facet-filters-form",
        "<localization-form",
        "<predictive-search",
        "<product-form",
        "<product-info",
        "<product-recommendations",
        "<quantity-input",
        "<variant-selects",
        // Tags and filters.
        "{% sections 'header-group' %}",
        "{% section 'cart-drawer' %}",
        "{%- form 'product', product",
        "{%- form 'localization'",
        "{%- paginate ",
        "{% render 'price'",
        "{% schema %}",
        "{% style %}",
        "| default_errors",
        "| default_pagination",
        "| image_url",
        "| image_tag",
        "| asset_url",
        "| inline_asset_content",
        "| money",
        "| t: count",
        "| stylesheet_tag",
        // Objects.
        "form.errors",
        "section.id",
        "request.design_mode",
        "request.locale.iso_code",
        "canonical_url",
        "localization.available_countries",
        "localization.available_languages",
        "predictive_search.resources",
        "predictive_search.performed",
        "recommendations.performed?",
        "product.options_with_values",
        "product.selected_or_first_available_variant",
        "filter.active_values",
        "filter.min_value",
        "value.url_to_remove",
        "item.url_to_remove",
        "cart.cart_level_discount_applications",
        "settings.menu",
        "shop.policies",
        "content_for_header",
        "content_for_layout",
        "routes.root_url",
        "routes.cart_url",
        "routes.cart_change_url",
        "routes.cart_update_url",
        "routes.search_url",
        "routes.predictive_search_url",
        "routes.product_recommendations_url",
        "routes.account_url",
        "routes.all_products_collection_url",
        // What their scripts ask the shop for.
        "section_id",
        "sections_url",
        "option_values",
        "?sections=",
        "resources[type]",
        "searchParams.set(\"variant\"",
        "new FormData",
        "history.pushState",
        "popstate",
        "application/json",
    ];
    for folder in &FOLDERS {
        let all: String = folder.files.iter().map(|(_, text)| *text).collect();
        let missing: Vec<&str> = names.into_iter().filter(|name| !all.contains(name)).collect();
        assert_eq!(missing, [""; 0], "{}", folder.slug);
    }
}

#[test]
fn the_pages_of_customers_are_rendered() {
    let (data, _) = data();
    let address =
        json!({"id": "adr_1", "line1": "1 Main <Street>", "city": "Goa", "country": "IN"});
    let order = json!({
        "id": "ord_1", "number": "1001", "created_at": "2026-11-27T10:00:00.000Z", "financial_status": "paid",
        "fulfillment_status": "fulfilled", "shipping_address": address,
        "items": [{"id": "itm_1", "title": "Lamp", "quantity": 2, "price": {"amount": 500}}],
        "fulfillments": [{"items": [{"order_item_id": "itm_1"}], "tracking": {"number": "T1"},
            "created_at": "2026-11-28T10:00:00.000Z"}],
        "totals": {"subtotal": {"amount": 1_000}, "total": {"amount": 1_000}},
    });
    let data = Data {
        customer: json!({"name": "Ann Lee", "email": "ann@example.com"}),
        orders: vec![order.clone()],
        addresses: vec![address],
        ..data
    };
    for folder in &FOLDERS {
        let theme = installed(folder, "en");
        for (page, expected) in [
            (Page::Login, "name=\"customer[password]\""),
            (Page::Register, "name=\"customer[first_name]\""),
            (Page::Account, "Paid · Fulfilled"),
            (Page::Order(Box::new(order.clone())), "November 28, 2026</time>, T1"),
            (Page::Addresses, "value=\"1 Main &lt;Street&gt;\""),
            (Page::ResetPassword, "action=\"/shop/account/reset\""),
            (Page::ActivateAccount, "name=\"decline\""),
            (Page::Password, "action=\"/shop/password\""),
        ] {
            let name = format!("{} {page:?}", folder.slug);
            assert!(shop_theme::has_template(&theme, &page), "{name}");
            let rendered = render(&theme, page, &data, Limits::default()).expect(&name);
            assert_eq!(rendered.warnings, [], "{name}");
            let html = rendered.html;
            assert!(html.contains(expected), "{name}: {html}");
            assert!(!html.contains("{{") && !html.contains("translation missing"), "{html}");
            assert!(!html.contains("customer.") && !html.contains("Liquid error"), "{html}");
        }
    }
}

#[test]
fn the_themes_speak_german() {
    let (data, _) = data();
    for folder in &FOLDERS {
        let theme = installed(folder, "de-AT");
        let html = render(&theme, Page::NotFound, &data, Limits::default()).unwrap().html;
        assert!(html.contains("Hier ist nichts") && html.contains(" lang=\"de-AT\">"), "{html}");
    }
}
