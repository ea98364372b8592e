//! The demo's themes: `functions/local/themes`, which are submitted to the catalogue like any theme. One is
//! installed in the demo store, and published.

use std::io::Write;

use emulators::AnyError;
use http::StatusCode;
use serde_json::{Value, json};

use super::api::{Api, text};

/// The slug of the demo store's live theme.
pub const LIVE: &str = "harbor";

/// A theme: its slug, and its files by path.
pub struct Folder {
    /// The slug.
    pub slug: &'static str,
    /// The path and content of each file.
    pub files: &'static [(&'static str, &'static str)],
}

/// The folders, each with its own files. Those that all themes share are in Harbor's folder, which is a theme by itself.
macro_rules! folders {
    ($($slug:literal: [$($own:literal)*])* shared: $shared:tt) => {
        [$(folders!(@one $slug [$($own)*] $shared)),*]
    };
    (@one $slug:literal [$($own:literal)*] [$($shared:literal)*]) => {
        Folder {
            slug: $slug,
            files: &[
                $(($own, include_str!(concat!("../../themes/", $slug, "/", $own))),)*
                $(($shared, include_str!(concat!("../../themes/harbor/", $shared))),)*
            ],
        }
    };
}

/// All themes of the demo.
pub const FOLDERS: [Folder; 2] = folders! {
    "harbor": [
        "assets/base.css"
        "config/settings_data.json"
        "config/settings_schema.json"
        "sections/featured-collection.liquid"
        "sections/footer.liquid"
        "sections/header.liquid"
        "sections/hero.liquid"
        "templates/index.json"
        "theme.json"
    ]
    "atelier": [
        "assets/base.css"
        "config/settings_data.json"
        "config/settings_schema.json"
        "sections/featured-collection.liquid"
        "sections/footer.liquid"
        "sections/header.liquid"
        "sections/hero.liquid"
        "sections/quote.liquid"
        "templates/index.json"
        "theme.json"
    ]
    shared: [
        "assets/cart-api.js"
        "assets/cart-drawer.js"
        "assets/cart-items.js"
        "assets/components.css"
        "assets/facets.js"
        "assets/icon-close.svg"
        "assets/icon-minus.svg"
        "assets/icon-plus.svg"
        "assets/icon-search.svg"
        "assets/localization-form.js"
        "assets/predictive-search.js"
        "assets/product-form.js"
        "assets/product-info.js"
        "assets/product-recommendations.js"
        "assets/quantity-input.js"
        "assets/sections.js"
        "layout/password.liquid"
        "layout/theme.liquid"
        "locales/de.json"
        "locales/en.default.json"
        "sections/announcement-bar.liquid"
        "sections/cart-drawer.liquid"
        "sections/cart-icon-bubble.liquid"
        "sections/collection-list.liquid"
        "sections/footer-group.json"
        "sections/header-group.json"
        "sections/main-404.liquid"
        "sections/main-account.liquid"
        "sections/main-activate-account.liquid"
        "sections/main-addresses.liquid"
        "sections/main-cart.liquid"
        "sections/main-login.liquid"
        "sections/main-order.liquid"
        "sections/main-page.liquid"
        "sections/main-password.liquid"
        "sections/main-product.liquid"
        "sections/main-register.liquid"
        "sections/main-reset-password.liquid"
        "sections/main-search.liquid"
        "sections/predictive-search.liquid"
        "sections/product-grid.liquid"
        "sections/related-products.liquid"
        "snippets/address-fields.liquid"
        "snippets/buy-form.liquid"
        "snippets/cart-count.liquid"
        "snippets/cart-form.liquid"
        "snippets/cart-line.liquid"
        "snippets/facet-price.liquid"
        "snippets/facets-active.liquid"
        "snippets/facets.liquid"
        "snippets/form-errors.liquid"
        "snippets/header-links.liquid"
        "snippets/listing.liquid"
        "snippets/localization.liquid"
        "snippets/look.liquid"
        "snippets/pages.liquid"
        "snippets/price.liquid"
        "snippets/product-card.liquid"
        "snippets/quantity.liquid"
        "snippets/scripts.liquid"
        "snippets/search-form.liquid"
        "snippets/variant-list.liquid"
        "snippets/variant-picker.liquid"
        "templates/404.json"
        "templates/cart.json"
        "templates/collection.json"
        "templates/customers/account.json"
        "templates/customers/activate_account.json"
        "templates/customers/addresses.json"
        "templates/customers/login.json"
        "templates/customers/order.json"
        "templates/customers/register.json"
        "templates/customers/reset_password.json"
        "templates/list-collections.json"
        "templates/page.json"
        "templates/password.json"
        "templates/product.json"
        "templates/search.json"
    ]
};

impl Folder {
    /// Packs the folder as a theme package, without compression: it is small, and stays on this machine.
    ///
    /// # Errors
    /// None in practice: it is written to memory.
    pub fn zipped(&self) -> Result<Vec<u8>, AnyError> {
        let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
        for (path, content) in self.files {
            let (mut entry, config) = archive.new_file(*path).start()?;
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content.as_bytes())?;
            let (_, descriptor) = writer.finish()?;
            entry.finish(descriptor)?;
        }
        Ok(archive.finish()?)
    }
}

/// Creates what does not exist yet; an interrupted attempt is continued.
pub(super) async fn publish(merchant: &Api, operator: &Api, store: &str) -> Result<(), AnyError> {
    merchant.about("Preparing the demo store: themes");
    register(merchant).await?;
    for folder in &FOLDERS {
        offer(merchant, operator, folder, store).await?;
    }
    let editor = format!("/v1/themes/{LIVE}/editor");
    if merchant.find(&editor).await?.is_none() {
        merchant.call("POST", &format!("/v1/themes/{LIVE}/install"), Some(json!({}))).await?;
    }
    let now = merchant.call("GET", &editor, None).await?;
    if now.pointer("/release_history_head").and_then(Value::as_u64) == Some(0) {
        let draft =
            now.pointer("/draft/version").cloned().ok_or("an installed theme has no draft")?;
        let input = json!({"draft_version": draft, "message": "As it comes"});
        merchant.call("POST", &format!("/v1/themes/{LIVE}/publish"), Some(input)).await?;
    }
    Ok(())
}

/// Registers the merchant as a developer, which submitting a theme requires.
async fn register(merchant: &Api) -> Result<(), AnyError> {
    let input = json!({
        "company": "Demo Store", "contact_email": super::MERCHANT.email, "country": "IN",
        "agree_terms": true,
    });
    match merchant.call("POST", "/v1/app-store/developers/register", Some(input)).await {
        Err(cause) if !cause.to_string().contains(&StatusCode::CONFLICT.to_string()) => Err(cause),
        _ => Ok(()),
    }
}

/// Brings a theme into the catalogue, from whichever state it is in.
async fn offer(
    merchant: &Api,
    operator: &Api,
    folder: &Folder,
    store: &str,
) -> Result<(), AnyError> {
    let list = merchant.call("GET", "/v1/themes/packages?limit=100", None).await?;
    let known = list.pointer("/data").and_then(Value::as_array).into_iter().flatten();
    let known = known
        .into_iter()
        .find(|package| package.get("slug").and_then(Value::as_str) == Some(folder.slug));
    let package = if let Some(package) = known {
        package.clone()
    } else {
        let path = "/v1/themes/packages/upload";
        let made = merchant.send("POST", path, "application/zip", folder.zipped()?).await?;
        made.get("package").cloned().unwrap_or_default()
    };
    let (id, mut status) = (text(&package, "/id")?, text(&package, "/status")?);
    let act = |action: &str| format!("/v1/themes/packages/{id}/{action}");
    if status == "valid" {
        let input = json!({"seller_store_id": store, "changelog": "The first version."});
        let submitted = merchant.call("POST", &act("submit"), Some(input)).await?;
        status = text(&submitted, "/status")?;
    }
    if status == "submitted" {
        operator.call("POST", &act("approve"), Some(json!({}))).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::sync::Arc;

    use ::themes::package;
    use ::themes::settings::defaults;
    use serde_json::{Value, json};
    use shop_theme::{Data, Limits, Listing, Page, Theme, render};

    use super::{FOLDERS, Folder, LIVE};

    fn walk(root: &Path, at: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn every_file_of_the_folders_is_in_the_packages() {
        let themes = Path::new(env!("CARGO_MANIFEST_DIR")).join("themes");
        for folder in &FOLDERS {
            let mut found = BTreeSet::new();
            // What a theme has none of its own of is Harbor's.
            for slug in [folder.slug, LIVE] {
                walk(&themes.join(slug), &themes.join(slug), &mut found);
            }
            let named: BTreeSet<String> =
                folder.files.iter().map(|(path, _)| (*path).to_owned()).collect();
            assert_eq!(named, found);
        }
    }

    #[test]
    fn the_packages_are_valid_without_findings() {
        for folder in &FOLDERS {
            let reading = package::read(&folder.zipped().unwrap());
            assert_eq!(reading.findings, [], "{}", folder.slug);
            let package = reading.package.unwrap();
            assert_eq!(package.manifest.slug.as_str(), folder.slug);
            assert_eq!(package.files.len(), folder.files.len());
        }
    }

    /// The theme right after its installation.
    fn installed(folder: &Folder, locale: &str) -> Theme {
        let package = package::read(&folder.zipped().unwrap()).package.unwrap();
        let content = defaults(&package.schema);
        let home = json!({"sections": content.sections, "order": content.order});
        let assets = folder.files.iter().filter_map(|(path, _)| path.strip_prefix("assets/"));
        let assets = assets.map(|name| (name.to_owned(), format!("/files/{name}")));
        Theme {
            files: shop_theme::files(folder.files.iter().copied()),
            assets: Arc::new(assets.collect::<BTreeMap<_, _>>()),
            settings: content.settings,
            placed: [("templates/index.json".to_owned(), Arc::new(home))].into(),
            locale: locale.to_owned(),
            name: folder.slug.to_owned(),
        }
    }

    fn data() -> (Data, Value) {
        let lamp = json!({
            "handle": "lamp", "title": "Lamp <No. 1>", "vendor": "Ann", "in_stock": true,
            "price": {"amount": 499_900, "currency": "INR"}, "price_max": {"amount": 599_900, "currency": "INR"},
            "compare_at": {"amount": 699_900, "currency": "INR"},
            "images": [{"url": "/media/lamp", "alt": "A lamp"}], "description": "<p>Bright.</p>",
            "variants": [{"title": "S", "price": {"amount": 499_900}}, {"title": "L", "price": {"amount": 599_900}}],
        });
        let mut product = lamp.clone();
        product["related"] = json!([lamp]);
        let data = Data {
            store: json!({"name": "Tom & Ann", "currency": "INR", "locale": "en",
                "policies": [{"handle": "privacy", "title": "Privacy"}]}),
            products: vec![lamp.clone()],
            collections: vec![(json!({"handle": "light", "title": "Light"}), vec![lamp])],
            menus: vec![
                json!({"handle": "main", "items": [{"title": "Light", "type": "collection", "ref": "light"}]}),
            ],
            root: "/shop".to_owned(),
            ..Data::default()
        };
        (data, product)
    }

    #[test]
    fn every_page_of_the_themes_is_rendered() {
        let (data, lamp) = data();
        for folder in &FOLDERS {
            let theme = installed(folder, "en");
            let listing = |handle: &str, title: &str| {
                let collection = json!({"handle": handle, "title": title});
                let products = data.products.clone();
                Page::Collection(Box::new(Listing { collection, products, ..Listing::default() }))
            };
            for (page, expected) in [
                (Page::Index, "Lamp &lt;No. 1&gt;"),
                (Page::Collections, "Light"),
                (listing("light", "Light"), "1 product<"),
                (listing("all", "All products"), "All products"),
                (Page::Product(Box::new(lamp.clone())), "<p>Bright.</p>"),
                (
                    Page::Text(Box::new(json!({"title": "T", "body_html": "<p>We keep it.</p>"}))),
                    "<p>We keep it.</p>",
                ),
                (Page::NotFound, "There is nothing here"),
            ] {
                let name = format!("{} {page:?}", folder.slug);
                let rendered = render(&theme, page, &data, Limits::default()).expect(&name);
                assert_eq!(rendered.warnings, [], "{name}");
                let html = rendered.html;
                assert!(html.contains(expected), "{name}: {html}");
                assert!(
                    html.contains("<title>") && html.contains("Tom &amp; Ann"),
                    "{name}: {html}"
                );
                assert!(!html.contains("{{") && !html.contains("{%"), "{name}: {html}");
                assert!(html.contains("/shop/collections/light"), "{name}: {html}");
            }
        }
    }

    /// What themes of Shopify are built of, as its own theme Dawn is: a shop must render and serve it.
    #[test]
    fn the_themes_use_what_themes_of_shopify_use() {
        let names = [
            // Elements that their scripts define.
            "<cart-drawer",
            "<cart-items",
            "<cart-note",
            "<cart-remove-button",
            "<facet-filters-form",
            "<localization-form",
            "<predictive-search",
            "<product-form",
            "<product-info",
            "<product-recommendations",
            "<quantity-input",
            "<variant-selects",
            // Tags and filters.
            "{% sections 'header-group' %}",
            "{% section 'cart-drawer' %}",
            "{%- form 'product', product",
            "{%- form 'localization'",
            "{%- paginate ",
            "{% render 'price'",
            "{% schema %}",
            "{% style %}",
            "| default_errors",
            "| default_pagination",
            "| image_url",
            "| image_tag",
            "| asset_url",
            "| inline_asset_content",
            "| money",
            "| t: count",
            "| stylesheet_tag",
            // Objects.
            "form.errors",
            "section.id",
            "request.design_mode",
            "request.locale.iso_code",
            "canonical_url",
            "localization.available_countries",
            "localization.available_languages",
            "predictive_search.resources",
            "predictive_search.performed",
            "recommendations.performed?",
            "product.options_with_values",
            "product.selected_or_first_available_variant",
            "filter.active_values",
            "filter.min_value",
            "value.url_to_remove",
            "item.url_to_remove",
            "cart.cart_level_discount_applications",
            "settings.menu.links",
            "shop.policies",
            "content_for_header",
            "content_for_layout",
            "routes.root_url",
            "routes.cart_url",
            "routes.cart_change_url",
            "routes.cart_update_url",
            "routes.search_url",
            "routes.predictive_search_url",
            "routes.product_recommendations_url",
            "routes.account_url",
            "routes.all_products_collection_url",
            // What their scripts ask the shop for.
            "section_id",
            "sections_url",
            "option_values",
            "?sections=",
            "resources[type]",
            "searchParams.set(\"variant\"",
            "new FormData",
            "history.pushState",
            "popstate",
            "application/json",
        ];
        for folder in &FOLDERS {
            let all: String = folder.files.iter().map(|(_, text)| *text).collect();
            let missing: Vec<&str> = names.into_iter().filter(|name| !all.contains(name)).collect();
            assert_eq!(missing, [""; 0], "{}", folder.slug);
        }
    }

    #[test]
    fn the_pages_of_customers_are_rendered() {
        let (data, _) = data();
        let address =
            json!({"id": "adr_1", "line1": "1 Main <Street>", "city": "Goa", "country": "IN"});
        let order = json!({
            "id": "ord_1", "number": "1001", "created_at": "2026-11-27T10:00:00.000Z", "financial_status": "paid",
            "fulfillment_status": "fulfilled", "shipping_address": address,
            "items": [{"id": "itm_1", "title": "Lamp", "quantity": 2, "price": {"amount": 500}}],
            "fulfillments": [{"items": [{"order_item_id": "itm_1"}], "tracking": {"number": "T1"},
                "created_at": "2026-11-28T10:00:00.000Z"}],
            "totals": {"subtotal": {"amount": 1_000}, "total": {"amount": 1_000}},
        });
        let data = Data {
            customer: json!({"name": "Ann Lee", "email": "ann@example.com"}),
            orders: vec![order.clone()],
            addresses: vec![address],
            ..data
        };
        for folder in &FOLDERS {
            let theme = installed(folder, "en");
            for (page, expected) in [
                (Page::Login, "name=\"customer[password]\""),
                (Page::Register, "name=\"customer[first_name]\""),
                (Page::Account, "Paid · Fulfilled"),
                (Page::Order(Box::new(order.clone())), "Sent on 2026-11-28, T1"),
                (Page::Addresses, "value=\"1 Main &lt;Street&gt;\""),
                (Page::ResetPassword, "action=\"/shop/account/reset\""),
                (Page::ActivateAccount, "name=\"decline\""),
                (Page::Password, "action=\"/shop/password\""),
            ] {
                let name = format!("{} {page:?}", folder.slug);
                assert!(shop_theme::has_template(&theme, &page), "{name}");
                let rendered = render(&theme, page, &data, Limits::default()).expect(&name);
                assert_eq!(rendered.warnings, [], "{name}");
                let html = rendered.html;
                assert!(html.contains(expected), "{name}: {html}");
                assert!(!html.contains("{{") && !html.contains("translation missing"), "{html}");
                assert!(!html.contains("customer.") && !html.contains("Liquid error"), "{html}");
            }
        }
    }

    #[test]
    fn the_themes_speak_german() {
        let (data, _) = data();
        for folder in &FOLDERS {
            let theme = installed(folder, "de-AT");
            let html = render(&theme, Page::NotFound, &data, Limits::default()).unwrap().html;
            assert!(
                html.contains("Hier ist nichts") && html.contains(" lang=\"de-AT\">"),
                "{html}"
            );
        }
    }
}
