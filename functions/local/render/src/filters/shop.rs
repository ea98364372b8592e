//! The filters of a shop's themes. Filters that create HTML escape their input.

use std::fmt::Write as _;

use iso_currency::Currency;
use liquid_core::error::{Error, Result};
use liquid_core::model::{Value, ValueView};
use serde_json::Value as Json;

use super::call::{Apply, Call};
use crate::{safe, value};

/// All filters of a shop, by name.
pub(crate) const FILTERS: &[(&str, Apply)] = &[
    ("asset_img_url", asset_url),
    ("asset_url", asset_url),
    ("default_pagination", default_pagination),
    ("escape", escape),
    ("escape_once", escape),
    ("h", escape),
    ("handle", handleize),
    ("handleize", handleize),
    ("image_tag", image_tag),
    ("image_url", image_url),
    ("img_tag", image_tag),
    ("img_url", image_url),
    ("json", json),
    ("link_to", link_to),
    ("money", money),
    ("money_with_currency", money_with_currency),
    ("money_without_currency", money_without_currency),
    ("newline_to_br", newline_to_br),
    ("pluralize", pluralize),
    ("raw", |call| Ok(safe::html(&call.text()))),
    ("stylesheet_tag", stylesheet_tag),
    ("t", translate),
    ("translate", translate),
];

/// `{{ 'base.css' | asset_url }}`: the URL of an asset.
fn asset_url(call: &Call<'_>) -> Result<Value> {
    let name = call.text();
    match call.context.assets.get(&name) {
        Some(address) => Ok(Value::scalar(address.clone())),
        None => Err(Error::with_msg(format!("the theme has no asset `{name}`"))),
    }
}

/// The URL of an image, of an image object, the name of an asset, or a URL. Images are not resized: `width`
/// and similar arguments are accepted and ignored.
fn image_url(call: &Call<'_>) -> Result<Value> {
    Ok(address(call).map_or(Value::Nil, Value::scalar))
}

fn address(call: &Call<'_>) -> Option<String> {
    let given = match call.input.as_object() {
        Some(object) => ["src", "featured_image"].iter().find_map(|name| object.get(name))?,
        None => call.input,
    };
    let text: String = match given.as_object() {
        Some(picture) => picture.get("src")?.to_kstr().into_string(),
        None if given.is_nil() => return None,
        None => given.to_kstr().into_string(),
    };
    let name = text.strip_prefix("assets/").unwrap_or(&text);
    let known = call.context.assets.get(name).cloned();
    let is_address = ["/", "https://", "http://"].iter().any(|start| text.starts_with(start));
    known.or_else(|| is_address.then_some(text))
}

fn image_tag(call: &Call<'_>) -> Result<Value> {
    let Some(source) = address(call) else { return Ok(Value::Nil) };
    let own = call.input.as_object().and_then(|object| object.get("alt"));
    let own = own.map(|text| text.to_kstr().into_string());
    let alt: String = call.option("alt").or_else(|| call.argument(0)).or(own).unwrap_or_default();
    let mut html =
        format!("<img src=\"{}\" alt=\"{}\"", safe::escaped(&source), safe::escaped(&alt));
    for name in ["class", "loading", "width", "height", "sizes"] {
        if let Some(text) = call.option(name) {
            let _ = write!(html, " {name}=\"{}\"", safe::escaped(&text));
        }
    }
    html.push('>');
    Ok(safe::html(&html))
}

/// The links to other pages: `{{ paginate | default_pagination }}`.
fn default_pagination(call: &Call<'_>) -> Result<Value> {
    let pages = value::json(call.input);
    let parts = pages.get("parts").and_then(Json::as_array);
    let alongside = |name: &str| pages.get(name).filter(|part| part.is_object());
    let all = alongside("previous").into_iter().chain(parts.into_iter().flatten());
    let mut html = String::new();
    for part in all.chain(alongside("next")) {
        let text = |name: &str| part.get(name).and_then(Json::as_str).unwrap_or_default();
        let title = safe::escaped(text("title"));
        let _ = match text("url") {
            "" => write!(html, "<span class=\"page\">{title}</span> "),
            url => write!(html, "<a class=\"page\" href=\"{}\">{title}</a> ", safe::escaped(url)),
        };
    }
    Ok(safe::html(html.trim_end()))
}

fn stylesheet_tag(call: &Call<'_>) -> Result<Value> {
    let address = call.text();
    Ok(safe::html(&format!("<link rel=\"stylesheet\" href=\"{}\">", safe::escaped(&address))))
}

fn link_to(call: &Call<'_>) -> Result<Value> {
    let (text, address) = (call.text(), call.argument(0).unwrap_or_default());
    // A URL with another scheme, like `javascript:`, is not linked.
    let allowed = ["/", "#", "?", "https://", "http://", "mailto:", "tel:"];
    if !allowed.iter().any(|start| address.starts_with(start)) {
        return Ok(Value::scalar(text));
    }
    let title = call.argument(1);
    let title = title.map(|text| format!(" title=\"{}\"", safe::escaped(&text)));
    Ok(safe::html(&format!(
        "<a href=\"{}\"{}>{}</a>",
        safe::escaped(&address),
        title.unwrap_or_default(),
        safe::escaped(&text)
    )))
}

fn escape(call: &Call<'_>) -> Result<Value> {
    Ok(safe::html(&safe::escaped(&call.text())))
}

fn newline_to_br(call: &Call<'_>) -> Result<Value> {
    Ok(safe::html(&safe::escaped(&call.text()).replace('\n', "<br>\n")))
}

/// JSON that is safe in a script element: no character of it ends the element, or an attribute in single
/// quotes.
fn json(call: &Call<'_>) -> Result<Value> {
    let mut text = value::json(call.input).to_string();
    for (character, code) in [
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("'", "\\u0027"),
        ("\u{2028}", "\\u2028"),
        ("\u{2029}", "\\u2029"),
    ] {
        text = text.replace(character, code);
    }
    Ok(safe::html(&text))
}

fn handleize(call: &Call<'_>) -> Result<Value> {
    let text = call.text().to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    Ok(Value::scalar(words.collect::<Vec<_>>().join("-")))
}

fn pluralize(call: &Call<'_>) -> Result<Value> {
    let is_one = call.input.as_scalar().and_then(|scalar| scalar.to_integer()) == Some(1);
    let word = call.argument(usize::from(!is_one)).unwrap_or_default();
    Ok(Value::scalar(word))
}

/// Formats an amount in the smallest unit of the store's currency: `129900` as `₹1,299.00`.
fn money(call: &Call<'_>) -> Result<Value> {
    let Some(amount) = amount(call) else { return Ok(Value::Nil) };
    let symbol = Currency::from_code(&call.context.currency).map(|found| found.symbol().symbol);
    Ok(Value::scalar(format!("{}{amount}", symbol.unwrap_or_default())))
}

fn money_with_currency(call: &Call<'_>) -> Result<Value> {
    let Some(amount) = amount(call) else { return Ok(Value::Nil) };
    Ok(Value::scalar(format!("{amount} {}", call.context.currency)))
}

fn money_without_currency(call: &Call<'_>) -> Result<Value> {
    Ok(amount(call).map_or(Value::Nil, Value::scalar))
}

/// The amount with its decimal point, and with commas between thousands.
fn amount(call: &Call<'_>) -> Option<String> {
    let amount = call.input.as_scalar()?.to_integer()?;
    let exponent = Currency::from_code(&call.context.currency).and_then(Currency::exponent);
    let exponent = usize::from(exponent.unwrap_or(2));
    let digits = format!("{:0>width$}", amount.unsigned_abs(), width = exponent.saturating_add(1));
    let (whole, part) = digits.split_at_checked(digits.len().saturating_sub(exponent))?;
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && whole.len().saturating_sub(place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if amount < 0 { "-" } else { "" };
    let point = if exponent == 0 { "" } else { "." };
    Some(format!("{sign}{grouped}{point}{part}"))
}

/// `{{ 'cart.items' | t: count: 3 }}`: the translation in the page's language, otherwise in the theme's
/// default language, otherwise the key. The text of a key that ends with `_html` is HTML; its arguments are
/// escaped.
fn translate(call: &Call<'_>) -> Result<Value> {
    let key = call.text();
    let count = call.option("count");
    let found =
        call.context.translations.iter().find_map(|texts| lookup(texts, &key, count.as_deref()));
    let Some(text) = found else { return Ok(Value::scalar(key)) };
    let is_html = key.ends_with("_html");
    let mut filled = text.to_owned();
    for (name, given) in &call.named {
        let given: String = given.to_kstr().into_string();
        let given = if is_html { safe::escaped(&given).into_owned() } else { given };
        for spelled in [format!("{{{{ {name} }}}}"), format!("{{{{{name}}}}}")] {
            let grown = filled.matches(&spelled).count().saturating_mul(given.len());
            call.context.meter.text(crate::limits::size(filled.len().saturating_add(grown)))?;
            filled = filled.replace(&spelled, &given);
        }
    }
    Ok(if is_html { safe::html(&filled) } else { Value::scalar(filled) })
}

/// The text at a dotted key; with a count, its `one` or `other` form.
fn lookup<'t>(texts: &'t Json, key: &str, count: Option<&str>) -> Option<&'t str> {
    let found = key.split('.').try_fold(texts, |texts, part| texts.get(part))?;
    let number = if count == Some("1") { "one" } else { "other" };
    found.as_str().or_else(|| found.get(number)?.as_str())
}
