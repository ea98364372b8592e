//! Values as JSON.

use liquid::{Args, Context, Result, Shape, Value};
use serde_json::{Map, Value as Json, json};

use super::call::{Named, page};
use crate::header::for_script;
use crate::objects::plain::items;
use crate::objects::record::record;
use crate::shop::Shop;

pub(super) const FILTERS: &[Named] = &[
    ("json", |input, _, _| Ok(Value::html(for_script(&of(input, 0).to_string())))),
    ("structured_data", structured_data),
    // Scripts that measure are none here.
    ("standard_event_data", |_, _, _| Ok("{}".into())),
];

/// How deep values are written.
const DEEPEST: u32 = 12;

/// A value as JSON; a resource with the members that scripts expect.
pub(crate) fn of(value: &Value, depth: u32) -> Json {
    if depth > DEEPEST {
        return Json::Null;
    }
    if let Some(record) = record(value) {
        return record.shaped().clone();
    }
    let deeper = depth.saturating_add(1);
    match value {
        Value::Nil | Value::Blank | Value::Empty => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => {
            serde_json::Number::from_f64(*number).map_or(Json::Null, Json::Number)
        }
        Value::Str(text) | Value::Html(text) => (&**text).into(),
        Value::Range(..) => value.to_text().into_owned().into(),
        Value::Array(items) => items.iter().map(|item| of(item, deeper)).collect(),
        Value::Object(object) => {
            if let Some(scalar) = object.as_value() {
                return of(&scalar, deeper);
            }
            match object.shape() {
                Shape::List => {
                    object.items().into_iter().flatten().map(|item| of(&item, deeper)).collect()
                }
                Shape::Hash => {
                    let pairs = object.items().into_iter().flatten();
                    let members = pairs.filter_map(|pair| {
                        let Value::Array(pair) = pair else { return None };
                        let (name, value) = (pair.first()?, pair.get(1)?);
                        Some((name.to_text().into_owned(), of(value, deeper)))
                    });
                    Json::Object(members.collect::<Map<String, Json>>())
                }
                Shape::Object => match object.text() {
                    text if text.is_empty() => json!({}),
                    text => text.into(),
                },
            }
        }
    }
}

/// A product for search engines (schema.org).
fn structured_data(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let Some(product) = record(input) else { return Ok("".into()) };
    let absolute = |path: &str| match path {
        path if path.starts_with('/') => format!("{}{path}", shop.data.origin),
        path => path.to_owned(),
    };
    let url = absolute(&input.get("url").to_text());
    let offers = items(&input.get("variants"));
    let offers: Vec<Json> = offers.iter().map(|variant| offer(&shop, variant, &absolute)).collect();
    let images = items(&input.get("images"));
    let images: Vec<String> =
        images.iter().map(|image| absolute(&image.get("src").to_text())).collect();
    let data = json!({
        "@context": "http://schema.org/", "@type": "Product", "@id": format!("{url}#product"),
        "name": product.text_at("/title"), "url": url, "image": images,
        "brand": {"@type": "Brand", "name": product.text_at("/vendor")},
        "description": product.text_at("/description"), "offers": offers,
    });
    let data = for_script(&data.to_string());
    Ok(Value::html(format!("<script type=\"application/ld+json\">{data}</script>")))
}

fn offer(shop: &Shop, variant: &Value, absolute: &dyn Fn(&str) -> String) -> Json {
    let state = if variant.get("available").is_truthy() { "InStock" } else { "OutOfStock" };
    let price = super::money::text(shop, &variant.get("price")).unwrap_or_default();
    json!({
        "@type": "Offer", "availability": format!("http://schema.org/{state}"),
        "price": price.replace(',', ""), "priceCurrency": shop.data.currency(),
        "sku": variant.get("sku").to_text(), "url": absolute(&variant.get("url").to_text()),
    })
}
