//! Tests of drafts against a schema.

use serde_json::{Value, json};

use super::{
    Change, ChangeKind, Content, MAX_CONTENT, UnvalidatedContent, check, defaults, difference,
    upgrade,
};
use crate::finding::{Code, FileFindings};
use crate::findings::Findings;
use crate::schema::{Schema, read, section};

/// A schema with these settings and a section type `hero`.
fn schema(settings: &Value, hero: &Value) -> Schema {
    let theme =
        json!([{"name": "theme_info", "theme_name": "x"}, {"name": "A", "settings": settings}]);
    let mut findings = Findings::default();
    let mut report = FileFindings::new("x", &mut findings);
    let (theme_info, settings_schema) = read::theme(&theme, &mut report);
    let sections = vec![section::section("hero", hero, &mut report)];
    let mut schema = Schema { theme_info, settings_schema, sections, ..Schema::default() };
    assert!(!findings.has_errors(), "{findings:#?}");
    schema.initial = check(&schema, &UnvalidatedContent::default()).unwrap().0;
    schema
}

fn hero() -> Value {
    json!({
        "name": "Hero", "limit": 2, "max_blocks": 3,
        "settings": [{"type": "text", "id": "heading", "label": "H", "default": "Hello"}],
        "blocks": [{"type": "slide", "name": "S", "limit": 2, "settings": [{"type": "url", "id": "link", "label": "L"}]}],
    })
}

fn of(settings: &Value) -> Schema {
    schema(settings, &hero())
}

fn draft(settings: Value) -> UnvalidatedContent {
    UnvalidatedContent { settings, ..UnvalidatedContent::default() }
}

/// Validates a value of a setting: returns the result and its warnings, or the code of its error.
fn validated(setting: &Value, value: &Value) -> Result<(Value, Vec<Code>), &'static str> {
    let mut setting = setting.clone();
    setting
        .as_object_mut()
        .unwrap()
        .extend(json!({"id": "a", "label": "A"}).as_object().unwrap().clone());
    let schema = of(&json!([setting]));
    match check(&schema, &draft(json!({"a": value}))) {
        Ok((content, findings)) => {
            let codes = findings.iter().map(|finding| finding.code).collect();
            Ok((content.settings["a"].clone(), codes))
        }
        Err(field_errors) => {
            assert_eq!(field_errors.len(), 1, "{field_errors:?}");
            assert_eq!(field_errors[0].pointer, "/settings/a");
            Err(field_errors[0].violation.code)
        }
    }
}

#[test]
fn every_type_takes_its_values_and_rejects_others() {
    let kind = |kind: &str| json!({"type": kind});
    let options = json!({"type": "select", "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]});
    let range = json!({"type": "range", "min": 0, "max": 1, "step": 0.1});
    let number = json!({"type": "number"});
    let list = json!({"type": "product_list", "limit": 2});
    let good = [
        (kind("checkbox"), json!(true)),
        (number.clone(), json!(-1.5)),
        (range.clone(), json!(0.3)),
        (options.clone(), json!("b")),
        (kind("text"), json!("<script>is text</script>")),
        (kind("textarea"), json!("a\nb")),
        (kind("text_alignment"), json!("center")),
        (kind("color"), json!("#fff")),
        (kind("color"), json!("")),
        (kind("color_background"), json!("linear-gradient(#fff, #000)")),
        (kind("color_scheme"), json!("scheme-1")),
        (kind("font_picker"), json!("assistant_n4")),
        (kind("image_picker"), json!("assets/a.png")),
        (kind("image_picker"), json!("")),
        (kind("video"), json!("assets/a.mp4")),
        (kind("video_url"), json!("https://youtu.be/_9VUPq3SxOc")),
        (kind("url"), json!("/collections/all")),
        (kind("collection"), json!("all")),
        (kind("product"), json!("blue-shirt")),
        (kind("page"), json!("about")),
        (kind("blog"), json!("news")),
        (kind("article"), json!("news/first")),
        (kind("link_list"), json!("main-menu")),
        (kind("collection_list"), json!(["a", "b"])),
        (list.clone(), json!([])),
        (kind("html"), json!("<div class=\"a\">b</div>")),
        (kind("richtext"), json!("<p>a <strong>b</strong></p>")),
        (kind("inline_richtext"), json!("a <em>b</em>")),
        (kind("liquid"), json!("{{ shop.name }}<script>")),
    ];
    for (setting, value) in good {
        assert_eq!(validated(&setting, &value), Ok((value, vec![])), "{setting}");
    }
    let bad = [
        (kind("checkbox"), json!("true"), "invalid_type"),
        (number.clone(), json!("1"), "invalid_type"),
        (number.clone(), json!(1e300), "out_of_range"),
        (number, json!(0.000_000_1), "out_of_range"),
        (range.clone(), json!(1.1), "out_of_range"),
        (range, json!(0.25), "off_step"),
        (options.clone(), json!("c"), "invalid_choice"),
        (options, json!(""), "invalid_choice"),
        (kind("text_alignment"), json!("justify"), "invalid_choice"),
        (kind("text"), json!("a\nb"), "invalid_characters"),
        (kind("text"), json!("a".repeat(1_001)), "too_long"),
        (kind("textarea"), json!("a\u{0}b"), "invalid_characters"),
        (kind("color"), json!("red; background: url(x)"), "invalid_color"),
        (kind("color_background"), json!("url(javascript:x)"), "invalid_background"),
        (kind("color_scheme"), json!("a b"), "invalid_name"),
        (kind("font_picker"), json!("Comic Sans"), "invalid_font"),
        (kind("image_picker"), json!("assets/a.svg"), "svg_rejected"),
        (kind("image_picker"), json!("data:image/svg+xml,<svg onload=x>"), "svg_rejected"),
        (kind("image_picker"), json!("data:image/png;base64,AA"), "invalid_image"),
        (kind("video"), json!("javascript:x"), "invalid_video"),
        (kind("video_url"), json!("https://evil.example/x"), "invalid_video_url"),
        (kind("url"), json!("javascript:alert(1)"), "invalid_url"),
        (kind("url"), json!("data:text/html,x"), "invalid_url"),
        (kind("url"), json!("//evil.example"), "invalid_url"),
        (kind("collection"), json!("All"), "invalid_handle"),
        (kind("product"), json!(7), "invalid_type"),
        (kind("article"), json!("news"), "invalid_handle"),
        (kind("product_list"), json!("a"), "invalid_type"),
        (kind("product_list"), json!([1]), "invalid_handle"),
        (list, json!(["a", "b", "c"]), "too_many"),
        (kind("html"), json!(["<p>"]), "invalid_type"),
        (kind("html"), json!("a".repeat(60_000)), "too_long"),
        (kind("liquid"), json!("a\0"), "invalid_characters"),
    ];
    for (setting, value, code) in bad {
        assert_eq!(validated(&setting, &value), Err(code), "{setting} {value}");
    }
}

#[test]
fn html_is_sanitized_with_a_warning() {
    let sanitized = |kind: &str, from: &str, to: &str| {
        let validated = validated(&json!({"type": kind}), &json!(from));
        assert_eq!(validated, Ok((json!(to), vec![Code::SettingSanitized])), "{kind} {from}");
    };
    sanitized("richtext", "<p>a<script>alert(1)</script>", "<p>a</p>");
    sanitized("richtext", "<p><img src=x onerror=x()>a</p>", "<p>a</p>");
    sanitized(
        "richtext",
        "<p><a href=\"javascript:x()\">a</a></p>",
        "<p><a rel=\"noopener noreferrer\">a</a></p>",
    );
    sanitized("inline_richtext", "<p>a</p> <em>b", "a <em>b</em>");
    sanitized("html", "<svg onload=\"x()\"><circle/></svg><div>a", "<div>a</div>");
    sanitized("html", "<iframe src=\"https://example.com\"></iframe>a", "a");
    sanitized("html", "<div style=\"x\" onclick=\"x()\">a</div>", "<div>a</div>");
}

#[test]
fn html_that_is_only_written_differently_is_stored_without_a_warning() {
    for (from, to) in [
        ("<p>a <b>b <i>c</b></p>", "<p>a <b>b <i>c</i></b></p>"),
        ("<p>You'll see\u{a0}it</p>", "<p>You'll see&nbsp;it</p>"),
        (
            "<p><a title=\"/\" href=\"/\">a</a></p>",
            "<p><a title=\"/\" href=\"/\" rel=\"noopener noreferrer\">a</a></p>",
        ),
    ] {
        let validated = validated(&json!({"type": "richtext"}), &json!(from));
        assert_eq!(validated, Ok((json!(to), Vec::new())), "{from}");
    }
}

#[test]
fn every_bad_setting_has_its_pointer() {
    let schema = of(&json!([
        {"type": "color", "id": "color_primary", "label": "C"},
        {"type": "checkbox", "id": "on", "label": "O"},
    ]));
    let sections = json!({
        "a": {"type": "hero", "settings": {"heading": 1}, "blocks": {"s1": {"type": "slide", "settings": {"link": "javascript:x"}}, "s2": {"type": "no"}}, "block_order": ["s1"]},
        "b": {"type": "unknown"},
        "c d": {"type": "hero", "disabled": "yes", "name": "x".repeat(101)},
        "e": [],
    });
    let settings = json!({"color_primary": "blue", "on": 1, "gone": true});
    let field_errors = check(
        &schema,
        &UnvalidatedContent {
            settings,
            sections,
            order: json!(["a", "b"]),
            ..UnvalidatedContent::default()
        },
    )
    .unwrap_err();
    let mut found: Vec<(&str, &str)> = field_errors
        .iter()
        .map(|violation| (violation.pointer.as_str(), violation.violation.code))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("/order", "order_mismatch"),
            ("/sections/a/block_order", "order_mismatch"),
            ("/sections/a/blocks/s1/settings/link", "invalid_url"),
            ("/sections/a/blocks/s2/type", "unknown_block"),
            ("/sections/a/settings/heading", "invalid_type"),
            ("/sections/b/type", "unknown_section"),
            ("/sections/c d", "invalid_name"),
            ("/sections/c d/disabled", "invalid_type"),
            ("/sections/c d/name", "too_long"),
            ("/sections/e", "invalid_type"),
            ("/settings/color_primary", "invalid_color"),
            ("/settings/on", "invalid_type"),
        ]
    );
    let odd = UnvalidatedContent {
        settings: json!([]),
        sections: json!(1),
        order: json!({}),
        ..UnvalidatedContent::default()
    };
    let pointers: Vec<String> = check(&schema, &odd)
        .unwrap_err()
        .iter()
        .map(|violation| violation.pointer.clone())
        .collect();
    assert_eq!(pointers, ["/settings", "/sections"]);
}

#[test]
fn sections_and_blocks_are_limited_by_the_schema() {
    let schema = of(&json!([]));
    let slides = |count: usize| -> Value {
        (0..count)
            .map(|n| (format!("s{n}"), json!({"type": "slide"})))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let field_errors = |sections: Value| -> Vec<(String, &'static str)> {
        let draft = UnvalidatedContent { sections, ..UnvalidatedContent::default() };
        let field_errors = check(&schema, &draft).err().unwrap_or_default();
        field_errors
            .iter()
            .map(|violation| (violation.pointer.clone(), violation.violation.code))
            .collect()
    };
    let heroes = |count: usize| -> Value {
        (0..count)
            .map(|n| (format!("h{n}"), json!({"type": "hero"})))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    assert_eq!(field_errors(heroes(2)), []);
    assert_eq!(field_errors(heroes(3)), [("/sections/h2".to_owned(), "too_many")]);
    assert_eq!(field_errors(heroes(26)), [("/sections".to_owned(), "too_many")]);
    assert_eq!(field_errors(json!({"a": {"type": "hero", "blocks": slides(2)}})), []);
    let third = ("/sections/a/blocks/s2".to_owned(), "too_many");
    assert_eq!(field_errors(json!({"a": {"type": "hero", "blocks": slides(3)}})), [third]);
    let all = ("/sections/a/blocks".to_owned(), "too_many");
    assert_eq!(field_errors(json!({"a": {"type": "hero", "blocks": slides(4)}})), [all]);
}

#[test]
fn omitted_values_have_defaults_and_unknown_ones_are_left_out() {
    let schema = of(&json!([
        {"type": "header", "content": "H"},
        {"type": "color", "id": "c", "label": "C", "default": "#fff"},
        {"type": "checkbox", "id": "on", "label": "O"},
        {"type": "range", "id": "r", "label": "R", "min": 2, "max": 4},
        {"type": "radio", "id": "x", "label": "X", "options": [{"value": "one", "label": "1"}]},
        {"type": "product_list", "id": "p", "label": "P"},
        {"type": "number", "id": "n", "label": "N"},
    ]));
    let blank = json!({"c": "#fff", "on": false, "r": 2, "x": "one", "p": [], "n": null});
    assert_eq!(Value::from(defaults(&schema).settings), blank);
    let sent = draft(json!({"r": 3.0, "c": null, "on": true, "old": {"deep": 1}}));
    let (content, findings) = check(&schema, &sent).unwrap();
    let expected = json!({"c": "#fff", "on": true, "r": 3, "x": "one", "p": [], "n": null});
    assert_eq!(Value::from(content.settings.clone()), expected);
    let found: Vec<_> =
        findings.iter().map(|found| (found.code, found.pointer.as_deref())).collect();
    assert_eq!(found, [(Code::SettingUnknown, Some("/settings/old"))]);
    let again = UnvalidatedContent {
        settings: content.settings.clone().into(),
        ..UnvalidatedContent::default()
    };
    assert_eq!(
        check(&schema, &again).unwrap(),
        (content, vec![]),
        "what was checked is not changed"
    );
}

#[test]
fn a_draft_has_at_most_256_kib() {
    let many: Vec<Value> =
        (0..6).map(|n| json!({"type": "liquid", "id": format!("l{n}"), "label": "L"})).collect();
    let schema = of(&many.into());
    let filled = |count: usize| {
        let values = (0..count).map(|n| (format!("l{n}"), json!("x".repeat(50 * 1024))));
        check(&schema, &draft(values.collect::<serde_json::Map<_, _>>().into()))
    };
    assert!(filled(5).is_ok());
    let field_errors = filled(6).unwrap_err();
    assert_eq!(
        (field_errors[0].pointer.as_str(), field_errors[0].violation.code),
        ("", "too_large")
    );
    assert!(field_errors[0].violation.detail.contains(&MAX_CONTENT.to_string()));
}

#[test]
fn defaults_count_towards_the_size_of_a_draft() {
    let text = "x".repeat(40 * 1024);
    let setting =
        |n: usize| json!({"type": "html", "id": format!("h{n}"), "label": "H", "default": text});
    let slide: Vec<Value> = (0..4).map(setting).collect();
    let hero =
        json!({"name": "Hero", "blocks": [{"type": "slide", "name": "S", "settings": slide}]});
    let schema = schema(&json!([]), &hero);
    let blocks = |count: usize| -> UnvalidatedContent {
        let slides = (0..count).map(|n| (format!("s{n}"), json!({"type": "slide"})));
        let slides: serde_json::Map<_, _> = slides.collect();
        let sections = json!({"a": {"type": "hero", "blocks": slides}});
        UnvalidatedContent { sections, ..UnvalidatedContent::default() }
    };
    assert!(check(&schema, &blocks(1)).is_ok());
    let field_errors = check(&schema, &blocks(50)).unwrap_err();
    assert_eq!((field_errors.len(), field_errors[0].violation.code), (1, "too_large"));
    let short = of(&json!([]));
    let content = check(&short, &blocks(2)).unwrap().0;
    let upgrade = upgrade(&short, &schema, &content);
    assert_eq!(upgrade.content.sections["a"].block_order, ["s0"], "there is room for one");
    let dropped = ["/sections/a/settings/heading", "/sections/a/blocks/s0/settings/link"];
    assert_eq!(upgrade.dropped, [dropped[0], dropped[1], "/sections/a/blocks/s1"]);
}

fn old_and_new() -> (Schema, Schema) {
    let old = of(&json!([
        {"type": "text", "id": "same", "label": "S", "default": "a"},
        {"type": "text", "id": "gone", "label": "G"},
        {"type": "text", "id": "other_type", "label": "T", "default": "x"},
        {"type": "color", "id": "followed", "label": "F", "default": "#000"},
        {"type": "color", "id": "chosen", "label": "C", "default": "#000"},
        {"type": "range", "id": "narrow", "label": "N", "min": 0, "max": 10, "default": 1},
    ]));
    let new = schema(
        &json!([
            {"type": "text", "id": "same", "label": "New label", "default": "a"},
            {"type": "checkbox", "id": "other_type", "label": "T"},
            {"type": "color", "id": "followed", "label": "F", "default": "#111"},
            {"type": "color", "id": "chosen", "label": "C", "default": "#111"},
            {"type": "range", "id": "narrow", "label": "N", "min": 0, "max": 5, "default": 1},
            {"type": "text", "id": "added", "label": "A", "default": "new"},
        ]),
        &json!({
            "name": "Hero", "limit": 1,
            "settings": [{"type": "text", "id": "heading", "label": "H", "default": "Hello"}],
            "blocks": [{"type": "card", "name": "C"}, {"type": "slide", "name": "S", "limit": 1}],
        }),
    );
    (old, new)
}

#[test]
fn a_difference_names_every_change_and_no_label() {
    let (old, new) = old_and_new();
    let change = |place: &str, change| Change { place: place.to_owned(), change };
    assert_eq!(
        difference(&old, &new).changes,
        [
            change("sections.hero", ChangeKind::ConstraintChanged),
            change("sections.hero.blocks.card", ChangeKind::Added),
            change("sections.hero.blocks.slide", ChangeKind::ConstraintChanged),
            change("sections.hero.blocks.slide.settings.link", ChangeKind::Removed),
            change("settings.added", ChangeKind::Added),
            change("settings.chosen", ChangeKind::DefaultChanged),
            change("settings.followed", ChangeKind::DefaultChanged),
            change("settings.gone", ChangeKind::Removed),
            change("settings.narrow", ChangeKind::ConstraintChanged),
            change("settings.other_type", ChangeKind::TypeChanged),
        ]
    );
    assert_eq!(difference(&old, &old).changes, []);
}

#[test]
fn an_upgrade_carries_accepted_values_and_lists_the_others() {
    let (old, new) = old_and_new();
    let slide = || json!({"type": "slide", "settings": {"link": "/a"}});
    let sent = UnvalidatedContent {
        settings: json!({"same": "mine", "gone": "x", "other_type": "y", "chosen": "#222", "narrow": 9}),
        sections: json!({
            "one": {"type": "hero", "settings": {"heading": "Mine"}, "blocks": {"a": slide(), "b": slide()}, "block_order": ["b", "a"]},
            "two": {"type": "hero"},
        }),
        order: json!(["one", "two"]),
        ..UnvalidatedContent::default()
    };
    let content: Content = check(&old, &sent).unwrap().0;
    let upgrade = upgrade(&old, &new, &content);
    assert_eq!(
        Value::from(upgrade.content.settings.clone()),
        json!({
            "same": "mine", "other_type": false, "followed": "#111", "chosen": "#222", "narrow": 1, "added": "new",
        })
    );
    assert_eq!(
        upgrade.carried,
        ["/settings/same", "/settings/chosen", "/sections/one/settings/heading"]
    );
    assert_eq!(upgrade.reset, ["/settings/other_type", "/settings/followed", "/settings/narrow"]);
    assert_eq!(
        upgrade.dropped,
        [
            "/settings/gone",
            "/sections/one/blocks/b/settings/link",
            "/sections/one/blocks/a",
            "/sections/two",
        ]
    );
    assert_eq!(upgrade.content.order, ["one"]);
    assert_eq!(upgrade.content.sections["one"].block_order, ["b"]);
    let content = &upgrade.content;
    let sent = UnvalidatedContent::of(content).unwrap();
    assert_eq!(check(&new, &sent), Ok((content.clone(), vec![])), "what it comes to is valid");
}
