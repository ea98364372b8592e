//! Dates, in the language of the page.

use jiff::Zoned;
use liquid::{Args, Context, DateNames, Result, Value};

use super::call::{Named, attribute, named, page};
use crate::languages::date_format;

pub(super) const FILTERS: &[Named] = &[("date", date), ("time_tag", time_tag)];

/// The time that a filter is about. Objects have theirs in UTC; they are shown in the time zone of the shop.
fn time(input: &Value, cx: &Context<'_>) -> Option<Zoned> {
    let time = liquid::parse_time(input, cx.now())?;
    let is_utc = input.to_text().ends_with('Z');
    Some(if is_utc { time.with_time_zone(cx.now().time_zone().clone()) } else { time })
}

/// The format that a filter names, of the theme's own `date_formats` or of those of the language.
fn named_format(args: &Args, cx: &Context<'_>) -> Result<Option<String>> {
    let Some(name) = named(args, "format") else { return Ok(None) };
    let shop = page(cx)?;
    let own = shop.translation(&format!("date_formats.{name}"), None);
    let found = own.map(str::to_owned).or_else(|| date_format(&shop.theme.locale, &name));
    Ok(Some(found.unwrap_or(name)))
}

fn date(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let format = match named_format(args, cx)? {
        Some(format) => format,
        None => args.text(0).into_owned(),
    };
    match time(input, cx).filter(|_| !format.is_empty()) {
        Some(time) => Ok(liquid::format_time(&time, &format, cx.date_names()).into()),
        None => Ok(input.clone()),
    }
}

fn time_tag(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let Some(time) = time(input, cx) else { return Ok(input.clone()) };
    let format = match (named_format(args, cx)?, args.get(0)) {
        (Some(format), _) => format,
        (None, Some(given)) => given.to_text().into_owned(),
        (None, None) => "%a, %d %b %Y %H:%M:%S %z".to_owned(),
    };
    let machine = match named(args, "datetime") {
        Some(format) => liquid::format_time(&time, &format, &DateNames::ENGLISH),
        None => time.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    };
    let shown = liquid::format_time(&time, &format, cx.date_names());
    Ok(Value::html(format!(
        "<time datetime=\"{}\">{}</time>",
        attribute(&machine),
        attribute(&shown)
    )))
}
