//! Sections of every template, of header and footer: edited, published, rolled back, upgraded.

use support::clock::STORE_CACHE;
use support::{Browser, ThemeShop, ThemeSource, Value, json, upload, zip};

/// A theme whose product page, collections, header and footer have sections of one type.
fn source(slug: &str) -> ThemeSource {
    ThemeSource::new(slug).version("2.0.0")
}

fn files(source: &ThemeSource) -> Vec<(String, Vec<u8>)> {
    let title = |title: &str| json!({"sections": {"a": {"type": "hero", "settings": {"title": title}}}, "order": ["a"]});
    let layout = "<!doctype html><html><body>{% sections 'header-group' %}{% section 'notice' %}\
        {{ content_for_layout }}</body></html>";
    let notice = "<p>{{ section.settings.text }}</p>{% schema %}{\"name\": \"Notice\", \"settings\": \
        [{\"type\": \"text\", \"id\": \"text\", \"label\": \"Text\", \"default\": \"Nothing new\"}]}{% endschema %}";
    let mut files = source.files();
    files.retain(|(path, _)| path != "layout/theme.liquid");
    let mut header = title("Header of the theme");
    header["type"] = json!("header");
    for (path, text) in [
        ("layout/theme.liquid", layout.to_owned()),
        ("sections/notice.liquid", notice.to_owned()),
        ("sections/header-group.json", header.to_string()),
        ("templates/product.json", title("Product of the theme").to_string()),
        ("templates/list-collections.json", title("Collections of the theme").to_string()),
    ] {
        files.push((path.to_owned(), text.into_bytes()));
    }
    files
}

async fn shop() -> (ThemeShop, String) {
    let shop = ThemeShop::with_upload().await;
    upload(&shop.merchant, zip(&files(&source(&shop.slug)))).await.expect(201);
    shop.post("install", json!({"version": "2.0.0"})).await.expect(201);
    let product = json!({"title": "A plain cup", "status": "active",
        "variants": [{"price": {"amount": 500, "currency": "INR"}}]});
    let product = shop.owner.post("/v1/products").json(product).await.expect(201);
    (shop, format!("/products/{}", product.str("/handle")))
}

async fn save(shop: &ThemeShop, draft: Value) -> i64 {
    let saved = shop.owner.put(&shop.path("editor/draft")).json(draft).await.expect(200);
    saved.int("/draft/version")
}

async fn publish(shop: &ThemeShop, draft: Value) -> Browser {
    let version = save(shop, draft).await;
    shop.post("publish", json!({"draft_version": version})).await.expect(201);
    shop.gateway.advance(STORE_CACHE);
    browser(shop)
}

fn browser(shop: &ThemeShop) -> Browser {
    let port = shop.gateway.system().shop_port().unwrap_or_default();
    shop.gateway.browser(&format!("{}.localhost:{port}", shop.store.subdomain))
}

fn hero(title: &str) -> Value {
    json!({"sections": {"mine": {"type": "hero", "settings": {"title": title}}}, "order": ["mine"]})
}

#[tokio::test]
async fn every_template_and_section_group_is_editable() {
    let (shop, product) = shop().await;
    let schema = shop.get("schema?version=2.0.0").await.expect(200);
    let title = "sections/a/settings/title";
    for (place, text) in [
        ("templates/product", "Product of the theme"),
        ("templates/list-collections", "Collections of the theme"),
        ("section_groups/header-group", "Header of the theme"),
    ] {
        assert_eq!(schema.str(&format!("/{place}/{title}")), text);
    }
    let mut before = publish(&shop, json!({})).await;
    let page = before.open(&product).await.expect(200);
    page.shows("Header of the theme").shows("Nothing new").shows("Product of the theme");
    let draft = json!({
        "templates": {"product": hero("My product"), "product.gift": hero("A gift")},
        "section_groups": {"header-group": hero("My header")},
        "static_sections": {"notice": {"settings": {"text": "Closed on Monday"}}},
    });
    let mut after = publish(&shop, draft.clone()).await;
    let page = after.open(&product).await.expect(200);
    let page = page.shows("My header").shows("Closed on Monday").shows("My product");
    page.lacks("of the theme");
    after.open(&format!("{product}?view=gift")).await.expect(200).shows("A gift");
    after.open("/collections").await.expect(200).shows("Collections of the theme");
    let id = "template--product__mine";
    let section = after.open(&format!("{product}?section_id={id}")).await.expect(200);
    section.shows("My product").lacks("My header");
    let release = shop.get("releases/2").await.expect(200);
    assert_eq!(release.str("/templates/product.gift/sections/mine/type"), "hero");
    assert_eq!(release.str("/static_sections/notice/settings/text"), "Closed on Monday");
    shop.post("rollback", json!({"release": 1})).await.expect(201);
    shop.gateway.advance(STORE_CACHE);
    browser(&shop).open(&product).await.expect(200).shows("Product of the theme").lacks("My ");
}

#[tokio::test]
async fn invalid_sections_of_templates_are_reported_by_pointer() {
    let (shop, _) = shop().await;
    let draft = json!({
        "templates": {
            "index": hero("Not here"), "blog": hero("None"), "product.not a suffix": hero("None"),
            "product": {"sections": {"a": {"type": "nothing"}}, "order": ["a", "b"]},
            "list-collections": [],
        },
        "section_groups": {"footer-group": hero("None")},
        "static_sections": {"notice": {"settings": {"text": 1}}, "hero": {"type": "notice"}, "x": {}},
    });
    let rejected = shop.owner.put(&shop.path("editor/draft")).json(draft).await.expect(422);
    let found = rejected.field_errors();
    for (pointer, code) in [
        ("/templates/index", "unknown_template"),
        ("/templates/blog", "unknown_template"),
        ("/templates/product.not a suffix", "unknown_template"),
        ("/templates/product/sections/a/type", "unknown_section"),
        ("/templates/product/order", "order_mismatch"),
        ("/templates/list-collections", "invalid_type"),
        ("/section_groups/footer-group", "unknown_template"),
        ("/static_sections/hero/type", "unknown_section"),
        ("/static_sections/notice/settings/text", "invalid_type"),
        ("/static_sections/x/type", "unknown_section"),
    ] {
        let error = (pointer.to_owned(), code.to_owned());
        assert!(found.contains(&error), "{error:?} is not in {found:?}");
    }
}

#[tokio::test]
async fn an_upgrade_keeps_the_sections_of_templates_that_the_new_version_has() {
    let (shop, _) = shop().await;
    let draft = json!({
        "templates": {"product": hero("My product"), "list-collections": hero("My collections")},
        "section_groups": {"header-group": hero("My header")},
        "static_sections": {"notice": {"settings": {"text": "Closed on Monday"}}},
    });
    save(&shop, draft).await;
    let mut next = files(&ThemeSource::new(&shop.slug).version("3.0.0"));
    next.retain(|(path, _)| path != "templates/list-collections.json");
    upload(&shop.merchant, zip(&next)).await.expect(201);
    let upgraded = shop.post("upgrade", json!({"version": "3.0.0"})).await.expect(200);
    let editor = shop.get("editor").await.expect(200);
    assert_eq!(editor.str("/draft/templates/product/sections/mine/settings/title"), "My product");
    assert!(!editor.text.contains("My collections"), "{}", editor.text);
    let title = "/draft/section_groups/header-group/sections/mine/settings/title";
    assert_eq!(editor.str(title), "My header");
    assert_eq!(editor.str("/draft/static_sections/notice/settings/text"), "Closed on Monday");
    let text = upgraded.text;
    assert!(text.contains("/templates/list-collections"), "it is dropped: {text}");
}
