//! Tests of themes in Shopify's layout.

use serde_json::json;

use super::{entries, errors, read, rejected, warnings, with, zip};
use crate::finding::Code::{self, *};

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

/// The theme with some files replaced or added.
fn shaped_with(files: &[(&'static str, &str)]) -> Vec<u8> {
    let mut all = shopify_shaped();
    all.retain(|(name, _)| *name != "theme.json");
    all.retain(|(name, _)| !files.iter().any(|(other, _)| other == name));
    all.extend(files.iter().map(|(name, text)| (*name, (*text).to_owned())));
    zip(&entries(&all))
}

#[test]
fn a_manifest_is_derived_from_the_themes_description() {
    let reading = read(&shaped_with(&[]));
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    assert!(warnings(&reading).contains(&ManifestDerived));
    let package = reading.package.unwrap();
    assert!(package.is_manifest_derived);
    let manifest = &package.manifest;
    assert_eq!((manifest.slug.as_str(), manifest.name.as_str()), ("shaped", "Shaped"));
    assert_eq!((manifest.version.to_string().as_str(), manifest.author.as_str()), ("1.0.0", "Ann"));
    let owner = core_types::id::MerchantId::derive(&["x"]);
    let own = manifest.slug.of_owner(&owner);
    assert!(own.as_str().starts_with("shaped-") && own.as_str().len() == 15, "{own}");
    let info = |info: &str| {
        let schema = format!("[{{\"name\": \"theme_info\", {info}}}]");
        read(&shaped_with(&[("config/settings_schema.json", &schema)]))
    };
    let short = info("\"theme_name\": \"A & B's Theme\", \"theme_version\": \"2.1\"");
    let manifest = short.package.unwrap().manifest;
    assert_eq!(manifest.slug.as_str(), "a-b-s-theme");
    assert_eq!(manifest.version.to_string(), "2.1.0");
    assert!(errors(&info("\"theme_name\": \"テーマ\"")).contains(&ManifestMissing));
}

#[test]
fn json_has_comments_and_commas_behind_last_elements() {
    let header = "{% schema %}{\n // x\n \"name\": \"Header\", \"settings\": [],\n}{% endschema %}";
    let reading = read(&shaped_with(&[
        ("config/settings_data.json", "{}"),
        ("locales/en.default.json", "{\"a\": {/* b */\"c\": \"// d\",},}"),
        ("sections/header.liquid", header),
        (
            "sections/header-group.json",
            "{\"sections\": {\"a\": {\"type\": \"header\",},}, \"order\": [\"a\",],}",
        ),
    ]));
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
}

#[test]
fn hidden_files_are_left_out_and_sources_are_assets() {
    let reading = read(&shaped_with(&[
        ("locales/.keep", ""),
        ("templates/customers/.gitkeep", ""),
        ("assets/global.d.ts", "declare const a: string;"),
        ("assets/base.scss", "$a: 1;"),
    ]));
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    assert!(warnings(&reading).contains(&IgnoredFile));
    let files = reading.package.unwrap().files;
    assert!(files.iter().all(|file| !file.path.contains("keep")));
    let types = files.iter().find(|file| file.path == "assets/global.d.ts").unwrap();
    assert_eq!(types.content_type, "text/plain; charset=utf-8");
}

/// A page of one section with these settings, blocks and values.
fn page(settings: &serde_json::Value, section: &serde_json::Value) -> super::Reading {
    let schema = json!({"name": "Box", "settings": settings, "blocks": [{"type": "@theme"}]});
    let liquid = format!("{{% schema %}}{schema}{{% endschema %}}");
    let index = json!({"sections": {"main": section}, "order": ["main"]}).to_string();
    let button = "{% schema %}{\"name\": \"Button\", \"settings\": [{\"type\": \"url\", \"id\": \"link\", \"label\": \"Link\"}]}{% endschema %}";
    read(&shaped_with(&[
        ("sections/box.liquid", &liquid),
        ("blocks/_button.liquid", button),
        ("templates/index.json", &index),
    ]))
}

#[test]
fn a_value_can_be_a_dynamic_source() {
    let settings = json!([
        {"type": "color", "id": "color", "label": "Color", "default": "{{ settings.palette.background }}"},
        {"type": "product", "id": "product", "label": "Product"},
        {"type": "image_picker", "id": "image", "label": "Image"},
        {"type": "checkbox", "id": "on", "label": "On"},
    ]);
    let values = json!({"product": "{{ closest.product }}", "image": "{{ closest.product.featured_image }}", "on": "{{ product.available }}"});
    let section = json!({"type": "box", "settings": values});
    let reading = page(&settings, &section);
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    let main = &reading.package.unwrap().schema.initial.sections["main"];
    assert_eq!(main.settings["color"], "{{ settings.palette.background }}");
    assert_eq!(main.settings["product"], "{{ closest.product }}");
    for bad in ["{{ a }} {{ b }}", "{{ a }};x", "{{ '<script>' }}", "{{ {% x %} }}"] {
        let section = json!({"type": "box", "settings": {"color": bad}});
        assert_eq!(errors(&page(&settings, &section)), [SettingValueInvalid].into(), "{bad}");
    }
}

#[test]
fn a_static_block_has_no_place_in_the_order() {
    let section = json!({"type": "box", "blocks": {
        "button": {"type": "_button", "static": true, "settings": {"link": "/"}},
        "group": {"type": "group", "blocks": {"inner": {"type": "_button", "static": true}}, "block_order": []},
    }, "block_order": ["group"]});
    let reading = page(&json!([]), &section);
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    let schema = reading.package.unwrap().schema;
    let main = &schema.initial.sections["main"];
    assert!(main.blocks["button"].is_static && main.block_order == ["group"]);
    let same = crate::settings::upgrade(&schema, &schema, &schema.initial).content;
    assert_eq!(same, schema.initial, "an upgrade retains it");
    let placed = json!({"type": "box", "blocks": {"x": {"type": "gone", "static": true}}});
    assert_eq!(errors(&page(&json!([]), &placed)), [BlockTypeUnknown].into());
}

#[test]
fn palettes_and_styles_are_objects() {
    let settings = json!([
        {"type": "color_palette", "id": "palette", "default": {"background": "#fff", "color2": ""}},
        {"type": "style.size_panel", "id": "size", "label": "Size",
         "default": {"width": "50%", "@media (--mobile)": {"width": "100%"}}},
        {"type": "metaobject_list", "id": "list", "label": "List"},
    ]);
    let reading = page(&settings, &json!({"type": "box"}));
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    let size = |size: serde_json::Value| {
        errors(&page(&settings, &json!({"type": "box", "settings": {"size": size}})))
    };
    for bad in [
        json!({"width": "1px;}"}),
        json!({"width": "url(x)"}),
        json!({"wi dth": "1px"}),
        json!({"@import x": {}}),
        json!("1px"),
    ] {
        assert_eq!(size(bad.clone()), [SettingValueInvalid].into(), "{bad}");
    }
}

#[test]
fn what_has_no_meaning_here_is_a_warning() {
    let settings = json!([
        {"type": "hologram", "id": "a", "label": "A"},
        {"type": "select", "id": "b", "label": "B", "options": [{"value": "x", "label": "X"}]},
    ]);
    let section = json!({"type": "box", "settings": {"a": 1, "b": "gone"}});
    let reading = page(&settings, &section);
    assert_eq!(errors(&reading), [].into(), "{:#?}", reading.findings);
    let found: Vec<Code> = reading.findings.iter().map(|finding| finding.code).collect();
    for code in [SettingTypeUnknown, SettingValueReplaced, SettingUnknown] {
        assert!(found.contains(&code), "{code}");
    }
    let main = &reading.package.unwrap().schema.initial.sections["main"];
    assert_eq!(main.settings["b"], "x");
    // A theme without any name has no manifest.
    rejected(vec![("no description", with("theme.json", "{}"), &[ManifestInvalid])]);
}
