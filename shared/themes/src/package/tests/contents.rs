//! Tests of valid archives with invalid themes.

use serde_json::{Value, json};

use super::{
    and, deflated, entries, errors, read, rejected, settings, theme, warnings, with, without, zip,
};
use crate::finding::Code::{self, *};

fn manifest(change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_str(&theme()[0].1).unwrap();
    change(manifest.as_object_mut().unwrap());
    with("theme.json", manifest.to_string())
}

fn said(name: &'static str, value: Value) -> Vec<u8> {
    manifest(move |manifest| {
        manifest.insert(name.to_owned(), value);
    })
}

fn section(schema: &Value) -> Vec<u8> {
    let text = format!("x {{%- schema -%}} {schema} {{%- endschema -%}}");
    with("sections/extra.liquid", text)
}

fn one(setting: &Value) -> Vec<u8> {
    settings(&json!([setting]))
}

#[test]
fn missing_required_files_are_reported() {
    rejected(vec![
        ("no layout", without("layout/theme.liquid"), &[LayoutMissing]),
        ("no index", without("templates/index.json"), &[IndexMissing]),
        ("no schema", without("config/settings_schema.json"), &[SettingsSchemaMissing]),
        (
            "nothing of it",
            zip(&[deflated("assets/a.css", b"")]),
            &[ManifestMissing, LayoutMissing, IndexMissing, SettingsSchemaMissing],
        ),
    ]);
}

#[test]
fn every_field_of_the_manifest_is_validated() {
    rejected(vec![
        ("no JSON", with("theme.json", "slug: plain"), &[JsonInvalid]),
        ("an array", with("theme.json", "[]"), &[JsonShape]),
        ("nothing", with("theme.json", "{}"), &[ManifestInvalid]),
        ("a slug in capitals", said("slug", json!("Plain")), &[SlugInvalid]),
        ("a slug with a path", said("slug", json!("a/b")), &[SlugInvalid]),
        ("a reserved slug", said("slug", json!("packages")), &[SlugReserved]),
        ("a numeric slug", said("slug", json!(1)), &[SlugInvalid]),
        ("an empty name", said("name", json!("")), &[ManifestInvalid]),
        ("a misleading name", said("name", json!("Plain\u{202e}Linen")), &[ManifestInvalid]),
        ("half a version", said("version", json!("1.2")), &[VersionInvalid]),
        ("a build", said("version", json!("1.2.3+4")), &[VersionInvalid]),
        ("a long version", said("version", json!("1.2.12345678901")), &[VersionInvalid]),
        (
            "no author",
            manifest(|manifest| {
                manifest.remove("author");
            }),
            &[ManifestInvalid],
        ),
        ("a price of text", said("price", json!("49.00 INR")), &[PriceInvalid]),
        (
            "a negative price",
            said("price", json!({"amount": -1, "currency": "INR"})),
            &[PriceInvalid],
        ),
        (
            "a fraction of a price",
            said("price", json!({"amount": 1.5, "currency": "INR"})),
            &[PriceInvalid],
        ),
        ("no currency", said("price", json!({"amount": 1, "currency": "XXX"})), &[PriceInvalid]),
        (
            "everything",
            with(
                "theme.json",
                json!({"slug": "packages", "name": 1, "version": "x", "price": 1}).to_string(),
            ),
            &[SlugReserved, ManifestInvalid, VersionInvalid, PriceInvalid],
        ),
    ]);
    let unknown = read(&said("colour", json!("blue")));
    assert_eq!(warnings(&unknown), [ManifestUnknownField].into());
    let free = read(&said("price", json!({"amount": 0, "currency": "INR"}))).package.unwrap();
    assert_eq!(free.manifest.price, None);
}

#[test]
fn files_are_validated_by_directory_and_content() {
    let huge: String =
        (0..4_097_u32).map(|n| crate::file::Digest::of(&n.to_le_bytes()).to_string()).collect();
    rejected(vec![
        ("a program", with("assets/x.exe", "MZ"), &[FileTypeRejected]),
        ("a script of a server", with("layout/x.php", "<?php"), &[FileTypeRejected]),
        ("a style sheet as a section", with("sections/x.css", "a{}"), &[FileTypeRejected]),
        ("no ending", with("snippets/x", "a"), &[FileTypeRejected]),
        ("a directory of snippets", with("snippets/a/b.liquid", "x"), &[SubdirectoryRejected]),
        ("a picture that is none", with("assets/x.png", "<svg/>"), &[ContentMismatch]),
        ("a font that is none", with("assets/x.woff2", "wOFF"), &[ContentMismatch]),
        ("text that is none", and(deflated("snippets/x.liquid", b"\xff\xfe\0")), &[TextNotUtf8]),
        ("text with a NUL", with("assets/x.js", "a\0b"), &[TextNotUtf8]),
        ("a template too large", with("snippets/x.liquid", huge), &[FileTooLarge]),
        ("no language", with("locales/de.json", "{\"a\":}"), &[JsonInvalid]),
        ("a language as a list", with("locales/de.json", "[]"), &[JsonShape]),
    ]);
}

#[test]
fn every_setting_is_validated() {
    let text = || json!({"type": "text", "id": "a", "label": "A"});
    let schema = "config/settings_schema.json";
    rejected(vec![
        ("no JSON", with(schema, "[{]"), &[JsonInvalid]),
        ("an object", with(schema, "{}"), &[JsonShape]),
        ("no description", with(schema, "[]"), &[ThemeInfoMissing]),
        (
            "a description without a name",
            with(schema, "[{\"name\":\"theme_info\"}]"),
            &[ThemeInfoMissing],
        ),
        (
            "a group without a name",
            with(schema, "[{\"name\":\"theme_info\",\"theme_name\":\"x\"},{\"settings\":[]}]"),
            &[GroupInvalid],
        ),
        ("settings that are none", settings(&json!({})), &[JsonShape]),
        ("a setting that is none", settings(&json!(["text"])), &[JsonShape]),
        ("no id", one(&json!({"type": "text", "label": "A"})), &[SettingIdInvalid]),
        (
            "an id with blanks",
            one(&json!({"type": "text", "id": "a b", "label": "A"})),
            &[SettingIdInvalid],
        ),
        ("the same id", settings(&json!([text(), text()])), &[SettingIdDuplicate]),
        (
            "a label that is none",
            one(&json!({"type": "text", "id": "a", "label": 1.5, "info": []})),
            &[SettingInvalid],
        ),
        (
            "too many",
            settings(
                &(0..501)
                    .map(|n| json!({"type": "text", "id": format!("a{n}"), "label": "A"}))
                    .collect(),
            ),
            &[TooManySettings],
        ),
    ]);
}

#[test]
fn every_default_and_bound_of_a_setting_is_validated() {
    let select = |options: Value| {
        one(&json!({"type": "select", "id": "a", "label": "A", "options": options}))
    };
    let range = |members: Value| {
        let mut range = json!({"type": "range", "id": "a", "label": "A"});
        range.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        one(&range)
    };
    let default = |kind: &str, value: Value| {
        one(&json!({"type": kind, "id": "a", "label": "A", "default": value}))
    };
    let radio = |default: Value| {
        let options = json!([{"value": "a", "label": "A"}]);
        one(
            &json!({"type": "radio", "id": "a", "label": "A", "default": default, "options": options}),
        )
    };
    rejected(vec![
        ("no options", select(json!([])), &[SettingOptionsInvalid]),
        ("options without values", select(json!([{"label": "x"}])), &[SettingOptionsInvalid]),
        (
            "options alike",
            select(json!([{"value": "a", "label": "x"}, {"value": "a", "label": "y"}])),
            &[SettingOptionsInvalid],
        ),
        ("a range without bounds", range(json!({"min": 1})), &[SettingRangeInvalid]),
        ("a range backwards", range(json!({"min": 2, "max": 1})), &[SettingRangeInvalid]),
        (
            "a range without steps",
            range(json!({"min": 1, "max": 2, "step": 0})),
            &[SettingRangeInvalid],
        ),
        (
            "a range of too many steps",
            range(json!({"min": 0, "max": 1001, "step": 1})),
            &[SettingRangeInvalid],
        ),
        (
            "a default off the steps",
            range(json!({"min": 1, "max": 9, "step": 2, "default": 4})),
            &[SettingDefaultInvalid],
        ),
        (
            "a default out of bounds",
            range(json!({"min": 1, "max": 9, "default": 10})),
            &[SettingDefaultInvalid],
        ),
        ("a default that is no color", default("color", json!("red;}")), &[SettingDefaultInvalid]),
        (
            "a default that is no boolean",
            default("checkbox", json!("yes")),
            &[SettingDefaultInvalid],
        ),
        ("a default that is no option", radio(json!("c")), &[SettingDefaultInvalid]),
        (
            "a default that runs",
            default("url", json!("javascript:alert(1)")),
            &[SettingDefaultInvalid],
        ),
        (
            "a heading with a value",
            one(&json!({"type": "header", "content": "A", "default": "x"})),
            &[SettingDefaultInvalid],
        ),
        (
            "providers of no videos",
            one(&json!({"type": "video_url", "id": "a", "label": "A", "accept": ["evil"]})),
            &[SettingInvalid],
        ),
        (
            "a limit of none",
            one(&json!({"type": "product_list", "id": "a", "label": "A", "limit": 0})),
            &[SettingInvalid],
        ),
    ]);
    let unsafe_default = read(&default("richtext", json!("<p onclick=\"x()\">a")));
    assert_eq!(warnings(&unsafe_default), [SettingSanitized].into());
    let schema = unsafe_default.package.unwrap().schema;
    assert_eq!(schema.settings().next().unwrap().default, Some(json!("<p>a</p>")));
    let loose = read(&one(&json!({"type": "text", "id": "a", "colour": "x"})));
    assert_eq!(warnings(&loose), [SettingLabelMissing, SettingUnknownMember].into());
    let palette = one(&json!({"type": "color_palette", "id": "a"}));
    assert!(!warnings(&read(&palette)).contains(&SettingLabelMissing));
    let alpha = |kind: &str| one(&json!({"type": kind, "id": "a", "label": "A", "alpha": true}));
    assert!(warnings(&read(&alpha("color"))).is_empty());
    assert_eq!(warnings(&read(&alpha("text"))), [SettingUnknownMember].into());
}

#[test]
fn every_section_is_validated() {
    let text = |text: &str| with("sections/extra.liquid", text);
    let named = |members: Value| {
        let mut schema = json!({"name": "Extra"});
        schema.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        section(&schema)
    };
    rejected(vec![
        ("not closed", text("{% schema %}{}"), &[SectionSchemaUnclosed]),
        (
            "two schemas",
            text("{% schema %}{}{% endschema %}{% schema %}{}{% endschema %}"),
            &[SectionSchemaDuplicate],
        ),
        ("no JSON", text("{% schema %}{name: x}{% endschema %}"), &[JsonInvalid]),
        ("a list", section(&json!([])), &[JsonShape]),
        ("no name", section(&json!({})), &[SectionInvalid]),
        ("an element that runs", named(json!({"tag": "script"})), &[SectionInvalid]),
        ("a class that is more", named(json!({"class": "a\" onclick=\"x"})), &[SectionInvalid]),
        ("too many blocks", named(json!({"max_blocks": 51})), &[SectionInvalid]),
        ("a limit of none", named(json!({"limit": 0})), &[SectionInvalid]),
        ("a block without a type", named(json!({"blocks": [{"name": "A"}]})), &[BlockTypeInvalid]),
        (
            "a block twice",
            named(json!({"blocks": [{"type": "a", "name": "A"}, {"type": "a", "name": "B"}]})),
            &[BlockTypeInvalid],
        ),
        (
            "a bad setting of a block",
            named(json!({"blocks": [{"type": "a", "name": "A", "settings": [{"type": "color"}]}]})),
            &[SettingIdInvalid],
        ),
        ("an unnamed preset", named(json!({"presets": [{}]})), &[PresetInvalid]),
        (
            "a preset with a bad value",
            named(
                json!({"settings": [{"type": "checkbox", "id": "a", "label": "A"}], "presets": [{"name": "A", "settings": {"a": 1}}]}),
            ),
            &[PresetInvalid],
        ),
        (
            "a preset with a strange block",
            named(json!({"presets": [{"name": "A", "blocks": [{"type": "x"}]}]})),
            &[PresetInvalid],
        ),
        (
            "too many settings",
            named(
                json!({"settings": (0..101).map(|n| json!({"type": "text", "id": format!("a{n}"), "label": "A"})).collect::<Vec<_>>()}),
            ),
            &[TooManySettings],
        ),
    ]);
    let plain = read(&text("<p>static</p>"));
    assert_eq!((errors(&plain), warnings(&plain)), ([].into(), [SectionSchemaMissing].into()));
}

#[test]
fn initial_content_is_validated() {
    let index = |page: Value| with("templates/index.json", page.to_string());
    let data = |data: Value| with("config/settings_data.json", data.to_string());
    let main = |section: Value| index(json!({"sections": {"main": section}, "order": ["main"]}));
    rejected(vec![
        (
            "a bad color",
            data(json!({"current": {"color_primary": "blue"}})),
            &[SettingValueInvalid],
        ),
        ("no such preset", data(json!({"current": "Dark", "presets": {}})), &[JsonShape]),
        ("a strange section", main(json!({"type": "x"})), &[SectionTypeUnknown]),
        ("a section without a type", main(json!({})), &[SettingValueInvalid]),
        (
            "a strange block",
            main(json!({"type": "hero", "blocks": {"a": {"type": "x"}}, "block_order": ["a"]})),
            &[BlockTypeUnknown],
        ),
        (
            "a bad value in a block",
            main(
                json!({"type": "hero", "blocks": {"a": {"type": "slide", "settings": {"text": 1}}}}),
            ),
            &[SettingValueInvalid],
        ),
        (
            "an order of something else",
            index(json!({"sections": {"main": {"type": "hero"}}, "order": ["other"]})),
            &[OrderInvalid],
        ),
        (
            "a section twice in the order",
            index(json!({"sections": {"main": {"type": "hero"}}, "order": ["main", "main"]})),
            &[OrderInvalid],
        ),
        (
            "another page",
            with(
                "templates/product.json",
                json!({"sections": {"a": {"type": "x"}}, "order": ["a"]}).to_string(),
            ),
            &[SectionTypeUnknown],
        ),
        ("a page that is none", with("templates/product.json", "[]"), &[JsonShape]),
        ("a group of sections", with("sections/header-group.json", "{"), &[JsonInvalid]),
    ]);
    let reading = read(&data(json!({"current": {"color_primary": "#fff", "old": 1}})));
    assert_eq!(warnings(&reading), [SettingUnknown].into());
    let initial = reading.package.unwrap().schema.initial;
    assert_eq!(
        initial.settings,
        *json!({"color_primary": "#fff", "width": 1.5}).as_object().unwrap()
    );
    assert_eq!(initial.sections["main"].settings["heading"], "Welcome");
}

#[test]
fn findings_have_paths_and_pointers() {
    let mut files = theme();
    files[2].1 = json!([
        {"name": "theme_info", "theme_name": "x"},
        {"name": "A", "settings": [{"type": "text", "id": "a/b", "label": "A"}, {"type": "range", "id": "r", "label": "R", "min": 1, "max": 9, "step": 2, "default": 4}]},
    ]).to_string();
    files[3].1 = json!({"current": {"r": 2}}).to_string();
    let reading = read(&zip(&entries(&files)));
    let places: Vec<(Code, &str, Option<&str>)> = reading
        .findings
        .iter()
        .map(|found| (found.code, found.path.as_str(), found.pointer.as_deref()))
        .collect();
    assert_eq!(
        places,
        [
            (SettingIdInvalid, "config/settings_schema.json", Some("/1/settings/0/id")),
            (SettingDefaultInvalid, "config/settings_schema.json", Some("/1/settings/1/default")),
            (SettingValueInvalid, "config/settings_data.json", Some("/current/r")),
        ]
    );
}
