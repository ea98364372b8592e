//! Texts: translations, handles, parts of URLs.

use liquid::{Args, Context, Result, Value};

use super::call::{Named, attribute, page};
use crate::objects::plain::handleize;
use crate::shop::encoded;

pub(super) const FILTERS: &[Named] = &[
    ("camelize", |input, _, _| Ok(camelized(&input.to_text()).into())),
    ("handle", |input, _, _| Ok(handleize(&input.to_text()).into())),
    ("handleize", |input, _, _| Ok(handleize(&input.to_text()).into())),
    ("pluralize", pluralize),
    ("raw", |input, _, _| Ok(Value::html(&*input.to_text()))),
    ("t", translate),
    ("translate", translate),
    ("url_escape", |input, _, _| Ok(escaped(&input.to_text(), b"!#$&'()*+,/:;=?@-_.~[]").into())),
    ("url_param_escape", |input, _, _| {
        Ok(escaped(&input.to_text(), b"!#$'()*+,/:;=?@-_.~[]").into())
    }),
];

/// `{{ 'cart.items' | t: count: 3 }}`: the text in the page's language, otherwise in the theme's own language.
/// The text of a key that ends with `_html` is HTML; its arguments are escaped.
fn translate(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let key = input.to_text().into_owned();
    let count = args.named("count").map(liquid::number::loose_integer);
    let Some(text) = shop.translation(&key, count) else {
        return Ok(format!("Translation missing: {}.{key}", shop.theme.locale).into());
    };
    let is_html = key.ends_with("_html") || key.rsplit('.').next() == Some("html");
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        filled.push_str(before);
        let Some((name, after)) = behind.split_once("}}") else {
            filled.push_str("{{");
            rest = behind;
            continue;
        };
        let given =
            args.named(name.trim()).map(|given| (matches!(given, Value::Html(_)), given.to_text()));
        match given {
            Some((is_safe, given)) if is_html && !is_safe => filled.push_str(&attribute(&given)),
            Some((_, given)) => filled.push_str(&given),
            None => {}
        }
        cx.reserve(filled.len())?;
        rest = after;
    }
    filled.push_str(rest);
    Ok(if is_html { Value::html(filled) } else { filled.into() })
}

fn pluralize(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let is_one = liquid::number::loose_integer(input) == 1;
    Ok(args.text(usize::from(!is_one)).into_owned().into())
}

/// `variant-id` as `VariantId`.
fn camelized(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| -> String {
        let mut letters = word.chars();
        let first = letters.next().map(char::to_uppercase);
        first.into_iter().flatten().chain(letters).collect()
    };
    words.map(capital).collect()
}

/// A text in a URL, in which these characters stay.
fn escaped(text: &str, kept: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let mut bytes = [0_u8; 4];
        let part = c.encode_utf8(&mut bytes);
        if c.is_ascii() && part.bytes().all(|b| kept.contains(&b)) {
            escaped.push(c);
        } else {
            escaped.push_str(&encoded(part));
        }
    }
    escaped
}
