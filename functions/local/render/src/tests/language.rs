//! Tests of the language of templates, and its output.

use serde_json::json;

use super::{data, page, rendered, theme};
use crate::{FindingCode, Limits, Page, Theme, render};

#[test]
fn texts_are_escaped_and_sanitized_html_is_not() {
    assert_eq!(rendered("{{ shop.name }}"), "Tom &amp; Jerry");
    assert_eq!(rendered("{{ products[0].title }}"), "Cup &lt;b&gt;&amp; saucer&lt;/b&gt;");
    assert_eq!(rendered("{{ products[0].description }}"), "<p>It holds <em>tea</em>.</p>");
    assert_eq!(rendered("{{ shop.name | raw }}"), "Tom & Jerry");
    assert_eq!(rendered("{{ shop.name | escape }}"), "Tom &amp; Jerry");
}

#[test]
fn a_filter_that_changes_html_makes_it_a_text() {
    assert_eq!(
        rendered("{{ products[0].description | upcase }}"),
        "&lt;P&gt;IT HOLDS &lt;EM&gt;TEA&lt;/EM&gt;.&lt;/P&gt;"
    );
    assert_eq!(
        rendered("{{ products[0].title | prepend: products[0].description }}"),
        "&lt;p&gt;It holds &lt;em&gt;tea&lt;/em&gt;.&lt;/p&gt;Cup &lt;b&gt;&amp; saucer&lt;/b&gt;"
    );
    assert_eq!(rendered("{{ products[0].description | strip_html }}"), "It holds tea.");
}

#[test]
fn a_mark_in_input_makes_nothing_safe() {
    let mut data = data();
    data.store = json!({"name": "\u{FDD0}<script>", "currency": "INR"});
    let theme = theme("{{ shop.name }}{{ shop.name | append: '' }}{% cycle shop.name %}", &[]);
    let page = render(&theme, Page::Index, &data, Limits::default()).unwrap();
    assert_eq!(page, "&lt;script&gt;".repeat(3));
}

#[test]
fn a_capture_is_html_with_its_values_escaped() {
    assert_eq!(
        rendered(
            "{% capture x %}<i>{{ shop.name }}</i>{% endcapture %}{{ x }}{% assign y = x %}{{ y }}"
        ),
        "<i>Tom &amp; Jerry</i>".repeat(2)
    );
}

#[test]
fn json_cannot_end_the_element_it_stands_in() {
    assert_eq!(
        rendered("{{ products[0].title | json }}"),
        "\"Cup \\u003cb\\u003e\\u0026 saucer\\u003c/b\\u003e\""
    );
}

#[test]
fn an_unknown_name_is_nil() {
    assert_eq!(
        rendered("a{{ nothing.at.all }}{% if nothing.here %}b{% endif %}{{ shop.nothing }}c"),
        "ac"
    );
}

#[test]
fn loops_know_where_they_are() {
    assert_eq!(
        rendered(
            "{% for i in (1..5) limit: 3 offset: 1 reversed %}{{ forloop.index }}:{{ i }}{% unless forloop.last %},{% endunless %}{% endfor %}"
        ),
        "1:4,2:3,3:2"
    );
    assert_eq!(rendered("{% for i in nothing %}{% else %}none{% endfor %}"), "none");
    assert_eq!(
        rendered("{% for i in (1..9) %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}"),
        "12"
    );
    assert_eq!(
        rendered(
            "{% for a in (1..2) %}{% for b in (1..2) %}{{ forloop.parentloop.index }}{{ b }} {% endfor %}{% endfor %}"
        ),
        "11 12 21 22 "
    );
}

#[test]
fn amounts_are_money() {
    assert_eq!(rendered("{{ products[0].price | money }}"), "₹1,299.00");
    assert_eq!(rendered("{{ 5 | money_without_currency }}"), "0.05");
    assert_eq!(rendered("{{ 123456789 | money_with_currency }}"), "1,234,567.89 INR");
}

#[test]
fn a_rendered_snippet_sees_its_arguments_and_an_included_one_sees_all() {
    let snippets = [(
        "snippets/card.liquid",
        "[{{ product.title | default: item | default: '-' }}{{ size }}{{ secret }}]",
    )];
    let theme = theme(
        "{% assign secret = 's' %}{% render 'card', size: 3 %}{% include 'card' %}{% render 'card' for products as product %}",
        &snippets,
    );
    assert_eq!(page(&theme).unwrap(), "[-3][-s][Cup &lt;b&gt;&amp; saucer&lt;/b&gt;]");
}

#[test]
fn texts_come_in_the_language_of_the_page() {
    let locales = [
        (
            "locales/en.default.json",
            r#"{"cart": {"items": {"one": "{{ count }} item", "other": "{{ count }} items"}}, "only": "English"}"#,
        ),
        (
            "locales/de.json",
            r#"{"cart": {"items": {"one": "{{ count }} Artikel", "other": "{{ count }} Artikel"}}, "bold_html": "<b>{{ name }}</b>"}"#,
        ),
    ];
    let template = "{{ 'cart.items' | t: count: 2 }} {{ 'only' | t }} {{ 'bold_html' | t: name: '<' }} {{ 'no.key' | t }}";
    let mut theme = theme(template, &locales);
    theme.locale = "de-AT".to_owned();
    assert_eq!(page(&theme).unwrap(), "2 Artikel English <b>&lt;</b> no.key");
    theme.locale = "en".to_owned();
    assert_eq!(page(&theme).unwrap(), "2 items English bold_html no.key");
}

const HERO: &str = r#"<h2>{{ section.settings.heading }}</h2>{{ section.settings.text }}
{%- for block in section.blocks %}<a href="{{ block.settings.to }}">{{ block.type }}</a>{% endfor -%}
{% for product in section.settings.from.products %}{{ product.handle }}{% endfor %}
{%- schema -%}{"name": "Hero", "tag": "section", "class": "hero",
"settings": [{"type": "text", "id": "heading", "default": "Hello"}, {"type": "richtext", "id": "text", "default": "<p>You</p>"},
             {"type": "collection", "id": "from"}],
"blocks": [{"type": "button", "settings": [{"type": "url", "id": "to", "default": "/"}]}]}{%- endschema -%}"#;

fn with_hero() -> Theme {
    let mut theme = theme(
        "",
        &[
            ("sections/hero.liquid", HERO),
            (
                "sections/group.json",
                r#"{"sections": {"g": {"type": "hero", "settings": {"heading": "Group"}}}, "order": ["g"]}"#,
            ),
            (
                "templates/index.json",
                r#"{"sections": {"a": {"type": "hero", "settings": {"heading": "<One>"}}, "b": {"type": "hero", "disabled": true}}, "order": ["a", "b"]}"#,
            ),
        ],
    );
    theme.files.remove("templates/index.liquid");
    theme
}

#[test]
fn a_template_of_json_places_sections_with_their_settings() {
    assert_eq!(
        page(&with_hero()).unwrap(),
        "<section id=\"section-a\" class=\"section hero\"><h2>&lt;One&gt;</h2><p>You</p></section>\n"
    );
}

#[test]
fn the_merchants_sections_replace_those_of_the_template() {
    let mut theme = with_hero();
    let placed = json!({"x": {"type": "hero", "settings": {"heading": "Mine", "text": "", "from": "kitchen"},
        "blocks": {"1": {"type": "button", "settings": {"to": "/a\"b"}}}, "block_order": ["1"]}});
    theme.sections = placed.as_object().cloned().unwrap();
    theme.order = Some(vec!["x".to_owned()]);
    assert_eq!(
        page(&theme).unwrap(),
        "<section id=\"section-x\" class=\"section hero\"><h2>Mine</h2><a href=\"/a&quot;b\">button</a>cup</section>\n"
    );
}

#[test]
fn layouts_have_groups_and_single_sections() {
    let mut theme = with_hero();
    let layout = "{% sections 'group' %}{% section 'hero' %}";
    theme.files.extend(crate::files([("layout/theme.liquid", layout)]));
    theme.sections =
        json!({"hero": {"settings": {"heading": "Single"}}}).as_object().cloned().unwrap();
    let page = page(&theme).unwrap();
    assert!(page.contains("<h2>Group</h2>") && page.contains("<h2>Single</h2>"), "{page}");
}

#[test]
fn settings_have_defaults_and_the_merchants_values() {
    let schema = r##"[{"name": "theme_info"}, {"name": "Colours", "settings": [
        {"type": "color", "id": "accent", "default": "#112233"}, {"type": "text", "id": "note", "default": "x"}]}]"##;
    let mut theme = theme(
        "{{ settings.accent }} {{ settings.note }}",
        &[("config/settings_schema.json", schema)],
    );
    theme.settings = json!({"note": "<!>"}).as_object().cloned().unwrap();
    assert_eq!(page(&theme).unwrap(), "#112233 &lt;!&gt;");
}

#[test]
fn assets_are_urls() {
    let mut theme = theme(
        "{{ 'base.css' | asset_url | stylesheet_tag }}{{ products[0] | image_url | image_tag: alt: 'a' }}",
        &[],
    );
    theme.assets.insert("base.css".to_owned(), "/files/abc".to_owned());
    assert_eq!(
        page(&theme).unwrap(),
        "<link rel=\"stylesheet\" href=\"/files/abc\"><img src=\"/media/cup.png\" alt=\"a\">"
    );
}

#[test]
fn a_page_that_the_theme_does_not_have_is_a_finding() {
    let finding = render(&theme("", &[]), Page::NotFound, &data(), Limits::default()).unwrap_err();
    assert_eq!(
        (finding.code, finding.path.as_str()),
        (FindingCode::MissingFile, "templates/404.liquid")
    );
}

#[test]
fn the_members_of_an_object_are_sorted_by_name() {
    let mut data = data();
    let names: Vec<String> = ('a'..='z').map(|letter| letter.to_string()).collect();
    let collection = |name: &String| (json!({"handle": name, "title": name}), Vec::new());
    data.collections = names.iter().rev().map(collection).collect();
    let theme = theme("{% for pair in collections %}{{ pair[0] }} {% endfor %}", &[]);
    let page = render(&theme, Page::Index, &data, Limits::default()).unwrap();
    // With the collection `all`, of all products.
    assert_eq!(page, format!("a all {} ", names.get(1..).unwrap().join(" ")));
}
