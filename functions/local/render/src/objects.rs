//! The objects of templates, built from the public responses of the storefront API. Their fields have the
//! names that themes use; amounts are in the smallest unit of the currency.

use liquid_core::model::{KString, Object, Value};
use serde_json::Value as Json;

use crate::theme::Theme;
use crate::value::{self, object};
use crate::{safe, settings};

/// The storefront API's responses about a store (docs/openapi.json).
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// `GET /v1/storefront/{subdomain}`.
    pub store: Json,
    /// `GET …/products`, the first page's items.
    pub products: Vec<Json>,
    /// `GET …/collections`: each with the first page of its products.
    pub collections: Vec<(Json, Vec<Json>)>,
    /// `GET …/navigation/{handle}`, each menu that the store names.
    pub menus: Vec<Json>,
    /// The path of the shop's pages, without a slash at the end: templates link to paths below it.
    pub root: String,
    /// The page number of a paginated list, from 1; 0 is the first, too.
    pub page: usize,
}

impl Data {
    /// The URL of a page.
    pub(crate) fn address(&self, page: &Page) -> String {
        let path = match page {
            Page::Index | Page::NotFound => String::new(),
            Page::Collections => "/collections".to_owned(),
            Page::Collection(name) => format!("/collections/{name}"),
            Page::Product(product) => format!("/products/{}", handle(product)),
            Page::Text(text) => format!("/policies/{}", handle(text)),
        };
        format!("{}{path}", self.root)
    }
}

/// The page to render.
#[derive(Debug, Clone)]
pub enum Page {
    /// The home page.
    Index,
    /// All collections.
    Collections,
    /// A collection, by its handle; `all` has every product.
    Collection(String),
    /// A product: `GET …/products/{handle}`.
    Product(Box<Json>),
    /// A text: a policy, of `GET …/policies/{handle}`.
    Text(Box<Json>),
    /// The page for an unknown path.
    NotFound,
}

impl Page {
    /// The template's name.
    pub(crate) fn template(&self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Collections => "list-collections",
            Self::Collection(_) => "collection",
            Self::Product(_) => "product",
            Self::Text(_) => "page",
            Self::NotFound => "404",
        }
    }
}

/// All objects of a page.
pub(crate) fn globals(theme: &Theme, page: &Page, data: &Data) -> Object {
    let links = Links { data };
    let everything = links.all_products();
    let mut globals = object([
        ("shop", Value::Object(links.shop())),
        ("routes", Value::Object(links.routes())),
        (
            "request",
            Value::Object(object([
                ("page_type", Value::scalar(page.template())),
                (
                    "locale",
                    Value::Object(object([("iso_code", Value::scalar(theme.locale.clone()))])),
                ),
            ])),
        ),
        ("template", Value::Object(object([("name", Value::scalar(page.template()))]))),
        ("canonical_url", Value::scalar(links.to("/"))),
        ("linklists", Value::Object(links.menus())),
        ("all_products", Value::Object(links.by_handle(&data.products))),
    ]);
    let mut collections = Object::new();
    for (page, products) in &data.collections {
        let collection = links.collection(page, products);
        collections
            .insert(KString::from_string(handle(page).to_owned()), Value::Object(collection));
    }
    collections.insert(KString::from_static("all"), Value::Object(everything.clone()));
    let products = everything.get("products").cloned().unwrap_or_default();
    globals.insert(KString::from_static("products"), products);
    globals.insert(KString::from_static("collections"), Value::Object(collections));
    insert_page_object(&mut globals, page, &links);
    let schema = theme.json("config/settings_schema.json").and_then(Result::ok).unwrap_or_default();
    let settings = settings::of_theme(&schema, &theme.settings, &globals);
    globals.insert(KString::from_static("settings"), Value::Object(settings));
    globals
}

/// Inserts the object of the page, and its title.
fn insert_page_object(globals: &mut Object, page: &Page, links: &Links<'_>) {
    let store = links.data.store.get("name").cloned().unwrap_or_default();
    let title = match page {
        Page::Product(product) => {
            globals.insert(KString::from_static("product"), Value::Object(links.product(product)));
            product.get("title").cloned()
        }
        Page::Text(text) => {
            let content = text.get("body_html").and_then(Json::as_str).unwrap_or_default();
            let page = object([
                ("title", value::of(text.get("title").unwrap_or(&Json::Null))),
                ("handle", Value::scalar(handle(text).to_owned())),
                ("content", safe::html(content)),
            ]);
            globals.insert(KString::from_static("page"), Value::Object(page));
            text.get("title").cloned()
        }
        Page::Collection(handle) => {
            let known = globals.get("collections").and_then(|known| match known {
                Value::Object(known) => known.get(handle.as_str()).cloned(),
                _ => None,
            });
            let title = known.as_ref().and_then(|found| match found {
                Value::Object(found) => found.get("title").map(|title| value::json(title)),
                _ => None,
            });
            globals.insert(KString::from_static("collection"), known.unwrap_or_default());
            title
        }
        Page::Index | Page::Collections | Page::NotFound => None,
    };
    let title = value::of(&title.unwrap_or(store));
    globals.insert(KString::from_static("page_title"), title);
}

/// Builds objects with the URLs of this shop.
struct Links<'d> {
    data: &'d Data,
}

fn handle(of: &Json) -> &str {
    of.get("handle").and_then(Json::as_str).unwrap_or_default()
}

/// Maps JSON values by their pointers to fields with the names that themes use.
fn fields<const N: usize>(of: &Json, names: [(&'static str, &str); N]) -> Object {
    let field = |(name, pointer): (&'static str, &str)| {
        (KString::from_static(name), value::of(of.pointer(pointer).unwrap_or(&Json::Null)))
    };
    names.into_iter().map(field).collect()
}

impl Links<'_> {
    fn to(&self, path: &str) -> String {
        let path = if path == "/" { "" } else { path };
        format!("{}{path}", self.data.root)
    }

    fn shop(&self) -> Object {
        let mut shop = fields(
            &self.data.store,
            [
                ("name", "/name"),
                ("currency", "/currency"),
                ("description", "/branding/short_description"),
                ("slogan", "/branding/slogan"),
                ("email", "/contact/email"),
                ("phone", "/contact/phone"),
                ("locale", "/locale"),
                ("domain", "/primary_domain"),
                ("status", "/storefront_status"),
                ("logo", "/branding/logo/url"),
            ],
        );
        let policies = self.data.store.get("policies").and_then(Json::as_array);
        let policies = policies.into_iter().flatten().map(|policy| {
            let mut link = fields(policy, [("title", "/title"), ("handle", "/handle")]);
            let address = self.to(&format!("/policies/{}", handle(policy)));
            link.insert(KString::from_static("url"), Value::scalar(address));
            Value::Object(link)
        });
        shop.insert(KString::from_static("policies"), Value::Array(policies.collect()));
        shop.insert(KString::from_static("url"), Value::scalar(self.to("/")));
        shop
    }

    fn routes(&self) -> Object {
        object([
            ("root_url", Value::scalar(self.to("/"))),
            ("collections_url", Value::scalar(self.to("/collections"))),
            ("all_products_collection_url", Value::scalar(self.to("/collections/all"))),
        ])
    }

    fn menus(&self) -> Object {
        let menus = self.data.menus.iter().map(|menu| {
            let items = menu.get("items").and_then(Json::as_array);
            let links = items.into_iter().flatten().map(|item| Value::Object(self.link(item)));
            let mut list = fields(menu, [("title", "/handle"), ("handle", "/handle")]);
            list.insert(KString::from_static("links"), Value::Array(links.collect()));
            (KString::from_string(handle(menu).to_owned()), Value::Object(list))
        });
        menus.collect()
    }

    /// A link of a menu, with its children; a menu has few levels.
    fn link(&self, item: &Json) -> Object {
        let text = |name: &str| item.get(name).and_then(Json::as_str).unwrap_or_default();
        let refers = text("ref");
        let address = match text("type") {
            "product" => self.to(&format!("/products/{refers}")),
            "collection" => self.to(&format!("/collections/{refers}")),
            "policy" => self.to(&format!("/policies/{refers}")),
            "link" => text("url").to_owned(),
            "category" => self.to("/collections/all"),
            _ => self.to("/"),
        };
        let children = item.get("children").and_then(Json::as_array);
        let links = children.into_iter().flatten().map(|child| Value::Object(self.link(child)));
        let mut link = fields(item, [("title", "/title"), ("type", "/type")]);
        link.insert(KString::from_static("url"), Value::scalar(address));
        link.insert(KString::from_static("links"), Value::Array(links.collect()));
        link
    }

    fn by_handle(&self, products: &[Json]) -> Object {
        let each = |product: &Json| {
            (KString::from_string(handle(product).to_owned()), Value::Object(self.product(product)))
        };
        products.iter().map(each).collect()
    }

    /// The collection that has every product.
    fn all_products(&self) -> Object {
        let page = serde_json::json!({"handle": "all", "title": "All products"});
        self.collection(&page, &self.data.products)
    }

    fn collection(&self, page: &Json, products: &[Json]) -> Object {
        let mut collection = fields(
            page,
            [
                ("id", "/id"),
                ("handle", "/handle"),
                ("title", "/title"),
                ("image", "/image_url"),
                ("all_products_count", "/products_count"),
            ],
        );
        let description = page.get("description").and_then(Json::as_str).unwrap_or_default();
        let count = i64::try_from(products.len()).unwrap_or(i64::MAX);
        let products = products.iter().map(|product| Value::Object(self.product(product)));
        let address = self.to(&format!("/collections/{}", handle(page)));
        collection.extend(object([
            ("description", safe::html(description)),
            ("products", Value::Array(products.collect())),
            ("products_count", Value::scalar(count)),
            ("url", Value::scalar(address)),
        ]));
        collection
    }

    fn product(&self, product: &Json) -> Object {
        let mut made = fields(
            product,
            [
                ("id", "/id"),
                ("handle", "/handle"),
                ("title", "/title"),
                ("vendor", "/vendor"),
                ("type", "/product_type"),
                ("tags", "/tags"),
                ("price", "/price/amount"),
                ("price_min", "/price/amount"),
                ("price_max", "/price_max/amount"),
                ("compare_at_price", "/compare_at/amount"),
                ("available", "/in_stock"),
                ("variants_count", "/variants_count"),
            ],
        );
        let varies = product.pointer("/price/amount") != product.pointer("/price_max/amount");
        let description = product.get("description").and_then(Json::as_str).unwrap_or_default();
        let list = |name: &str| product.get(name).and_then(Json::as_array).into_iter().flatten();
        let images: Vec<Value> =
            list("images").map(|image| Value::Object(picture(image))).collect();
        let related = list("related").map(|other| Value::Object(self.product(other)));
        let variants = list("variants").map(|variant| {
            Value::Object(fields(
                variant,
                [
                    ("id", "/id"),
                    ("title", "/title"),
                    ("sku", "/sku"),
                    ("options", "/options"),
                    ("price", "/price/amount"),
                    ("compare_at_price", "/compare_at/amount"),
                    ("available", "/in_stock"),
                ],
            ))
        });
        let options = list("options").map(value::of);
        made.extend(object([
            ("description", safe::html(description)),
            ("content", safe::html(description)),
            ("featured_image", images.first().cloned().unwrap_or_default()),
            ("images", Value::Array(images)),
            ("variants", Value::Array(variants.collect())),
            ("options_with_values", Value::Array(options.collect())),
            ("related", Value::Array(related.collect())),
            ("price_varies", Value::scalar(varies)),
            ("url", Value::scalar(self.to(&format!("/products/{}", handle(product))))),
        ]));
        made
    }
}

fn picture(image: &Json) -> Object {
    fields(image, [("src", "/url"), ("alt", "/alt")])
}
