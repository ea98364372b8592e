//! The theme's files and the elements that load them.

use std::fmt::Write as _;

use liquid::{Args, Context, Result, Value};

use super::call::{Named, attribute, named, page};
use crate::limits::{Finding, FindingCode};
use crate::notes::Notes;
use crate::shop::Shop;

pub(super) const FILTERS: &[Named] = &[
    ("asset_img_url", asset_url),
    ("asset_url", asset_url),
    ("file_img_url", file_url),
    ("file_url", file_url),
    ("global_asset_url", shared_url),
    ("shopify_asset_url", shared_url),
    ("inline_asset_content", inline_asset_content),
    ("preload_tag", preload_tag),
    ("script_tag", |input, _, _| {
        let url = attribute(&input.to_text());
        Ok(Value::html(format!("<script src=\"{url}\"></script>")))
    }),
    ("stylesheet_tag", stylesheet_tag),
];

/// `{{ 'base.css' | asset_url }}`: the URL of an asset.
fn asset_url(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let name = input.to_text();
    if let Some(url) = find(&shop, &name) {
        return Ok(url.into());
    }
    missing(cx, &name);
    Ok(shop.to(&format!("/assets/{name}")).into())
}

/// The URL of an asset. A file that is compiled from Liquid or Sass is named without that ending.
fn find(shop: &Shop, name: &str) -> Option<String> {
    let assets = &shop.theme.assets;
    let liquid = format!("{name}.liquid");
    assets.get(name).or_else(|| assets.get(&liquid)).cloned()
}

fn missing(cx: &mut Context<'_>, name: &str) {
    let path = format!("assets/{name}");
    let finding = Finding::new(FindingCode::MissingFile, &path, "the theme has no such file");
    cx.register::<Notes>().warnings.push(finding);
}

/// A file that the merchant uploaded: an asset of that name, if there is one.
fn file_url(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let name = input.to_text();
    Ok(find(&shop, &name).unwrap_or_else(|| shop.to(&format!("/files/{name}"))).into())
}

/// A file that all shops share.
fn shared_url(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    Ok(shop.to(&format!("/shared/{}", input.to_text())).into())
}

/// The text of an SVG image.
fn inline_asset_content(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let name = input.to_text();
    let file = |ending: &str| shop.theme.files.get(&format!("assets/{name}{ending}"));
    if let Some(file) = file("").or_else(|| file(".svg")) {
        cx.reserve(file.bytes.len())?;
        return Ok(Value::html(&*String::from_utf8_lossy(&file.bytes)));
    }
    missing(cx, &name);
    Ok("".into())
}

fn stylesheet_tag(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    // An empty address would load the page itself.
    if input.to_text().is_empty() {
        return Ok("".into());
    }
    let url = attribute(&input.to_text());
    let media =
        named(args, "media").or_else(|| args.get(0).map(|media| media.to_text().into_owned()));
    let media = media.filter(|media| !media.is_empty()).unwrap_or_else(|| "all".to_owned());
    let media = attribute(&media);
    let link =
        format!("<link href=\"{url}\" rel=\"stylesheet\" type=\"text/css\" media=\"{media}\">");
    let preload = args.named("preload").is_some_and(Value::is_truthy);
    Ok(Value::html(if preload {
        format!("<link href=\"{url}\" rel=\"preload\" as=\"style\">{link}")
    } else {
        link
    }))
}

fn preload_tag(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    if input.to_text().is_empty() {
        return Ok("".into());
    }
    let mut html = format!("<link href=\"{}\" rel=\"preload\"", attribute(&input.to_text()));
    for (name, value) in args.all_named() {
        let _ = write!(html, " {}=\"{}\"", attribute(name), attribute(&value.to_text()));
    }
    html.push('>');
    Ok(Value::html(html))
}
