//! Tests of what Shopify's themes do: blocks of themes, dynamic sources, typed settings, sections alone.

use serde_json::json;

use super::{but, cup, data, patient, shop, theme};
use crate::{FindingCode, Listing, Page, Theme, references, render, sections};

/// The home page of a section with these settings and blocks.
fn boxed(liquid: &str, schema: &str, placed: &serde_json::Value, others: &[(&str, &str)]) -> Theme {
    let section = format!("{liquid}{{% schema %}}{schema}{{% endschema %}}");
    let index = json!({"sections": {"main": placed}, "order": ["main"]}).to_string();
    let own = [("sections/box.liquid", section.as_str()), ("templates/index.json", index.as_str())];
    let all: Vec<(&str, &str)> = own.into_iter().chain(others.iter().copied()).collect();
    but(theme("", &[]), "templates/index.liquid", &all)
}

/// What is within the section of a page.
fn inner(theme: &Theme, page: Page) -> String {
    let html = render(theme, page, &shop(), patient()).unwrap().html;
    let (_, html) = html.split_once('>').unwrap();
    html.trim_end().trim_end_matches("</div>").to_owned()
}

#[test]
fn values_of_settings_have_their_types() {
    let schema = r##"{"settings": [
        {"type": "color", "id": "color", "default": "#0F0"}, {"type": "font_picker", "id": "font", "default": "work_sans_i7"},
        {"type": "product", "id": "product"}, {"type": "collection", "id": "collection"},
        {"type": "product_list", "id": "products"}, {"type": "url", "id": "url"},
        {"type": "checkbox", "id": "on"}, {"type": "range", "id": "size", "min": 4, "max": 9},
        {"type": "video_url", "id": "video"}, {"type": "link_list", "id": "menu", "default": "main-menu"},
        {"type": "page", "id": "page"}, {"type": "image_picker", "id": "image"}]}"##;
    let settings = json!({"product": "cup", "collection": "kitchen", "products": ["cup", "gone", "plate"],
        "url": "shopify://collections/kitchen", "video": "https://www.youtube.com/watch?v=_9VUPq3SxOc", "page": "refund",
        "image": "/media/x.png"});
    let liquid = "{% assign s = section.settings %}{{ s.color }} {{ s.color.green }} {{ s.color | color_darken: 25 }} \
        {{ s.font.family }} {{ s.font.style }} {{ s.font.weight }} {{ s.product.title | escape }} \
        {{ s.collection.products.size }} {{ s.products | map: 'handle' | join: ',' }} {{ s.url }} {{ s.on }} {{ s.size }} \
        {{ s.video.type }} {{ s.video.id }} {{ s.menu.links[1].links[0].url }} {{ s.page.content }} {{ s.image.src }}\
        {% if s.nothing == blank %} blank{% endif %}";
    let theme = boxed(liquid, schema, &json!({"type": "box", "settings": settings}), &[]);
    assert_eq!(
        inner(&theme, Page::Index),
        "#00ff00 255 #008000 \"Work Sans\" italic 700 Cup &lt;b&gt;&amp; saucer&lt;/b&gt; 2 cup,plate \
         /collections/kitchen false 4 youtube _9VUPq3SxOc /products/cup <p>Text</p> /media/x.png blank"
    );
}

#[test]
fn color_schemes_are_objects_and_names() {
    let schema = r#"[{"name": "Colors", "settings": [{"type": "color_scheme_group", "id": "schemes", "definition": [
        {"type": "color", "id": "background", "default": "{{ settings.palette.paper }}"}]},
        {"type": "color_palette", "id": "palette"}]}]"#;
    let liquid = "{% for scheme in settings.schemes %}{{ scheme.id }}={{ scheme.settings.background }};{% endfor %}\
        {{ section.settings.scheme }} {{ section.settings.scheme.settings.background.red }}";
    let own = r#"{"settings": [{"type": "color_scheme", "id": "scheme", "default": "scheme-2"}]}"#;
    let mut theme =
        boxed(liquid, own, &json!({"type": "box"}), &[("config/settings_schema.json", schema)]);
    let schemes =
        json!({"scheme-1": {"settings": {}}, "scheme-2": {"settings": {"background": "#102030"}}});
    theme.settings =
        json!({"schemes": schemes, "palette": {"paper": "#fafafa"}}).as_object().cloned().unwrap();
    assert_eq!(inner(&theme, Page::Index), "scheme-1=#fafafa;scheme-2=#102030;scheme-2 16");
}

const GROUP: &str = "<i>{% content_for 'blocks' %}</i>{% schema %}{\"name\": \"Group\", \"tag\": null, \"blocks\": [{\"type\": \"@theme\"}]}{% endschema %}";
const TEXT: &str = "{{ block.settings.text }}{{ size }}{% schema %}{\"name\": \"Text\", \"tag\": \"p\", \"class\": \"text\", \
    \"settings\": [{\"type\": \"inline_richtext\", \"id\": \"text\", \"default\": \"None\"}]}{% endschema %}";

#[test]
fn blocks_of_the_theme_are_placed_by_merchants_and_by_templates() {
    let placed = json!({"type": "box", "block_order": ["group"], "blocks": {
        "group": {"type": "group", "block_order": ["b", "a", "off"], "blocks": {
            "a": {"type": "text", "settings": {"text": "A"}}, "b": {"type": "text", "settings": {"text": "B"}},
            "off": {"type": "text", "disabled": true}}},
        "fixed": {"type": "text", "static": true, "settings": {"text": "Fixed"}}}});
    let liquid = "{% content_for 'block', type: 'text', id: 'fixed', size: 3 %}{% content_for 'blocks' %}\
        {% content_for 'block', type: 'text', id: 'other' %}{{ section.blocks.size }}";
    let theme = boxed(
        liquid,
        "{\"name\": \"Box\"}",
        &placed,
        &[("blocks/group.liquid", GROUP), ("blocks/text.liquid", TEXT)],
    );
    let text = |id: &str, text: &str| {
        format!("<p id=\"shopify-block-{id}\" class=\"shopify-block text\">{text}</p>")
    };
    let expected = format!(
        "{}<i>{}{}</i>{}1",
        text("fixed", "Fixed3"),
        text("b", "B"),
        text("a", "A"),
        text("other", "None")
    );
    assert_eq!(inner(&theme, Page::Index), expected);
}

#[test]
fn dynamic_sources_are_read_from_the_closest_resource() {
    let card = "{{ block.settings.text }}|{{ block.settings.product.handle }}{% schema %}{\"tag\": null, \"settings\": [\
        {\"type\": \"richtext\", \"id\": \"text\"}, {\"type\": \"product\", \"id\": \"product\"}]}{% endschema %}";
    let placed = json!({"type": "box", "blocks": {"card": {"type": "card", "static": true, "settings": {
        "text": "<p>{{ closest.product.title }} &amp; {{ closest.product.description }}{{ nothing }}</p>",
        "product": "{{ closest.product }}"}}}});
    let liquid = "{% for product in collections.kitchen.products limit: 1 %}\
        {% content_for 'block', type: 'card', id: 'card', closest.product: product %}{% endfor %}";
    let theme = boxed(liquid, "{\"name\": \"Box\"}", &placed, &[("blocks/card.liquid", card)]);
    assert_eq!(
        inner(&theme, Page::Index),
        "<p>Cup &lt;b&gt;&amp; saucer&lt;/b&gt; &amp; <p>It holds <em>tea</em>.</p></p>|cup"
    );
}

#[test]
fn sections_are_rendered_alone() {
    let group = r#"{"type": "header", "sections": {"bar": {"type": "box"}}, "order": ["bar"]}"#;
    let theme = boxed(
        "{{ section.id }}",
        "{\"name\": \"Box\"}",
        &json!({"type": "box"}),
        &[("sections/header-group.json", group)],
    );
    let ids = [
        "template--index__main",
        "sections--header-group__bar",
        "box",
        "template--index__x",
        "gone",
    ];
    let rendered =
        sections(&theme, Page::Cart, &shop(), &ids.map(str::to_owned), patient()).unwrap();
    for id in &ids[..3] {
        let expected =
            format!("<div id=\"shopify-section-{id}\" class=\"shopify-section \">{id}</div>\n");
        assert_eq!(rendered[*id], expected);
    }
    assert!(rendered[ids[3]].is_null() && rendered[ids[4]].is_null());
}

#[test]
fn styles_and_scripts_of_files_are_in_the_head_once() {
    let layout = [
        (
            "layout/theme.liquid",
            "<head>{{ content_for_header }}</head>{% render 'a' %}{% render 'a' %}{{ content_for_layout }}",
        ),
        (
            "snippets/a.liquid",
            "a{% stylesheet %} .a { color: {{ red }} } {% endstylesheet %}{% javascript %}a();{% endjavascript %}",
        ),
    ];
    let html = render(&theme("x", &layout), Page::Index, &data(), patient()).unwrap().html;
    assert!(
        html.contains(
            "<style>.a { color: {{ red }} }</style><script type=\"module\">a();</script></head>aax"
        ),
        "{html}"
    );
    assert!(html.contains("window.Shopify = Object.assign("), "{html}");
}

#[test]
fn what_a_theme_asks_for_in_vain_is_named_at_once() {
    let template = "{{ 'a' | shout }}{% blink %}{{ 'gone.css' | asset_url }}{% render 'gone' %}{{ 1 | divided_by: 0 }}";
    let rendered = render(&theme(template, &[]), Page::Index, &data(), patient()).unwrap();
    let codes: Vec<FindingCode> = rendered.warnings.iter().map(|warning| warning.code).collect();
    for code in [
        FindingCode::UnknownFilter,
        FindingCode::UnknownTag,
        FindingCode::MissingFile,
        FindingCode::Failed,
    ] {
        assert!(codes.contains(&code), "{code:?}: {:#?}", rendered.warnings);
    }
    assert!(
        rendered.html.starts_with('a') && rendered.html.contains("divided by 0"),
        "{}",
        rendered.html
    );
}

#[test]
fn an_option_knows_its_values_and_the_chosen_variant() {
    let template = "{% for option in product.options_with_values %}{{ option.name }}:{% for value in option.values %}\
        {{ value }}{% if value.selected %}*{% endif %}{% unless value.available %}!{% endunless %} {% endfor %}{% endfor %}\
        {{ product.selected_or_first_available_variant.id }} {{ product.has_only_default_variant }} \
        {{ product.options_by_name['color'].values.size }}";
    let template = [("templates/product.liquid", template)];
    let shown = |query: &[(&str, &str)]| {
        let query = query.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let data = crate::Data { query: query.collect(), ..shop() };
        let page = Page::Product(Box::new(cup("cup")));
        render(&theme("", &template), page, &data, patient()).unwrap().html
    };
    assert_eq!(shown(&[]), "Color:Blue* Red Size:S* L! var_cup1 false 2");
    assert_eq!(shown(&[("variant", "var_cup4")]), "Color:Blue! Red* Size:S L* var_cup4 false 2");
    let by_values = shown(&[("option_values", "prd_cup-0-1,prd_cup-1-0")]);
    assert_eq!(by_values, "Color:Blue Red* Size:S* L var_cup3 false 2");
}

#[test]
fn options_without_a_variant_select_none() {
    let template =
        [("templates/product.liquid", "[{{ product.selected_or_first_available_variant.id }}]")];
    let shown = |values: &str| {
        let query = vec![("option_values".to_owned(), values.to_owned())];
        let mut raw = cup("cup");
        raw["variants"].as_array_mut().unwrap().pop();
        let data = crate::Data { query, ..shop() };
        render(&theme("", &template), Page::Product(Box::new(raw)), &data, patient()).unwrap().html
    };
    // Red and L, which is no variant; Red and S, which is one; ids of before, which say nothing.
    assert_eq!(shown("prd_cup-0-1,prd_cup-1-1"), "[]");
    assert_eq!(shown("prd_cup-0-1,prd_cup-1-0"), "[var_cup3]");
    assert_eq!(shown("old,ids"), "[var_cup1]");
    // A list shows one option alone: the first variant to be had with its value.
    assert_eq!(shown("prd_cup-0-1"), "[var_cup3]");
    assert_eq!(shown("prd_cup-1-1"), "[var_cup2]");
}

#[test]
fn a_variant_names_its_medium_among_the_products() {
    let template = [(
        "templates/product.liquid",
        "{% assign variant = product.selected_or_first_available_variant %}{{ variant.featured_media.id }} \
        {{ product.media[1].id }} {{ variant | json }}",
    )];
    let mut raw = cup("cup");
    raw["images"][0]["media_id"] = json!("med_1");
    let html = render(&theme("", &template), Page::Product(Box::new(raw)), &shop(), patient())
        .unwrap()
        .html;
    let (ids, variant) = html.split_once('{').unwrap();
    assert_eq!(ids, "med_1 prd_cup-2 ");
    let variant: serde_json::Value = serde_json::from_str(&format!("{{{variant}")).unwrap();
    assert_eq!(variant["featured_media"]["id"], "med_1");
    assert_eq!(variant["featured_image"]["position"], 1);
    assert_eq!(variant["featured_media"]["preview_image"]["src"], "/media/cup.png?v=1");
}

#[test]
fn an_image_of_unknown_size_is_valid_in_a_set_of_sources_and_has_an_attribute_once() {
    let template = [(
        "templates/product.liquid",
        "{{ product.featured_image.width }}w {{ product.featured_image | image_url: width: 90 | image_tag: alt: '', ref: '', class: 'wide', widths: '90', ref: 'image' }}",
    )];
    let page = Page::Product(Box::new(cup("cup")));
    let html = render(&theme("", &template), page, &shop(), patient()).unwrap().html;
    assert_eq!(html, "1024w <img src=\"/media/cup.png\" alt=\"\" ref=\"image\" class=\"wide\">");
}

#[test]
fn recommendations_say_by_either_name_that_they_were_asked_for() {
    let template = [(
        "templates/product.liquid",
        "{{ recommendations.performed }} {{ recommendations.performed? }}",
    )];
    for (asked, expected) in [(false, "false false"), (true, "true true")] {
        let mut shop = shop();
        if asked {
            shop.query.push(("product_id".to_owned(), "prd_1".to_owned()));
        }
        let page = Page::Product(Box::new(cup("cup")));
        assert_eq!(render(&theme("", &template), page, &shop, patient()).unwrap().html, expected);
    }
}

#[test]
fn a_cart_without_lines_is_empty_and_lines_know_their_places() {
    let template = [(
        "templates/cart.liquid",
        "{% if cart == empty %}empty{% endif %}{% for item in cart.items %}{{ item.index | plus: 1 }}{% endfor %}",
    )];
    let shown = |data: &crate::Data| {
        render(&theme("", &template), Page::Cart, data, patient()).unwrap().html
    };
    let mut two = shop();
    let line = two.cart["lines"][0].clone();
    two.cart["lines"].as_array_mut().unwrap().push(line);
    assert_eq!(shown(&two), "12");
    assert_eq!(shown(&crate::Data { cart: json!(null), ..shop() }), "empty");
}

#[test]
fn a_page_of_a_collection_keeps_its_query() {
    let template = [(
        "templates/collection.liquid",
        "{% paginate collection.products by 2 %}\
        {% for product in collection.products %}{{ product.handle }} {% endfor %}{{ paginate.next.url }} {{ collection.products_count }}{% endpaginate %}",
    )];
    let products = (0..5).map(|n| cup(&format!("p{n}"))).collect();
    let listing = Listing {
        collection: json!({"handle": "a", "title": "A"}),
        products,
        ..Listing::default()
    };
    let query = vec![
        ("sort_by".to_owned(), "title-ascending".to_owned()),
        ("page".to_owned(), "2".to_owned()),
    ];
    let data = crate::Data { query, page: 2, ..shop() };
    let page = Page::Collection(Box::new(listing));
    let html = render(&theme("", &template), page, &data, patient()).unwrap().html;
    assert_eq!(html, "p2 p3 /collections/a?sort_by=title-ascending&page=3 5");
}

#[test]
fn references_of_settings_are_found() {
    let schema = r#"{"settings": [{"type": "collection_list", "id": "list"}, {"type": "link_list", "id": "menu", "default": "main-menu"}],
        "blocks": [{"type": "card", "settings": [{"type": "product", "id": "product"}]}]}"#;
    let placed = json!({"type": "box", "settings": {"list": ["a", "shopify://collections/b"]},
        "blocks": {"x": {"type": "card", "settings": {"product": "cup"}},
                   "y": {"type": "card", "settings": {"product": "{{ closest.product }}"}}}});
    let theme = boxed("", schema, &placed, &[]);
    let found = references(&theme, &Page::Index);
    assert_eq!(Vec::from_iter(found.collections), ["a", "b"]);
    assert_eq!(Vec::from_iter(found.products), ["cup"]);
    assert_eq!(Vec::from_iter(found.menus), ["main-menu"]);
    assert_eq!(references(&theme, &Page::Cart).products.len(), 0);
}

#[test]
fn template_code_of_a_setting_is_run_within_bounds() {
    let schema = r#"{"settings": [{"type": "liquid", "id": "code"}]}"#;
    let shown = |code: &str| {
        let placed = json!({"type": "box", "settings": {"code": code}});
        inner(&boxed("{{ section.settings.code }}", schema, &placed, &[]), Page::Index)
    };
    assert_eq!(shown("<b>{{ shop.name | escape }}</b>"), "<b>Tom &amp; Jerry</b>");
    assert_eq!(shown("a {% for i in (1..99999999) %}{{ i }}{% endfor %}"), "");
    assert_eq!(shown("{% if %"), "");
    let schema = r#"[{"name": "A", "settings": [{"type": "liquid", "id": "self", "default": "{{ settings.self }}x"}]}]"#;
    let theme = boxed(
        "{{ settings.self }}",
        "{}",
        &json!({"type": "box"}),
        &[("config/settings_schema.json", schema)],
    );
    assert_eq!(inner(&theme, Page::Index), "xxx");
}

#[test]
fn a_page_is_freed_once_it_is_rendered() {
    let theme =
        boxed("{{ settings.a }}{{ section.settings | json }}", "{}", &json!({"type": "box"}), &[]);
    let files = std::sync::Arc::downgrade(&theme.files);
    inner(&theme, Page::Index);
    assert_eq!(std::sync::Weak::strong_count(&files), 1, "nothing of the page holds its theme");
}

#[test]
fn modules_of_the_platform_are_the_shops_own() {
    let layout = [(
        "layout/theme.liquid",
        "<a href=\"https://cdn.shopify.com/storefront/standard-events.js\"></a>{{ 'standard-events.js' | shopify_asset_url }}",
    )];
    let html = render(&theme("", &layout), Page::Index, &data(), patient()).unwrap().html;
    assert_eq!(
        html,
        "<a href=\"/shop/shared/standard-events.js\"></a>/shop/shared/standard-events.js"
    );
    let (content_type, text) = crate::shared_file("standard-events.js").unwrap();
    assert!(
        content_type.starts_with("text/javascript") && text.contains("export const StandardEvents")
    );
    assert!(crate::shared_file("../lib.rs").is_none());
}

#[test]
fn a_theme_is_checked_as_a_whole() {
    let theme = theme(
        "{{ 'a | b' | shout: 1 | upcase }}{% render 'gone' %}{% comment %}{{ x | no }}{% endcomment %}",
        &[
            (
                "sections/a.liquid",
                "{% blink %}{%- liquid\n  # x | y\n  assign a = b | whisper\n  render 'here'\n-%}",
            ),
            ("snippets/here.liquid", "{% if a %}"),
            ("locales/de.json", "{"),
        ],
    );
    let found = crate::check(&theme);
    let found: Vec<(FindingCode, &str)> =
        found.iter().map(|finding| (finding.code, finding.path.as_str())).collect();
    assert_eq!(
        found,
        [
            (FindingCode::MissingFile, "templates/index.liquid"),
            (FindingCode::Syntax, "locales/de.json"),
            (FindingCode::Syntax, "snippets/here.liquid"),
            (FindingCode::UnknownFilter, "sections/a.liquid"),
            (FindingCode::UnknownFilter, "templates/index.liquid"),
            (FindingCode::UnknownTag, "sections/a.liquid"),
        ]
    );
}

#[test]
fn a_resource_of_a_setting_is_its_handle_as_well() {
    let schema = r#"{"settings": [{"type": "collection", "id": "list"}, {"type": "link_list", "id": "menu", "default": "main"},
        {"type": "product", "id": "product"}]}"#;
    let settings = json!({"list": "kitchen", "product": "cup"});
    let liquid = "{% assign s = section.settings %}{{ collections[s.list].title }} {{ linklists[s.menu].links.size }} \
        {{ all_products[s.product].vendor }} {{ s.list }} {% if s.product == 'cup' %}y{% endif %}{% if s.product == blank %}n{% endif %}\
        {% if s.product == all_products['cup'] %}y{% endif %} {{ s.product | json | slice: 0, 5 }}";
    let theme = boxed(liquid, schema, &json!({"type": "box", "settings": settings}), &[]);
    assert_eq!(inner(&theme, Page::Index), "Kitchen 2 Potter kitchen yy {\"ava");
}
