//! Resources for search engines (schema.org), as JSON: themes put it into a script element of their own.

use liquid::{Args, Context, Result, Value};
use serde_json::{Map, Value as Json, json};

use super::call::{Named, page};
use crate::data::{list, text};
use crate::header::for_script;
use crate::objects::plain::items;
use crate::objects::record::{Record, record};
use crate::objects::request::plain_text;
use crate::objects::swatch::is_of_colors;
use crate::shop::Shop;

pub(super) const FILTERS: &[Named] = &[("structured_data", structured_data)];

/// Names of options, in lower case, that are properties of schema.org; those of colors are known elsewhere.
const PROPERTIES: [(&str, &[&str]); 3] = [
    ("size", &["size", "größe", "taille", "talla", "tamaño", "サイズ", "आकार"]),
    ("material", &["material", "matière", "matériau", "素材", "सामग्री"]),
    ("pattern", &["pattern", "muster", "motif", "estampado", "柄", "पैटर्न"]),
];

/// A product with an offer; with several variants a group of products, each with its own.
fn structured_data(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let Some(product) = record(input).filter(|record| record.kind.name == "product") else {
        return Ok("".into());
    };
    let described = Described { shop: &shop, value: input, product };
    Ok(Value::html(for_script(&described.whole().to_string())))
}

struct Described<'a> {
    shop: &'a Shop,
    value: &'a Value,
    product: &'a Record,
}

impl Described<'_> {
    fn whole(&self) -> Json {
        let variants = items(&self.value.get("variants"));
        let mut whole = self.common();
        match variants.as_slice() {
            [] => {}
            [only] => whole.extend(self.sold(only)),
            several => {
                whole.insert("@type".to_owned(), "ProductGroup".into());
                whole.insert("productGroupID".to_owned(), self.product.text_at("/id").into());
                let varying = self.varying();
                if !varying.is_empty() {
                    let of = |name: &&str| format!("https://schema.org/{name}");
                    whole.insert("variesBy".to_owned(), varying.iter().map(of).collect());
                }
                let all = several.iter().map(|variant| self.variant(variant));
                whole.insert("hasVariant".to_owned(), all.collect());
            }
        }
        whole.into()
    }

    /// What a product and a group of them have.
    fn common(&self) -> Map<String, Json> {
        let url = self.absolute(&self.value.get("url"));
        let images = items(&self.value.get("images"));
        let images: Vec<String> =
            images.iter().map(|image| self.absolute(&image.get("src"))).collect();
        let mut common = members(json!({
            "@context": "http://schema.org/", "@type": "Product", "@id": format!("{url}#product"),
            "name": self.product.text_at("/title"), "url": url, "image": images,
            "description": plain_text(self.product.text_at("/description")),
        }));
        let vendor = self.product.text_at("/vendor");
        if !vendor.is_empty() {
            common.insert("brand".to_owned(), json!({"@type": "Brand", "name": vendor}));
        }
        common
    }

    /// A variant as a product of its group.
    fn variant(&self, variant: &Value) -> Json {
        let url = self.absolute(&variant.get("url"));
        let name =
            format!("{} - {}", self.product.text_at("/title"), variant.get("title").to_text());
        let mut product = members(json!({
            "@type": "Product", "@id": format!("{url}#variant"), "name": name, "url": url,
        }));
        let image = variant.get("image").get("src");
        if !image.to_text().is_empty() {
            product.insert("image".to_owned(), self.absolute(&image).into());
        }
        let values = items(&variant.get("options"));
        for (property, value) in self.properties().into_iter().zip(&values) {
            if let Some(property) = property {
                product.insert(property.to_owned(), (*value.to_text()).into());
            }
        }
        product.extend(self.sold(variant));
        product.into()
    }

    /// What of a variant is sold: its offer and its numbers.
    fn sold(&self, variant: &Value) -> Map<String, Json> {
        let url = self.absolute(&variant.get("url"));
        let state = if variant.get("available").is_truthy() { "InStock" } else { "OutOfStock" };
        let price = super::money::plain(self.shop, &variant.get("price")).unwrap_or_default();
        let mut sold = members(json!({"offers": {
            "@type": "Offer", "@id": format!("{url}#offer"), "url": url,
            "availability": format!("http://schema.org/{state}"),
            "price": price, "priceCurrency": self.shop.data.currency(),
        }}));
        let (sku, barcode) = (variant.get("sku"), variant.get("barcode"));
        let (sku, barcode) = (sku.to_text(), barcode.to_text());
        if !sku.is_empty() {
            sold.insert("sku".to_owned(), (*sku).into());
        }
        if matches!(barcode.len(), 8 | 12..=14) && barcode.bytes().all(|b| b.is_ascii_digit()) {
            sold.insert("gtin".to_owned(), (*barcode).into());
        }
        sold
    }

    /// The properties that the product's options are, in their order.
    fn properties(&self) -> Vec<Option<&'static str>> {
        let options = list(&self.product.raw, "/options").iter();
        options.map(|option| property(text(option, "/name"))).collect()
    }

    /// The properties by which variants differ, each once.
    fn varying(&self) -> Vec<&'static str> {
        let mut varying: Vec<&str> = self.properties().into_iter().flatten().collect();
        varying.sort_unstable();
        varying.dedup();
        varying
    }

    /// An address with its origin.
    fn absolute(&self, path: &Value) -> String {
        match path.to_text() {
            path if path.starts_with('/') && !path.starts_with("//") => {
                format!("{}{path}", self.shop.data.origin)
            }
            path => path.into_owned(),
        }
    }
}

/// The property of schema.org that an option is.
fn property(option: &str) -> Option<&'static str> {
    if is_of_colors(option) {
        return Some("color");
    }
    let name = option.trim().to_lowercase();
    let mut all = PROPERTIES.iter();
    all.find(|(_, names)| names.contains(&name.as_str())).map(|(property, _)| *property)
}

fn members(of: Json) -> Map<String, Json> {
    match of {
        Json::Object(members) => members,
        _ => Map::new(),
    }
}
