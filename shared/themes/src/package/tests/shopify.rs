//! Tests of themes in Shopify's layout.

use serde_json::json;

use super::{entries, errors, read, warnings, zip};
use crate::finding::Code::SettingUnknown;

/// A theme with the folders and files of Shopify's public themes.
fn shopify_shaped() -> Vec<(&'static str, String)> {
    let comment = "/*\n * IMPORTANT: The contents of this file are auto-generated.\n */\n";
    let schema = json!([
        {"name": "theme_info", "theme_name": "Shaped", "theme_version": "1.0.0", "theme_author": "Ann", "theme_documentation_url": "https://example.com", "theme_support_url": "https://example.com"},
        {"name": "t:settings_schema.logo.name", "settings": [
            {"type": "image_picker", "id": "logo", "label": "t:settings_schema.logo.settings.logo.label"},
            {"type": "range", "id": "logo_width", "min": 50, "max": 300, "step": 10, "default": 100, "unit": "px", "label": "t:x"}]},
        {"name": "t:settings_schema.colors.name", "settings": [
            {"type": "color_scheme_group", "id": "color_schemes", "definition": [
                {"type": "color", "id": "background", "label": "t:x", "default": "#FFFFFF"},
                {"type": "color_background", "id": "background_gradient", "label": "t:x"},
                {"type": "color", "id": "text", "label": "t:x", "default": "#121212"}],
             "role": {"background": {"solid": "background", "gradient": "background_gradient"}, "text": "text"}}]},
        {"name": "Typography", "settings": [
            {"type": "header", "content": "Headings"},
            {"type": "font_picker", "id": "type_header_font", "default": "assistant_n4", "label": "Font"},
            {"type": "paragraph", "content": "Fonts load once."}]},
    ]);
    let data = json!({
        "current": {"logo_width": 90, "color_schemes": {"scheme-1": {"settings": {"background": "#fff", "background_gradient": "linear-gradient(#fff, #000)", "text": "#000"}}}, "type_header_font": "assistant_n4", "checkout_logo_position": "left", "sections": {"main-password-header": {"type": "main-password-header", "settings": {"color_scheme": "scheme-1"}}}},
        "presets": {"Default": {"logo_width": 90}},
    });
    let banner = "{{ 'section-image-banner.css' | asset_url | stylesheet_tag }}\n{%- for block in section.blocks -%}{{ block.settings.heading }}{%- endfor -%}\n{% schema %}\n{\n  \"name\": \"t:sections.image-banner.name\",\n  \"tag\": \"section\",\n  \"class\": \"section\",\n  \"disabled_on\": {\"groups\": [\"header\", \"footer\"]},\n  \"settings\": [{\"type\": \"image_picker\", \"id\": \"image\", \"label\": \"t:x\"}, {\"type\": \"color_scheme\", \"id\": \"color_scheme\", \"label\": \"t:x\", \"default\": \"scheme-1\"}],\n  \"blocks\": [{\"type\": \"heading\", \"name\": \"t:x\", \"limit\": 1, \"settings\": [{\"type\": \"inline_richtext\", \"id\": \"heading\", \"default\": \"Image banner\", \"label\": \"t:x\"}]}, {\"type\": \"@app\"}],\n  \"presets\": [{\"name\": \"t:sections.image-banner.presets.name\", \"blocks\": [{\"type\": \"heading\"}]}]\n}\n{% endschema %}\n";
    let header = "<header></header>\n{% schema %}{\"name\": \"Header\", \"settings\": [{\"type\": \"link_list\", \"id\": \"menu\", \"default\": \"main-menu\", \"label\": \"Menu\"}]}{% endschema %}";
    let group = "{% schema %}{\"name\": \"Group\", \"blocks\": [{\"type\": \"@theme\"}], \"settings\": []}{% endschema %}";
    let product = "{{ product.title }}{% schema %}{\"name\": \"Product\", \"blocks\": [{\"type\": \"@theme\"}, {\"type\": \"@app\"}], \"settings\": [{\"type\": \"checkbox\", \"id\": \"sticky\", \"default\": true, \"label\": \"Sticky\"}]}{% endschema %}";
    vec![
        ("theme.json", json!({"slug": "shaped", "name": "Shaped", "version": "1.0.0", "author": "Ann"}).to_string()),
        ("assets/base.css", "body{}".into()),
        ("assets/global.js", "'use strict';".into()),
        ("assets/icon-cart.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>".into()),
        ("blocks/group.liquid", group.into()),
        ("config/settings_schema.json", schema.to_string()),
        ("config/settings_data.json", format!("{comment}{data}")),
        ("layout/theme.liquid", "<!doctype html>{{ content_for_header }}{% sections 'header-group' %}{{ content_for_layout }}".into()),
        ("layout/password.liquid", "{{ content_for_layout }}".into()),
        ("locales/en.default.json", format!("{comment}{}", json!({"general": {"x": "X"}}))),
        ("locales/en.default.schema.json", json!({"settings_schema": {}}).to_string()),
        ("locales/de.json", "{}".into()),
        ("locales/de.schema.json", "{}".into()),
        ("locales/pt-BR.json", "{}".into()),
        ("sections/header.liquid", header.into()),
        ("sections/header-group.json", format!("{comment}{}", json!({"type": "header", "name": "Header group", "sections": {"header": {"type": "header", "settings": {"menu": "main-menu"}}}, "order": ["header"]}))),
        ("sections/image-banner.liquid", banner.into()),
        ("sections/main-product.liquid", product.into()),
        ("snippets/price.liquid", "{{ price | money }}".into()),
        ("templates/index.json", format!("{comment}{}", json!({"sections": {"image_banner": {"type": "image-banner", "blocks": {"heading": {"type": "heading", "settings": {"heading": "Browse <em>all</em>"}}}, "block_order": ["heading"], "settings": {"image": "shopify://shop_images/a.jpg"}}}, "order": ["image_banner"]}))),
        ("templates/product.json", json!({"sections": {"main": {"type": "main-product", "blocks": {"g": {"type": "group", "blocks": {"inner": {"type": "group"}}, "block_order": ["inner"]}}, "block_order": ["g"]}}, "order": ["main"]}).to_string()),
        ("templates/gift_card.liquid", "{{ gift_card.code }}".into()),
        ("templates/customers/login.json", json!({"sections": {}, "order": []}).to_string()),
    ]
}

#[test]
fn a_theme_in_shopifys_layout_is_accepted() {
    let reading = read(&zip(&entries(&shopify_shaped())));
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    assert_eq!(warnings(&reading), [SettingUnknown].into(), "a value of a setting that is gone");
    let package = reading.package.unwrap();
    assert_eq!(package.files.len(), shopify_shaped().len());
    assert_eq!(package.schema.locales, ["en", "de", "pt-BR"]);
    let kinds: Vec<&str> =
        package.schema.sections.iter().map(|section| section.kind.as_str()).collect();
    assert_eq!(kinds, ["header", "image-banner", "main-product"]);
    let schemes = &package.schema.initial.settings["color_schemes"];
    assert_eq!(schemes["scheme-1"]["settings"]["text"], "#000");
    let banner = &package.schema.initial.sections["image_banner"];
    assert_eq!(banner.settings["color_scheme"], "scheme-1", "a default is filled in");
    assert_eq!(banner.blocks["heading"].settings["heading"], "Browse <em>all</em>");
    assert_eq!(
        package.schema.section("image-banner").unwrap().presets[0].section.block_order,
        ["block-1"]
    );
    let css = package.files.iter().find(|file| file.path == "assets/base.css").unwrap();
    assert_eq!(css.content_type, "text/css; charset=utf-8");
    assert_eq!(css.reference().size, 6);
}

#[test]
fn a_schema_survives_serialization() {
    let schema = read(&zip(&entries(&shopify_shaped()))).package.unwrap().schema;
    let stored = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<crate::schema::Schema>(&stored).unwrap(), schema);
}
