//! Tests with whole pages, of valid and of invalid themes.

mod ajax;
mod customers;
mod hostile;
mod language;
mod platform;
mod public;
mod reader;
mod shopify;
mod tags;

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::{Data, Finding, Limits, Page, Theme, files, render};

/// The default limits with a longer time, which differs between machines.
fn patient() -> Limits {
    Limits { time: Duration::from_mins(2), ..Limits::default() }
}

fn money(amount: i64) -> Json {
    json!({"amount": amount, "currency": "INR"})
}

/// A product with two options and four variants.
fn cup(handle: &str) -> Json {
    let variant = |number: i64, options: [&str; 2]| {
        json!({
            "id": format!("var_{handle}{number}"), "title": options.join(" / "), "options": options,
            "price": money(129_900), "compare_at": money(159_900), "in_stock": number != 2,
            "sku": format!("CUP-{number}"), "barcode": null, "image_url": "/media/cup.png",
            "requires_shipping": true, "weight_grams": 250, "position": number,
        })
    };
    json!({
        "id": format!("prd_{handle}"), "handle": handle, "title": "Cup <b>& saucer</b>", "vendor": "Potter",
        "product_type": "Cup", "tags": ["new", "clay"], "price": money(129_900), "price_max": money(129_900),
        "compare_at": money(159_900), "in_stock": true, "variants_count": 4,
        "images": [{"url": "/media/cup.png", "alt": "A \"cup\""}, {"url": "/media/back.png", "alt": ""}],
        "description": "<p>It holds <em>tea</em>.</p>", "rating": {"avg": 4.5, "count": 2},
        "options": [{"name": "Color", "values": ["Blue", "Red"]}, {"name": "Size", "values": ["S", "L"]}],
        "variants": [variant(1, ["Blue", "S"]), variant(2, ["Blue", "L"]), variant(3, ["Red", "S"]), variant(4, ["Red", "L"])],
        "published_at": "2026-11-23T09:51:54.226Z", "created_at": "2026-11-23T09:51:54.226Z",
        "seo": {"title": null, "description": null}, "category_id": null, "related": [],
    })
}

/// A product as lists have it.
fn plate(handle: &str) -> Json {
    json!({
        "id": format!("prd_{handle}"), "handle": handle, "title": "Plate", "vendor": null, "product_type": null,
        "tags": [], "price": money(50_000), "price_max": money(50_000), "compare_at": null, "in_stock": false,
        "variants_count": 1, "images": [], "rating": {"avg": null, "count": 0},
        "variants": [{"id": format!("var_{handle}")}],
    })
}

fn shop() -> Data {
    let products = vec![cup("cup"), plate("plate")];
    let merchandise = json!({
        "available": true, "discount": money(10_000),
        "discounts": [{"discount_id": "dis_1", "amount": money(10_000)}], "image_url": "/media/cup.png", "price": money(129_900),
        "product_id": "prd_cup", "requires_shipping": true, "sku": "CUP-1", "title": "Cup <b>& saucer</b>",
        "variant_title": "Blue / S", "subtotal": money(259_800), "total": money(249_800),
    });
    let line = json!({
        "id": "lin_1", "variant_id": "var_cup1", "quantity": 2, "properties": {"Engraving": "A & B"},
        "metadata": {}, "merchandise": merchandise,
    });
    Data {
        store: json!({
            "id": "sto_1", "name": "Tom & Jerry", "currency": "INR", "currency_exponent": 2, "country": "IN",
            "locale": "en", "subdomain": "tom", "branding": {"logo": null, "slogan": null, "short_description": null},
            "contact": {"email": "a@b.example", "phone": null, "address": null},
            "policies": [{"handle": "refund", "id": "refund", "title": "Refund policy"}],
        }),
        products: products.clone(),
        collections: vec![(
            json!({"id": "col_1", "handle": "kitchen", "title": "Kitchen", "description": "All of it.", "products_count": 2, "image_url": null}),
            products,
        )],
        menus: vec![json!({"handle": "main", "items": [
            {"title": "Home", "type": "home", "children": []},
            {"title": "Kitchen", "type": "collection", "ref": "kitchen", "children": [
                {"title": "Cup", "type": "product", "ref": "cup", "children": []}]},
        ]})],
        texts: vec![
            json!({"handle": "refund", "id": "refund", "title": "Refund policy", "body_html": "<p>Text</p>"}),
        ],
        cart: json!({
            "id": "crt_1", "note": null, "metadata": {"gift": "yes"}, "currency": "INR", "lines": [line],
            "discount_codes": ["TEN"], "discounts": [{"discount_id": "dis_1", "code": "TEN", "title": "TEN", "amount": money(10_000), "kind": "fixed", "class": "order"}],
            "totals": {"subtotal": money(259_800), "discount": money(10_000), "total": money(249_800), "tax_included": true},
        }),
        origin: "https://tom.example".to_owned(),
        now_ms: 1_795_000_000_000,
        ..Data::default()
    }
}

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

/// The theme without this file, and with these.
fn but(mut theme: Theme, without: &str, others: &[(&str, &str)]) -> Theme {
    let mut all = (*theme.files).clone();
    all.remove(without);
    all.extend((*files(others.iter().copied())).clone());
    theme.files = std::sync::Arc::new(all);
    theme
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
        root: "/shop".to_owned(),
        ..Data::default()
    }
}

fn page(theme: &Theme) -> Result<String, Finding> {
    render(theme, Page::Index, &data(), patient()).map(|rendered| rendered.html)
}

/// The home page of this template alone.
fn rendered(template: &str) -> String {
    page(&theme(template, &[])).unwrap()
}
