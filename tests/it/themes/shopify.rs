//! A theme of the shape of Shopify's public ones, the whole way: folders, comments before JSON, section
//! groups, blocks of the theme, translated labels, and the tags that only Shopify has.

use support::clock::STORE_CACHE;
use support::{Merchant, ThemeShop, json, upload, zip};

const COMMENT: &str = "/*\n * IMPORTANT: The contents of this file are auto-generated.\n */\n";

const LAYOUT: &str = "<!doctype html>\n<html lang=\"{{ request.locale.iso_code }}\">\n<head>\n\
    {{ content_for_header }}\n{{ 'base.css' | asset_url | stylesheet_tag }}\n\
    <title>{{ page_title }}{% if current_tags %} &ndash; tagged{% endif %}</title>\n</head>\n<body>\n\
    {% sections 'header-group' %}\n<main>{{ content_for_layout }}</main>\n</body>\n</html>\n";

const HEADER: &str = "<header>{{ shop.name }}{%- form 'localization', id: 'FooterLocale', class: 'locale' -%}\
    <button>{{ form.id }}</button>{%- endform -%}</header>\n{% schema %}\n{\"name\": \"t:sections.header.name\", \
    \"settings\": [{\"type\": \"link_list\", \"id\": \"menu\", \"default\": \"main-menu\", \
    \"label\": \"t:sections.header.menu\"}]}\n{% endschema %}\n";

const BANNER: &str = "{%- liquid\n  assign size = section.settings.size\n  if size == blank\n    assign size = 'm'\n  \
    endif\n-%}\n<div class=\"banner banner--{{ size }}\">{%- for block in section.blocks -%}\
    <h2 {{ block.shopify_attributes }}>{{ block.settings.heading }}</h2>{%- endfor -%}</div>\n{% schema %}\n\
    {\"name\": \"t:sections.banner.name\", \"tag\": \"section\", \"class\": \"section\", \
    \"disabled_on\": {\"groups\": [\"header\", \"footer\"]}, \"settings\": [{\"type\": \"select\", \"id\": \"size\", \
    \"options\": [{\"value\": \"s\", \"label\": \"S\"}, {\"value\": \"l\", \"label\": \"L\"}], \"default\": \"s\", \
    \"label\": \"t:x\"}], \"blocks\": [{\"type\": \"heading\", \"name\": \"t:x\", \"limit\": 1, \"settings\": \
    [{\"type\": \"inline_richtext\", \"id\": \"heading\", \"default\": \"Banner\", \"label\": \"t:x\"}]}, \
    {\"type\": \"@app\"}], \"presets\": [{\"name\": \"t:sections.banner.name\", \"blocks\": \
    [{\"type\": \"heading\"}]}]}\n{% endschema %}\n";

const GRID: &str = "{%- paginate collection.products by 2 -%}\n<table>{% tablerow product in collection.products \
    cols: 2 %}{% render 'card', product: product %}{% endtablerow %}</table>\n\
    {%- if paginate.pages > 1 -%}<nav>{{ paginate | default_pagination }}</nav>{%- endif -%}\n\
    <p>{{ paginate.current_page }} of {{ paginate.pages }}</p>\n{%- endpaginate -%}\n\
    {% schema %}{\"name\": \"Grid\", \"settings\": []}{% endschema %}\n";

fn files(slug: &str) -> Vec<(String, Vec<u8>)> {
    let schema = json!([
        {"name": "theme_info", "theme_name": "Shaped", "theme_version": "1.0.0", "theme_author": "Ann",
         "theme_documentation_url": "https://example.com", "theme_support_url": "https://example.com"},
        {"name": "t:settings_schema.colors.name", "settings": [
            {"type": "color_scheme_group", "id": "color_schemes", "definition": [
                {"type": "color", "id": "background", "label": "t:x", "default": "#FFFFFF"}],
             "role": {"background": "background"}}]},
    ]);
    let schemes = json!({"scheme-1": {"settings": {"background": "#fff"}}});
    let data = json!({"current": {"color_schemes": schemes}, "presets": {"Default": {}}});
    let group = json!({"type": "header", "name": "Header group", "order": ["header"],
        "sections": {"header": {"type": "header", "settings": {"menu": "main-menu"}}}});
    let heading = json!({"type": "heading", "settings": {"heading": "Browse <em>all</em>"}});
    let banner =
        json!({"type": "banner", "blocks": {"h": heading}, "block_order": ["h"], "settings": {}});
    let index = json!({"sections": {"banner": banner}, "order": ["banner"]});
    let collection = json!({"sections": {"grid": {"type": "grid"}}, "order": ["grid"]});
    let manifest = json!({"slug": slug, "name": "Shaped", "version": "2.0.0", "author": "Ann"});
    [
        ("theme.json", manifest.to_string()),
        ("assets/base.css", "body{}".to_owned()),
        ("assets/global.js", "'use strict';".to_owned()),
        (
            "blocks/group.liquid",
            "{% schema %}{\"name\": \"Group\", \"settings\": []}{% endschema %}".to_owned(),
        ),
        ("config/settings_schema.json", schema.to_string()),
        ("config/settings_data.json", format!("{COMMENT}{data}")),
        ("layout/theme.liquid", LAYOUT.to_owned()),
        ("layout/password.liquid", "{{ content_for_layout }}".to_owned()),
        ("locales/en.default.json", format!("{COMMENT}{}", json!({"general": {"x": "X"}}))),
        ("locales/en.default.schema.json", json!({"sections": {}}).to_string()),
        ("locales/de.json", "{}".to_owned()),
        ("sections/header.liquid", HEADER.to_owned()),
        ("sections/header-group.json", format!("{COMMENT}{group}")),
        ("sections/banner.liquid", BANNER.to_owned()),
        ("sections/grid.liquid", GRID.to_owned()),
        ("snippets/card.liquid", "<b>{{ product.title }}</b>".to_owned()),
        ("templates/index.json", format!("{COMMENT}{index}")),
        ("templates/collection.json", format!("{COMMENT}{collection}")),
        ("templates/gift_card.liquid", "{% layout none %}{{ gift_card.code }}".to_owned()),
        ("templates/customers/login.json", json!({"sections": {}, "order": []}).to_string()),
    ]
    .map(|(path, text)| (path.to_owned(), text.into_bytes()))
    .into()
}

#[tokio::test]
async fn a_shopify_theme_is_uploaded_and_rendered() {
    let shop = ThemeShop::with_upload().await;
    for number in 1..=3 {
        let product = json!({"title": format!("Cup {number}"), "status": "active",
            "variants": [{"price": {"amount": 500, "currency": "INR"}}]});
        shop.owner.post("/v1/products").json(product).await.expect(201);
    }
    let taken = upload(&shop.merchant, zip(&files(&shop.slug))).await.expect(201);
    assert_eq!(taken.int("/package/files"), 20, "{}", taken.text);
    let installed = shop.post("install", json!({"version": "2.0.0"})).await.expect(201);
    let heading = "/draft/sections/banner/blocks/h/settings/heading";
    assert_eq!(installed.str(heading), "Browse <em>all</em>");
    shop.post("publish", json!({"draft_version": 1})).await.expect(201);

    let port = shop.gateway.system().shop_port().unwrap_or_default();
    let host = format!("{}.localhost:{port}", shop.store.subdomain);
    let seen = async |path: &str| {
        shop.gateway.advance(STORE_CACHE);
        shop.gateway.browser(&host).open(path).await
    };
    let first = seen("/").await.expect(200);
    for part in [
        "<h2 >Browse <em>all</em></h2>",
        "class=\"banner banner--s\"",
        "accept-charset=\"UTF-8\" id=\"FooterLocale\" class=\"locale\"",
        "name=\"form_type\" value=\"localization\"",
        "<button></button></form>",
        "window.Shopify",
    ] {
        assert!(first.text.contains(part), "{part} is not in {}", first.text);
    }
    let cells = |text: &str| text.matches("<td class=").count();
    let page = seen("/collections/all").await.expect(200);
    assert_eq!(cells(&page.text), 2, "{}", page.text);
    assert!(page.text.contains("1 of 2") && page.text.contains("?page=2\">2</a>"), "{}", page.text);
    let last = seen("/collections/all?page=2").await.expect(200);
    assert_eq!(cells(&last.text), 1, "{}", last.text);
    assert!(last.text.contains("2 of 2"), "{}", last.text);

    let input = json!({
        "settings": {"color_schemes": {"scheme-1": {"settings": {"background": "#000000"}}}},
        "sections": {"banner": {"type": "banner", "settings": {"size": "l"}, "block_order": ["h"],
            "blocks": {"h": {"type": "heading", "settings": {"heading": "Sale"}}}}},
        "order": ["banner"],
    });
    let path = shop.path("editor/draft");
    let saved = shop.owner.put(&path).if_match("\"1\"").json(input).await.expect(200);
    let input = json!({"draft_version": saved.int("/draft/version")});
    shop.post("publish", input).await.expect(201);
    let second = seen("/").await.expect(200);
    assert!(
        second.text.contains("banner--l") && second.text.contains(">Sale</h2>"),
        "{}",
        second.text
    );
    shop.post("rollback", json!({"release": 1})).await.expect(201);
    assert_eq!(seen("/").await.expect(200).text, first.text);
}

/// A theme as its authors publish it: without `theme.json`, with comments and last commas in its JSON, files of
/// tools, static blocks, dynamic sources and palettes.
#[tokio::test]
async fn a_public_theme_is_accepted_as_it_is() {
    let shop = ThemeShop::with_upload().await;
    let product = json!({"title": "Cup", "status": "active", "description": "<p>Clay.</p>",
        "variants": [{"price": {"amount": 500, "currency": "INR"}}]});
    shop.owner.post("/v1/products").json(product).await.expect(201);
    let name = format!("Public {}", shop.slug);
    let schema = format!(
        "[{{\"name\": \"theme_info\", \"theme_name\": \"{name}\", \"theme_version\": \"2.1\", \"theme_author\": \"Ann\",}},\n\
         // Colors\n{{\"name\": \"Colors\", \"settings\": [{{\"type\": \"color_palette\", \"id\": \"palette\", \
         \"default\": {{\"paper\": \"#fafafa\"}}}}, {{\"type\": \"color\", \"id\": \"page\", \
         \"default\": \"{{{{ settings.palette.paper }}}}\", \"label\": \"t:x\"}}]}}]"
    );
    let card = "<b>{{ block.settings.product.title | escape }}</b>{% schema %}{\"name\": \"Card\", \"tag\": null, \
        \"settings\": [{\"type\": \"product\", \"id\": \"product\", \"label\": \"t:x\"}]}{% endschema %}";
    let grid = "{% for product in collections.all.products %}{% content_for 'block', type: '_card', id: 'card', \
        closest.product: product %}{% endfor %}{% schema %}{\"name\": \"Grid\", \"settings\": [],}{% endschema %}";
    let index = "/* Written by the editor. */ {\"sections\": {\"grid\": {\"type\": \"grid\", \"blocks\": {\"card\": \
        {\"type\": \"_card\", \"static\": true, \"settings\": {\"product\": \"{{ closest.product }}\"}}}, \
        \"block_order\": []}}, \"order\": [\"grid\"]}";
    let layout = "<body style=\"background: {{ settings.page }}\">{{ content_for_layout }}</body>";
    let files = [
        (".gitignore", "node_modules"),
        ("README.md", "# A theme"),
        ("assets/base.css", "body{}"),
        ("assets/global.d.ts", "declare const a: string;"),
        ("blocks/_card.liquid", card),
        ("config/settings_schema.json", schema.as_str()),
        ("config/settings_data.json", "{}"),
        ("layout/theme.liquid", layout),
        ("locales/.keep", ""),
        ("locales/en.default.json", "{\"a\": \"b\",}"),
        ("sections/grid.liquid", grid),
        ("templates/index.json", index),
    ];
    let files: Vec<(String, Vec<u8>)> =
        files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into();
    let taken = upload(&shop.merchant, zip(&files)).await.expect(201);
    let slug = format!("public-{}", shop.slug);
    assert_eq!(taken.str("/package/slug"), slug, "{}", taken.text);
    assert_eq!(taken.str("/package/version"), "2.1.0");
    for code in ["manifest_derived", "ignored_file", "outside_directories"] {
        assert!(taken.text.contains(code), "{code}: {}", taken.text);
    }
    // The slug of a name is somebody else's: the copy has a slug of its own.
    let other = Merchant::sign_up(&shop.gateway).await;
    let own = upload(&other, zip(&files)).await.expect(201).str("/package/slug");
    assert!(own.starts_with(&format!("{slug}-")) && own.len() == slug.len() + 9, "{own}");
    let act =
        |action: &str, body| shop.owner.post(&format!("/v1/themes/{slug}/{action}")).json(body);
    act("install", json!({})).await.expect(201);
    act("publish", json!({"draft_version": 1})).await.expect(201);
    shop.gateway.advance(STORE_CACHE);
    let port = shop.gateway.system().shop_port().unwrap_or_default();
    let host = format!("{}.localhost:{port}", shop.store.subdomain);
    let shown = shop.gateway.browser(&host).open("/").await.expect(200);
    for part in ["background: #fafafa", "<b>Cup</b>"] {
        assert!(shown.text.contains(part), "{part} is not in {}", shown.text);
    }
}
