//! Images and videos.

use std::sync::Arc;

use liquid::Value;
use serde_json::{Value as Json, json};

use super::record::{Kind, Record};
use crate::data::{aspect_ratio, image_id, text};
use crate::shop::Shop;

/// An image: `{url, alt, id, position, product_id}`.
pub(crate) static IMAGE: Kind =
    Kind { name: "image", get: image_member, shape: image_shape, text: source };

/// The width and height, in pixels, of an image whose size is not known.
const SIDE: i64 = 1024;

/// The URL of an image.
pub(crate) fn source(image: &Record) -> String {
    let url = image.text_at("/url");
    if url.is_empty() { image.text_at("/src").to_owned() } else { url.to_owned() }
}

fn image_member(image: &Record, name: &str) -> Option<Value> {
    Some(match name {
        "src" | "url" => source(image).into(),
        "alt" => image.text_at("/alt").into(),
        "media_type" => "image".into(),
        "preview_image" => image.clone().value(),
        "attached_to_variant?" => false.into(),
        "variants" => Value::from(Vec::new()),
        "presentation" => {
            let focus = Value::map([("x", Value::Float(50.0)), ("y", Value::Float(50.0))]);
            Value::map([("focal_point", Value::object(Focus(focus)))])
        }
        "aspect_ratio" => Value::Float(aspect_ratio(&image.raw)),
        // Themes write them into `srcset`, where an empty one makes the whole attribute invalid.
        "width" | "height" => match image.at(&format!("/{name}")) {
            Value::Nil => Value::Int(SIDE),
            known => known,
        },
        _ => return None,
    })
}

fn image_shape(image: &Record) -> Json {
    json!({
        "src": source(image), "alt": image.text_at("/alt"), "id": image.raw.get("id"),
        "media_type": "image", "position": image.raw.get("position"), "aspect_ratio": aspect_ratio(&image.raw),
        "width": image.raw.get("width"), "height": image.raw.get("height"),
        "preview_image": {"src": source(image), "aspect_ratio": aspect_ratio(&image.raw)},
    })
}

/// The point of an image that is kept in sight.
struct Focus(Value);

impl liquid::Object for Focus {
    fn get(&self, name: &str) -> Option<Value> {
        Some(self.0.get(name))
    }

    fn as_value(&self) -> Option<Value> {
        Some("50.0% 50.0%".into())
    }
}

/// An image at a URL.
pub(crate) fn image(shop: &Arc<Shop>, url: &str, alt: &str) -> Value {
    if url.is_empty() {
        return Value::Nil;
    }
    let raw = json!({"url": url, "alt": alt});
    Record::new(&IMAGE, shop, Arc::new(raw)).value()
}

/// The images of a product.
pub(crate) fn of_product(product: &Record) -> Vec<Value> {
    let images = crate::data::list(&product.raw, "/images").iter().enumerate();
    let one = |(place, image): (usize, &Json)| {
        let mut raw = image.clone();
        if let Some(members) = raw.as_object_mut() {
            members.insert("position".to_owned(), place.saturating_add(1).into());
            members.insert(
                "product_id".to_owned(),
                product.raw.get("id").cloned().unwrap_or_default(),
            );
            members.insert("id".to_owned(), image_id(&product.raw, place, image));
            if members.get("alt").and_then(Json::as_str).is_none_or(str::is_empty) {
                members.insert("alt".to_owned(), text(&product.raw, "/title").into());
            }
        }
        Record::new(&IMAGE, &product.shop, Arc::new(raw)).value()
    };
    images.map(one).collect()
}

/// The URL of a file that a setting names: an asset, a medium, or a URL.
fn address(shop: &Shop, name: &str) -> Option<String> {
    let asset =
        name.strip_prefix("assets/").or_else(|| name.strip_prefix("shopify://shop_images/"));
    let asset = asset.or_else(|| name.strip_prefix("shopify://files/videos/"));
    if let Some(asset) = asset {
        return shop.theme.assets.get(asset).cloned();
    }
    if name.starts_with("med_") {
        // A shop on an origin of its own has its media there.
        if shop.data.root.is_empty() {
            return Some(format!("/media/{name}"));
        }
        let subdomain = text(&shop.data.store, "/subdomain");
        return Some(format!("/v1/storefront/{subdomain}/media/{name}"));
    }
    let is_url = ["/", "https://", "http://"].iter().any(|start| name.starts_with(start));
    is_url.then(|| name.to_owned())
}

/// The image of an `image_picker`.
pub(crate) fn picked(shop: &Arc<Shop>, name: &str) -> Value {
    address(shop, name).map_or(Value::Nil, |url| image(shop, &url, ""))
}

/// The video of a `video` setting.
pub(crate) fn video(shop: &Arc<Shop>, name: &str) -> Value {
    let Some(url) = address(shop, name) else { return Value::Nil };
    let format = if url.rsplit('.').next() == Some("webm") { "webm" } else { "mp4" };
    let source = Value::map([
        ("url", Value::from(url)),
        ("format", format.into()),
        ("mime_type", format!("video/{format}").into()),
        ("width", Value::Nil),
        ("height", Value::Nil),
    ]);
    Value::map([
        ("id", Value::from(name)),
        ("media_type", "video".into()),
        ("alt", "".into()),
        ("aspect_ratio", Value::Float(1.777)),
        ("duration", Value::Int(0)),
        ("position", Value::Int(1)),
        ("preview_image", Value::Nil),
        ("sources", Value::from(vec![source])),
    ])
}

/// The video of a `video_url`: its provider and its id.
pub(crate) fn external(url: &str) -> Value {
    let Some((_, rest)) = url.split_once("://") else { return Value::Nil };
    let host = if rest.contains("vimeo.com") { "vimeo" } else { "youtube" };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let of_query = query.split('&').find_map(|pair| pair.strip_prefix("v="));
    let id = of_query.unwrap_or_else(|| path.rsplit('/').next().unwrap_or_default());
    let is_id =
        !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if !is_id {
        return Value::Nil;
    }
    Value::object(External { url: Arc::from(url), host, id: Arc::from(id) })
}

/// A video at `YouTube` or Vimeo.
pub(crate) struct External {
    url: Arc<str>,
    pub(crate) host: &'static str,
    pub(crate) id: Arc<str>,
}

impl liquid::Object for External {
    fn get(&self, name: &str) -> Option<Value> {
        Some(match name {
            "id" | "external_id" => self.id.clone().into(),
            "type" | "host" => self.host.into(),
            "media_type" => "external_video".into(),
            "aspect_ratio" => Value::Float(1.777),
            "alt" => "".into(),
            "position" => Value::Int(1),
            _ => return None,
        })
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.url.clone().into())
    }
}
