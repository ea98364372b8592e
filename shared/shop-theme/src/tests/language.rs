//! Tests of the language of templates, and its output.

use serde_json::json;

use super::{but, data, page, rendered, theme};
use crate::{Data, FindingCode, Limits, Page, Theme, render};

#[test]
fn a_theme_escapes_its_output_itself() {
    assert_eq!(rendered("{{ shop.name }}"), "Tom & Jerry");
    assert_eq!(rendered("{{ shop.name | escape }}"), "Tom &amp; Jerry");
    assert_eq!(
        rendered("{{ products.first.title | escape }}"),
        "Cup &lt;b&gt;&amp; saucer&lt;/b&gt;"
    );
    assert_eq!(rendered("{{ products.first.description }}"), "<p>It holds <em>tea</em>.</p>");
    assert_eq!(rendered("{{ products.first.description | strip_html }}"), "It holds tea.");
    // What becomes an attribute is escaped by the filter.
    assert_eq!(
        rendered("{{ products.first.featured_image | image_url: width: 10 | image_tag }}"),
        "<img src=\"/media/cup.png\" alt=\"A &quot;cup&quot;\">"
    );
}

#[test]
fn json_cannot_end_the_element_it_stands_in() {
    assert_eq!(
        rendered("{{ products.first.title | json }}"),
        "\"Cup \\u003cb>& saucer\\u003c/b>\""
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
            "{% for i in (1..5) reversed limit: 3 offset: 1 %}{{ forloop.index }}:{{ i }}{% unless forloop.last %},{% endunless %}{% endfor %}"
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
    assert_eq!(rendered("{{ products.first.price | money }}"), "₹1,299.00");
    assert_eq!(rendered("{{ 5 | money_without_currency }}"), "0.05");
    assert_eq!(rendered("{{ 123456789 | money_with_currency }}"), "₹1,234,567.89 INR");
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
    assert_eq!(page(&theme).unwrap(), "[-3][-s][Cup <b>& saucer</b>]");
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
    assert_eq!(
        page(&theme).unwrap(),
        "2 Artikel English <b>&lt;</b> Translation missing: de-AT.no.key"
    );
    theme.locale = "en".to_owned();
    assert_eq!(
        page(&theme).unwrap(),
        "2 items English Translation missing: en.bold_html Translation missing: en.no.key"
    );
}

const HERO: &str = r#"<h2>{{ section.settings.heading }}</h2>{{ section.settings.text }}
{%- for block in section.blocks %}<a href="{{ block.settings.to }}">{{ block.type }}</a>{% endfor -%}
{% for product in section.settings.from.products %}{{ product.handle }}{% endfor %}
{%- schema -%}{"name": "Hero", "tag": "section", "class": "hero",
"settings": [{"type": "text", "id": "heading", "default": "Hello"}, {"type": "richtext", "id": "text", "default": "<p>You</p>"},
             {"type": "collection", "id": "from"}],
"blocks": [{"type": "button", "settings": [{"type": "url", "id": "to", "default": "/"}]}]}{%- endschema -%}"#;

fn with_hero() -> Theme {
    let theme = theme(
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
    but(theme, "templates/index.liquid", &[])
}

#[test]
fn a_template_of_json_places_sections_with_their_settings() {
    assert_eq!(
        page(&with_hero()).unwrap(),
        "<section id=\"shopify-section-template--index__a\" class=\"shopify-section hero\">\
         <h2><One></h2><p>You</p></section>\n"
    );
}

#[test]
fn the_merchants_sections_replace_those_of_the_template() {
    let mut theme = with_hero();
    let placed = json!({"x": {"type": "hero", "settings": {"heading": "Mine", "text": "", "from": "kitchen"},
        "blocks": {"1": {"type": "button", "settings": {"to": "/a"}}}, "block_order": ["1"]}});
    let placed = json!({"sections": placed, "order": ["x"]});
    theme.placed.insert("templates/index.json".into(), placed.into());
    assert_eq!(
        page(&theme).unwrap(),
        "<section id=\"shopify-section-template--index__x\" class=\"shopify-section hero\">\
         <h2>Mine</h2><a href=\"/shop/a\">button</a>cup</section>\n"
    );
}

#[test]
fn the_merchants_sections_replace_those_of_a_group_and_make_an_alternative_template() {
    let hero = |heading: &str| json!({"sections": {"x": {"type": "hero", "settings": {"heading": heading}}}, "order": ["x"]});
    let mut theme = with_hero();
    theme = but(
        theme,
        "",
        &[("layout/theme.liquid", "{% sections 'group' %}{{ content_for_layout }}")],
    );
    theme.placed.insert("sections/group.json".into(), hero("Of the group").into());
    theme.placed.insert("templates/index.summer.json".into(), hero("In summer").into());
    let html = page(&theme).unwrap();
    assert!(html.contains("<h2>Of the group</h2>") && !html.contains("In summer"), "{html}");
    assert!(html.contains("id=\"shopify-section-sections--group__x\""), "{html}");
    let summer = Data { query: vec![("view".into(), "summer".into())], ..data() };
    let html = render(&theme, Page::Index, &summer, Limits::default()).unwrap().html;
    assert!(html.contains("<h2>In summer</h2>"), "{html}");
}

#[test]
fn layouts_have_groups_and_single_sections() {
    let mut theme = with_hero();
    let layout = "{% sections 'group' %}{% section 'hero' %}";
    theme = but(theme, "", &[("layout/theme.liquid", layout)]);
    let single = json!({"settings": {"heading": "Single"}});
    theme.placed.insert("sections/hero.liquid".into(), single.into());
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
    assert_eq!(page(&theme).unwrap(), "#112233 <!>");
}

#[test]
fn assets_are_urls() {
    let mut theme = theme(
        "{{ 'base.css' | asset_url | stylesheet_tag }}{{ products.first | image_url | image_tag: alt: 'a' }}",
        &[],
    );
    let assets = [("base.css".to_owned(), "/files/abc".to_owned())];
    theme.assets = std::sync::Arc::new(assets.into());
    assert_eq!(
        page(&theme).unwrap(),
        "<link href=\"/files/abc\" rel=\"stylesheet\" type=\"text/css\" media=\"all\">\
         <img src=\"/media/cup.png\" alt=\"a\">"
    );
}

#[test]
fn a_theme_leaves_simple_pages_to_the_shop() {
    let rendered = |page| render(&theme("", &[]), page, &data(), Limits::default());
    let login = rendered(Page::Login).unwrap().html;
    assert!(login.contains("action=\"/shop/account/login\""), "{login}");
    assert!(rendered(Page::NotFound).unwrap().html.contains("Page not found"));
    let finding = rendered(Page::Blog).unwrap_err();
    assert_eq!(
        (finding.code, finding.path.as_str()),
        (FindingCode::MissingFile, "templates/blog.json")
    );
}

#[test]
fn dates_are_in_the_language_and_the_time_zone_of_the_shop() {
    let formats = r#"{"date_formats": {"month_day": "%-d. %b"}}"#;
    let of = |locale: &str, template: &str| {
        let theme = theme(template, &[("locales/de.json", formats)]);
        let data = Data { timezone: "Europe/Berlin".to_owned(), ..data() };
        render(&Theme { locale: locale.to_owned(), ..theme }, Page::Index, &data, Limits::default())
            .unwrap()
            .html
    };
    let tag = "{{ '2026-12-31T23:30:00Z' | time_tag: format: 'date_at_time' }}";
    assert_eq!(
        of("de", tag),
        "<time datetime=\"2026-12-31T23:30:00Z\">1. Januar 2027 um 00:30</time>"
    );
    assert_eq!(
        of("fr", tag),
        "<time datetime=\"2026-12-31T23:30:00Z\">1 janvier 2027 à 00:30</time>"
    );
    let filter = "{{ '2026-12-31T23:30:00Z' | date: '%A, %d %b' }} {{ 1798759800 | date: format: 'month_day' }}";
    assert_eq!(of("de", filter), "Freitag, 01 Jan 1. Jan");
    assert_eq!(of("en", "{{ '2027-03-01' | date: format: 'on_date' }}"), "on Mar  1, 2027");
}
