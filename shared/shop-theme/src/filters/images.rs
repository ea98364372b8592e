//! Images, videos and other media. Images are not resized: the arguments of sizes are accepted, and only the
//! width and height go into the element.

use std::fmt::Write as _;

use liquid::{Args, Context, Result, Value};

use super::call::{Named, attribute, named, page};
use crate::objects::media::{External, source};
use crate::objects::plain::items;
use crate::objects::product::is_image;
use crate::objects::record::record;
use crate::shop::Shop;

pub(super) const FILTERS: &[Named] = &[
    ("article_img_url", image_url),
    ("collection_img_url", image_url),
    ("external_video_tag", external_video_tag),
    ("external_video_url", external_video_url),
    ("image_tag", image_tag),
    ("image_url", image_url),
    ("img_tag", img_tag),
    ("img_url", image_url),
    ("media_tag", media_tag),
    ("model_viewer_tag", |_, _, _| Ok("".into())),
    ("product_img_url", image_url),
    ("video_tag", video_tag),
];

/// The URL of an image, of an object with an image, of an asset, or a URL itself.
fn image_url(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    Ok(match address(&shop, input) {
        Some(url) => Value::object(ImageUrl { url: url.into(), image: input.clone() }),
        None => Value::Nil,
    })
}

/// The URL of an image, which remembers the image for `image_tag`.
struct ImageUrl {
    url: std::sync::Arc<str>,
    image: Value,
}

impl liquid::Object for ImageUrl {
    fn get(&self, _: &str) -> Option<Value> {
        None
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.url.clone().into())
    }
}

fn address(shop: &Shop, input: &Value) -> Option<String> {
    if let Some(record) = record(input) {
        if is_image(record) {
            return Some(source(record)).filter(|url| !url.is_empty());
        }
        let members = ["featured_image", "image", "preview_image"];
        let image = members.iter().map(|name| input.get(name)).find(|image| !image.is_nil())?;
        return if record.kind.name == "image" { None } else { address(shop, &image) };
    }
    if let Value::Object(object) = input
        && object.as_value().is_none()
    {
        let image = object.get("src").or_else(|| object.get("preview_image"))?;
        return address(shop, &image);
    }
    let text = input.to_text();
    let name = text.strip_prefix("assets/").unwrap_or(&text);
    let known = shop.theme.assets.get(name).cloned();
    let is_url = ["/", "https://", "http://"].iter().any(|start| text.starts_with(start));
    known.or_else(|| is_url.then(|| text.clone().into_owned()))
}

/// Arguments that are no attributes, or are written elsewhere. Any other is an attribute: `ref`, `data-index`.
const NO_ATTRIBUTES: [&str; 10] = [
    "alt",
    "crop",
    "format",
    "height",
    "pad_color",
    "preload",
    "quality",
    "srcset",
    "width",
    "widths",
];

fn image_tag(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let image = input.downcast::<ImageUrl>().map_or(input, |url| &url.image).clone();
    let Some(url) = address(&shop, input) else { return Ok(Value::Nil) };
    let alt = match args.named("alt") {
        Some(alt) => alt.to_text().into_owned(),
        None => image.get("alt").to_text().into_owned(),
    };
    let mut html = format!("<img src=\"{}\" alt=\"{}\"", attribute(&url), attribute(&alt));
    for name in ["width", "height"] {
        let given = match args.named(name) {
            Some(Value::Nil) => continue,
            Some(given) => given.clone(),
            // An assumed size would distort the image where a style sheet has no `height: auto`.
            None => record(&image).map_or(Value::Nil, |image| image.at(&format!("/{name}"))),
        };
        if !given.to_text().is_empty() {
            let _ = write!(html, " {name}=\"{}\"", attribute(&given.to_text()));
        }
    }
    for (name, value) in args.all_named() {
        if !NO_ATTRIBUTES.contains(&&**name) && !value.is_nil() {
            let _ = write!(html, " {name}=\"{}\"", attribute(&value.to_text()));
        }
    }
    html.push('>');
    if args.named("preload").is_some_and(Value::is_truthy) {
        let preload = format!("<link rel=\"preload\" as=\"image\" href=\"{}\">", attribute(&url));
        html.insert_str(0, &preload);
    }
    Ok(Value::html(html))
}

fn img_tag(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let Some(url) = address(&shop, input) else { return Ok(Value::Nil) };
    let (alt, class) = (attribute(&args.text(0)), attribute(&args.text(1)));
    Ok(Value::html(format!("<img src=\"{}\" alt=\"{alt}\" class=\"{class}\">", attribute(&url))))
}

fn media_tag(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    if input.downcast::<External>().is_some() {
        return external_video_tag(input, args, cx);
    }
    match input.get("media_type").to_text().as_ref() {
        "video" => video_tag(input, args, cx),
        _ => image_tag(input, args, cx),
    }
}

fn video_tag(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let sources = items(&input.get("sources"));
    if sources.is_empty() {
        return Ok("".into());
    }
    let mut html = "<video playsinline=\"true\"".to_owned();
    for name in ["autoplay", "loop", "muted", "controls"] {
        if args.named(name).is_some_and(Value::is_truthy) {
            let _ = write!(html, " {name}=\"{name}\"");
        }
    }
    for (name, value) in args.all_named() {
        if matches!(
            &**name,
            "class" | "id" | "preload" | "width" | "height" | "style" | "aria-label"
        ) {
            let _ = write!(html, " {name}=\"{}\"", attribute(&value.to_text()));
        }
    }
    let poster = named(args, "poster").or_else(|| address(&shop, &input.get("preview_image")));
    if let Some(poster) = poster {
        let _ = write!(html, " poster=\"{}\"", attribute(&poster));
    }
    html.push('>');
    for source in sources {
        let (url, kind) = (source.get("url"), source.get("mime_type"));
        let _ = write!(
            html,
            "<source src=\"{}\" type=\"{}\">",
            attribute(&url.to_text()),
            attribute(&kind.to_text())
        );
    }
    html.push_str("</video>");
    Ok(Value::html(html))
}

fn external_video_url(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let Some(video) = input.downcast::<External>() else { return Ok(input.clone()) };
    let mut url = match video.host {
        "vimeo" => format!("https://player.vimeo.com/video/{}", video.id),
        _ => format!("https://www.youtube-nocookie.com/embed/{}", video.id),
    };
    for (place, (name, value)) in args.all_named().iter().enumerate() {
        let sign = if place == 0 { '?' } else { '&' };
        let value = match value {
            Value::Bool(is) => if *is { "1" } else { "0" }.to_owned(),
            value => crate::shop::encoded(&value.to_text()),
        };
        let _ = write!(url, "{sign}{name}={value}");
    }
    Ok(url.into())
}

fn external_video_tag(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let url = if input.downcast::<External>().is_some() {
        external_video_url(input, &Args::default(), cx)?
    } else {
        input.clone()
    };
    let mut html =
        format!("<iframe src=\"{}\" frameborder=\"0\" allowfullscreen", attribute(&url.to_text()));
    for (name, value) in args.all_named() {
        if matches!(&**name, "class" | "id" | "title" | "loading" | "width" | "height" | "allow") {
            let _ = write!(html, " {name}=\"{}\"", attribute(&value.to_text()));
        }
    }
    html.push_str("></iframe>");
    Ok(Value::html(html))
}
